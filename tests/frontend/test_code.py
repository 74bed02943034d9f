"""Hashes of what a root's sources say."""

from __future__ import annotations

from pathlib import Path

from gompute.frontend.code import CodeDigests
from gompute.frontend.root import lower_root
from gompute.targets import parse_target

ROOT = """
import gompute as g
import near
import rates


@g.map
def grown(x: g.f32) -> g.f32:
    return g.math.exp(x) * rates.RATE + near.LOWEST
"""


def digests(folder: Path, root: str = ROOT, near: str = "LOWEST = 1.5\n", rates: str = "RATE = 2.0\n") -> CodeDigests:
    """Of a root that imports a file beside it and one from another folder."""
    for place, text in (("roots/model.py", root), ("roots/near.py", near), ("shared/rates.py", rates)):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text)
    imports = [folder / "roots/near.py", folder / "shared/rates.py"]
    lowering = lower_root(folder / "roots/model.py", name="model", imports=imports, target=parse_target("sm_89"))
    assert [unit.kernels[0].name for unit in lowering.units] == ["grown"]
    assert lowering.code is not None
    return lowering.code(lowering.reads().sources)


def test_sources_go_by_names_that_no_machine_has_a_part_in(tmp_path: Path) -> None:
    first = digests(tmp_path / "one")
    assert list(first.imports) == ["near.py", "rates.py"], "what Gompute brings is a part of its version"
    assert digests(tmp_path / "a longer" / "way") == first


def test_comments_and_empty_lines_are_no_part_of_it(tmp_path: Path) -> None:
    first = digests(tmp_path / "one")
    commented = ROOT.replace("@g.map", "# over all\n\n@g.map  # a map").replace("import rates", "\n\nimport rates")
    assert digests(tmp_path / "two", commented, "# the lowest\nLOWEST = 1.5  # of all\n") == first
    text = digests(tmp_path / "three", ROOT + '\n\nTEXT = "# no comment"\n')
    assert (text.module != first.module, text.imports) == (True, first.imports)
    assert digests(tmp_path / "four", ROOT + '\n\nTEXT = "# another"\n').module != text.module
    other = digests(tmp_path / "five", rates="RATE = 3.0\n")
    assert (other.module, other.imports["near.py"]) == (first.module, first.imports["near.py"])
    assert other.imports["rates.py"] != first.imports["rates.py"]


def test_files_of_one_name_count_together(tmp_path: Path) -> None:
    for folder, text in (("left", "A = 1.0\n"), ("right", "A = 2.0\n")):
        (tmp_path / folder / folder).mkdir(parents=True)
        (tmp_path / folder / folder / "__init__.py").write_text("from . import rates\n")
        (tmp_path / folder / folder / "rates.py").write_text(text)
    (tmp_path / "root").mkdir()
    root = tmp_path / "root" / "model.py"
    root.write_text("import gompute as g\nimport left.rates\nimport right.rates\n\n\n@g.map\ndef k(x: g.f32) -> g.f32:\n    return x\n")

    def imports() -> dict[str, str]:
        places = [tmp_path / "left" / "left", tmp_path / "right" / "right"]
        lowering = lower_root(root, name="model", imports=places, target=parse_target("sm_89"))
        list(lowering.units)
        assert lowering.code is not None
        return dict(lowering.code(lowering.reads().sources).imports)

    first = imports()
    assert list(first) == ["__init__.py", "rates.py"]
    (tmp_path / "right" / "right" / "rates.py").write_text("A = 3.0\n")
    second = imports()
    assert (first["__init__.py"] == second["__init__.py"], first["rates.py"] == second["rates.py"]) == (True, False)
