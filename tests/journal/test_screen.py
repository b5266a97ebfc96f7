"""Console text as it looks in the end: bars, cursor moves, colours, and plain lines untouched."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.journal.cell import restyle, to_cells, to_text
from strobe.journal.screen import FrozenScreen, Screen, render, render_streams

PLAIN = st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.just("\n") | st.sampled_from("aé漢\u0301 "))
TEXTS = ["a", "bar 10%", "  ", "漢字", "e\u0301", "█▌", "\n", "\n", "\r", "\b", "\t", "\r\n", "\x85", "\x07"]
MOVES = ["A", "2A", "B", "K", "2K", "1K", "J", "3G", "C", "D", "31m", "0m", "1;38;5;0m", "2J", "H", "5;3H", "s", "u"]
OTHERS = ["\x1b7", "\x1b8", "\x1b]0;title\x07", "\x1b[?25l", "\x1b", "\x1b[", "\x1b[2P", "\x1bM", "\x1bc", "\x1b(B"]
WORDS = st.sampled_from([*TEXTS, *(f"\x1b[{move}" for move in MOVES), *OTHERS])
SESSIONS = st.lists(WORDS, max_size=40).map("".join)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("one\ntwo\n", ["one", "two"]),
        ("no newline", ["no newline"]),
        ("\n\na\n\n", ["", "", "a", ""]),
        ("dos\r\nlines\r\n", ["dos", "lines"]),
        ("kept blanks  \n", ["kept blanks  "]),
        ("\r 10%\r 50%\r100%\n", ["100%"]),
        ("long text\rshort\n", ["shorttext"]),
        ("bar: 99%\rdone    \n", ["done"]),
        ("1/3\b\b\b2/3\b\b\b3/3\n", ["3/3"]),
        ("old line\r\x1b[Knew\n", ["new"]),
        ("a\tb\n", ["a\tb"]),
        ("a\tb\rxy\n", ["xy      b"]),
        ("漢字\rx\n", ["x 字"]),
        ("\x1b[31mred\x1b[0m plain\n", ["red plain"]),
        ("\x1b]0;title\x07text\n", ["text"]),
        ("\x1b[?25lhidden cursor\x1b[?25h\n", ["hidden cursor"]),
        ("before\n\x1b[2J\x1b[Hafter\n", ["before", "after"]),
        ("before\n\x1b[H\x1b[Jtop 1\n\x1b[H\x1b[Jtop 2\n", ["before", "top 2"]),
        ("bell\x07 and nul\x00\n", ["bell and nul"]),
    ],
)
def test_final_lines(text: str, lines: list[str]) -> None:
    assert render([text]) == lines


def test_two_progress_bars() -> None:
    text = "\router 0%\n\rinner 0%\x1b[A"
    for percent in range(10, 101, 10):
        text += f"\n\rinner {percent}%\x1b[A\router {percent}%"
    assert render([text + "\n\n"]) == ["outer 100%", "inner 100%"]


def test_a_live_table_drawn_over() -> None:
    text = "title\n"
    for number in range(5):
        text += f"row a {number}\nrow b {number}\x1b[1A\r\x1b[2K\x1b[1B\r\x1b[2K\x1b[1A"
    assert render([text + "row a end\nrow b end\n"]) == ["title", "row a end", "row b end"]


def test_the_cursor_cannot_reach_what_scrolled_away() -> None:
    lines = [f"line {number}" for number in range(500)]
    assert render(["\n".join(lines) + "\n\x1b[999Atop\n"])[:400] == lines[:400]


def test_colours_are_kept_on_request() -> None:
    text = "\x1b[1m\x1b[31mred\x1b[39m bold\x1b[0m \x1b[38;5;0mindexed\x1b[m\n"
    kept = render([text], styles=True)
    assert kept == ["\x1b[1;31mred\x1b[0m\x1b[1m bold\x1b[0m \x1b[38;5;0mindexed\x1b[0m"]
    assert render(kept, styles=True) == kept


def test_styles_do_not_pile_up() -> None:
    screen = Screen()
    for _ in range(1000):
        screen.feed("\x1b[31mx\x1b[39m\x1b[1m\x1b[22m")
    assert screen.style == ""


@pytest.mark.parametrize(
    ("style", "arguments", "after"),
    [
        ("", "", ""),
        ("", "1;31", "\x1b[1;31m"),
        ("\x1b[1;31m", "0;32", "\x1b[32m"),
        ("\x1b[31m", "38;2;1;0;3", "\x1b[38;2;1;0;3m"),
        ("", "48:5:7", "\x1b[48:5:7m"),
        ("\x1b[4;7m", "24", "\x1b[7m"),
        ("", "38", ""),
        ("", "38;5", ""),
        ("", "999;abc", ""),
        ("\x1b[103m", "49", ""),
    ],
)
def test_styles_add_up(style: str, arguments: str, after: str) -> None:
    assert restyle(style, arguments) == after


@given(PLAIN)
def test_plain_text_is_its_own_lines(text: str) -> None:
    lines = text.split("\n")
    assert render([text]) == (lines if lines[-1] else lines[:-1])


@given(SESSIONS, st.lists(st.integers(0, 200)))
def test_where_the_text_was_cut_makes_no_difference(text: str, cuts: list[int]) -> None:
    edges = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [text[start:stop] for start, stop in pairwise(edges)]
    assert render(pieces, styles=True) == render([text], styles=True)


@given(SESSIONS)
def test_final_lines_are_final(text: str) -> None:
    lines = render([text], styles=True)
    again = render([line + "\n" for line in lines], styles=True)
    assert again == lines
    assert not any(control in line for line in render([text]) for control in "\r\n\b\x1b")


@given(st.text())
def test_any_text_at_all(text: str) -> None:
    render([text])


@given(SESSIONS)
def test_a_row_taken_apart_and_put_together_is_the_same(text: str) -> None:
    for line in render([text], styles=True):
        assert to_text(to_cells(line)) == line


@given(SESSIONS, SESSIONS)
def test_forgotten_rows_change_nothing_below(start: str, end: str) -> None:
    whole, short = Screen(), Screen()
    for screen in (whole, short):
        screen.feed("x\n" * 150 + start)
    dropped = max(0, min(short.row, len(short.rows) - 120))
    short.forget_above(dropped)
    for screen in (whole, short):
        screen.feed(end)
    assert whole.lines(styles=True)[dropped:] == short.lines(styles=True)


@given(st.lists(SESSIONS, max_size=6))
def test_a_frozen_screen_goes_on_as_if_nothing_had_been(pieces: list[str]) -> None:
    screen, dropped = Screen(), []
    for piece in pieces:
        screen.feed(piece + "x\n" * 40 + piece)
        screen = Screen.thaw(msgspec.msgpack.decode(msgspec.msgpack.encode(screen.freeze()), type=FrozenScreen))
        reach = screen.reach
        dropped += screen.rows[:reach]
        screen.forget_above(reach)
    whole = render([piece + "x\n" * 40 + piece for piece in pieces], styles=True)
    assert dropped + screen.lines(styles=True) == whole


def test_streams_are_whole_lines_in_the_order_they_began() -> None:
    chunks = [("stdout", "a", 1), ("stderr", "\r 1%", 2), ("stdout", " b\n", 3), ("stdout", "c\n", 4)]
    chunks += [("stderr", "\r99%\n", 5), ("stderr", "done\n", 6)]
    assert render_streams(chunks) == [
        (1, "stdout", "a b"),
        (2, "stderr", "99%"),
        (4, "stdout", "c"),
        (6, "stderr", "done"),
    ]


def test_a_bar_keeps_the_time_at_which_it_began() -> None:
    assert render_streams([("stdout", "\x1b[31m 1%\r", 1), ("stdout", " 2%\r", 2)]) == [(1, "stdout", " 2%")]


def test_many_lines_are_read_fast_enough_to_show() -> None:
    lines = [f"epoch {number} loss 0.123" for number in range(20_000)]
    assert render(line + "\n" for line in lines) == lines
