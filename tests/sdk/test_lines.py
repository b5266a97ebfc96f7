"""What of printed text is recorded, and when: complete lines at once, bars once a second, nothing lost."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from strobe.journal.screen import render
from strobe.sdk.console.lines import MAX_PIECE, Lines


class Recorded:
    """Lines with a clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0
        self.texts: list[str] = []
        self.lines = Lines(self.texts.append, clock=lambda: self.now)

    def write(self, *texts: str) -> list[str]:
        """Write and return what was emitted for it."""
        before = len(self.texts)
        for text in texts:
            self.lines.write(text)
        return self.texts[before:]


def test_complete_lines_are_emitted_at_once() -> None:
    recorded = Recorded()
    assert recorded.write("one") == []
    assert recorded.write("\n") == ["one\n"]
    assert recorded.write("two\nthree\nfo") == ["two\nthree\n"]
    assert recorded.write("ur\r\n") == ["four\r\n"]
    assert recorded.write("\x1b[31mred\x1b[0m\n") == ["\x1b[31mred\x1b[0m\n"]


def test_an_unfinished_line_comes_at_the_end_or_after_a_second() -> None:
    recorded = Recorded()
    assert recorded.write("loading", ".") == []
    recorded.now += 1
    assert recorded.write(".") == ["loading.."]
    assert recorded.write(".") == []
    recorded.lines.flush()
    recorded.lines.flush()
    assert recorded.texts == ["loading..", "."]


def test_slow_prints_are_one_piece_each() -> None:
    recorded = Recorded()
    for number in range(3):
        recorded.now += 60
        assert recorded.write(f"epoch {number}", "\n") == [f"epoch {number}\n"]


def test_a_progress_bar_does_not_flood() -> None:
    recorded = Recorded()
    for percent in range(101):
        recorded.write(f"\r{percent:3}%|{'█' * (percent // 10):10}|")
        recorded.now += 0.1
    assert 9 <= len(recorded.texts) <= 11
    assert recorded.write("\n")
    assert render(recorded.texts) == ["100%|██████████|"]
    assert recorded.write("plain again\n") == ["plain again\n"]


def test_two_bars_do_not_flood() -> None:
    recorded = Recorded()
    recorded.write("\router   0%", "\n", "\rinner   0%", "\x1b[A")
    for percent in range(101):
        recorded.write("\n", f"\rinner {percent:3}%", "\x1b[A", f"\router {percent:3}%")
        recorded.now += 0.02
    assert len(recorded.texts) <= 6
    recorded.write("\n", "\n")
    assert render(recorded.texts) == ["outer 100%", "inner 100%"]


def test_a_line_completed_under_a_bar_does_not_wait() -> None:
    recorded = Recorded()
    recorded.write("\r 10%")
    emitted = recorded.write("\rdone: found it\n")
    assert render(emitted) == ["done: found it"]


def test_a_live_table_may_come_back_to_lines_printed_before() -> None:
    recorded = Recorded()
    recorded.write("title\n", "row 1\n", "row 2\n")
    recorded.write("\x1b[2A\x1b[2Krow one\n\x1b[2Krow two\n")
    recorded.lines.flush()
    assert render(recorded.texts) == ["title", "row one", "row two"]


def test_long_text_is_cut_into_pieces() -> None:
    recorded = Recorded()
    text = "x" * (2 * MAX_PIECE) + "\n"
    assert [len(piece) for piece in recorded.write(text)] == [MAX_PIECE, MAX_PIECE, 1]
    assert "".join(recorded.texts) == text


def test_a_line_that_never_ends_is_not_held() -> None:
    recorded = Recorded()
    for _ in range(10_000):
        recorded.write("." * 10)
    assert len("".join(recorded.texts)) > 90_000


def test_memory_is_bounded_while_drawing() -> None:
    recorded = Recorded()
    for number in range(300):
        recorded.write(f"\x1b[Ax\rline {number}\n\n\x1b[31m")
        recorded.write("\rbar" * 5)
    screen = recorded.lines._screen
    assert screen is not None
    assert len(screen.rows) <= 202


TEXTS = ["a", "bar 10%", "  ", "漢字", "█▌", "\n", "\n", "\r", "\b", "\t", "\r\n", "\x1b[31m", "\x1b[0m"]
MOVES = ["A", "2A", "B", "K", "2K", "J", "3G", "C", "D"]
PIECES = st.lists(st.sampled_from([*TEXTS, *(f"\x1b[{move}" for move in MOVES)]), max_size=5).map("".join)


@given(st.lists(st.tuples(PIECES, st.sampled_from([0.0, 0.1, 2.0])), max_size=15))
def test_what_is_recorded_looks_like_what_was_printed(writes: list[tuple[str, float]]) -> None:
    recorded = Recorded()
    for text, pause in writes:
        recorded.now += pause
        recorded.write(text)
    recorded.lines.flush()
    assert visible(recorded.texts) == visible([text for text, _ in writes])


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=10))
@example(["\n\x1b", "0"])  # a sequence that is cut in two after a line
def test_any_text_can_be_recorded(texts: list[str]) -> None:
    recorded = Recorded()
    recorded.write(*texts)
    recorded.lines.flush()
    assert "".join(visible(recorded.texts)) == "".join(visible(texts))


def visible(chunks: list[str]) -> list[str]:
    """The final lines without blanks at the ends, which nobody sees."""
    lines = [line.rstrip() for line in render(chunks)]
    while lines and not lines[-1]:
        lines.pop()
    return lines
