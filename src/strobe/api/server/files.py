"""The files of a run on a server: listed in pages, fetched in pieces, every byte checked against the digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from strobe.api.files import File
from strobe.api.server.host import Host, at
from strobe.errors import CommError, RunNotFound, UsageError


class FileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A file as the server tells of it."""

    path: str
    size: int
    sha256: str
    md5: str
    mtime_ns: int | None = None
    uploaded_ns: int


class FilePage(msgspec.Struct, frozen=True):
    items: list[FileFacts]
    cursor: str | None = None


class UploadStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How far an upload in parts is."""

    state: str
    id: str | None = None
    part_bytes: int = 0
    num_parts: int = 0
    parts: list[int] = []


class ServerFile(File):
    """A file that lies on a server."""

    def __init__(self, host: Host, run: str, facts: FileFacts) -> None:
        super().__init__(facts.path)
        self._host = host
        self._run = run
        self._facts = facts

    @property
    def _at(self) -> str:
        return self._run + at("files", rest=self.name)

    @property
    def path(self) -> Path:
        raise UsageError(f"{self.name!r} lies on {self._host.url}; download() brings it here")

    @property
    def url(self) -> str:
        return f"{self._host.url}/api/v1{self._at}"

    @property
    def size(self) -> int:
        return self._facts.size

    @property
    def md5(self) -> str:
        return self._facts.md5

    @property
    def updated_ns(self) -> int:
        return self._facts.mtime_ns or self._facts.uploaded_ns

    def bring(self, target: Path) -> None:
        self._host.download(self._at, target, self.size, missing=UsageError)
        # `strobe ui` tells of a digest when a file changed, not what is in it; then md5 is empty.
        if self._facts.md5 and (found := _sha256(target)) != self._facts.sha256:
            raise CommError(f"{self.name!r} came with the sha256 {found}, not {self._facts.sha256}; download it again")

    def delete(self) -> None:
        self._host.send("DELETE", self._at, missing=UsageError)


def list_files(host: Host, run: str, names: Sequence[str] | None) -> Iterable[File]:
    """Yield the files by name; those of these names that there are."""
    if names is not None:
        return (found for name in names for found in _named(host, run, name))
    pages = host.pages(f"{run}/files", FilePage, {"limit": 1000}, missing=RunNotFound)
    return (ServerFile(host, run, facts) for page in pages for facts in page.items)


def file_of(host: Host, run: str, name: str) -> File:
    """Return the file of that name; raise UsageError if the run has none."""
    for file in _named(host, run, name):
        return file
    raise UsageError(f"the run has no file {name!r}; `run.files()` lists those it has")


def _named(host: Host, run: str, name: str) -> Iterator[File]:
    page = host.get(f"{run}/files", FilePage, {"prefix": name, "limit": 1}, missing=RunNotFound)
    for facts in page.items:
        if facts.path == name:  # the shortest path that begins with it comes first
            yield ServerFile(host, run, facts)


class _Part:
    """Consecutive bytes of a file, as a link sends them."""

    def __init__(self, path: Path, start: int, size: int) -> None:
        self._path = path
        self._start = start
        self._size = size

    def __len__(self) -> int:
        return self._size

    def slices(self) -> Iterator[bytes]:
        left = self._size
        with open(self._path, "rb", buffering=0) as stream:
            stream.seek(self._start)
            while left and (piece := stream.read(min(left, 32 << 10))):
                left -= len(piece)
                yield piece


def send_file(host: Host, run: str, source: Path, name: str) -> File:
    """Send a file, in parts if it is a big one, and return it as it is there."""
    status = source.stat()
    start: dict[str, Any] = {
        "path": name,
        "size": status.st_size,
        "sha256": _sha256(source),
        "policy": "now",
        "mtime_ns": status.st_mtime_ns,
    }
    upload = host.send("POST", f"{run}/uploads", start, UploadStatus, missing=RunNotFound)
    if upload is not None and upload.state != "there":
        for number in sorted(set(range(upload.num_parts)) - set(upload.parts)):
            first = number * upload.part_bytes
            part = _Part(source, first, min(upload.part_bytes, status.st_size - first))
            host.put(f"/uploads/{upload.id}/parts/{number}", part)
        host.send("POST", f"/uploads/{upload.id}/complete")
    return file_of(host, run, name)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
