"""The files of a run of a home: paths under its `files/` directory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from strobe.api.files import File
from strobe.errors import UsageError


class HomeFile(File):
    """A file that lies in a run's directory."""

    def __init__(self, directory: Path, name: str) -> None:
        super().__init__(name)
        self._directory = directory

    @property
    def path(self) -> Path:
        return self._directory / self.name

    @property
    def url(self) -> str:
        return self.path.absolute().as_uri()

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    @property
    def md5(self) -> str:
        import base64
        import hashlib

        digest = hashlib.md5(usedforsecurity=False)
        with open(self.path, "rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
        return base64.b64encode(digest.digest()).decode("ascii")

    @property
    def updated_ns(self) -> int:
        return self.path.stat().st_mtime_ns

    def bring(self, target: Path) -> None:
        shutil.copyfile(self.path, target)

    def delete(self) -> None:
        self.path.unlink()


def list_files(directory: Path, names: Sequence[str] | None) -> Iterable[File]:
    """Return the files by name; those of these names that there are."""
    found = sorted(_walk(directory)) if names is None else [name for name in names if (directory / name).is_file()]
    return [HomeFile(directory, name) for name in found]


def file_in(directory: Path, name: str) -> File:
    """Return the file of that name; raise UsageError if the run has none, or if the name leads out of the run."""
    path = directory / name
    if not path.resolve().is_relative_to(directory.resolve()):
        raise UsageError(f"{name!r} leads out of the run's files")
    if not path.is_file():
        raise UsageError(f"the run has no file {name!r}; `run.files()` lists those it has")
    return HomeFile(directory, name)


def take_in(directory: Path, source: Path, name: str) -> File:
    """Copy a file into the run's files so that it is never half there."""
    file = HomeFile(directory, name)
    file.path.parent.mkdir(parents=True, exist_ok=True)
    partial = file.path.with_name(file.path.name + ".part")
    shutil.copyfile(source, partial)
    os.replace(partial, file.path)
    return file


def _walk(directory: Path) -> Iterator[str]:
    for folder, _, names in os.walk(directory):
        for name in names:
            yield (Path(folder) / name).relative_to(directory).as_posix()
