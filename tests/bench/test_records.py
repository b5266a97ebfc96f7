"""Records survive their file, and a file that is not one is refused by line."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.bench import machine
from strobe.bench.records import (
    SCHEMA,
    Correct,
    Environment,
    Record,
    Repeat,
    Roofline,
    append_records,
    format_variant,
    make_id,
    read_records,
)
from strobe.bench.workload import Work
from strobe.errors import Error, StrobeWarning

names = st.text(max_size=10)
numbers = st.floats(allow_nan=False, allow_infinity=False)
seconds = st.lists(numbers, max_size=4).map(tuple)
repeats = st.builds(Repeat, wall_s=seconds, cpu_s=seconds, inner_loops=st.integers(1, 9), noisy=st.tuples(names))
verdicts = st.builds(
    Correct,
    is_correct=st.booleans(),
    error=st.none() | numbers,
    max_error=st.none() | numbers,
    tolerance=numbers,
    reference=names,
)
rooflines = st.builds(
    Roofline,
    peak_flops=numbers,
    peak_bytes_per_s=numbers,
    fraction=numbers,
    bound=st.sampled_from(["compute", "memory"]),
)
records = st.builds(
    Record,
    benchmark=names,
    subject=names,
    subject_version=names,
    variant=st.dictionaries(names, names, max_size=3),
    metric=names,
    unit=names,
    better=st.sampled_from(["less", "more"]),
    samples=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=5).map(tuple),
    error=st.none() | names,
    options=st.dictionaries(names, st.floats(allow_nan=False, allow_infinity=False), max_size=2),
    environment=st.builds(Environment, host=names, cpu_count=st.integers(0, 512)),
    command=names,
    id=names,
    batch_size=st.none() | st.integers(1, 4096),
    repeats=st.lists(repeats, max_size=2).map(tuple),
    work=st.none() | st.builds(Work, examples=numbers, flops=numbers, bytes=numbers),
    correctness=st.none() | verdicts,
    roofline=st.none() | rooflines,
)


@given(st.lists(records, max_size=4), st.lists(records, max_size=4))
def test_what_is_appended_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, first: list[Record], second: list[Record]
) -> None:
    path = tmp_path_factory.mktemp("records") / "deep" / "results.jsonl"
    append_records(path, first)
    append_records(path, second)
    assert list(read_records(path)) == [*first, *second]


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    append_records(path, [Record(benchmark="b", subject="s", metric="m", unit="s")])
    with path.open("a") as stream:
        stream.write('\n{"benchmark": 3}\n')
    with pytest.raises(Error, match=r"results\.jsonl:3: not a benchmark record"):
        list(read_records(path))


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    append_records(path, [Record(benchmark="b", subject="s", metric="m", unit="s", schema=SCHEMA + 1)])
    with pytest.raises(Error, match="update Strobe"):
        list(read_records(path))


def test_digest() -> None:
    record = Record(benchmark="b", subject="s", metric="m", unit="s", variant={"a": "1"}, samples=(1.0, 2.0, 3.0))
    assert record.digest().median == 2.0
    with pytest.raises(ValueError, match="no samples"):
        Record(benchmark="b", subject="s", metric="m", unit="s", error="failed").digest()


def test_a_variant_is_written_as_in_the_seed() -> None:
    assert format_variant({"mode": "offline", "core": "false"}) == "mode=offline,core=false"


def test_the_machine_is_described(tmp_path: Path) -> None:
    found = machine.describe(tmp_path)
    assert found.cpu_count >= 1
    assert found.python
    assert found.started_at.endswith("+00:00")


def test_a_line_of_schema_1_still_reads(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"benchmark":"load/v1-empty","subject":"strobe","metric":"log_s","unit":"s","samples":[0.5]}\n')
    (record,) = read_records(path)
    assert record.samples == (0.5,)
    assert record.environment.fingerprint == ""


def test_the_schema_is_always_written(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    append_records(path, [Record(benchmark="b", subject="s", metric="m", unit="s")])
    assert f'"schema":{SCHEMA}' in path.read_text()


def test_ids_are_unique_and_in_order_of_time() -> None:
    ids = [make_id() for _ in range(100)]
    assert len(set(ids)) == 100
    assert [one[:12] for one in ids] == sorted(one[:12] for one in ids)


def test_prints_are_of_facts_whatever_their_order() -> None:
    one = Environment(hardware={"cpu": "a", "cores": "2"}, software={"torch": "2"})
    other = Environment(hardware={"cores": "2", "cpu": "a"}, software={"torch": "3"})
    assert one.fingerprint == other.fingerprint
    assert one.softprint != other.softprint


def _append_torn(path: Path) -> None:
    append_records(path, [Record(benchmark="whole", subject="s", metric="m", unit="s")])
    with path.open("ab") as stream:
        stream.write(b'{"benchmark": "torn", "sub')


def test_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    _append_torn(path)
    append_records(path, [Record(benchmark="next", subject="s", metric="m", unit="s")])
    with pytest.warns(StrobeWarning, match=r"results\.jsonl:2: left out: torn"):
        assert [record.benchmark for record in read_records(path)] == ["whole", "next"]


def test_what_finds_no_room_is_told(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "results.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            append_records(path, [Record(benchmark="b" * 200, subject="s", metric="m", unit="s")])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
