"""Rows of sessions that did not live to see their end: none is lost, none comes twice."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from strobe.bench.records import Record, Repeat, append_records, read_records
from strobe.bench.unfinished import Unfinished, read_results, settle
from strobe.cli import OK, main

OWN = Path(__file__).parent / "own.py"


def _row(name: str, *walls: float, **more: object) -> Record:
    repeats = tuple(Repeat(wall_s=(wall,), cpu_s=(wall,)) for wall in walls)
    record = Record(benchmark=name, subject="s", metric="m", unit="s", id=name, samples=walls, repeats=repeats)
    return msgspec.structs.replace(record, **more)


def _die_midway(results: Path) -> None:
    """Leave what a killed session leaves: its rows, and no lock."""
    with Unfinished(results) as unfinished:
        unfinished.write(_row("a", 1.0))
        unfinished.write(_row("b", 5.0))
        unfinished.write(_row("a", 1.0, 2.0))


def _left(results: Path) -> list[str]:
    return sorted(path.name for path in results.parent.iterdir() if path != results)


def test_rows_are_taken_in_with_all_their_repeats_and_once(tmp_path: Path) -> None:
    results = tmp_path / "bench" / "results.jsonl"
    _die_midway(results)
    assert read_results(results) == [_row("a", 1.0, 2.0), _row("b", 5.0)]
    assert _left(results) == []
    assert settle(results) == []
    assert list(read_records(results)) == [_row("a", 1.0, 2.0), _row("b", 5.0)]


def test_a_repeat_is_written_once(tmp_path: Path) -> None:
    with Unfinished(tmp_path / "results.jsonl") as unfinished:
        for count in range(1, 40):
            unfinished.write(_row("a", *[0.125] * count))
        (path,) = tmp_path.glob("*.unfinished")
        assert path.read_bytes().count(b"wall_s") == 39


def test_a_session_that_runs_is_left_alone(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with Unfinished(results) as unfinished:
        unfinished.write(_row("a", 1.0))
        assert settle(results) == []
        append_records(results, [_row("a", 1.0)])
        unfinished.discard()
    assert read_results(results) == [_row("a", 1.0)]
    assert _left(results) == []


def test_rows_that_are_among_the_results_already_do_not_come_twice(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    _die_midway(results)
    append_records(results, [_row("a", 1.0, 2.0, 3.0)])
    assert [record.id for record in settle(results)] == ["b"]
    assert list(read_records(results)) == [_row("a", 1.0, 2.0, 3.0), _row("b", 5.0)]


def test_a_failure_takes_the_samples_and_leaves_the_repeats(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    failed = _row("a", 1.0, samples=(), error="killed")
    with Unfinished(results) as unfinished:
        unfinished.write(_row("a", 1.0))
        unfinished.write(failed)
    assert read_results(results) == [failed]


@pytest.mark.parametrize("rest", [b'{"benchmark":"a","id":"a","rep', b"\0\0\0\0\0\0"])
def test_a_line_that_a_power_cut_tore_costs_no_other(tmp_path: Path, rest: bytes) -> None:
    results = tmp_path / "results.jsonl"
    _die_midway(results)
    (path,) = tmp_path.glob("*.unfinished")
    with path.open("ab") as stream:
        stream.write(rest)
    with pytest.warns(match="torn while it was written"):
        assert read_results(results) == [_row("a", 1.0, 2.0), _row("b", 5.0)]


def test_what_a_full_disk_did_not_take_comes_with_the_next_line(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Unfinished(results) as unfinished:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
            with pytest.raises(OSError, match="File too large"):
                unfinished.write(_row("a", 1.0))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, before)
        unfinished.write(_row("a", 1.0, 2.0))
    with pytest.warns(match="torn while it was written"):
        assert read_results(results) == [_row("a", 1.0, 2.0)]


def test_nothing_is_left_beside_a_device(tmp_path: Path) -> None:
    device = tmp_path / "device"
    os.mkfifo(device)
    with Unfinished(device) as unfinished:
        unfinished.write(_row("a", 1.0))
    assert list(tmp_path.iterdir()) == [device]


@pytest.mark.slow
def test_kill_9_costs_nothing_that_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STROBE_HOME", str(tmp_path))
    keys = [f"own/micro/test/{name}" for name in ("Plain", "Sleep", "Hangs")]
    command = [sys.executable, "-m", "strobe", "bench", "run", *keys, "--file", str(OWN), "--seconds", "0.02"]
    parent = subprocess.Popen(command, env=dict(os.environ), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert parent.stderr is not None
    try:
        for line in parent.stderr:  # until the second row is done and the third hangs
            if b"Sleep B=1 #1: " in line:
                break
        os.kill(parent.pid, signal.SIGKILL)
    finally:
        parent.kill()
        parent.wait()
        parent.stderr.close()
    assert not (tmp_path / "bench" / "results.jsonl").read_bytes()

    assert main(["bench", "table"]) == OK
    captured = capsys.readouterr()
    assert "2 rows of a session that did not end taken in" in captured.err
    assert "Plain" in captured.out
    assert "Sleep" in captured.out
    plain, sleep = read_records(tmp_path / "bench" / "results.jsonl")
    assert len(plain.samples) == len(sleep.samples) == 1
    assert main(["bench", "table", "--all", "--json"]) == OK
    assert capsys.readouterr().out.count(plain.id) == 1


@pytest.mark.slow
def test_what_a_session_measured_outlives_a_fault_in_telling_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from strobe.cli.bench_progress import ProgressLine

    def fail(line: ProgressLine, progress: object) -> None:
        if getattr(progress, "outcome", None) is not None:
            raise BrokenPipeError

    monkeypatch.setenv("STROBE_HOME", str(tmp_path))
    monkeypatch.setattr(ProgressLine, "show", fail)
    main(["bench", "run", "own/micro/test/Plain", "--file", str(OWN), "--seconds", "0.02", "--repeats", "1"])
    (record,) = read_results(tmp_path / "bench" / "results.jsonl")
    assert len(record.samples) == 1
