"""The names in a kernel set, and the names of its files."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Sequence

from gompute.targets import KINDS, BlobKind, Target, all_targets

__all__ = [
    "INDEX",
    "LISTINGS",
    "MODULE",
    "blob_file",
    "describe_unit",
    "is_identifier",
    "is_root_name",
    "is_set_file",
    "listing_file",
    "module_fault",
]

#: The file that makes a directory a kernel set.
INDEX = "index.json"

#: The Python module around a kernel set that a program finds without being told.
MODULE = "gompute_kernels"

#: Text for people to read beside the blobs, which the index does not list: its kind and the end of its file's name.
LISTINGS = {"ir": "ll", "asm": "s"}

# A file name must take the root's name, the target's and an ending, in 255 bytes.
_ROOT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_ENDINGS = frozenset({*(kind for kinds in KINDS.values() for kind in kinds), *LISTINGS.values()})


def is_root_name(name: str) -> bool:
    """Whether a root may have this name: letters, digits, ``_``, ``-`` and ``.``, at most 128, the first no ``-`` or ``.``."""
    return _ROOT.fullmatch(name) is not None


def is_identifier(name: str) -> bool:
    """Whether a kernel, a symbol or a params type may have this name: a C identifier of at most 255 characters."""
    return _IDENTIFIER.fullmatch(name) is not None


def describe_unit(kernels: Sequence[str], target: Target) -> str:
    """How messages name what is being compiled: `kernels a, b for sm_89`."""
    noun = "kernel" if len(kernels) == 1 else "kernels"
    return f"{noun} {', '.join(kernels) or '(none)'} for {target.name}"


def blob_file(root: str, target: Target, kind: BlobKind) -> str:
    """The one name that the blob of a root, a target and a kind has in a set."""
    return f"{root}.{target.safe_name}.{kind}"


def listing_file(root: str, target: Target, kind: str) -> str:
    """The name of a listing: `kind` is a key of `LISTINGS`."""
    return f"{root}.{target.safe_name}.{LISTINGS[kind]}"


def is_set_file(name: str) -> bool:
    """Whether a file of this name may be part of a kernel set: the index, or a blob or listing of some root for some target."""
    root, _, rest = name.rpartition(".")[0].rpartition(".")
    made = is_root_name(root) and name.rpartition(".")[2] in _ENDINGS and any(rest == target.safe_name for target in all_targets())
    return made or name == INDEX


def module_fault(name: str) -> str | None:
    """Why the module around a kernel set must not have this name; None where it may."""
    if not (is_identifier(name) and len(name) <= 64) or keyword.iskeyword(name):
        return "it must be a Python identifier of ASCII letters, digits and underscores, at most 64"
    if name == "gompute" or name.startswith("__") or name in sys.stdlib_module_names:
        return "it would hide another module of that name"
    return None
