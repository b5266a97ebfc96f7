"""Small files on their way, many in one request (strobe.wire.bundle).

Files are read anew for each attempt, so that what waits for a server, of however many runs, holds no memory. What the
server does not want as a whole is sent in halves, until it is known which file it is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from strobe.remote.answer import Answer, Ok, Refused, Retry
from strobe.remote.link import Link
from strobe.wire import BUNDLE
from strobe.wire.bundle import BundleReceipt, FileHead, FileWord, encode_file

MAX_FILES = 500
_LEAST_BYTES = 64 << 10
#: refusals of what is in a request, not of who sends it or where to
_OF_THE_FILES = frozenset({400, 413, 415, 422})

#: reads a file; FileNotFoundError: it is gone, and that is no trouble
Load = Callable[[], tuple[FileHead, bytes]]


# Made here, once: msgspec crashes when threads are the first to decode a type at the same moment.
_decode_receipt = msgspec.json.Decoder(BundleReceipt).decode


class Sized(Protocol):
    """Something small that is to be sent."""

    @property
    def size(self) -> int: ...


T = TypeVar("T", bound=Sized)


class Bundler:
    """Puts small files together for one server."""

    def __init__(self, link: Link) -> None:
        self._link = link
        #: a proxy on the way may take less than the server
        self._max_bytes: int | None = None

    def num_at_once(self, waiting: Sequence[T]) -> int:
        """Return how many of these, from the first on, go into one request."""
        left = self._max_bytes or self._link.limits.bundle_bytes // 2  # the rest is for the heads
        for count, it in enumerate(waiting[:MAX_FILES]):
            left -= it.size
            if left < 0:
                return max(1, count)
        return min(len(waiting), MAX_FILES)

    def send(self, address: str, loads: Mapping[str, Load]) -> Generator[Answer, None, list[FileWord] | None]:
        """Send files, by their paths; return a word for each that there was, None if the server takes nothing there.

        Words of files that were damaged on their way, or met something else than they were to replace, are for the
        caller to heed: those files are not there.
        """
        while True:
            body, words = _pack(loads)
            if not body:
                return words
            size = len(body)
            answer = self._link.request("POST", address, body, {"Content-Type": BUNDLE})
            del body
            if isinstance(answer, Refused) and answer.status in _OF_THE_FILES:
                break
            yield answer
            if isinstance(answer, Refused):
                return None
            if isinstance(answer, Ok):
                words += _decode_receipt(answer.body).files
                if damaged := next((word for word in words if word.status == "damaged"), None):
                    yield Retry(f"file {damaged.path}: {damaged.reason}")
                return words
        paths = list(loads)
        if len(paths) == 1:
            return [FileWord(path=paths[0], status="refused", reason=answer.why)]
        if answer.status == 413:
            self._max_bytes = max(_LEAST_BYTES, size // 2)
        found: list[FileWord] = []
        for half in (paths[: len(paths) // 2], paths[len(paths) // 2 :]):
            said = yield from self.send(address, {path: loads[path] for path in half})
            if said is None:
                return None
            found += said
        return found


def _pack(loads: Mapping[str, Load]) -> tuple[bytes, list[FileWord]]:
    """Return the files as a body, and words for those that cannot be read."""
    pieces, words = [], []
    for path, load in loads.items():
        try:
            pieces.append(encode_file(*load()))
        except FileNotFoundError:
            continue
        except (OSError, UnicodeEncodeError) as error:
            words.append(FileWord(path=path, status="refused", reason=str(error)))
    return b"".join(pieces), words
