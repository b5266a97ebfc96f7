"""Describing: once per run, on a thread, also across restarts; a failure is logged and not repeated."""

from __future__ import annotations

import threading
from typing import Any

from strobe.agent.describer import Describer
from strobe.agent.entry import Entry
from strobe.agent.task import WatchedRun
from strobe.journal import event

from .scene import MakeEntry, QuietLog, events_of, wait_for, watched


def _poll_until_done(describer: Describer, run: WatchedRun) -> None:
    describer.poll(run, 0.0)

    def is_done() -> bool:
        describer.poll(run, 1.0)
        return not describer.is_pending(run)

    wait_for(is_done)


def test_the_answer_becomes_attributes(make_entry: MakeEntry, log: QuietLog) -> None:
    asked: list[Entry] = []

    def describe(entry: Entry) -> dict[str, Any]:
        asked.append(entry)
        return {"git_commit": "abc"}

    noted: list[list[str]] = []
    entry = make_entry(describe=True)
    run = watched(entry)
    describer = Describer(["old"], noted.append, log, describe=describe)
    _poll_until_done(describer, run)
    describer.poll(run, 2.0)
    (attributes,) = events_of(run.run_dir)
    assert isinstance(attributes, event.Attributes)
    assert attributes.changes == {"git_commit": "abc"}
    assert asked == [entry]
    assert noted == [["old", "aaaaaaaa"]]


def test_polling_does_not_wait_and_an_ended_run_is_pending(make_entry: MakeEntry, log: QuietLog) -> None:
    gate = threading.Event()

    def describe(entry: Entry) -> dict[str, Any]:
        gate.wait(10)
        return {"late": True}

    run = watched(make_entry(describe=True))
    describer = Describer([], lambda writers: None, log, describe=describe)
    describer.poll(run, 0.0)
    run.entries.clear()
    describer.poll(run, 1.0)
    assert describer.is_pending(run)
    gate.set()
    _poll_until_done(describer, run)
    assert len(events_of(run.run_dir)) == 1


def test_who_was_described_before_a_restart_is_not_again(make_entry: MakeEntry, log: QuietLog) -> None:
    run = watched(make_entry(describe=True))
    describer = Describer(["aaaaaaaa"], lambda writers: None, log, describe=lambda entry: {})
    describer.poll(run, 0.0)
    assert not describer.is_pending(run)


def test_who_does_not_ask_is_not_described(make_entry: MakeEntry, log: QuietLog) -> None:
    run = watched(make_entry(describe=False))
    describer = Describer([], lambda writers: None, log, describe=lambda entry: {})
    describer.poll(run, 0.0)
    assert not describer.is_pending(run)


def test_a_failure_is_logged_once(make_entry: MakeEntry, log: QuietLog) -> None:
    def describe(entry: Entry) -> dict[str, Any]:
        raise OSError("no git")

    run = watched(make_entry(describe=True))
    describer = Describer([], lambda writers: None, log, describe=describe)
    _poll_until_done(describer, run)
    describer.poll(run, 2.0)
    assert log.num_errors == 1
    assert events_of(run.run_dir) == []
