"""Target names to targets, and plain words for a name that is none."""

from __future__ import annotations

import re

from gompute.errors import UnknownTarget
from gompute.targets.amd import AMD
from gompute.targets.cpu import CPU
from gompute.targets.nvidia import NVIDIA
from gompute.targets.target import Target

__all__ = ["all_targets", "find_target", "parse_target"]

_ALL: tuple[Target, ...] = tuple(sorted((*NVIDIA, *AMD, *CPU), key=lambda target: target.sort_key))
_BY_NAME: dict[str, Target] = {target.name: target for target in _ALL}

_PROBES = frozenset({"auto", "native", "host", "detect"})

# Architectures that exist and have no row: why, and what to write instead.
_LEFT_OUT = {
    "sm_101": "CUDA 13 renamed it; write sm_110",
    "sm_101a": "CUDA 13 renamed it; write sm_110a",
    "sm_101f": "CUDA 13 renamed it; write sm_110f",
    "sm_107": "LLVM 22 does not generate it; PTX for sm_103 or sm_100f runs there",
    "sm_107a": "LLVM 22 does not generate it; PTX for sm_103 or sm_100f runs there",
    "sm_107f": "LLVM 22 does not generate it; PTX for sm_103 or sm_100f runs there",
    "gfx900": "the table starts at gfx906; gfx9-generic runs there",
    "gfx902": "the table starts at gfx906; gfx9-generic runs there",
    "gfx904": "the table starts at gfx906; gfx9-generic runs there",
    "gfx940": "LLVM 22 has dropped this early gfx942; write gfx942 or gfx9-4-generic",
    "gfx941": "LLVM 22 has dropped this early gfx942; write gfx942 or gfx9-4-generic",
    "x86-64": "it cannot convert f16 or fuse multiply and add in hardware; write x86-64-v3",
    "x86-64-v2": "it cannot convert f16 or fuse multiply and add in hardware; write x86-64-v3",
}


def all_targets() -> tuple[Target, ...]:
    """Every target, sorted: NVIDIA, AMD, CPU, each by number; AMD's pinned features after the bare architecture."""
    return _ALL


def find_target(name: str) -> Target | None:
    """The target of exactly that name, or None."""
    return _BY_NAME.get(name)


def parse_target(text: str) -> Target:
    """The target that `text` names, exactly: one target has one spelling, so that a build, an index and Nix agree.

    Raises:
        UnknownTarget: with the reason and what to write instead.
    """
    target = _BY_NAME.get(text)
    if target is None:
        raise UnknownTarget(_explain(text))
    return target


def _explain(text: str) -> str:
    lowered = text.strip().lower()
    if lowered in _PROBES:
        return (
            f"target {text!r}: a target is always pinned. A build reads nothing of the machine it runs on, so that it gives the same bytes "
            "everywhere; name the architectures you deploy to, for example --target sm_89 --target gfx1100 --target x86-64-v3 "
            "(`gompute targets` lists them all)"
        )
    if lowered in _LEFT_OUT:
        return f"target {text!r} is not supported: {_LEFT_OUT[lowered]}"
    arch, *features = lowered.split(":")
    if features and arch in _BY_NAME and _BY_NAME[arch].backend == "hip":
        return f"unknown target {text!r}: {_explain_features(arch, features)}"
    near = _near(lowered)
    hint = f"did you mean {' or '.join(near)}?" if near else "`gompute targets` lists what there is"
    return f"unknown target {text!r}; {hint}"


def _explain_features(arch: str, features: list[str]) -> str:
    # A target ID lists its features by name.
    canonical = _BY_NAME.get(":".join([arch, *sorted(set(features))]))
    if canonical is not None:
        return f"features come once each and in order; write {canonical.name}"
    supported = sorted({name[:-1] for target in _ALL if target.arch == arch for name in target.name.split(":")[1:]})
    if not supported:
        return f"{arch} has no features to pin; write {arch}"
    for feature in features:
        if not re.fullmatch(r"[a-z]+[+-]", feature):
            return f"{feature!r} must end in + (on) or - (off)"
        if feature[:-1] not in supported:
            return f"{arch} has no feature {feature[:-1]!r}; it has {' and '.join(supported)}"
    return f"{arch} can pin each of {' and '.join(supported)} once"


def _near(lowered: str) -> list[str]:
    # Other tools' spellings of the same thing, then what is spelled alike.
    numbers = re.fullmatch(r"(?:sm|compute|cuda|nvptx)?[-_ ]?(\d+)\.?(\d)([af]?)", lowered)
    if numbers and (exact := f"sm_{numbers[1]}{numbers[2]}{numbers[3]}") in _BY_NAME:
        return [exact]
    spelled = lowered.replace("_", "-")
    if spelled.startswith("x86") and f"x86-64-{spelled[-2:]}" in _BY_NAME:
        return [f"x86-64-{spelled[-2:]}"]
    if lowered in ("arm64", "armv8", "armv8-a"):
        return ["aarch64"]
    generics = [name for name in _BY_NAME if name.endswith("-generic") and lowered and name.startswith(lowered)]
    if generics:
        return generics
    # Imported here: only a wrong name pays for it.
    import difflib

    return difflib.get_close_matches(lowered, _BY_NAME, n=3, cutoff=0.6)
