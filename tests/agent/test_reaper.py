"""The reaper: who died without a word is called crashed, who said one is believed."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from strobe.agent.entry import Entry
from strobe.agent.reaper import Reaper
from strobe.journal import Header, Replay, Writer, event

from .scene import MakeEntry, QuietLog, events_of, watched

DEAD = {"pid_started": 0.0}  # a pid that is now another process


@pytest.fixture
def forgotten() -> list[str]:
    return []


@pytest.fixture
def reaper(forgotten: list[str], log: QuietLog) -> Reaper:
    return Reaper(forgotten.append, log=log.write)


def _journal_of(entry: Entry) -> Writer:
    """Another segment of the entry's writer, as if it had gone on."""
    return Writer(
        entry.run.journal, Header(entity="local", project="p", run="r1", writer=entry.writer, index=1, first_sequence=9)
    )


def test_the_living_are_left_alone(reaper: Reaper, forgotten: list[str], make_entry: MakeEntry) -> None:
    run = watched(make_entry())
    reaper.poll(run, 0.0)
    assert forgotten == []
    assert events_of(run.run_dir) == []


def test_the_dead_are_crashed(reaper: Reaper, forgotten: list[str], make_entry: MakeEntry) -> None:
    run = watched(make_entry(**DEAD))
    reaper.poll(run, 0.0)
    (ended,) = events_of(run.run_dir)
    assert isinstance(ended, event.Ended)
    assert (ended.state, ended.writer) == ("crashed", "aaaaaaaa")
    assert ended.error is not None
    assert "without finish()" in ended.error
    assert forgotten == ["aaaaaaaa"]
    assert run.entries == {}


@pytest.mark.parametrize("writer", ["00000000", "ffffffff"])
def test_replay_calls_the_run_crashed_whoever_is_read_first(writer: str, reaper: Reaper, make_entry: MakeEntry) -> None:
    entry = make_entry(writer, **DEAD)
    _journal_of(entry).event(event.Started(time_ns=time.time_ns()))
    reaper.poll(watched(entry), 0.0)
    replay = Replay(entry.run)
    replay.refresh()
    assert replay.state == "crashed"


def test_who_is_found_dead_died_at_its_last_record(reaper: Reaper, make_entry: MakeEntry) -> None:
    entry = make_entry(**DEAD)
    (segment,) = entry.run.journal.iterdir()
    os.utime(segment, ns=(1, 5_000_000_000))
    run = watched(entry)
    reaper.poll(run, 0.0)
    assert events_of(run.run_dir)[0].time_ns == 5_000_000_000


def test_who_was_seen_alive_died_now(reaper: Reaper, make_entry: MakeEntry) -> None:
    run = watched(make_entry())
    reaper.poll(run, 0.0)
    run.entries["aaaaaaaa"] = make_entry(**DEAD)
    (segment,) = run.run_dir.journal.iterdir()
    os.utime(segment, ns=(1, 5_000_000_000))
    before = time.time_ns()
    reaper.poll(run, 1.0)
    assert events_of(run.run_dir)[0].time_ns >= before


def test_a_last_word_is_believed(reaper: Reaper, forgotten: list[str], make_entry: MakeEntry) -> None:
    entry = make_entry(**DEAD)
    journal = _journal_of(entry)
    journal.event(event.Ended(time_ns=1, state="failed", exit_code=1))
    journal.close()
    run = watched(entry)
    reaper.poll(run, 0.0)
    assert events_of(run.run_dir) == []
    assert forgotten == ["aaaaaaaa"]


def test_a_last_word_is_found_behind_megabytes(
    reaper: Reaper, make_entry: MakeEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strobe.agent.reaper._TAIL_BYTES", 1000)
    entry = make_entry(**DEAD)
    journal = _journal_of(entry)
    for step in range(100):
        journal.row({"text": "x" * 50}, step)
    journal.event(event.Ended(time_ns=1, state="finished"))
    journal.close()
    run = watched(entry)
    reaper.poll(run, 0.0)
    assert events_of(run.run_dir) == []


def test_the_word_of_another_writer_does_not_count(reaper: Reaper, make_entry: MakeEntry) -> None:
    entry = make_entry("aaaaaaaa", **DEAD)
    other = _journal_of(make_entry("bbbbbbbb"))
    other.event(event.Ended(time_ns=1, state="finished"))
    run = watched(entry)
    reaper.poll(run, 0.0)
    assert len(events_of(run.run_dir)) == 1


def test_a_deleted_run_is_forgotten(reaper: Reaper, forgotten: list[str], make_entry: MakeEntry) -> None:
    entry = make_entry(**DEAD)
    shutil.rmtree(entry.run_dir)
    reaper.poll(watched(entry), 0.0)
    assert forgotten == ["aaaaaaaa"]
    assert not Path(entry.run_dir).exists()


def test_a_full_disk_leaves_the_entry_for_later(
    reaper: Reaper, forgotten: list[str], make_entry: MakeEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = watched(make_entry(**DEAD))
    journal = run.journal("agent")
    assert journal is not None
    with monkeypatch.context() as patch:

        def reject(event: event.Event) -> int:
            journal.rejected += 1
            return 0

        patch.setattr(journal, "event", reject)
        reaper.poll(run, 0.0)
    assert forgotten == []
    reaper.poll(run, 1.0)
    assert forgotten == ["aaaaaaaa"]
