"""Contents by digest: every file of every version once, however many versions hold it.

    <home>/artifacts/objects/md5/ab/cdef…     read-only; the name is the digest of the content

Objects come in by rename, so that a half-written one is never seen under its name. Who refers to an object is not
known here; `sweep` is told.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
import time
from collections.abc import Container, Iterator
from pathlib import Path

from strobe.artifact import copying
from strobe.artifact import digest as digests
from strobe.artifact.atomic import UNFINISHED, token
from strobe.artifact.source import Source
from strobe.errors import ArtifactError


class Objects:
    """The content-addressed part of a store; `directory` is `<home>/artifacts/objects`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, digest: str, algorithm: str) -> Path:
        """Return where content of that (base64) digest is or would be."""
        name = digests.to_hex(digest)
        return self.directory / algorithm.lower() / name[:2] / name[2:]

    def has(self, digest: str, size: int, algorithm: str) -> bool:
        """Tell whether the content is here, and protect it from a sweep that is due.

        A size that does not fit is what a power cut leaves of a file; such a one is not there and is replaced.
        """
        path = self.path(digest, algorithm)
        try:
            status = path.stat()
        except FileNotFoundError:
            return False
        if status.st_size != size:
            return False
        with contextlib.suppress(PermissionError):  # another user's object in a shared home
            # Sets the change time and nothing else, which matters when the object is a link to a user's file.
            path.chmod(stat.S_IMODE(status.st_mode))
        return True

    def put(self, source: Source, algorithm: str) -> None:
        """Bring the content of `source` in, by moving, linking, cloning or copying it."""
        digest = source.digest(algorithm)
        if self.has(digest, source.size, algorithm):
            source.close()
            return
        target = self.path(digest, algorithm)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not (source.is_owned and _move(source.path, target)):
            self._copy_in(source, target)
        source.close()

    def open(self, digest: str, algorithm: str) -> io.FileIO:
        """Open an object for reading; ArtifactError if the store has lost it."""
        path = self.path(digest, algorithm)
        try:
            return io.FileIO(path)
        except FileNotFoundError as exc:
            raise ArtifactError(f"the store has lost {path}; log the artifact again from its files") from exc

    def sweep(self, live: Container[str], *, grace_s: float) -> tuple[int, int]:
        """Remove objects whose "algorithm/hex" is not in `live` and that nobody put in lately.

        Return (number, bytes). The grace covers versions that are being logged: their objects come first.
        """
        deadline = time.time() - grace_s
        count = size = 0
        for key, path in self._iter_objects():
            if key in live:
                continue
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                if max(status.st_ctime, 0.0) < deadline:
                    path.unlink()
                    count += 1
                    size += status.st_size
        return count, size

    def _copy_in(self, source: Source, target: Path) -> None:
        temporary = target.with_name(UNFINISHED + token())
        try:
            with source.open() as file:
                if not (source.is_linkable and _link(source.path, temporary, file)):
                    with copying.create(temporary, mode=0o444) as copy:
                        copying.copy(file, copy)
                source.check_unchanged(file)
            temporary.replace(target)
        except (OSError, ArtifactError):
            temporary.unlink(missing_ok=True)
            raise

    def _iter_objects(self) -> Iterator[tuple[str, Path]]:
        for algorithm in (digests.MD5.lower(), digests.XXH128.lower()):
            root = self.directory / algorithm
            if not root.is_dir():
                continue
            for prefix in sorted(root.iterdir()):
                for path in prefix.iterdir():
                    yield f"{algorithm}/{prefix.name}{path.name}", path


def _move(source: Path, target: Path) -> bool:
    try:
        os.replace(source, target)
    except OSError:
        return False  # another file system: the draft was staged in another home
    # The rename must count as "put in lately", which some file systems don't note by themselves.
    with contextlib.suppress(OSError):
        target.chmod(0o444)
    return True


def _link(source: Path, target: Path, opened: io.FileIO) -> bool:
    try:
        os.link(source, target)
    except OSError:
        return False  # another file system, or one without links
    # The name may lead to another file by now; the content that was hashed is the one that is open.
    if os.path.samestat(os.fstat(opened.fileno()), target.stat()):
        return True
    target.unlink()
    return False
