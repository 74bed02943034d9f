"""The forms in which a kernel set leaves a build: a folder, a Python package, a wheel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gompute.artifacts.package import check_holds_packages, check_package_place, package_files
from gompute.artifacts.staging import replace_file, replace_folder, staging_folder
from gompute.artifacts.wheel import make_wheel
from gompute.artifacts.write import SetContent, check_destination, writing

__all__ = ["Destination", "PackageFolder", "Prepared", "SetFolder", "WheelFile"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that is to be written, in memory.

    Attributes:
        place: the folder or the file that will be there.
        staging: the folder in which it is made first, for a caller that removes it should the process end in between.
        files: what will be there: in a folder by name; of a file its bytes, under an empty name.
        write: writes it, whole or not at all, and raises ArtifactError where that fails; what was in `place` is there still then.
    """

    place: Path
    staging: Path
    files: Mapping[str, bytes]
    write: Callable[[], None]


class Destination(Protocol):
    """Where a set goes and in which form."""

    @property
    def partial(self) -> bool:
        """Whether a set may be written from which units that failed are missing."""

    @property
    def label(self) -> str:
        """What is to be written, for messages."""

    def check(self) -> None:
        """Whether there is room for it; a build asks before it compiles.

        Raises:
            ArtifactError: something is there that would be lost.
        """

    def prepare(self, content: SetContent) -> Prepared:
        """Put together what is to be written."""


@dataclass(frozen=True, slots=True)
class SetFolder:
    """A kernel set as a folder. One that is there is replaced as a whole."""

    directory: Path

    @property
    def partial(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return str(self.directory)

    def check(self) -> None:
        check_destination(self.directory)

    def prepare(self, content: SetContent) -> Prepared:
        return _prepared_folder(self.directory, "the kernel set", content.files, self.check)


@dataclass(frozen=True, slots=True)
class PackageFolder:
    """The Python package of a set: the folder `module` in `directory`, which Python imports where `directory` is on its path."""

    directory: Path
    module: str

    @property
    def partial(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return str(self.directory / self.module)

    def check(self) -> None:
        check_package_place(self.directory, self.module)

    def prepare(self, content: SetContent) -> Prepared:
        return _prepared_folder(self.directory / self.module, "the package", package_files(content), self.check)


@dataclass(frozen=True, slots=True)
class WheelFile:
    """The wheel of a set's Python package, in `directory`, under the name that its content gives it.

    Attributes:
        gompute_version: of the Gompute that builds.
    """

    directory: Path
    module: str
    gompute_version: str

    @property
    def partial(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return f"the wheel of {self.module} in {self.directory}"

    def check(self) -> None:
        check_holds_packages(self.directory)

    def prepare(self, content: SetContent) -> Prepared:
        wheel = make_wheel(self.module, package_files(content), self.gompute_version)
        place = self.directory / wheel.file
        staging = staging_folder(place)

        def write() -> None:
            self.check()
            with writing(place, "the wheel"):
                replace_file(place, wheel.data, staging)

        return Prepared(place, staging, {"": wheel.data}, write)


def _prepared_folder(place: Path, what: str, files: Mapping[str, bytes], check: Callable[[], None]) -> Prepared:
    staging = staging_folder(place)

    def write() -> None:
        check()
        with writing(place, what):
            replace_folder(place, files, staging)

    return Prepared(place, staging, files, write)
