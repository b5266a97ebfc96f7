"""References: entries that point outside the store and hold no content.

`file://` is read, so that a change is noticed later. `http(s)://` is asked for its ETag with one HEAD request. Every
other address (`s3://`, `gs://`, …) is recorded as it is: Strobe talks to no cloud. `checksum=False` reads nothing.
"""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from urllib.parse import unquote, urlsplit

from strobe.artifact import digest as digests
from strobe.artifact.manifest import Entry
from strobe.artifact.name import entry_path
from strobe.artifact.tree import iter_files
from strobe.errors import StrobeWarning, UsageError

_MAX_OBJECTS = 10_000_000
_HEAD_TIMEOUT_S = 5.0
_NAMED_BY_KEY = {"s3", "gs", "http", "https"}


def entries_for(uri: str, name: str | None, *, checksum: bool, max_objects: int | None, algorithm: str) -> list[Entry]:
    """Return the entries that a reference to `uri` adds: one, or one per file of a directory."""
    parts = urlsplit(uri)
    if not parts.scheme:
        raise UsageError(f"{uri!r} is not a URI; write file:///absolute/path to refer to a local file")
    if parts.scheme == "file":
        limit = _MAX_OBJECTS if max_objects is None else max_objects
        return _files(local_path(uri), name, checksum=checksum, limit=limit, algorithm=algorithm)
    if name is None:
        name = parts.path.rstrip("/").rpartition("/")[2] if parts.scheme in _NAMED_BY_KEY else ""
        if not name:
            raise UsageError(f"pass name=… to add_reference: {uri!r} does not say what to call the entry")
    path = entry_path(name)
    if checksum and parts.scheme in {"http", "https"}:
        return [_with_etag(uri, path)]
    return [Entry(path, uri, ref=uri)]


def local_path(uri: str) -> Path:
    """Return the path that a file:// URI names, whether or not it was percent-encoded."""
    plain = uri.removeprefix("file://")
    path = Path(plain)
    if not path.is_absolute():
        raise UsageError(f"{uri!r} must be file:// and an absolute path")
    return path if path.exists() else Path(unquote(plain))


def _files(path: Path, name: str | None, *, checksum: bool, limit: int, algorithm: str) -> list[Entry]:
    if path.is_dir():
        prefix = f"{name}/" if name else ""
        found: list[Entry] = []
        for relative, file_path in iter_files(path):
            if len(found) == limit:
                raise UsageError(f"{path} holds more than {limit} files; pass a larger max_objects")
            found.append(_file(file_path, prefix + relative, checksum=checksum, algorithm=algorithm))
        return found
    if not path.is_file():
        raise UsageError(f"there is no file {path} to refer to")
    return [_file(path, name or path.name, checksum=checksum, algorithm=algorithm)]


def _file(path: Path, name: str, *, checksum: bool, algorithm: str) -> Entry:
    ref = f"file://{path.as_posix()}"
    try:
        with io.FileIO(path) as file:
            size = os.fstat(file.fileno()).st_size
            digest = digests.of_file(file, algorithm) if checksum else digests.of_text(ref)
    except OSError as exc:
        raise UsageError(f"{path} can't be referred to: {exc.strerror}") from exc
    return Entry(entry_path(name), digest, size=size, ref=ref, algorithm=algorithm)


def _with_etag(uri: str, path: str) -> Entry:
    import http.client
    import urllib.request

    request = urllib.request.Request(uri, method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=_HEAD_TIMEOUT_S) as response:
            etag, length = response.headers.get("ETag"), response.headers.get("Content-Length")
    except (OSError, http.client.HTTPException, ValueError) as exc:
        # The address is what matters; the training must not stop because a host is away.
        warnings.warn(
            f"{uri} did not answer ({exc}): recorded without its ETag, so changes won't be noticed",
            StrobeWarning,
            stacklevel=4,
        )
        return Entry(path, uri, ref=uri)
    size = int(length) if length and length.isdigit() else None
    extra = {"etag": etag} if etag else {}
    return Entry(path, etag.strip('"') if etag else uri, ref=uri, size=size, extra=extra)
