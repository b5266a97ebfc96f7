"""Flushing: what has grown, once; nothing when nothing has."""

from __future__ import annotations

import shutil

import pytest

from strobe.agent import flush
from strobe.agent.flush import Flusher
from strobe.journal import Header, Writer

from .scene import MakeEntry, watched


def test_only_what_has_grown_is_flushed(make_entry: MakeEntry) -> None:
    run = watched(make_entry())
    flusher = Flusher()
    flusher.poll(run, 0.0)
    assert flusher.num_flushes == 1
    flusher.poll(run, 1.0)
    assert flusher.num_flushes == 1
    writer = Writer(run.run_dir.journal, Header(entity="local", project="p", run="r1", writer="bbbbbbbb"))
    flusher.poll(run, 2.0)
    assert flusher.num_flushes == 2
    writer.row({"a": 1.0}, 0)
    flusher.close(run)
    assert flusher.num_flushes == 3


def test_a_new_file_flushes_its_directory(make_entry: MakeEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []
    monkeypatch.setattr(flush, "_flush_path", lambda path, flags: flushed.append(path))
    run = watched(make_entry())
    flusher = Flusher()
    flusher.poll(run, 0.0)
    flusher.poll(run, 1.0)
    (segment,) = run.run_dir.journal.iterdir()
    assert flushed == [str(segment), str(run.run_dir.journal)]


def test_a_run_with_another_policy_is_left_alone(make_entry: MakeEntry) -> None:
    flusher = Flusher()
    flusher.poll(watched(make_entry(fsync="never")), 0.0)
    assert flusher.num_flushes == 0


def test_a_deleted_run_is_no_error(make_entry: MakeEntry) -> None:
    run = watched(make_entry())
    shutil.rmtree(run.run_dir.path)
    flusher = Flusher()
    flusher.poll(run, 0.0)
    flusher.close(run)
    assert flusher.num_flushes == 0
