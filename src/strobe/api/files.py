"""The files of a run: media, saved files and big values.

Knows names and how a copy comes to a directory; where a file lies is for `home_files` and `server.files` to say, what
it means for `strobe.data`.
"""

from __future__ import annotations

import mimetypes
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import IO, overload

from strobe.errors import UsageError


class File(ABC):
    """One file of a run. `name` is its path under `files/`, with forward slashes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<File {self.name} ({self.size} bytes)>"

    @property
    @abstractmethod
    def path(self) -> Path:
        """Where the file lies; UsageError for one that lies on a server."""

    @property
    @abstractmethod
    def url(self) -> str:
        """Its address: `file://…` in a home."""

    @property
    def direct_url(self) -> str:
        return self.url

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    @abstractmethod
    def md5(self) -> str:
        """The base64 MD5 of the content, as wandb gives it."""

    @property
    @abstractmethod
    def updated_ns(self) -> int: ...

    @abstractmethod
    def bring(self, target: Path) -> None:
        """Write the content to `target`, whole or with an exception."""

    @abstractmethod
    def delete(self) -> None:
        """Delete the file for good."""

    @property
    def mimetype(self) -> str:
        return mimetypes.guess_type(self.name)[0] or "application/octet-stream"

    @property
    def updated_at(self) -> str:
        return datetime.fromtimestamp(self.updated_ns / 1e9, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def download(self, root: str | os.PathLike[str] = ".", *, replace: bool = False, exist_ok: bool = False) -> IO[str]:
        """Copy the file to `root` under its name and return it opened for reading, as wandb does."""
        target = Path(root) / self.name
        if target.exists() and not replace:
            if exist_ok:
                return open(target, encoding="utf-8", errors="replace")
            raise UsageError(
                f"{target} is there already; pass replace=True to overwrite it or exist_ok=True to keep it"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".part")  # so that the target is never half there
        try:
            self.bring(partial)
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)
        return open(target, encoding="utf-8", errors="replace")


class Files(Sequence[File]):
    """The files of a run, in the order of their names; `pattern` is a glob. Listed when first looked at."""

    def __init__(self, find: Callable[[], Iterable[File]], *, pattern: str | None = None) -> None:
        self._find = find
        self._pattern = pattern

    @cached_property
    def _files(self) -> list[File]:
        return [file for file in self._find() if self._pattern is None or fnmatchcase(file.name, self._pattern)]

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
