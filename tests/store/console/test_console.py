"""Console lines in the store: the same as rendering everything at once, however the text arrived."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.errors import UsageError
from strobe.journal.screen import Screen
from strobe.store.console import Choice, Console, Pattern, Piece, append
from strobe.store.database import Database
from tests.journal.test_screen import SESSIONS
from tests.store.rows import make_run

#: (attempt, writer, stream)
LaneName = tuple[int, str, str]
WRITERS = [(1, "w1"), (1, "w2"), (2, "w3")]
TEXTS = SESSIONS | st.sampled_from(["a\n", "x\n" * 130, "\r 5%", "\x1b[32mgreen\x1b[0m\n"])
PRINTED = st.lists(
    st.tuples(st.sampled_from(WRITERS), st.sampled_from(["stdout", "stderr"]), TEXTS, st.integers(0, 3)), max_size=12
)
EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def console(database: Database) -> Console:
    return Console(database)


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of a few lines, so that short texts have many of them."""
    monkeypatch.setattr(append, "PAGE_LINES", 7)
    monkeypatch.setattr(append, "PAGE_CHARACTERS", 40)


def _print(database: Database, run_id: int, said: list[tuple[tuple[int, str], Piece]]) -> None:
    """Hand the pieces over in one transaction, each writer's together."""
    by_writer: dict[tuple[int, str], list[Piece]] = {}
    for name, piece in said:
        by_writer.setdefault(name, []).append(piece)
    for (attempt, writer), pieces in by_writer.items():
        _add(database, run_id, pieces, attempt, writer)


def _add(database: Database, run_id: int, pieces: list[Piece], attempt: int = 1, writer: str = "w") -> None:
    database.write(lambda cursor: Console.add(cursor, run_id, attempt, writer, pieces))


def _count(database: Database, table: str) -> int:
    row = database.read(lambda cursor: cursor.one(f"SELECT count(*) FROM {table}"))
    assert row is not None
    return int(row[0])


def _rendered(said: list[tuple[tuple[int, str], Piece]]) -> list[tuple[int, int, int, str]]:
    """Return (time, place of the lane, line, text) of everything, rendered at once."""
    screens: dict[LaneName, Screen] = {}
    for (attempt, writer), piece in said:
        if piece.text:
            screen = screens.setdefault((attempt, writer, piece.stream), Screen())
            screen.begin(piece.order_ns)
            screen.feed(piece.text, piece.order_ns)
    return sorted(
        (screens[name].marks[line], place, line, text)
        for place, name in enumerate(sorted(screens))
        for line, text in enumerate(screens[name].lines(styles=True))
    )


def _read(console: Console, run_id: int, start: int = 0, stop: int = 10_000) -> list[tuple[int, int, int, str]]:
    answer = console.lines(run_id, start, stop)
    assert [line.number for line in answer.lines] == list(range(start, start + len(answer.lines)))
    return [(line.time_ns, line.lane, line.line, line.text) for line in answer.lines]


@EXAMPLES
@given(PRINTED, st.lists(st.integers(0, 12)), st.data())
def test_any_split_into_batches_gives_the_lines_of_the_whole(
    database: Database,
    printed: list[tuple[tuple[int, str], str, str, int]],
    cuts: list[int],
    data: st.DataObject,
) -> None:
    console, run_id = Console(database), make_run(database)
    time_ns, said = 100, []
    for writer, stream, text, wait in printed:
        time_ns += wait
        said.append((writer, Piece(time_ns, stream, text)))
    edges = sorted({min(cut, len(said)) for cut in cuts} | {0, len(said)})
    for first, last in pairwise(edges):
        _print(database, run_id, said[first:last])
    expected = _rendered(said)
    assert _read(console, run_id) == expected

    start = data.draw(st.integers(0, len(expected) + 1))
    stop = data.draw(st.integers(start, len(expected) + 2))
    assert _read(console, run_id, start, stop) == expected[start:stop]
    moment = data.draw(st.integers(99, time_ns + 1))
    number = sum(line[0] < moment for line in expected)
    around = console.around(run_id, moment, 3, 2).lines
    assert [line.text for line in around] == [line[3] for line in expected[max(0, number - 3) : number + 2]]
    lanes = console.lanes(run_id)
    assert sum(lane.lines for lane in lanes) == len(expected)
    assert all(lane.settled <= lane.lines for lane in lanes)


def test_a_bar_of_thousands_of_writes_is_one_line(database: Database, console: Console) -> None:
    run_id = make_run(database)
    for percent in range(0, 100, 10):
        pieces = [Piece(percent * 100 + part, "stderr", f"\r{percent}.{part}%") for part in range(100)]
        _add(database, run_id, pieces)
    answer = console.tail(run_id, 5)
    assert [(line.text, line.time_ns) for line in answer.lines] == [("90.99%", 0)]
    assert _count(database, "console_page") == 0


def test_the_last_lines_and_one_writer_at_a_time(database: Database, console: Console) -> None:
    run_id = make_run(database)
    for number in range(30):
        said = [((1, writer), Piece(number, "stdout", f"{writer} {number}\n")) for writer in ("a", "b")]
        _print(database, run_id, said)
    assert [line.text for line in console.tail(run_id, 3).lines] == ["b 28", "a 29", "b 29"]
    answer = console.tail(run_id, 2, Choice(writer="a"))
    assert [line.text for line in answer.lines] == ["a 28", "a 29"]
    assert answer.total == 30
    assert console.tail(run_id, 2, Choice(stream="stderr")).lines == []
    assert console.tail(run_id, 2, Choice(attempt=1)).total == 60


def test_a_lane_is_labelled_with_its_rank(database: Database, console: Console) -> None:
    run_id = make_run(database)
    database.write(
        lambda cursor: cursor.run(
            "INSERT INTO writer (run_id, name, number, attempt, kind, host, rank)"
            " VALUES (?, 'w', 0, 1, 'rank', 'n1', 3)",
            run_id,
        )
    )
    _add(database, run_id, [Piece(1, "stdout", "hello\n")])
    (lane,) = console.lanes(run_id)
    assert (lane.kind, lane.rank, lane.host, lane.lines) == ("rank", 3, "n1", 1)


def test_a_line_without_an_end_is_broken_wherever_its_text_was_divided(
    database: Database, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "0123456789" * 30_000
    seen = []
    for size in (7_777, 100_000, len(text)):
        run_id = make_run(database)
        for start in range(0, len(text), size):
            _add(database, run_id, [Piece(start, "stdout", text[start : start + size])])
        seen.append([line.text for line in console.lines(run_id, 0, 100).lines])
    assert "".join(seen[0]) == text
    assert len(seen[0]) > 2
    assert max(map(len, seen[0])) <= 2 * append.MAX_LINE
    assert seen[0] == seen[1] == seen[2]


def test_a_lane_that_began_with_nothing_to_see(database: Database, console: Console) -> None:
    run_id = make_run(database)
    for stream in ("stdout", "stderr"):
        _add(database, run_id, [Piece(100, stream, "\r")])
    _add(database, run_id, [Piece(101, "stdout", "x\n" * 130)])
    assert [line.number for line in console.lines(run_id, 0, 200).lines] == list(range(130))


def test_times_that_go_back_do_not_hide_lines(database: Database, console: Console) -> None:
    run_id = make_run(database)
    said = [((1, "w"), Piece(100 - number, "stdout", f"{number}\n")) for number in range(300)]
    _print(database, run_id, said)
    _print(database, run_id, [((1, "v"), Piece(50, "stdout", "other\n"))])
    assert console.lines(run_id, 0, 1000).total == len(console.lines(run_id, 0, 1000).lines) == 301


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        (Pattern(text="LOSS"), [0, 2, 3]),
        (Pattern(text="Loss", match_case=True), [2]),
        (Pattern(text=r"^loss=\d", is_regex=True), [0, 2]),
        (Pattern(text=r"^loss=\d", is_regex=True, match_case=True), [0]),
        (Pattern(text="step 3"), [3]),  # it is coloured in the middle
        (Pattern(text="nothing of it"), []),
    ],
)
def test_search(database: Database, console: Console, pattern: Pattern, numbers: list[int]) -> None:
    run_id = make_run(database)
    text = "loss=1\naccuracy\nLoss=2\nstep \x1b[31m3 loss\x1b[0m\n"
    _add(database, run_id, [Piece(1, "stdout", text)])
    found = console.search(run_id, pattern)
    assert [line.number for line in found.lines] == numbers
    assert found.next is None


def test_a_search_goes_on_where_it_stopped(database: Database, console: Console) -> None:
    run_id = make_run(database)
    text = "".join(f"line {number}\n" for number in range(100))
    _add(database, run_id, [Piece(1, "stdout", text)])
    start: int | None = 0
    found: list[int] = []
    while start is not None:
        part = console.search(run_id, Pattern(text="7"), start=start, limit=4)
        found += [line.number for line in part.lines]
        assert len(part.lines) <= 4
        start = part.next
    assert found == [number for number in range(100) if "7" in str(number)]


@pytest.mark.parametrize("pattern", [Pattern(text=""), Pattern(text="(", is_regex=True), Pattern(text="x" * 1001)])
def test_what_is_no_pattern_is_said_so(database: Database, console: Console, pattern: Pattern) -> None:
    with pytest.raises(UsageError):
        console.search(make_run(database), pattern)


def test_an_endless_pattern_is_given_up(database: Database, console: Console) -> None:
    run_id = make_run(database)
    _add(database, run_id, [Piece(1, "stdout", "ab" * 4000 + "!\n")])
    with pytest.raises(UsageError, match="simplify"):
        console.search(run_id, Pattern(text=r"(?:(?:a|b|ab)+)+(?:(?:ba|a|b)+)+[^!]$", is_regex=True))


def test_a_deleted_run_leaves_no_lines(database: Database, console: Console) -> None:
    run_id = make_run(database)
    _print(database, run_id, [((1, "w"), Piece(1, "stdout", "x\n" * 300))])
    database.write(lambda cursor: cursor.run("DELETE FROM run WHERE id = ?", run_id))
    for table in ("console", "console_open", "console_page"):
        assert _count(database, table) == 0
