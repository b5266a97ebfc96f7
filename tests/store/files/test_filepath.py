"""Paths of files: what may be one, and that nothing that may be leads out of a directory on any system."""

from __future__ import annotations

import ntpath
import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import UsageError
from strobe.store.filepath import check_file_path


@pytest.mark.parametrize("path", ["a", "media/images/a b.png", "ü/日本.txt", "..a", "a..", "a\\b", "ab:c", ".hidden/x"])
def test_paths_that_may_be(path: str) -> None:
    assert check_file_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../a",
        "a/../b",
        "a/..",
        "a//b",
        "./a",
        "a/",
        "a\0b",
        "a\nb",
        "a\x7f",
        "a\x85",
        "C:/x",
        "c:x",
        "\\\\host\\share",
        "\\x",
        "a\\..\\b",
        "..\\a",
        "a/..\\b",
        ".\\",
        "a\\\\b",
        "\ud800",
        "x" * 256,
        "/".join(["y" * 200] * 6),
    ],
)
def test_paths_that_may_not_be(path: str) -> None:
    with pytest.raises(UsageError, match="file path"):
        check_file_path(path)


_PARTS = st.sampled_from(["..", ".", "", "a", "b", "C:", "\\", "/", "a\\..", "\0", "é"])


@given(st.one_of(st.text(max_size=30), st.lists(_PARTS, max_size=8).map("/".join), st.lists(_PARTS).map("".join)))
def test_a_path_that_may_be_stays_below_its_root(path: str) -> None:
    try:
        check_file_path(path)
    except UsageError:
        return
    assert posixpath.normpath(posixpath.join("/srv/files", path)) == f"/srv/files/{path}"
    there = ntpath.normpath(ntpath.join("D:\\root", path))
    assert there.startswith("D:\\root\\")
    assert path.isprintable() or not any(ord(char) < 32 or ord(char) == 127 for char in path)
