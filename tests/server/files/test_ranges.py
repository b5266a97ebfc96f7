"""Ranges: what a header means, for any header and any size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.server.ranges import NoSuchRange, names_etag, parse_range


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("", None),
        ("bytes=0-0", (0, 1)),
        ("bytes=2-", (2, 10)),
        ("bytes=-3", (7, 10)),
        ("bytes=-30", (0, 10)),
        ("bytes=4-100", (4, 10)),
        ("Bytes = 1 - 2 ", (1, 3)),
        ("bytes=5-4", None),
        ("bytes=-", None),
        ("bytes=0-1,3-4", None),
        ("lines=0-1", None),
        ("bytes=a-b", None),
        ("bytes=٠-١", None),
        ("bytes=1-" + "9" * 30, None),
    ],
)
def test_ranges_of_ten_bytes(header: str | None, expected: tuple[int, int] | None) -> None:
    assert parse_range(header, 10) == expected


@pytest.mark.parametrize(("header", "size"), [("bytes=10-", 10), ("bytes=-0", 10), ("bytes=0-", 0), ("bytes=-5", 0)])
def test_ranges_that_are_not_there(header: str, size: int) -> None:
    with pytest.raises(NoSuchRange):
        parse_range(header, size)


@given(st.text(alphabet="bytes=0123456789-, ", max_size=40), st.integers(0, 10**13))
def test_any_header_gives_a_part_that_is_there(header: str, size: int) -> None:
    try:
        found = parse_range(header, size)
    except NoSuchRange:
        return
    if found is not None:
        assert 0 <= found[0] < found[1] <= size


@given(st.integers(1, 1000), st.data())
def test_a_range_as_browsers_write_it(size: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, size - 1))
    last = data.draw(st.integers(first, size - 1))
    assert parse_range(f"bytes={first}-{last}", size) == (first, last + 1)


def test_tags() -> None:
    assert names_etag('"a", "b"', '"b"')
    assert not names_etag('W/"b"', '"b"')
