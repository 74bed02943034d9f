"""The cache on disk: what it gives back, and what it does where a disk or another process does its worst."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from gompute.build.cache_files import default_folder
from gompute.build.store import Store

KEY = "ab" + "0" * 62


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name not in ("lock", "total")]


def test_what_was_put_is_given_back(tmp_path: Path) -> None:
    Store(tmp_path / "cache").put("code", KEY, {"facts": [1, "two"]}, [b"code", b""])
    found = Store(tmp_path / "cache").get("code", KEY)
    assert found is not None
    assert (found.body, found.blobs) == ({"facts": [1, "two"]}, (b"code", b""))
    assert Store(tmp_path / "cache").get("ir", KEY) is None
    assert Store(tmp_path / "cache").get("code", "cd" + KEY[2:]) is None


@pytest.mark.parametrize("place", [0, 20, 50, -1])
@pytest.mark.parametrize("harm", ["bit", "cut", "empty", "longer"])
def test_a_damaged_entry_is_dropped_with_a_note(tmp_path: Path, place: int, harm: str) -> None:
    store = Store(tmp_path)
    store.put("code", KEY, {"facts": {}}, [b"code" * 10])
    (file,) = _files(tmp_path)
    data = bytearray(file.read_bytes())
    if harm == "bit":
        data[place] ^= 4
    file.write_bytes({"bit": bytes(data), "cut": bytes(data[:place]), "empty": b"", "longer": bytes(data) + b"x"}[harm])
    assert store.get("code", KEY) is None
    assert store.notes == [f"the cache entry {file} was damaged; it is dropped and made again"]
    assert not file.exists()
    assert store.get("code", KEY) is None
    assert len(store.notes) == 1


def test_an_entry_in_the_place_of_another_is_dropped(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("code", KEY, {}, [b"code"])
    (file,) = _files(tmp_path)
    other = file.with_name("1" + file.name[1:])
    file.rename(other)
    assert store.get("code", KEY[:2] + other.name) is None
    assert not other.exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_where_nothing_can_be_written_it_is_said_once_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    store = Store(tmp_path)

    def fail(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", fail)
    for kind in ("ir", "code"):
        store.put(kind, KEY, {}, [b"data"])  # type: ignore[arg-type]
    assert store.notes == [f"the cache {tmp_path} cannot be written ({os.strerror(number)}); this build goes on without"]
    assert not _files(tmp_path)
    store.finish()


def test_a_folder_that_is_a_file_is_no_cache_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    store = Store(tmp_path / "cache")
    assert store.get("code", KEY) is None
    store.put("code", KEY, {}, [b"data"])
    store.finish()
    assert len(store.notes) == 1
    assert list(store.entries()) == []


def test_beyond_the_limit_what_was_not_used_for_longest_goes(tmp_path: Path) -> None:
    store = Store(tmp_path, limit=10_000)
    for number in range(8):
        store.put("code", f"{number}{KEY[1:]}", {}, [bytes(1000)])
    for number, entry in enumerate(sorted(store.entries(), key=lambda entry: entry.path)):
        os.utime(entry.path, (number, number))
    store.finish()
    assert len(list(store.entries())) == 8
    assert store.get("code", f"0{KEY[1:]}") is not None  # used now
    for number in range(8, 10):
        store.put("code", f"{number}{KEY[1:]}", {}, [bytes(1000)])
    store.finish()
    left = sorted(entry.path.parent.name[0] for entry in store.entries())
    assert left == ["0", "5", "6", "7", "8", "9"]
    assert sum(entry.size for entry in store.entries()) <= 7_500


def test_a_lost_total_is_counted_anew(tmp_path: Path) -> None:
    for _ in range(2):
        store = Store(tmp_path, limit=10_000)
        for number in range(8):
            store.put("code", f"{number}{KEY[1:]}", {}, [bytes(1000)])
        store.finish()
        (total,) = tmp_path.rglob("total")
        assert int(total.read_text()) >= 8000
        total.write_text("nonsense")


def test_unfinished_files_of_killed_builds_go_when_they_are_old(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("code", KEY, {}, [b"data"])
    (folder,) = tmp_path.rglob("unfinished")
    old, new = folder / "1-old", folder / "2-new"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (1, 1))
    store.finish()
    assert (old.exists(), new.exists()) == (False, True)


def test_clearing_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("code", KEY, {}, [b"data"])
    store.clear()
    assert not _files(tmp_path)
    assert store.get("code", KEY) is None
    store.clear()


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"XDG_CACHE_HOME": "/var/cache/me", "HOME": "/home/me"}, "/var/cache/me/gompute"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/home/me"}, "/home/me/.cache/gompute"),
        ({"HOME": "/home/me"}, "/home/me/.cache/gompute"),
    ],
)
def test_the_folder_follows_the_rules_of_xdg(environment: dict[str, str], place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", environment["HOME"])
    assert default_folder(environment) == place


def test_without_a_home_there_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "nowhere")
    assert default_folder({}) is None
