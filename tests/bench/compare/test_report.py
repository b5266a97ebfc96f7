"""A comparison as text."""

from __future__ import annotations

import json
import random
from pathlib import Path

import msgspec
import pytest

from strobe.bench.compare import Comparison, compare, pair, pair_implementations, report
from strobe.bench.records import Record, Repeat, append_records
from strobe.cli import main
from tests.bench.results import ELSEWHERE, HERE, latency, result, wrong


def _comparison(factors: list[float], num_incorrect: int = 0) -> Comparison:
    rng = random.Random(3)
    newer = msgspec.structs.replace(HERE, software={"torch": "2.2"})
    a, b = [], []
    for number, factor in enumerate(factors):
        name = f"toy/ootb/inference/{number}"
        a.append(result([100 * (1 + rng.gauss(0, 0.005)) for _ in range(10)], name))
        samples = [100 * factor * (1 + rng.gauss(0, 0.005)) for _ in range(10)]
        is_wrong = number < num_incorrect
        b.append(result(samples, name, environment=newer, correctness=wrong() if is_wrong else None))
    return compare(pair(a, b))


def test_a_row_has_all_its_figures() -> None:
    (row,) = _comparison([1.5]).rows
    name, a, b, unit, speed, bounds, p, n, verdict = report.cells(row)
    assert name == "toy/ootb/inference/0 B=8"
    assert (unit, n, verdict) == ("ex/s", "10 / 10", "faster")
    assert float(b) > float(a)
    assert speed.startswith("1.5")
    # Within the sessions it is 1.5 to a percent; the bounds also hold what sessions may differ by.
    assert [float(word) for word in bounds.split(" to ")] == pytest.approx([1.12, 2.0], abs=0.02)
    assert p == "0.008"


def test_a_comment_has_at_most_twenty_lines_and_the_worst_first() -> None:
    text = report.markdown(_comparison([2.0] * 20 + [0.5] * 20 + [1.0] * 20, num_incorrect=2))
    lines = text.splitlines()
    assert len(lines) <= report.MAX_LINES
    assert lines[0] == "### Benchmarks: worse"
    rows = [line for line in lines if line.startswith("|")][2:]
    assert "incorrect" in rows[0]
    assert "incorrect" in rows[1]
    assert all("slower" in row for row in rows[2:])
    assert "… and" in text
    assert "inconclusive" not in "".join(rows)
    assert "Environment: torch: 2.1 → 2.2" in text


def test_a_comment_about_nothing_is_short() -> None:
    text = report.markdown(_comparison([1.0] * 30))
    assert "30 inconclusive" in text
    assert "|" not in text
    assert len(text.splitlines()) < 8


def _heading(found: Comparison) -> str:
    return report.markdown(found).splitlines()[0].removeprefix("### Benchmarks: ")


def test_a_comment_says_not_worse_only_where_that_was_decided() -> None:
    assert _heading(_comparison([2.0, 2.0])) == "not worse"
    assert _heading(_comparison([2.0, 1.0])) == "inconclusive (1 row open)"
    assert _heading(_comparison([1.0] * 30)) == "inconclusive (30 rows open)"
    assert _heading(_comparison([1.0, 0.3])) == "worse"


def test_a_comment_about_rows_that_are_gone_is_inconclusive() -> None:
    sides = [result([1.0, 1.01, 1.02]), result([3.0, 3.01, 3.02])]
    gone = result([1.0], "toy/ootb/inference/gone")
    assert _heading(compare(pair([sides[0], gone], [sides[1]]))) == "inconclusive (1 row not compared)"
    both = compare(pair([result([1.0]), gone], [result([1.0])]))
    assert _heading(both) == "inconclusive (1 row open, 1 row not compared)"
    assert report.as_fields(both)["is_open"] is True


def test_the_form_for_programs_can_be_written_as_json() -> None:
    found = json.loads(json.dumps(report.as_fields(_comparison([1.5, 1.0], num_incorrect=1))))
    assert [row["verdict"] for row in found["rows"]] == ["incorrect", "inconclusive"]
    assert found["rows"][0]["speedup"] is None
    assert found["counts"] == {"incorrect": 1, "inconclusive": 1}
    assert found["is_worse"] is True
    assert found["environment"] == [{"name": "torch", "a": "2.1", "b": "2.2"}]


def test_what_was_taken_for_noise_is_said() -> None:
    (line,) = report.margins(_comparison([1.0, 1.0]))
    assert line.startswith("noise floor of 2 rows: 33.5 %, assumed")


def test_a_comment_about_failures_is_short_and_its_table_whole() -> None:
    error = "RuntimeError: a|b\n" + "\n".join(f"line {number}" for number in range(12))
    names = [f"toy/ootb/inference/{number}" for number in range(4)]
    found = compare(
        pair([result([1.0, 1.1], name) for name in names], [result([], name, error=error) for name in names])
    )
    lines = report.markdown(found, link="https://strobe.example/benchmarks").splitlines()
    assert len(lines) <= report.MAX_LINES
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 2 + 4
    assert all("RuntimeError: a\\|b" in row for row in rows[2:])
    assert lines[-1] == "[All results](https://strobe.example/benchmarks)"


def test_a_comment_says_what_is_missing() -> None:
    found = compare(pair([result([1.0]), result([1.0], "toy/ootb/inference/gone")], [result([1.0])]))
    assert "Not compared: 1 row, such as `toy/ootb/inference/gone B=8` (only in A)" in report.markdown(found)


def test_a_comment_says_what_a_lacks() -> None:
    found = compare(pair([result([1.0])], [result([1.0]), result([1.0], "toy/ootb/inference/new")]))
    assert "New in B: 1 row, such as `toy/ootb/inference/new B=8` (only in B)" in report.markdown(found)


def test_a_comment_has_room_for_rows_whatever_else_is_to_be_said() -> None:
    newer = msgspec.structs.replace(HERE, software={"torch": "2.2"})
    names = [f"toy/ootb/inference/{number}" for number in range(9)]
    absent = "not on this machine: needs a card"
    a = [result([1.0], name) for name in names] + [result([], "toy/ootb/x/absent", error=absent)]
    b = [result([], name, error="killed", environment=newer) for name in names]
    b += [result([], "toy/ootb/x/absent", error=absent), result([1.0], "toy/ootb/x/new")]
    lines = report.markdown(
        compare(pair([*a, result([1.0], "toy/ootb/x/gone")], b)), link="https://x.example"
    ).splitlines()
    assert len(lines) <= report.MAX_LINES
    assert sum("killed" in line for line in lines) >= 5
    assert [line.partition(":")[0] for line in lines[-6:-2]] == [
        "Not compared",
        "New in B",
        "Left out by both sides",
        "Environment",
    ]


@pytest.mark.parametrize("num_rows", [1, 5, 6, 7, 8, 9, 12, 13, 14, 15, 40])
@pytest.mark.parametrize("link", [None, "https://x.example"])
def test_what_does_not_fit_into_a_comment_is_told_below_the_table(num_rows: int, link: str | None) -> None:
    lines = report.markdown(_comparison([0.3] * num_rows), link=link).splitlines()
    assert len(lines) <= report.MAX_LINES
    num_shown = sum(line.startswith("| 🔴") for line in lines)
    more = [number for number, line in enumerate(lines) if line.startswith("… and")]
    assert [lines[number] for number in more] == [
        f"… and {num_rows - num_shown} more; `strobe bench compare` shows them." for _ in more
    ]
    assert bool(more) == (num_shown < num_rows)
    assert all(lines[number - 1] == "" for number in more)  # what follows a table without a blank line is a row of it


def test_a_comment_is_short_whatever_its_names_and_errors_hold() -> None:
    breaks = "".join(f"{number}\r{number}\u2028\n" for number in range(9))
    a = [result([1.0], f"toy/ootb/x/{breaks}{number}") for number in range(30)]
    b = [result([], one.benchmark, error=breaks) for one in a[:15]]
    lines = report.markdown(compare(pair(a, b))).splitlines()
    assert len(lines) <= report.MAX_LINES
    assert any(line.startswith("Not compared: 15 rows") for line in lines)


def test_bounds_that_are_none_or_beyond_all_measure() -> None:
    assert report.span(None, None) == "no bounds (n=1)"
    assert report.span(0.5, 1e9) == "0.500 or more"
    assert report.summary(compare(pair([result([1.0])], [result([2.0])])))[0] == (
        "geometric mean of B over A: 2.00× (no bounds: a row has a single repeat, 1 row)"
    )


def test_a_small_factor_is_not_shown_as_nothing() -> None:
    assert [report.factor(value) for value in (0.0034, 0.00001234, 0.0123, 0.5)] == [
        "0.0034×",
        "1.2e-05×",
        "0.01×",
        "0.50×",
    ]
    assert report.span(0.0002, 0.02) == "0.0002 to 0.020"


def test_a_comment_about_two_systems_blames_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    append_records(paths[0], [result([100.0, 101.0, 100.5, 100.2, 99.8])])
    append_records(paths[1], [result([50.0, 50.1, 50.2, 49.9, 50.3], environment=ELSEWHERE)])
    words = ["bench", "compare", *map(str, paths), "--systems", "--markdown", "--home", str(tmp_path)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("### Benchmarks: two systems\n")
    assert "1 slower" in printed


def _late(name: str) -> list[Record]:
    """A row as fast as before that misses its latency limit now."""
    return [result([100.0, 101.0, 100.5], name, latency=latency(status)) for status in ("met", "missed")]


@pytest.mark.parametrize(
    ("num_late", "told"), [(1, "1 row misses its latency limit"), (2, "2 rows miss their latency limit")]
)
def test_a_missed_latency_limit_comes_first_and_is_marked(num_late: int, told: str) -> None:
    found = _comparison([0.3] * 30)
    late = [_late(f"toy/ootb/inference/late{number}") for number in range(num_late)]
    pairs = [(row.a, row.b) for row in found.rows] + [(a, b) for a, b in late]
    found = compare(pair([a for a, _ in pairs], [b for _, b in pairs]))
    assert told in report.summary(found)
    lines = report.markdown(found).splitlines()
    assert len(lines) <= report.MAX_LINES
    assert f"{told}  " in lines
    rows = [line for line in lines if line.startswith("|")][2:]
    assert all(row.startswith("| ❗") and "p95 now misses 100 ms" in row for row in rows[:num_late])
    assert all("slower" in row for row in rows[num_late:])


def test_a_limit_that_is_missed_on_a_busy_machine_is_no_fault() -> None:
    busy = Repeat(wall_s=(1.0,), cpu_s=(1.0,), noisy=("steal 9 %",))
    a, b = _late("toy/ootb/inference/late")
    found = compare(pair([a], [msgspec.structs.replace(b, repeats=(busy,))]))
    assert not found.is_worse
    assert not any("latency limit" in line for line in report.summary(found))
    assert "❗" not in report.markdown(found)


def test_a_comment_leaves_out_rows_that_were_only_noisy() -> None:
    noisy = Repeat(wall_s=(1.0,), cpu_s=(1.0,), noisy=("too few steps",))
    (row,) = (found := compare(pair([result([1.0, 1.1])], [result([1.0, 1.1], repeats=(noisy,))]))).rows
    assert row.notes == ("B was noisy: too few steps",)
    assert "|" not in report.markdown(found)


def test_implementations_that_were_noisy_are_called_by_their_names() -> None:
    noisy = Repeat(wall_s=(1.0,), cpu_s=(1.0,), noisy=("too few steps",))
    rows = [result([1.0], f"toy/{name}/x/one-fp32", repeats=(noisy,)) for name in ("ootb", "optimized")]
    (row,) = compare(pair_implementations(rows)).rows
    assert row.notes == ("OOTB was noisy: too few steps", "Optimized was noisy: too few steps")
