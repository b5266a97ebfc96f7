"""The files below a run's directory, listed again and again at little cost. Nothing of where they go."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from strobe.artifact.atomic import UNFINISHED
from strobe.data.files import PARTIAL


class FoundFile:
    """A file as found: what it is called and how it looked."""

    __slots__ = ("mtime_ns", "path", "size")

    def __init__(self, path: str, status: os.stat_result) -> None:
        self.path = path
        self.size = status.st_size
        self.mtime_ns = status.st_mtime_ns


class Tree:
    """A directory and all below it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        #: when a directory changed last, and those in it
        self._directories: dict[str, tuple[int, list[str]]] = {}

    def files(self) -> Iterator[FoundFile]:
        root = self._root
        waiting = [""]
        while waiting:
            directory = waiting.pop()
            try:
                changed_ns = os.stat(root / directory).st_mtime_ns
                known = self._directories.get(directory)
                # Media appear and are replaced by renaming, so a directory that has not changed has nothing new.
                is_quiet = known is not None and known[0] == changed_ns and directory.startswith("media")
                is_fresh = abs(time.time_ns() - changed_ns) < 2_000_000_000
                if known is not None and is_quiet:
                    waiting += known[1]
                    continue
                found, below = self._list(root, directory)
            except OSError:  # it, or something in it, has gone: the next scan sees what is left
                continue
            waiting += below
            if not is_fresh:  # within the clock's grain more may come without a sign
                self._directories[directory] = (changed_ns, below)
            yield from found

    def _list(self, root: Path, directory: str) -> tuple[list[FoundFile], list[str]]:
        found, below = [], []
        with os.scandir(root / directory) as entries:
            for entry in entries:
                path = f"{directory}/{entry.name}" if directory else entry.name
                if entry.name.startswith(UNFINISHED) or path == PARTIAL:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append(path)
                elif entry.is_file():
                    found.append(FoundFile(path, entry.stat()))
        return found, below
