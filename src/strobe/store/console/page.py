"""The bytes of console lines: a page of finished ones, and the open end of a lane.

Lines lie in one text, divided by newlines (which no line can hold), so that a page is searched at the speed of C.
"""

from __future__ import annotations

import zlib
from itertools import accumulate, pairwise

import msgspec

from strobe.errors import StoreError
from strobe.journal.screen import FrozenScreen

# The quickest level: text of this kind becomes a fifth with it, and hardly smaller with more work.
_LEVEL = 1


class Lines(msgspec.Struct, frozen=True, gc=False):
    """Consecutive lines of a lane and when they began."""

    times_ns: list[int]
    text: str

    @classmethod
    def of(cls, times_ns: list[int], texts: list[str]) -> Lines:
        return cls(times_ns, "\n".join(texts))

    def __len__(self) -> int:
        return len(self.times_ns)

    def texts(self) -> list[str]:
        return self.text.split("\n") if self.times_ns else []


class Open(msgspec.Struct, array_like=True):
    """The end of a lane: settled lines that do not fill a page yet, and the screen below them."""

    times_ns: list[int]
    texts: list[str]
    screen: FrozenScreen
    #: characters that were ever fed; see `append`
    num_fed: int


class _Page(msgspec.Struct, frozen=True, array_like=True, gc=False):
    steps_ns: list[int]
    text: str


_encode = msgspec.msgpack.Encoder().encode
_decode_page = msgspec.msgpack.Decoder(_Page).decode
_decode_open = msgspec.msgpack.Decoder(Open).decode


def encode_page(lines: Lines) -> bytes:
    times = lines.times_ns
    steps = [*times[:1], *(later - earlier for earlier, later in pairwise(times))]
    return zlib.compress(_encode(_Page(steps, lines.text)), _LEVEL)


def decode_page(body: bytes) -> Lines:
    try:
        page = _decode_page(zlib.decompress(body))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise StoreError(f"a page of console lines is damaged: {error}; restore the store from a backup") from error
    return Lines(list(accumulate(page.steps_ns)), page.text)


def encode_open(end: Open) -> bytes:
    return zlib.compress(_encode(end), _LEVEL)


def decode_open(body: bytes) -> Open:
    try:
        return _decode_open(zlib.decompress(body))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise StoreError(f"the end of a console is damaged: {error}; restore the store from a backup") from error
