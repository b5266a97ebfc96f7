"""What goes into an artifact: files, directories, references and media, until it's logged.

Small files are copied the moment they are added, so a script may overwrite them at once. Larger ones are reflinked, or
held open until the artifact is logged (strobe.artifact.source says what that means for the caller).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import IO, Any

from strobe.artifact import digest as digests
from strobe.artifact import staging
from strobe.artifact.manifest import Entry, Manifest
from strobe.artifact.name import entry_path
from strobe.artifact.source import Source, own, take
from strobe.artifact.tree import iter_files
from strobe.errors import UsageError

StrPath = str | os.PathLike[str]

#: up to this much is hashed and copied while the caller waits
AT_ONCE_BYTES = 32 << 20


class Contents:
    """The entries of a draft and the ways to add to them."""

    def __init__(self, algorithm: str) -> None:
        self._manifest = Manifest(algorithm=digests.check_algorithm(algorithm))
        self._is_final = False
        self._added: dict[str, str] = {}

    @property
    def manifest(self) -> Manifest:
        """All entries by path."""
        return self._manifest

    def add_file(
        self,
        local_path: StrPath,
        name: str | None = None,
        is_tmp: bool | None = False,
        skip_cache: bool | None = False,
        policy: str | None = "mutable",
        overwrite: bool = False,
    ) -> Entry:
        """Add one file under `name` (its own name if None).

        policy="immutable" or skip_cache=True promise that the file will never be changed in place: then it's
        hard-linked into the store where possible, instead of copied. `is_tmp` names the entry by its digest.
        """
        self._check_open()
        path = Path(local_path)
        if not path.is_file():
            raise UsageError(f"there is no file {path} to add to the artifact")
        source = self._take(path, AT_ONCE_BYTES, _is_promised(policy, skip_cache))
        target = entry_path(name if name is not None else path.name)
        if is_tmp:
            head, slash, tail = target.rpartition("/")
            digest = digests.to_hex(source.digest(self._manifest.algorithm))[:20]
            target = head + slash + ".".join([digest, *tail.split(".")[1:]])
        return self._add(target, source, path, overwrite=overwrite)

    def add_dir(
        self,
        local_path: StrPath,
        name: str | None = None,
        skip_cache: bool | None = False,
        policy: str | None = "mutable",
        merge: bool = False,
    ) -> None:
        """Add every file under a directory, below `name` if given; `merge` lets new files replace added ones."""
        self._check_open()
        root = Path(local_path)
        if not root.is_dir():
            raise UsageError(f"there is no directory {root} to add to the artifact")
        prefix = f"{entry_path(name)}/" if name else ""
        is_promised = _is_promised(policy, skip_cache)
        budget = AT_ONCE_BYTES
        for relative, path in iter_files(root):
            source = self._take(path, budget, is_promised)
            if source.is_owned:
                budget -= min(budget, source.size)
            self._add(entry_path(prefix + relative), source, path, overwrite=merge)

    @contextlib.contextmanager
    def new_file(
        self, name: str, mode: str = "x", encoding: str | None = None, policy: str | None = "mutable"
    ) -> Generator[IO[Any], None, None]:
        """Open a new file to write into; it's added when the block ends without an exception."""
        self._check_open()
        target = entry_path(name)
        overwrite = "x" not in mode
        if target in self._manifest and not overwrite:
            raise UsageError(f"artifact has a file {target!r} already; pass mode='w' to replace it")
        path = staging.current().new_path()
        try:
            with open(path, mode, encoding=encoding) as file:
                yield file
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self._add(target, own(path, self._manifest.algorithm), None, overwrite=overwrite)

    def add_reference(
        self,
        uri: Entry | str,
        name: StrPath | None = None,
        checksum: bool = True,
        max_objects: int | None = None,
    ) -> Sequence[Entry]:
        """Add an address instead of content: file://, http(s)://, s3:// or any other; or another artifact's entry."""
        from strobe.artifact.reference import entries_for

        self._check_open()
        path = entry_path(name) if name is not None else None
        if isinstance(uri, Entry):
            found = [uri.copied(path)]
        else:
            algorithm = self._manifest.algorithm
            found = entries_for(str(uri), path, checksum=checksum, max_objects=max_objects, algorithm=algorithm)
        return [self._manifest.add(entry) for entry in found]

    def add(self, obj: object, name: StrPath, overwrite: bool = False) -> Entry:
        """Add a Table, an Image or other media, to be read back with `get(name)`."""
        from strobe.artifact.media import store

        self._check_open()
        return store(self, obj, entry_path(name), overwrite=overwrite)

    def add_staged(self, name: str, path: Path, *, overwrite: bool = False) -> Entry:
        """Add a file of the staging directory, which is then the artifact's to move."""
        return self._add(entry_path(name), own(path, self._manifest.algorithm), None, overwrite=overwrite)

    def remove(self, item: StrPath | Entry) -> None:
        """Take an entry out of the draft, or all below a path; FileNotFoundError if there is none."""
        self._check_open()
        path = item.path if isinstance(item, Entry) else entry_path(item)
        found = self._manifest.under(path)
        if not found:
            raise FileNotFoundError(f"there is no entry {path!r} in the artifact")
        for entry in found:
            del self._manifest.entries[entry.path]

    def get_added_local_path_name(self, local_path: StrPath) -> str | None:
        """Return the name under which a local file was added, None if it wasn't."""
        return self._added.get(str(Path(local_path).absolute()))

    @property
    def waiting_bytes(self) -> int:
        """How many bytes have to be read or copied before the artifact can be logged."""
        sources = [entry.source for entry in self._manifest if entry.source is not None]
        return sum(source.size for source in sources if not source.is_ready)

    def finalize(self) -> None:
        """Allow no more changes of the contents."""
        self._is_final = True

    def _check_open(self) -> None:
        if self._is_final:
            raise UsageError("a logged artifact can't be changed; change artifact.new_draft() and log that")

    def _take(self, path: Path, budget: int, is_promised: bool) -> Source:
        try:
            place = staging.current()
        except OSError:
            place = None  # full or read-only: tried again, and complained about, when the artifact is logged
        return take(path, place, self._manifest.algorithm, budget=budget, is_promised=is_promised)

    def _add(self, name: str, source: Source, local_path: Path | None, *, overwrite: bool) -> Entry:
        entry = Entry(name, source=source, algorithm=self._manifest.algorithm)
        added = self._manifest.add(entry, overwrite=overwrite)
        if local_path is not None:
            self._added[str(local_path.absolute())] = name
        return added


def _is_promised(policy: str | None, skip_cache: bool | None) -> bool:
    if policy not in {None, "mutable", "immutable"}:
        raise UsageError(f"policy is {policy!r}; it can be 'mutable' or 'immutable'")
    return policy == "immutable" or bool(skip_cache)
