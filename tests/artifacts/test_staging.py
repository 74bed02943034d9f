"""Replacing a folder while others read it, write it, or are killed writing it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gompute.artifacts import staging
from gompute.artifacts.staging import replace_file, replace_folder, staging_folder
from tests.artifacts.samples import contents

OLD = {"a": b"old", "b": b"old"}
NEW = {"a": b"new", "c": b"new"}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def no_exchange(first: Path, second: Path) -> None:
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


@pytest.mark.parametrize("exchange", [True, False])
def test_replace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool) -> None:
    if not exchange:
        monkeypatch.setattr(staging, "_rename_exchange", no_exchange)
    for files in (OLD, NEW, OLD):
        replace_folder(tmp_path / "set", files)
        assert contents(tmp_path / "set") == files
        assert names(tmp_path) == ["set"]


def test_other_errors_of_the_exchange_are_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(first: Path, second: Path) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    replace_folder(tmp_path / "set", OLD)
    monkeypatch.setattr(staging, "_rename_exchange", refused)
    with pytest.raises(PermissionError):
        replace_folder(tmp_path / "set", NEW)
    assert contents(tmp_path / "set") == OLD
    assert names(tmp_path) == ["set"]


def test_without_the_exchange_a_failure_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_folder(tmp_path / "set", OLD)
    real = os.rename
    calls: list[str] = []

    def rename(source: Path, target: Path) -> None:
        calls.append(Path(source).name)
        # First the try without an exchange, then the old one away, then the new one in its place.
        if len(calls) == 3:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(source, target)

    monkeypatch.setattr(staging, "_rename_exchange", no_exchange)
    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(OSError, match="Input/output error"):
        replace_folder(tmp_path / "set", NEW)
    assert contents(tmp_path / "set") == OLD
    assert names(tmp_path) == ["set"]


def test_a_reader_sees_the_old_or_the_new(tmp_path: Path) -> None:
    """One file of the folder says what the others are; while the folder is open it stays what it was."""
    place = tmp_path / "set"
    replace_folder(place, {"a": b"0", "b": b"0"})
    stop = threading.Event()
    torn: list[tuple[bytes, bytes]] = []

    def read() -> None:
        while not stop.is_set():
            folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
            try:
                both = []
                for name in ("a", "b"):
                    file = os.open(name, os.O_RDONLY, dir_fd=folder)
                    both.append(os.read(file, 10))
                    os.close(file)
                if both[0] != both[1]:
                    torn.append((both[0], both[1]))
            except FileNotFoundError:
                # The folder that was opened has been replaced and removed.
                continue
            finally:
                os.close(folder)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(60):
        replace_folder(place, {"a": b"%d" % number, "b": b"%d" % number})
    stop.set()
    reader.join()
    assert not torn
    assert names(tmp_path) == ["set"]


def test_writers_leave_each_other_alone(tmp_path: Path) -> None:
    failed: list[BaseException] = []

    def write(text: bytes) -> None:
        try:
            for _ in range(25):
                replace_folder(tmp_path / "set", {str(number): text for number in range(5)})
        except BaseException as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(text,)) for text in (b"1", b"2", b"3")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not failed
    assert len(set(contents(tmp_path / "set").values())) == 1
    assert names(tmp_path) == ["set"]


def test_what_a_killed_write_left_is_removed_by_the_next(tmp_path: Path) -> None:
    script = f"""
import sys, time
from pathlib import Path
from gompute.artifacts import staging
def fill(staged, files):
    (staged / "half").write_bytes(b"x")
    print("filling", flush=True)
    time.sleep(60)
staging._fill = fill
staging.replace_folder(Path({str(tmp_path / "set")!r}), {{}})
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "filling\n"
        left = names(tmp_path)
        assert len(left) == 1
        # A write at the same time sees that the other is alive.
        replace_folder(tmp_path / "set", OLD)
        assert names(tmp_path) == [*left, "set"]
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
    replace_folder(tmp_path / "set", NEW)
    assert names(tmp_path) == ["set"]
    assert contents(tmp_path / "set") == NEW


def test_only_its_own_leftovers_are_removed(tmp_path: Path) -> None:
    mine = staging_folder(tmp_path / "set")
    mine.mkdir()
    others = [staging_folder(tmp_path / "other"), tmp_path / ".set", tmp_path / "set.gompute-staging-1"]
    for other in others:
        other.mkdir()
    (tmp_path / f"{staging_folder(tmp_path / 'set').name}-file").write_text("no folder")
    link = staging_folder(tmp_path / "set")
    link.symlink_to(others[1])
    replace_folder(tmp_path / "set", NEW)
    assert not mine.exists()
    assert all(other.is_dir() for other in others)
    assert link.is_symlink()


def test_a_name_from_beforehand_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    announced = staging_folder(tmp_path / "set")
    assert announced.parent == tmp_path
    seen: list[bool] = []
    real = staging._fill

    def fill(staged: Path, files: dict[str, bytes]) -> None:
        seen.append(staged == announced)
        real(staged, files)

    monkeypatch.setattr(staging, "_fill", fill)
    replace_folder(tmp_path / "set", NEW, announced)
    assert seen == [True]
    assert not announced.exists()


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is taken for abandoned, since nobody could tell."""

    def no_locks(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(staging.fcntl, "flock", no_locks)
    left = staging_folder(tmp_path / "set")
    left.mkdir()
    replace_folder(tmp_path / "set", NEW)
    assert contents(tmp_path / "set") == NEW
    assert left.exists()


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    for data in (b"old", b"new"):
        replace_file(tmp_path / "a" / "file", data)
        assert (tmp_path / "a" / "file").read_bytes() == data
        assert names(tmp_path / "a") == ["file"]


def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    replace_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_folder_in_the_place_of_a_file_stays(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path / "file", b"new")
    assert names(tmp_path) == ["file"]


def test_what_a_killed_write_of_a_file_has_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left = staging_folder(tmp_path / "file")
    left.mkdir()
    (left / "file").write_bytes(b"half")
    mine = staging_folder(tmp_path / "file")
    replace_file(tmp_path / "file", b"new", mine)
    assert names(tmp_path) == ["file"]
    assert not mine.exists()
