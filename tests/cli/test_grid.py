"""A table fits the terminal, and what had no room is said rather than cut into nonsense."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from strobe.cli.grid import Grid, cell_width, cut, lay_out

cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=30)


@given(st.lists(st.lists(cells, min_size=3, max_size=3), max_size=6), st.integers(30, 120))
def test_a_table_keeps_to_the_width(rows: list[list[str]], width: int) -> None:
    head, body, _ = lay_out(["A", "B", "C"], rows, width=width)
    assert (len(head), len(body)) == (1, len(rows))
    assert all(cell_width(line) <= width for line in (*head, *body))
    assert all("\n" not in line for line in body)


@given(st.lists(st.lists(cells, min_size=4, max_size=4), max_size=6), st.integers(40, 120))
def test_it_does_so_however_its_columns_are_ranked(rows: list[list[str]], width: int) -> None:
    header = ["NAME", "SCORE", "NOTE", "MORE"]
    head, body, left_out = lay_out(header, rows, width=width, whole=("SCORE",), spare=("MORE", "NOTE"), lead=1)
    assert all(cell_width(line) <= width for line in (*head, *body))
    assert set(left_out) <= {"MORE", "NOTE"}
    if not left_out:
        assert all(name in " ".join(head) for name in header)


def test_columns_align() -> None:
    grid = lay_out(["NAME", "N"], [["a", "1"], ["日本", "22"]], right=("N",))
    assert grid == Grid(["NAME   N"], ["a      1", "日本  22"])


def test_without_a_width_nothing_is_cut_or_left_out() -> None:
    assert lay_out(["A", "B"], [["x" * 500, "y"]], spare=("B",), lead=1).body == ["x" * 500 + "  y"]


def test_what_is_cut_says_so() -> None:
    assert cut("abcdef", 4) == "abc…"
    assert cut("日本語", 4) == "日…"
    assert lay_out(["A", "B"], [["short", "long" * 10]], width=20).body == ["short  " + ("long" * 10)[:12] + "…"]


HEADER = ["KEY", "SCORE", "SPREAD", "ID"]
ROWS = [["dlrm/ootb", "208.31*", "±4.3 %", "68ddc123"], ["dlrm/ootb", "9.00", "±0.1 %", "77aa0042"]]


def test_spare_columns_are_left_out_first_and_only_as_many_as_must() -> None:
    grid = lay_out(HEADER, ROWS, width=30, whole=("SCORE", "ID"), spare=("SPREAD", "SCORE"), lead=1)
    assert grid.head == ["KEY        SCORE    ID"]
    assert grid.body[0] == "dlrm/ootb  208.31*  68ddc123"
    assert grid.left_out == ("SPREAD",)


def test_a_name_without_room_goes_on_a_line_of_its_own_once_for_rows_that_share_it() -> None:
    grid = lay_out(HEADER, ROWS, width=29, whole=("SCORE", "ID"), lead=1)
    assert grid.head == ["KEY", "    SCORE    SPREAD  ID"]
    assert grid.body == ["dlrm/ootb", "    208.31*  ±4.3 %  68ddc123", "    9.00     ±0.1 %  77aa0042"]
    assert grid.left_out == ()


def test_a_column_that_must_be_whole_is_never_cut_though_it_is_the_widest() -> None:
    grid = lay_out(["ID", "NAME"], [["0123456789abcdef", "a long name"]], width=24, whole=("ID",))
    assert grid.body == ["0123456789abcdef  a lon…"]
