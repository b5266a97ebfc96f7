"""Bodies are compressed where that is worth its time, and hold the same batches either way."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable

import pytest

from strobe.agent.upload.parcel import Share, body_of
from strobe.journal.entry import Entry, Row
from strobe.journal.mark import Mark
from strobe.journal.segment import Header
from strobe.wire.batch import BatchStream

HEADER = Header(entity="local", project="p", run="r", writer="w", attempt=1, kind="main", host="", rank=None)
KEYS = tuple(f"key{number}" for number in range(40))


def share(first: int, rows: int, value: Callable[[int], float]) -> Share:
    entries: list[Entry] = [
        Row(n, n, 10**18 + n, KEYS, [value(40 * n + place) for place in range(40)], order_ns=10**18 + n, record=n)
        for n in range(first, first + rows)
    ]
    return Share(HEADER, entries, Mark(first))


@pytest.mark.parametrize(
    ("rows", "value", "expected"),
    [
        (1000, lambda n: random.Random(n).random(), "identity"),
        (1000, lambda n: n / 4, "gzip"),
        (5, lambda n: random.Random(n).random(), "gzip"),
    ],
    ids=["noise", "pattern", "little"],
)
def test_only_what_shrinks_is_compressed(rows: int, value: Callable[[int], float], expected: str) -> None:
    shares = [share(0, rows, value), share(rows, rows, value)]
    body, encoding = body_of(shares)
    assert encoding == expected
    plain = zlib.decompress(body, 31) if encoding == "gzip" else body
    stream = BatchStream(max_bytes=1 << 30)
    assert [batch.blocks[0].num_rows for batch in stream.feed(plain)] == [rows, rows]
    stream.close()
