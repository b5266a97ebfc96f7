"""Where the bytes of an entry are between `add_file` and the store.

Three ways, chosen by `take`:

* a *snapshot* in the staging directory, made at once: small files, and any file that can be reflinked;
* *held*: a large file that stays where it is, kept open, so that deleting or replacing it does no harm. Rewriting it
  in place before it was copied is noticed and is an error, never a wrong artifact;
* *given*: the caller promised not to change it (policy="immutable"), so it may be hard-linked into the store.

It knows nothing of names, versions or manifests.
"""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

from strobe.artifact import copying
from strobe.artifact import digest as digests
from strobe.artifact.staging import Staging
from strobe.errors import ArtifactError, UsageError

#: descriptors are scarce (often 1,024 per process); files beyond these are opened again when their turn comes
_MAX_HELD = 128
_num_held = 0


class Source:
    """The content of one entry, wherever it is."""

    def __init__(
        self,
        path: Path,
        signature: copying.Signature,
        *,
        file: io.FileIO | None = None,
        digest: str | None = None,
        is_owned: bool = False,
        is_linkable: bool = False,
    ) -> None:
        self.path = path
        self.size = signature.size
        #: the file is ours to move
        self.is_owned = is_owned
        #: nobody will write to the file
        self.is_linkable = is_linkable
        self._signature = signature
        self._digest = digest
        self._pid = os.getpid()
        self._file: io.FileIO | None = None
        if file is not None:
            self._hold(file)

    @property
    def is_ready(self) -> bool:
        """Whether bringing it into the store takes no time: hashed, and moved or linked rather than copied."""
        return self._digest is not None and (self.is_owned or self.is_linkable)

    def digest(self, algorithm: str) -> str:
        """Return the content's digest, reading the file the first time."""
        if self._digest is None:
            with self.open() as file:
                self._digest = digests.of_file(file, algorithm)
                self.check_unchanged(file)
        return self._digest

    def open(self) -> io.FileIO:
        """Open the content for reading; raise ArtifactError if it's not what was added."""
        if self._file is not None and os.name != "nt":  # Windows keeps a file that is open in its place anyway
            file = io.FileIO(os.dup(self._file.fileno()))
        else:
            try:
                file = io.FileIO(self.path)
            except OSError as exc:
                raise ArtifactError(f"{self.path} can't be read any more: {exc.strerror}; {_ADVICE}") from exc
        try:
            self.check_unchanged(file)
        except ArtifactError:
            file.close()
            raise
        return file

    def check_unchanged(self, file: io.FileIO) -> None:
        """Raise ArtifactError if the open file was rewritten since it was added."""
        if not self.is_owned and copying.signature(file) != self._signature:
            raise ArtifactError(f"{self.path} changed after it was added to the artifact; {_ADVICE}")

    def close(self) -> None:
        """Let go of the file; a staged one that is still there is removed."""
        global _num_held
        if self._file is not None:
            self._file.close()
            self._file = None
            _num_held -= 1
        # A forked child's copy of this object must not remove what its parent still needs.
        if self.is_owned and self._pid == os.getpid():
            with contextlib.suppress(OSError):  # moved into the store, or swept
                os.unlink(self.path)

    def __del__(self) -> None:
        if os is not None and hasattr(self, "_file"):
            self.close()

    def _hold(self, file: io.FileIO) -> None:
        global _num_held
        if _num_held < _MAX_HELD:
            self._file = file
            _num_held += 1
        else:
            file.close()


_ADVICE = "call artifact.wait() before changing large files, or write each version to a file of its own"


def take(path: Path, staging: Staging | None, algorithm: str, *, budget: int, is_promised: bool) -> Source:
    """Return the content of the user's file `path`.

    Up to `budget` bytes are copied at once; without a staging directory (full disk, read-only home) nothing is.
    """
    try:
        file = copying.open_regular(path)
    except OSError as exc:
        raise UsageError(f"{path} can't be added to the artifact: {exc.strerror}") from exc
    if file is None:
        raise UsageError(f"{path} is not a regular file; only files can be added to an artifact")
    seen = copying.signature(file)
    if staging is not None and not is_promised:
        snapshot = _snapshot(file, seen, staging, algorithm, budget)
        if snapshot is not None:
            file.close()
            return snapshot
    return Source(path, seen, file=file, is_linkable=is_promised)


def own(path: Path, algorithm: str) -> Source:
    """Return the content of a staged file that is ours to move."""
    with io.FileIO(path) as file:
        return Source(path, copying.signature(file), digest=digests.of_file(file, algorithm), is_owned=True)


def stored(path: Path, digest: str) -> Source:
    """Return the content of an object of a store, which never changes."""
    try:
        with io.FileIO(path) as file:
            return Source(path, copying.signature(file), digest=digest, is_linkable=True)
    except FileNotFoundError as exc:
        raise ArtifactError(f"the store has lost {path}; log the artifact again from its files") from exc


def _snapshot(file: io.FileIO, seen: copying.Signature, staging: Staging, algorithm: str, budget: int) -> Source | None:
    target_path = staging.new_path()
    try:
        with copying.create(target_path, mode=0o444) as target:
            if copying.clone(file, target):
                return Source(target_path, copying.signature(target), is_owned=True)
            if seen.size <= budget:
                hasher = digests.new_hasher(algorithm)
                size = copying.copy_hashing(file, target, hasher)
                digest = digests.encode(hasher.digest())
                return Source(target_path, seen._replace(size=size), digest=digest, is_owned=True)
    except OSError:
        pass  # our disk, not the user's file: it's copied when the artifact is logged, and complained about then
    target_path.unlink(missing_ok=True)
    return None
