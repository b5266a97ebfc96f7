"""The files under a directory, in one order, symbolic links followed but never in circles."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path


def iter_files(root: Path, *, enters: Callable[[Path], bool] | None = None) -> Iterator[tuple[str, Path]]:
    """Yield ("sub/name", path) for each regular file under `root`, sorted; pipes and the like are left out.

    `enters(directory)` says which directories to look into. A link to nowhere is yielded too: adding it fails with its
    name, which is better than an artifact that lacks it.
    """
    yield from _walk(root, "", enters, frozenset())


def _walk(
    directory: Path, prefix: str, enters: Callable[[Path], bool] | None, above: frozenset[tuple[int, int]]
) -> Iterator[tuple[str, Path]]:
    status = directory.stat()
    identity = (status.st_dev, status.st_ino)
    if identity in above:
        return
    with os.scandir(directory) as scan:
        entries = sorted(scan, key=lambda entry: entry.name)
    for entry in entries:
        path = directory / entry.name
        if entry.is_dir():
            if enters is None or enters(path):
                yield from _walk(path, f"{prefix}{entry.name}/", enters, above | {identity})
        elif entry.is_file() or entry.is_symlink():
            yield prefix + entry.name, path
