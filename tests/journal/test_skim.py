"""A skim says the same as a replay, only sooner; damage makes it slower, never wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.home import Home, RunDir, RunPath
from strobe.journal import Header, Replay, Writer, event
from strobe.journal.skim import Skim


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDir:
    run_dir = Home(tmp_path).run_dir(RunPath("local", "p", "r"))
    main = Writer(
        run_dir.journal, Header(entity="local", project="p", run="r", writer="aaaa"), segment_bytes=2000, check_ns=0
    )
    main.event(event.Started(time_ns=10, attributes={"name": "n", "tags": ["t"]}))
    main.event(event.Config(time_ns=11, changes={"lr": 0.1}))
    for step in range(200):
        main.row({"loss": float(step), "text": "x" * 20}, step)
    main.event(event.Ended(time_ns=99, state="finished", exit_code=0))
    main.close()
    system = Writer(run_dir.journal, Header(entity="local", project="p", run="r", writer="bbbb", kind="system"))
    system.row({"cpu": 1.0}, 999)
    system.close()
    return run_dir


def assert_same(run_dir: RunDir) -> None:
    replay = Replay(run_dir)
    replay.refresh()
    skim = Skim(run_dir)
    assert skim.attributes == replay.attributes
    assert skim.config == replay.config
    assert skim.state == replay.state
    assert (skim.started_ns, skim.ended_ns) == (replay.started_ns, replay.ended_ns)
    assert skim.num_rows == replay.num_rows
    assert skim.last_step == replay.last_step


def test_a_skim_agrees_with_a_replay(run_dir: RunDir) -> None:
    assert len(list(run_dir.journal.iterdir())) > 3
    assert_same(run_dir)
    assert Skim(run_dir).refresh() is False


def test_a_torn_end_is_passed_over(run_dir: RunDir) -> None:
    last = sorted(run_dir.journal.glob("0001-aaaa-*"))[-1]
    for cut in range(1, 40):
        last.write_bytes(last.read_bytes()[:-1])
        if cut % 5 == 0:
            assert_same(run_dir)


def test_damaged_lengths_and_events_do_not_hide_what_follows(run_dir: RunDir) -> None:
    first = sorted(run_dir.journal.glob("0001-aaaa-*"))[0]
    content = first.read_bytes()
    for place in range(8, len(content), 29):
        damaged = bytearray(content)
        damaged[place] ^= 0x10
        first.write_bytes(damaged)
        skim, replay = Skim(run_dir), Replay(run_dir)
        replay.refresh()
        assert skim.state == replay.state
        assert skim.config == replay.config
        assert skim.attributes == replay.attributes


def test_what_is_no_journal_is_refused_by_name(run_dir: RunDir) -> None:
    (run_dir.journal / "0001-cccc-000000.strobe").write_bytes(b"something else entirely")
    assert [name for name, _ in Skim(run_dir).damages] == ["0001-cccc-000000.strobe"]


def test_an_empty_directory_is_an_empty_run(tmp_path: Path) -> None:
    skim = Skim(Home(tmp_path).run_dir(RunPath("local", "p", "none")))
    assert (skim.num_rows, skim.last_step, skim.state) == (0, None, "running")
