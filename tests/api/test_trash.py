"""What is removed can be brought back, until the trash is emptied."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strobe.api import trash
from strobe.errors import RunExists, RunNotFound
from strobe.home import Home, RunPath

from .conftest import MakeRun


def test_put_and_restore_leave_the_run_as_it_was(home: Home, make_run: MakeRun) -> None:
    run_dir = make_run("r1", rows=[(0, {"loss": 1.0})])
    before = {path.name: path.read_bytes() for path in run_dir.journal.iterdir()}
    entry = trash.put(home, run_dir)
    assert not run_dir.path.exists()
    assert [found.run for found in trash.entries(home)] == [RunPath("local", "proj", "r1")]
    assert entry.size_bytes() > 0
    assert trash.restore(home, trash.find(home, "proj/r1")) == run_dir
    assert {path.name: path.read_bytes() for path in run_dir.journal.iterdir()} == before
    assert trash.entries(home) == []


def test_the_latest_removal_comes_first(home: Home, make_run: MakeRun) -> None:
    trash.put(home, make_run("r1"), now_ns=1)
    trash.put(home, make_run("r2"), now_ns=2)
    trash.put(home, make_run("r1"), now_ns=3)
    assert [(entry.run.id, entry.removed_ns) for entry in trash.entries(home)] == [("r1", 3), ("r2", 2), ("r1", 1)]
    assert trash.find(home, None).removed_ns == 3
    assert trash.find(home, "local/proj/r2").removed_ns == 2


def test_a_run_that_is_there_again_is_not_overwritten(home: Home, make_run: MakeRun) -> None:
    entry = trash.put(home, make_run("r1"))
    make_run("r1")
    with pytest.raises(RunExists, match="there again"):
        trash.restore(home, entry)
    assert trash.entries(home) == [entry]


def test_what_is_not_there(home: Home) -> None:
    assert trash.entries(home) == []
    with pytest.raises(RunNotFound, match="nothing is in the trash"):
        trash.find(home, None)
    with pytest.raises(RunNotFound, match="no run 'x'"):
        trash.find(home, "x")
    with pytest.raises(RunNotFound):
        trash.put(home, home.run_dir(RunPath("local", "p", "x")))


def test_a_half_made_entry_is_passed_over(home: Home, make_run: MakeRun) -> None:
    entry = trash.put(home, make_run("r1"))
    (home.trash / "1-killed").mkdir()
    (home.trash / "1-killed" / "entry.json").write_text(json.dumps({"run": "local/p/x", "removed_ns": 1}))
    (home.trash / "2-strange" / "run").mkdir(parents=True)
    (home.trash / "2-strange" / "entry.json").write_text("{")
    assert trash.entries(home) == [entry]


def test_empty(home: Home, make_run: MakeRun, tmp_path: Path) -> None:
    trash.put(home, make_run("r1"), now_ns=10)
    trash.put(home, make_run("r2"), now_ns=20)
    runs, freed = trash.empty(home, before_ns=15)
    assert runs == 1
    assert freed > 0
    assert trash.empty(home)[0] == 1
    assert trash.empty(Home(tmp_path / "none")) == (0, 0)
