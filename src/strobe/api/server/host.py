"""Questions to one server: an answer, or an exception that says what to do.

What passes (a lost connection, a server that is busy) is tried again for some seconds; what does not is raised at once.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from strobe.errors import CommError, Error, UsageError
from strobe.journal import value
from strobe.remote.answer import Ok, Refused
from strobe.remote.link import Body, Link
from strobe.wire import MSGPACK
from strobe.wire.series import SERIES, decode_series

T = TypeVar("T")

#: seconds for which what passes is tried again
PATIENCE_S = 5.0
#: bytes of a content that are asked for at once, so that a lost connection costs no more
PIECE_BYTES = 4 << 20


# msgspec crashes when threads are the first to decode a type at the same moment, so decoders are made one by one.
_decoders: dict[Any, msgspec.msgpack.Decoder[Any]] = {}
_making = threading.Lock()


def decoder_of(kind: type[T]) -> msgspec.msgpack.Decoder[T]:
    """Return what decodes answers of a kind."""
    with _making:
        if kind not in _decoders:
            _decoders[kind] = msgspec.msgpack.Decoder(kind, ext_hook=value.decode_extension)
        return _decoders[kind]


class Host:
    """One server, for one key."""

    def __init__(self, link: Link, *, patience_s: float = PATIENCE_S) -> None:
        self._link = link
        self._patience_s = patience_s

    @property
    def url(self) -> str:
        return self._link.target.base_url

    def get(
        self,
        path: str,
        kind: type[T],
        query: Mapping[str, Any] | None = None,
        *,
        missing: type[Error] = CommError,
    ) -> T:
        """Return what is there, as a value of `kind`; where nothing is, raise `missing`."""
        return self._decode(self._ask("GET", path + _query(query), missing=missing), kind)

    def find(self, path: str, kind: type[T]) -> T | None:
        """Return what is there, or None."""
        try:
            return self.get(path, kind, missing=_Nothing)
        except _Nothing:
            return None

    def send(
        self,
        method: str,
        path: str,
        content: Any = None,
        kind: type[T] | Any = None,
        *,
        missing: type[Error] = CommError,
    ) -> Any:
        """Send a document; return the answer if it is to be of a `kind`."""
        body = None
        if content is not None:
            try:
                body = value.encode_decoded(content)
            except TypeError as error:
                raise UsageError(f"this cannot be stored: {error}") from error
        headers = {} if body is None else {"Content-Type": MSGPACK}
        answer = self._ask(method, path, body, headers, missing=missing)
        return None if kind is None else self._decode(answer, kind)

    def raw(self, path: str, *, missing: type[Error] = CommError) -> bytes:
        """Return what is there as it comes."""
        return self._ask("GET", path, None, {"Accept": "*/*"}, missing=missing).body

    def put(self, path: str, body: Body) -> None:
        """Send a content, or a part of one."""
        self._ask("PUT", path, body, {"Content-Type": "application/octet-stream"}, missing=CommError)

    def curves(
        self, run: str, keys: Sequence[str], *, pixels: int
    ) -> list[tuple[dict[str, Any], dict[str, array[Any]]]]:
        """Return the curves of a run: (facts, columns) each."""
        ask = {"runs": [run], "keys": list(keys), "pixels": pixels, "columns": ["mean", "count"]}
        headers = {"Content-Type": MSGPACK, "Accept": SERIES}
        answer = self._ask("POST", "/series", value.encode_decoded(ask), headers, missing=CommError)
        return decode_series(answer.body)

    def pages(
        self,
        path: str,
        kind: type[T],
        query: Mapping[str, Any] | None = None,
        *,
        missing: type[Error] = CommError,
    ) -> Iterator[T]:
        """Yield the pages of a list, each with a `cursor` to the next, asked for as they are needed."""
        cursor: Any = None
        while True:
            page = self.get(path, kind, {**(query or {}), "cursor": cursor}, missing=missing)
            yield page
            cursor = getattr(page, "cursor", None)
            if cursor is None:
                return

    def download(self, path: str, target: Path, size: int, *, missing: type[Error] = CommError) -> None:
        """Write a content to a file, piece by piece; one that changes meanwhile is an error, never a mixture."""
        headers = {"Accept": "*/*"}
        with open(target, "wb") as stream:
            while True:
                start = stream.tell()
                if size:  # an empty content has no part that could be asked for
                    headers["Range"] = f"bytes={start}-{min(size, start + PIECE_BYTES) - 1}"
                answer = self._ask("GET", path, None, headers, missing=missing)
                stream.write(answer.body)
                if "etag" in answer.headers:
                    headers["If-Match"] = answer.headers["etag"]
                if answer.status != 206 or not answer.body or stream.tell() >= size:
                    return

    # --- asking

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes | Body | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        missing: type[Error],
    ) -> Ok:
        deadline = time.monotonic() + self._patience_s
        while True:
            answer = self._link.request(method, path, body, {"Accept": MSGPACK, **(headers or {})})
            if isinstance(answer, Ok):
                return answer
            if isinstance(answer, Refused):
                raise self._refusal(answer.why, answer.status, missing)
            left_s = deadline - time.monotonic()
            if left_s <= answer.after_s:
                raise CommError(f"{answer.why}; see that the server runs and that base_url is its address")
            time.sleep(min(left_s, max(answer.after_s, self._link.hold_s())))

    def _refusal(self, why: str, status: int, missing: type[Error]) -> Error:
        reason = why.removeprefix(f"HTTP {status}: ")
        if status == 404:
            return missing(f"{reason} ({self.url})")
        if status in (400, 409, 422):
            return UsageError(f"{self.url}: {reason}")
        if status == 401:
            return CommError(f"{self.url}: {reason}; `strobe login --host {self.url}` keeps a key, api_key=… gives one")
        return CommError(f"{self.url}: {reason}" if status else reason)

    def _decode(self, answer: Ok, kind: type[T]) -> T:
        try:
            return decoder_of(kind).decode(answer.body)
        except (msgspec.MsgspecError, ValueError) as error:
            raise CommError(f"{self.url}: the answer cannot be read ({error}); upgrade the older side") from error


class _Nothing(Error):
    """There is nothing at that address."""


def at(*parts: str, rest: str | None = None) -> str:
    """Return a path made of names, and perhaps of one that has slashes."""
    names = [quote(part, safe="") for part in parts]
    return "/" + "/".join(names if rest is None else [*names, quote(rest, safe="/")])


def _query(query: Mapping[str, Any] | None) -> str:
    given = {name: _text(item) for name, item in (query or {}).items() if item is not None}
    return "?" + urlencode(given, doseq=True) if given else ""


def _text(item: Any) -> str | Sequence[str]:
    if isinstance(item, bool):
        return "true" if item else "false"
    return [str(part) for part in item] if isinstance(item, (list, tuple)) else str(item)
