"""The files of a run: media, saved files and big values under its `files/` directory.

Knows paths; what a file means is for `strobe.data` to say.
"""

from __future__ import annotations

import mimetypes
import os
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, overload

from strobe.errors import UsageError


class File:
    """One file of a run. `name` is its path under `files/`, with forward slashes."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self.name = name

    def __repr__(self) -> str:
        return f"<File {self.name} ({self.size} bytes)>"

    @property
    def path(self) -> Path:
        """Where the file lies."""
        return self._directory / self.name

    #: a local home serves no URLs; it is here because scripts for wandb ask for it
    @property
    def url(self) -> str:
        return self.path.absolute().as_uri()

    direct_url = url

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    @property
    def mimetype(self) -> str:
        return mimetypes.guess_type(self.name)[0] or "application/octet-stream"

    @property
    def md5(self) -> str:
        """The base64 MD5 of the content, as wandb gives it."""
        import base64
        import hashlib

        digest = hashlib.md5(usedforsecurity=False)
        with open(self.path, "rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
        return base64.b64encode(digest.digest()).decode("ascii")

    @property
    def updated_at(self) -> str:
        return datetime.fromtimestamp(self.path.stat().st_mtime, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def download(self, root: str | os.PathLike[str] = ".", *, replace: bool = False, exist_ok: bool = False) -> IO[str]:
        """Copy the file to `root` under its name and return it opened for reading, as wandb does."""
        target = Path(root) / self.name
        if target.exists() and not replace:
            if exist_ok:
                return open(target, encoding="utf-8", errors="replace")
            raise UsageError(
                f"{target} is there already; pass replace=True to overwrite it or exist_ok=True to keep it"
            )
        _copy(self.path, target)
        return open(target, encoding="utf-8", errors="replace")

    def delete(self) -> None:
        """Delete the file for good."""
        self.path.unlink()


class Files(Sequence[File]):
    """The files of a run, in the order of their names; `pattern` is a glob."""

    def __init__(self, directory: Path, names: Sequence[str] | None = None, *, pattern: str | None = None) -> None:
        found = sorted(_walk(directory)) if names is None else [name for name in names if (directory / name).is_file()]
        self._files = [File(directory, name) for name in found if pattern is None or fnmatchcase(name, pattern)]

    @overload
    def __getitem__(self, index: int) -> File: ...
    @overload
    def __getitem__(self, index: slice) -> list[File]: ...
    def __getitem__(self, index: int | slice) -> File | list[File]:
        return self._files[index]

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return f"<Files {len(self)}>"


def file_in(directory: Path, name: str) -> File:
    """Return the file of that name; raise UsageError if the run has none, or if the name leads out of the run."""
    path = directory / name
    if not path.resolve().is_relative_to(directory.resolve()):
        raise UsageError(f"{name!r} leads out of the run's files")
    if not path.is_file():
        raise UsageError(f"the run has no file {name!r}; `run.files()` lists those it has")
    return File(directory, name)


def take_in(directory: Path, source: Path, root: Path) -> File:
    """Copy a file into the run's files, under its path relative to `root`."""
    if not source.is_file():
        raise UsageError(f"{source} is not a file")
    try:
        name = source.resolve().relative_to(root.resolve()).as_posix()
    except ValueError as exc:
        raise UsageError(f"{source} does not lie under {root}; give its directory as root") from exc
    file = File(directory, name)
    _copy(source, file.path)
    return file


def _copy(source: Path, target: Path) -> None:
    """Copy so that the target is never half there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".part")
    shutil.copyfile(source, partial)
    os.replace(partial, target)


def _walk(directory: Path) -> Iterator[str]:
    for folder, _, names in os.walk(directory):
        for name in names:
            yield (Path(folder) / name).relative_to(directory).as_posix()
