"""The table against what the pinned LLVM emits, the linker links and ptxas assembles: what each of them says of every target."""

from __future__ import annotations

import importlib.metadata
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from gompute.targets import Target, all_targets
from gompute.targets.compat import Candidate, runs_on
from gompute.targets.device import Device

llvm = pytest.importorskip("llvmlite.binding")

NVIDIA = [target for target in all_targets() if target.backend == "cuda"]
AMD = [target for target in all_targets() if target.backend == "hip"]
CPU = [target for target in all_targets() if target.backend == "cpu"]

PTX_IR = """
define ptx_kernel void @k(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}
"""

AMD_IR = """
@shared = internal addrspace(3) global [SHARED x i8] poison
define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %i) {
  %q = getelementptr i8, ptr addrspace(3) @shared, i32 %i
  store volatile i8 1, ptr addrspace(3) %q
  store i32 1, ptr addrspace(1) %p
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 VERSION}
"""

CPU_IR = """
declare float @llvm.fma.f32(float, float, float)
define i16 @f(float %x, float %y) {
  %z = call float @llvm.fma.f32(float %x, float %y, float %x)
  %h = fptrunc float %z to half
  %i = bitcast half %h to i16
  ret i16 %i
}
"""


@pytest.fixture(scope="module", autouse=True)
def _initialized() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def machine(target: Target):
    return llvm.Target.from_triple(target.triple).create_target_machine(cpu=target.cpu, features=target.features, opt=3)


def known_to_llvm(triple: str) -> set[str]:
    """LLVM prints its processors to the standard error, so another process must be asked."""
    ask = f"import llvmlite.binding as b; b.initialize_all_targets(); b.Target.from_triple({triple!r}).create_target_machine(cpu='help')"
    said = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stderr
    return set(re.findall(r"^  (\S+) +- Select the", said, re.MULTILINE))


def test_every_nvidia_processor_of_both_llvm_and_ptxas_is_in_the_table(ptxas: Path) -> None:
    said = subprocess.run([ptxas, "--help"], capture_output=True, text=True, check=True).stdout
    assembles = set(re.findall(r"'(sm_\d+[af]?)'", said))
    generates = known_to_llvm("nvptx64-nvidia-cuda")
    ours = {target.name for target in NVIDIA}
    older = {target.name for target in NVIDIA if target.number < (7, 5)}
    assert ours == (generates & assembles) | older
    assert older <= generates
    assert {target.name for target in NVIDIA if "cubin" in target.kinds} == ours & assembles


def test_every_amd_processor_of_llvm_from_gfx906_on_is_in_the_table() -> None:
    generates = {name for name in known_to_llvm("amdgcn-amd-amdhsa") if re.match(r"gfx(9[0-9]|1[0-9])", name) or name.endswith("-generic")}
    ours = {target.arch for target in AMD}
    assert generates - ours == {"gfx900", "gfx902", "gfx904"}
    assert ours <= generates


@pytest.mark.parametrize("target", NVIDIA, ids=str)
def test_ptx_version_is_what_llvm_writes(target: Target) -> None:
    text = machine(target).emit_assembly(llvm.parse_assembly(f'target triple = "{target.triple}"\n{PTX_IR}'))
    written = re.search(r"^\.version (\d+)\.(\d+)\n\.target (\w+)$", text, re.MULTILINE)
    assert written is not None
    assert (int(written[1]), int(written[2])) == target.ptx_version
    assert written[3] == target.name


@pytest.mark.parametrize("target", AMD, ids=str)
def test_code_object_is_what_llvm_emits(target: Target, capfd: pytest.CaptureFixture[str]) -> None:
    text = AMD_IR.replace("VERSION", f"{target.code_object_version}00").replace("SHARED", "16")
    data = machine(target).emit_object(llvm.parse_assembly(f'target triple = "{target.triple}"\n{text}'))
    check_elf(target, data)
    # The metadata names the target in full and its wave size; a feature that the processor lacks is a warning.
    assert b"amdhsa.target" + packed(f"amdgcn-amd-amdhsa--{target.name}") in data
    assert b".wavefront_size" + bytes([target.warp_size]) in data
    assert "warning" not in capfd.readouterr().err


def packed(text: str) -> bytes:
    """A string as MessagePack has it."""
    return (bytes([0xA0 | len(text)]) if len(text) < 32 else bytes([0xD9, len(text)])) + text.encode()


def check_elf(target: Target, data: bytes) -> None:
    flags = struct.unpack_from("<I", data, 0x30)[0]
    assert target.elf_flags is not None
    assert hex(flags) == hex(target.elf_flags)
    # EI_ABIVERSION counts code object versions from 2.
    assert data[8] + 2 == target.code_object_version


@pytest.mark.parametrize("target", [target for target in AMD if target.name == target.arch], ids=str)
def test_shared_memory_limit_is_llvms(target: Target) -> None:
    assert target.max_static_shared is not None
    text = AMD_IR.replace("VERSION", f"{target.code_object_version}00")
    fits = text.replace("SHARED", str(target.max_static_shared))
    machine(target).emit_object(llvm.parse_assembly(f'target triple = "{target.triple}"\n{fits}'))


@pytest.mark.parametrize("name", ["gfx942", "gfx950", "gfx1250"])
def test_shared_memory_beyond_the_limit_is_refused_by_llvm(name: str) -> None:
    target = next(target for target in AMD if target.name == name)
    assert target.max_static_shared is not None
    text = AMD_IR.replace("VERSION", f"{target.code_object_version}00").replace("SHARED", str(target.max_static_shared + 1))
    # LLVM ends the process.
    emit = (
        "import sys, llvmlite.binding as b; b.initialize_all_targets(); b.initialize_all_asmprinters()\n"
        f"machine = b.Target.from_triple({target.triple!r}).create_target_machine(cpu={target.cpu!r})\n"
        "machine.emit_object(b.parse_assembly(sys.stdin.read()))"
    )
    done = subprocess.run([sys.executable, "-c", emit], input=text, capture_output=True, text=True, check=False)
    assert f"exceeds limit ({target.max_static_shared})" in done.stderr


def test_a_code_object_links_as_it_was_emitted(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    # Linking takes a fifth of a second each; one of each way that the flags are made up.
    for target in (target for target in AMD if target.name in ("gfx90a:sramecc+:xnack-", "gfx1250", "gfx9-4-generic:xnack+")):
        text = AMD_IR.replace("VERSION", f"{target.code_object_version}00").replace("SHARED", "16")
        source, linked = tmp_path / "k.o", tmp_path / "k.hsaco"
        source.write_bytes(machine(target).emit_object(llvm.parse_assembly(f'target triple = "{target.triple}"\n{text}')))
        subprocess.run([sys.executable, "-m", "ziglang", "ld.lld", "-shared", source, "-o", linked], check=True)
        check_elf(target, linked.read_bytes())


@pytest.mark.parametrize("target", CPU, ids=str)
def test_a_cpu_target_fuses_and_converts_without_a_call(target: Target) -> None:
    text = machine(target).emit_assembly(llvm.parse_assembly(f'target triple = "{target.triple}"\n{CPU_IR}'))
    assert re.search(r"\tv?fn?m(add|la)", text)
    assert re.search(r"\t(vcvtps2ph|fcvt)", text)
    assert not re.search(r"\t(call|callq|bl|b|jmp)\t", text)


@pytest.fixture(scope="module")
def ptxas() -> Path:
    try:
        files = importlib.metadata.files("nvidia-cuda-nvcc")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("nvidia-cuda-nvcc is not installed")
    return next(Path(str(file.locate())) for file in files or () if file.name == "ptxas")


def assemble(ptxas: Path, tmp_path: Path, target: Target, arch: str, params: int = 4) -> str:
    """ptxas's complaint about an entry with so many bytes of params when it assembles for `arch`, or nothing."""
    assert target.ptx_version is not None
    source = tmp_path / "k.ptx"
    head = ".version {}.{}\n".format(*target.ptx_version) + f".target {target.name}\n.address_size 64\n"
    source.write_text(head + f".visible .entry k(.param .align 4 .b8 p[{params}]) {{ ret; }}\n")
    command = [ptxas, f"-arch={arch}", source, "-o", tmp_path / "k.cubin"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("name", ["sm_50", "sm_75", "sm_90a", "sm_100", "sm_121f"])
def test_params_limit_is_taken_by_ptxas(ptxas: Path, tmp_path: Path, name: str) -> None:
    target = next(target for target in NVIDIA if target.name == name)
    assert target.max_params is not None
    assert not assemble(ptxas, tmp_path, target, target.ptxas_arch, target.max_params)
    # What ptxas refuses is beyond ours: at the new limit at once, at the old one after a reserve of 256 bytes.
    beyond = target.max_params + (1 if target.max_params > 4096 else 257)
    assert "too much parameter space" in assemble(ptxas, tmp_path, target, target.ptxas_arch, beyond)


@pytest.mark.parametrize("name", ["sm_90", "sm_100a", "sm_100f", "sm_103f", "sm_110f", "sm_120f"])
def test_ptxas_compiles_ptx_for_the_devices_that_it_runs_on(ptxas: Path, tmp_path: Path, name: str) -> None:
    target = next(target for target in NVIDIA if target.name == name)
    for capability in ((10, 0), (10, 3), (10, 7), (11, 0), (12, 0), (12, 1)):
        device = Device.cuda(capability)
        # The device's own code, which suffix a asks for by name.
        said = assemble(ptxas, tmp_path, target, device.arch + ("a" if target.suffix == "a" else ""))
        assert (not said) == runs_on(Candidate(target, "ptx"), device), said
