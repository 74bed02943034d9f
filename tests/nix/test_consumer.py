"""A project of its own that builds its kernels with this flake."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

from tests.nix.standin import ROOT, Nix

# `salt` is new in every run: what an earlier one left in the store would not be counted.
ROOT_SOURCE = '''"""A root. {salt}"""

import gompute as g
from gompute import f32


@g.map
def kernel_{number}(x: f32) -> f32:
    return x + {number}.0
'''


def declare(consumer: Nix, text: str) -> None:
    (consumer.flake / "pyproject.toml").write_text(text)


def eight_roots(consumer: Nix) -> None:
    """Half of them heavy, in two lanes."""
    salt = secrets.token_hex()
    roots = []
    for number in range(8):
        (consumer.flake / f"kernels/root_{number}.py").write_text(ROOT_SOURCE.format(number=number, salt=salt))
        heavy = "true" if number % 2 else "false"
        roots.append(f'\n[tool.gompute.roots.root_{number}]\nsource = "kernels/root_{number}.py"\nheavy = {heavy}\n')
    declare(consumer, '[tool.gompute]\ntargets = ["sm_89", "x86-64-v3"]\nheavy-lanes = 2\n' + "".join(roots))


def test_the_template_builds_its_roots_and_runs_them(consumer: Nix) -> None:
    consumer.run("build", "--no-link", ".#kernels")
    kernels = consumer.paths()
    assert {name for name in kernels if name.startswith("kernels-")} == {
        f"kernels-{root}-{target}" for root in ("counting", "waves") for target in ("sm_89", "gfx1100", "x86-64-v3")
    }
    said = consumer.run("develop", "-c", "python", "main.py").stdout
    assert said.splitlines() == ["cpu [3. 3. 0. 3. 3.]", "cpu [1 2 3]"]


def test_an_edit_builds_its_root_alone_and_a_cache_serves_the_rest(consumer: Nix, tmp_path: Path) -> None:
    eight_roots(consumer)
    first = consumer.built(".#kernels")
    assert len([name for name in first if name.startswith("kernels-root_")]) == 16
    paths = consumer.paths()

    source = consumer.flake / "kernels/root_3.py"
    source.write_text(source.read_text().replace("x + 3.0", "x * 3.0"))
    assert consumer.built(".#kernels") == ["kernels", "kernels-root_3-sm_89", "kernels-root_3-x86-64-v3"]
    changed = {name for name, path in consumer.paths().items() if paths[name] != path}
    assert changed == {"default", "kernels", "kernels-root_3-sm_89", "kernels-root_3-x86-64-v3"}

    cache = f"file://{tmp_path}/cache"
    consumer.run("copy", "--to", cache, ".#kernels")
    elsewhere = {
        "GOMPUTE_STANDIN_STORE": str(tmp_path / "other"),
        "GOMPUTE_STANDIN_CONFIG": f"substituters = {cache}\nrequire-sigs = false",
    }
    other = Nix(consumer.flake, {**consumer.variables, **elsewhere})
    assert other.built(".#kernels") == []
    assert list((tmp_path / "other" / "nix/store").glob("*-kernels/index.json"))


def test_everything_wrong_with_a_declaration_is_said_before_anything_is_built(consumer: Nix) -> None:
    declare(
        consumer,
        '[tool.gompute]\ntargets = ["sm_98", "auto"]\nheavy_lanes = 2\n\n[tool.gompute.roots.waves]\nsource = "kernels/wave.py"\n',
    )
    said = consumer.run("eval", ".#packages.x86_64-linux.kernels.outPath", fails=True).stderr
    for fault in (
        'unknown key "heavy_lanes", did you mean heavy-lanes?',
        'unknown target "sm_98"; did you mean ',
        'target "auto": a target is always pinned.',
        "root waves: its source kernels/wave.py does not exist.",
    ):
        assert fault in said
    assert "building" not in said


def test_a_kernel_in_two_roots_names_both(consumer: Nix) -> None:
    eight_roots(consumer)
    (consumer.flake / "kernels/root_5.py").write_text(ROOT_SOURCE.format(number=4, salt=""))
    said = consumer.run("build", "--no-link", "-L", ".#kernels", fails=True).stderr
    assert "kernel 'kernel_4'" in said
    assert "root_4" in said
    assert "root_5" in said


def test_only_what_is_launched_is_built_and_an_edit_of_the_host_builds_nothing(consumer: Nix) -> None:
    salt = secrets.token_hex()
    roots = ""
    for number in range(3):
        other = f"\n\n@g.map\ndef other_{number}(x: f32) -> f32:\n    return x\n"
        (consumer.flake / f"kernels/root_{number}.py").write_text(ROOT_SOURCE.format(number=number, salt=salt) + other)
        roots += f'\n[tool.gompute.roots.root_{number}]\nsource = "kernels/root_{number}.py"\n'
    declare(consumer, f'[tool.gompute]\ntargets = ["sm_89", "x86-64-v3"]\nmanifest = "manifest.json"\n{roots}')
    host, manifest = consumer.flake / "host.py", consumer.flake / "manifest.json"

    def scan(*kernels: str) -> bytes:
        launches = "".join(f"g.AutoKernel({kernel})\n" for kernel in kernels)
        host.write_text(f"import gompute as g\nfrom kernels import root_0, root_1, root_2\n{launches}")
        command = [sys.executable, "-m", "gompute", "manifest", "scan", "host.py", "-o", "manifest.json"]
        subprocess.run(command, cwd=consumer.flake, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)
        return manifest.read_bytes()

    first = scan("root_0.kernel_0", "root_2.other_2")
    assert consumer.built(".#kernels") == ["kernels", *(f"kernels-root_{n}-{t}" for n in (0, 2) for t in ("sm_89", "x86-64-v3"))]
    assert scan("root_2.other_2", "root_0.kernel_0", "root_0.kernel_0") == first
    assert consumer.built(".#kernels") == []
    assert scan("root_0.kernel_0", "root_2.other_2", "root_0.other_0") != first
    assert consumer.built(".#kernels") == ["kernels", "kernels-root_0-sm_89", "kernels-root_0-x86-64-v3"]
    index = json.loads((consumer.output("kernels") / "index.json").read_text())
    assert index["left_out"] == {"root_1": [], "root_2": ["kernel_2"]}

    # With the host code declared, the set is held to it, and to no more of it than it launches.
    project = consumer.flake / "pyproject.toml"
    project.write_text(project.read_text().replace('manifest = "', 'host = ["host.py"]\nmanifest = "'))
    assert consumer.built(".#kernels") == ["kernels", "kernels-launches"]
    scan("root_0.other_0", "root_0.kernel_0", "root_2.other_2")
    assert consumer.built(".#kernels") == ["kernels", "kernels-launches"]
    host.write_text(host.read_text() + "g.AutoKernel(root_1.kernel_1)\ng.kernel_by_name('kernel_9', 'cpu')\n")
    said = consumer.run("build", "--no-link", "-L", ".#kernels", fails=True).stderr
    assert "host.py:7:1: no root makes a kernel 'kernel_9'" in said
    host.write_text(host.read_text().replace("g.kernel_by_name('kernel_9', 'cpu')\n", ""))
    said = consumer.run("build", "--no-link", "-L", ".#kernels", fails=True).stderr
    assert "root_1.kernel_1 is launched and not in it: host.py:6" in said
    project.write_text(project.read_text().replace('host = ["host.py"]\n', ""))

    scan("root_0.kernel_0")
    manifest.write_text(manifest.read_text().replace("kernel_0", "kernel_9"))
    said = consumer.run("build", "--no-link", "-L", ".#kernels", fails=True).stderr
    assert "root 'root_0' does not make these kernels; it makes kernel_0, other_0" in said
