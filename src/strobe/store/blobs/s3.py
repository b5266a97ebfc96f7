"""Blobs in an S3-compatible object store, by its address `s3://bucket/prefix`.

Endpoint, region and credentials come from the usual AWS_* variables. Reading goes in windows, a request each: a slow
reader then holds no connection, and a window that failed is asked for again without the reader noticing. A draft waits
on the local disk until its key is known; putting what has a key streams through.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import TracebackType
from typing import IO, TYPE_CHECKING

import obstore
from obstore import exceptions as s3
from obstore.store import S3Store

from strobe.errors import NotInStore, StoreBusy, StoreError, StoreFull, UsageError
from strobe.store.blobs.blob import PIECE_BYTES, Blob, check_key, check_prefix

if TYPE_CHECKING:
    from obstore.store import ClientConfig, S3Config

_WINDOW_BYTES = 4 << 20
#: of a multipart upload; S3 takes at most 10,000 of them
_CHUNK_BYTES = 8 << 20
_MAX_CHUNKS = 9_000
_CONCURRENCY = 4
_RETRY = {"max_retries": 4, "retry_timeout": timedelta(seconds=30)}
_LIST_SIZE = 1_000


class S3Blobs:
    """Blobs below a prefix of a bucket, which must be there."""

    def __init__(self, address: str, environ: Mapping[str, str] | None = None) -> None:
        env = os.environ if environ is None else environ
        bucket, _, prefix = address.removeprefix("s3://").partition("/")
        if not bucket or not address.startswith("s3://"):
            raise UsageError(f"{address!r} is not an object store; write s3://bucket/prefix")
        self.address = address
        endpoint = env.get("AWS_ENDPOINT_URL_S3") or env.get("AWS_ENDPOINT_URL") or env.get("AWS_ENDPOINT")
        options: ClientConfig = {"connect_timeout": "5s", "timeout": "60s"}
        if endpoint and endpoint.startswith("http://"):
            options["allow_http"] = True
        # Read here, because the library knows only some of the names that these have.
        config: S3Config = {"region": env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION") or "us-east-1"}
        if endpoint:
            config["endpoint"] = endpoint
        if key_id := env.get("AWS_ACCESS_KEY_ID"):
            config["access_key_id"] = key_id
            config["secret_access_key"] = env.get("AWS_SECRET_ACCESS_KEY", "")
        if token := env.get("AWS_SESSION_TOKEN"):
            config["session_token"] = token
        self._store = S3Store(
            bucket,
            prefix=prefix.strip("/") or None,
            config=config,
            client_options=options,
            retry_config=_RETRY,  # type: ignore[arg-type]  # its TypedDict exists for type checkers alone
        )

    def draft(self) -> S3Draft:
        return S3Draft(self)

    def put(self, key: str, pieces: Iterable[bytes], *, size: int | None = None) -> None:
        check_key(key)
        chunk_bytes = max(_CHUNK_BYTES, -(-(size or 0) // _MAX_CHUNKS))
        with _translated(self.address, key, is_write=True):
            if size is not None and size <= _CHUNK_BYTES:
                obstore.put(self._store, key, b"".join(pieces), use_multipart=False)
                return
            # A file to write to, not an iterator to draw from: the library would draw inside of its event loop, where
            # pieces that come from this store themselves could not be fetched. Left by an exception, it aborts.
            writer = obstore.open_writer(self._store, key, buffer_size=chunk_bytes, max_concurrency=_CONCURRENCY)
            with writer as file:
                for piece in pieces:
                    file.write(piece)

    def read(self, key: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        blob = self.stat(key)
        if blob is None:
            raise NotInStore(f"there is no blob {key!r} in {self.address}")
        return self._windows(key, start, blob.size if stop is None else min(stop, blob.size))

    def stat(self, key: str) -> Blob | None:
        with _translated(self.address, check_key(key)):
            try:
                found = obstore.head(self._store, key)
            except FileNotFoundError:
                return None
        return Blob(key, found["size"], _nanoseconds(found["last_modified"].timestamp()))

    def delete(self, keys: Sequence[str]) -> None:
        paths = [check_key(key) for key in keys]
        if paths:
            with _translated(self.address, paths[0]):
                obstore.delete(self._store, paths)

    def list(self, prefix: str = "") -> Iterator[Blob]:
        place = check_prefix(prefix).rstrip("/") or None
        chunks = iter(obstore.list(self._store, place, chunk_size=_LIST_SIZE))
        while True:
            with _translated(self.address, prefix):
                chunk = next(chunks, None)
            if chunk is None:
                return
            for found in chunk:
                yield Blob(found["path"], found["size"], _nanoseconds(found["last_modified"].timestamp()))

    def _windows(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        for first in range(start, stop, _WINDOW_BYTES):
            with _translated(self.address, key):
                window = obstore.get_range(self._store, key, start=first, end=min(stop, first + _WINDOW_BYTES))
            view = memoryview(window)
            for offset in range(0, len(view), PIECE_BYTES):
                yield bytes(view[offset : offset + PIECE_BYTES])


class S3Draft:
    """Bytes on the local disk until their key is known."""

    def __init__(self, blobs: S3Blobs) -> None:
        self._blobs = blobs
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_CHUNK_BYTES)  # noqa: SIM115  # see __exit__

    def write(self, piece: bytes) -> None:
        try:
            self._file.write(piece)
        except OSError as error:
            place = tempfile.gettempdir()
            raise StoreFull(f"{place}, where uploads wait: {error.strerror}; make room there, or set TMPDIR") from error

    def commit(self, key: str) -> None:
        size = self._file.tell()
        self._file.seek(0)
        self._blobs.put(key, iter(lambda: self._file.read(PIECE_BYTES), b""), size=size)
        self._file.close()

    def discard(self) -> None:
        self._file.close()

    def __enter__(self) -> S3Draft:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e6) * 1000


@contextmanager
def _translated(address: str, key: str, *, is_write: bool = False) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        if is_write:
            raise StoreError(f"{address}: {_line(error)}; does the bucket exist?") from error
        raise NotInStore(f"there is no blob {key!r} in {address}") from error
    except (s3.PermissionDeniedError, s3.UnauthenticatedError) as error:
        raise StoreError(f"{address}: {_line(error)}; check AWS_ACCESS_KEY_ID and what it may do") from error
    except s3.BaseError as error:
        # Timeouts, refused connections and 5xx after some retries have no class of their own.
        raise StoreBusy(f"{address}: {_line(error)}; is it up, and is the address right?") from error


def _line(error: Exception) -> str:
    text = str(error).partition("\n\nDebug source")[0]
    return " ".join(text.split())[:500]
