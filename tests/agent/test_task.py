"""A watched run's own journals: opened at need, sealed at the end, and never a deleted run brought back."""

from __future__ import annotations

import shutil

from strobe.journal import JournalReader

from .scene import MakeEntry, watched


def test_journals_are_opened_at_need_and_sealed(make_entry: MakeEntry) -> None:
    run = watched(make_entry())
    journal = run.journal("system")
    assert journal is not None
    assert run.journal("system") is journal
    journal.row({"system.cpu": 1.0}, 0)
    run.close()
    reader = JournalReader(run.run_dir.journal)
    headers = {header.kind: header for header, _ in reader.poll()}
    assert headers["system"].host == run.entries["aaaaaaaa"].host
    assert sum(segment.seal is not None for segment in reader.segments.values()) == 1


def test_a_deleted_run_stays_deleted(make_entry: MakeEntry) -> None:
    run = watched(make_entry())
    journal = run.journal("system")
    assert journal is not None
    shutil.rmtree(run.run_dir.path)
    assert run.journal("system") is None
    run.close()
    assert not run.run_dir.path.exists()
