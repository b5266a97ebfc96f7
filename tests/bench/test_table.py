"""The results table: the seed's columns, its signs, one table per system, a command in every row."""

from __future__ import annotations

import msgspec
import pytest

from strobe.bench import table
from strobe.bench.compare.pairing import row_name
from strobe.bench.fields import as_fields
from strobe.bench.records import Environment, LatencyStatus, Record, Repeat
from tests.bench.results import latency, result, right, wrong


def _record(
    samples: tuple[float, ...] = (61.0, 62.0, 63.0),
    *,
    status: LatencyStatus | None = None,
    is_correct: bool = True,
    cpu: str = "A",
    error: str | None = None,
) -> Record:
    return result(
        samples,
        "dlrm/ootb/inference/A.1dev-embed4-fp32",
        model="DLRM",
        mode="Inference",
        batch_size=1024,
        latency=latency(status) if status else None,
        correctness=right() if is_correct else wrong(),
        error=error,
        environment=Environment(cpu=cpu, cpu_count=2, memory_bytes=2**34, hardware={"cpu": cpu}),
        command="strobe bench run dlrm/ootb/inference/A.1dev-embed4-fp32 --batch 1024",
    )


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (_record(), "62.00"),
        (_record(status="met"), "62.00"),
        (_record(status="missed"), "62.00*"),
        (_record(status="undecided"), "62.00?"),
        (_record(is_correct=False), "62.00!"),
        (_record(status="missed", is_correct=False), "62.00*!"),
        (_record(()), "failed"),
        (_record((), error="killed"), "failed"),
        (_record((), error="not on this machine: needs CUDA"), "left out"),
    ],
)
def test_signs_are_derived(record: Record, text: str) -> None:
    assert table.score_text(record) == text


@pytest.mark.parametrize(
    ("value", "text"), [(570.163, "570.16"), (61.85, "61.85"), (7.0849, "7.085"), (0.00123456, "0.001235")]
)
def test_scores_have_the_digits_that_mean_something(value: float, text: str) -> None:
    assert table.number_text(value) == text
    assert table.number_text(1e4 * 5.5) == "55,000"


def test_markdown_has_the_seeds_columns_and_a_command_per_row() -> None:
    lines = table.markdown_tables([_record(status="missed")]).splitlines()
    header = [cell.strip() for cell in lines[2].strip("|").split("|")]
    seeds = ["Model", "Implementation", "Mode", "Config", "Batch Size", "Score", "Units"]
    assert header == [*seeds, "Spread", "Reproduce"]
    row = [cell.strip() for cell in lines[4].strip("|").split("|")]
    assert row[:7] == ["DLRM", "OOTB", "Inference", "A.1dev-embed4-fp32", "1024", "62.00*", "ex/s"]
    assert row[7] == "±1.6 % n=3"
    assert row[8] == "`strobe bench run dlrm/ootb/inference/A.1dev-embed4-fp32 --batch 1024`"
    # Bare, the sign would be taken for the beginning of a list.
    assert lines[-1] == "- `*` = missed its latency limit"


def test_a_failure_is_told_below_its_table() -> None:
    text = table.markdown_tables([_record((), error="killed by SIGKILL\nlast words")])
    assert "| failed |" in text
    assert text.endswith("`dlrm/ootb/inference/A.1dev-embed4-fp32` failed: killed by SIGKILL")


def test_two_systems_are_two_tables() -> None:
    text = table.markdown_tables([_record(cpu="A"), _record(cpu="B"), _record(cpu="A")])
    assert text.count("| Model") == 2
    assert "**A, 2 CPUs, 16 GiB**" in text
    assert "**B, 2 CPUs, 16 GiB**" in text


def test_records_that_name_no_columns_are_left_out() -> None:
    old = Record(benchmark="load/v1-empty", subject="strobe", metric="time_load", unit="s", samples=(1.0,))
    assert table.by_system([old]) == {}


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.5, "s", "2.5 s"),
        (0.0025, "s", "2.5 ms"),
        (2.5e-6, "s", "2.5 µs"),
        (2.5e-11, "s", "0.025 ns"),
        (0.0, "s", "0 s"),
        (2.5e9, "B", "2.5 GB"),
        (12.0, "B", "12.00 B"),
        (0.5, "B", "0.5 B"),
        (0.5, "ex/s", "0.5 ex/s"),
        (-0.5, "s", "-500 ms"),
    ],
)
def test_a_value_is_told_in_the_unit_that_suits_it(value: float, unit: str, text: str) -> None:
    factor, name = table.scale_of(value, unit)
    assert f"{table.number_text(value * factor)} {name}" == text


def test_a_value_is_written_with_its_unit() -> None:
    assert table.format_value(1.5, "s") == "1.5 s"
    assert table.format_value(0.0015, "s") == "1.5 ms"
    assert table.format_value(2.5e-6, "s") == "2.5 µs"
    assert table.format_value(0.0, "s") == "0 s"
    assert table.format_value(15e6, "B") == "15 MB"
    assert table.format_value(1_000_000, "rows") == "1,000,000 rows"


def test_times_of_a_row_have_a_unit_that_suits_them() -> None:
    quick = msgspec.structs.replace(_record((0.0021, 0.0020, 0.0023)), unit="s")
    assert table.cells(quick)[-2:] == ("2.1", "ms")
    assert as_fields(quick)["score"] == 0.0021


def test_noise_is_shown_beside_the_spread() -> None:
    noisy = msgspec.structs.replace(_record(), repeats=(Repeat(wall_s=(1.0,), cpu_s=(1.0,), noisy=("steal 9 %",)),))
    assert table.spread_text(noisy) == "±1.6 % n=3~"
    assert table.spread_text(_record()) == "±1.6 % n=3"
    assert table.spread_text(_record((1.0,))) == "n=1"


def test_rows_of_two_devices_can_be_told_apart() -> None:
    rows = [result([1.0], config="one-fp32"), result([1.0], config="one-fp32", device="cuda:1")]
    assert [table.cells(row)[3] for row in rows] == ["one-fp32", "one-fp32 cuda:1"]
    assert [(as_fields(row)["device"], as_fields(row)["config"]) for row in rows] == [
        ("cpu", "one-fp32"),
        ("cuda:1", "one-fp32"),
    ]


def test_a_search_s_trial_is_marked() -> None:
    trial = result([1.0], config="one-fp32", is_trial=True)
    assert table.cells(trial)[3] == "one-fp32 trial"
    assert row_name(trial).endswith("B=8 trial")


def test_a_column_without_a_word_is_still_one_of_a_markdown_table() -> None:
    header, rule, row = table.markdown(("", "Name"), [("", "one")]).splitlines()
    assert (header, rule, row) == ("|     | Name |", "| --- | ---- |", "|     | one  |")


def test_a_row_whose_sealed_code_changed_is_told_without_naming_one_way_to_it() -> None:
    changed = result([1.0], "toy/optimized/inference/one-fp32", is_changed=True)
    assert table.legend([changed]) == {"#": "its code is not what its version was sealed with: comparable with nothing"}
