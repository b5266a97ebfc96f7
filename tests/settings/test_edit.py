from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import SettingsError
from strobe.settings.edit import set_value, to_toml, unset_value, with_value, without_value
from strobe.settings.files import parse_document

STROBE = ("tool", "strobe")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "k = 1\n"),
        ("a = 2", "a = 2\nk = 1\n"),
        ("# top\n\na = 2\n\n[t]\nb = 3\n", "# top\n\na = 2\nk = 1\n\n[t]\nb = 3\n"),
        ("# of t\n[t]\nk = 3\n", "k = 1\n\n# of t\n[t]\nk = 3\n"),
        ("  k   =   0   # why\nb = 2\n", "  k   =   1   # why\nb = 2\n"),
        ('k = "a # b"  # c\n', "k = 1  # c\n"),
        ("k = [\n  1, # one\n  2,\n] # end\nb = 1\n", "k = 1 # end\nb = 1\n"),
        ('k = """\n[x]\nk = 5\n"""\n', "k = 1\n"),
        ('"k" = 0\r\nb = 1\r\n', '"k" = 1\r\nb = 1\r\n'),
        ("b = 1\r\n", "b = 1\r\nk = 1\r\n"),
        ("# only a comment\n", "# only a comment\nk = 1\n"),
        ("k=0", "k= 1"),
    ],
)
def test_key_at_the_top(text: str, expected: str) -> None:
    assert with_value(text, ("k",), 1) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "[tool.strobe]\nk = 1\n"),
        ("[project]\nk = 0\n", "[project]\nk = 0\n\n[tool.strobe]\nk = 1\n"),
        ("[tool.strobe]\n\n[tool.x]\nk = 0\n", "[tool.strobe]\nk = 1\n\n[tool.x]\nk = 0\n"),
        ("[tool.strobe]\na = 2 # a\n# end\n[b]\n", "[tool.strobe]\na = 2 # a\nk = 1\n# end\n[b]\n"),
        ("[tool]\nstrobe.k = 0 # c\n", "[tool]\nstrobe.k = 1 # c\n"),
        ("[[tool.strobe_x]]\nk = 0\n", "[[tool.strobe_x]]\nk = 0\n\n[tool.strobe]\nk = 1\n"),
    ],
)
def test_key_of_a_table(text: str, expected: str) -> None:
    assert with_value(text, (*STROBE, "k"), 1) == expected


def test_removal() -> None:
    text = "a = 1 # one\nk = [\n 1,\n]\nb = 2\n[t]\nk = 3\n"
    assert without_value(text, ("k",)) == "a = 1 # one\nb = 2\n[t]\nk = 3\n"
    assert without_value(text, ("t", "k")) == "a = 1 # one\nk = [\n 1,\n]\nb = 2\n[t]\n"
    assert without_value(text, ("z",)) == text


def test_what_cannot_be_changed_safely_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    for text in ("[tool]\nstrobe = {k = 1, b = 2}\n", "[[tool.strobe]]\na = 1\n", "tool.strobe = {}\n"):
        path.write_text(text)
        with pytest.raises(SettingsError, match="cannot be changed safely; set k there by hand"):
            set_value(path, "k", 5)
        assert path.read_text() == text


def test_broken_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "strobe.toml"
    path.write_text("a = \n")
    with pytest.raises(SettingsError, match=r"strobe\.toml:1: not valid TOML"):
        set_value(path, "k", 5)
    path.write_bytes(b"\xff")
    with pytest.raises(SettingsError, match="not UTF-8"):
        unset_value(path, "k")


def test_file_is_made_private_and_links_stay(tmp_path: Path) -> None:
    path = tmp_path / "made" / "config.toml"
    set_value(path, "api_key", "k", private=True)
    assert path.read_text() == 'api_key = "k"\n'
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600
        link = tmp_path / "link.toml"
        link.symlink_to(path)
        set_value(link, "project", "p", private=True)
        assert link.is_symlink()
        assert "project" in path.read_text()
    assert unset_value(path, "api_key")
    assert not unset_value(path, "api_key")
    assert os.listdir(path.parent) == ["config.toml"]  # nothing left over


def test_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "strobe.toml"
    path.write_text("a = 1\n")
    path.chmod(0o640)
    set_value(path, "k", True)
    assert path.stat().st_mode & 0o777 == 0o640


_KEYS = st.sampled_from(["a", "b", "k", "long name", "ü"])
_VALUES = (
    st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])) | st.lists(st.text(max_size=3), max_size=3)
)  # fmt: skip


@given(_VALUES)
def test_every_value_is_written_so_that_it_is_read_back(value: Any) -> None:
    assert parse_document(f"v = {to_toml(value)}", Path()) == {"v": value}


@given(st.dictionaries(_KEYS, _VALUES), st.dictionaries(_KEYS, _VALUES), _KEYS, _VALUES, st.booleans())
def test_only_the_one_key_changes(
    top: dict[str, Any], table: dict[str, Any], key: str, value: Any, in_table: bool
) -> None:
    def lines(values: dict[str, Any]) -> str:
        return "".join(f"{to_toml(name)} = {to_toml(item)} # '\"[\n" for name, item in values.items())

    text = lines(top) + "# about t\n[t]\n" + lines(table)
    keys = ("t", key) if in_table else (key,)
    changed = with_value(text, keys, value)
    (table if in_table else top)[key] = value
    assert parse_document(changed, Path()) == {**top, "t": table}
    assert changed.count("# about t\n[t]\n") == 1
    (table if in_table else top).pop(key)
    assert parse_document(without_value(changed, keys), Path()) == {**top, "t": table}
