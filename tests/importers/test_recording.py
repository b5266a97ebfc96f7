"""The recording: whole or not at all, once, and never over somebody else's run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from strobe.errors import NotImportable
from strobe.home import Home, RunPath
from strobe.importers import Report, has_changed, is_present, record
from strobe.importers.model import Item, KeptFile, LoggedArtifact, Row, Sample, Start
from strobe.journal import Replay
from strobe.journal import event as ev

SECOND = 1_000_000_000
BEGAN = 1_600_000_000 * SECOND
PATH = RunPath("local", "p", "abcd1234")


class Told:
    """A foreign run that says what it is told to."""

    path = PATH
    name = "told"

    def __init__(self, *starts: tuple[str, Iterable[Item]], source: str = "told", size: int = 1) -> None:
        self._starts = starts
        self.sources: list[Path] = []
        self.imported = {"from": "tests", "run": source, "source": "", "bytes": size}

    @property
    def identities(self) -> list[str]:
        return [identity for identity, _ in self._starts]

    def items(self, report: Report) -> Iterator[Item]:
        for number, (identity, items) in enumerate(self._starts):
            at_ns = BEGAN + number * 100 * SECOND
            yield Start(identity, ev.Started(time_ns=at_ns, attributes={"imported": self.imported}))
            yield from items
            yield ev.Ended(time_ns=at_ns + 50 * SECOND, state="finished", exit_code=0)


def rows(*steps: int, value: Any = 1.0) -> list[Item]:
    return [Row(step, BEGAN + step * SECOND, {"loss": value}) for step in steps]


def read(home: Home) -> Replay:
    replay = Replay(home.run_dir(PATH))
    replay.refresh()
    return replay


def bring(home: Home, run: Any, **options: Any) -> str:
    return record(home, run, Report(), **options).status


def test_times_and_steps_are_the_original_ones(home: Home) -> None:
    assert bring(home, Told(("a", rows(3, 1, -5)))) == "imported"
    run = read(home)
    assert [(row["_step"], row["_timestamp"]) for row in run.rows()] == [
        (step, BEGAN / SECOND + step) for step in (-5, 1, 3)
    ]
    assert (run.started_ns, run.ended_ns) == (BEGAN, BEGAN + 50 * SECOND)


def test_an_import_that_is_broken_off_leaves_nothing(home: Home) -> None:
    def broken() -> Iterator[Item]:
        yield from rows(1, 2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bring(home, Told(("a", broken())))
    assert not list(home.iter_runs())
    assert not (home.path / "importing").exists()
    assert bring(home, Told(("a", rows(1, 2)))) == "imported"


def test_what_a_killed_import_has_left_goes_after_a_day(home: Home) -> None:
    stale, fresh = home.path / "importing" / "stale", home.path / "importing" / "fresh"
    for place in (stale, fresh):
        (place / "runs").mkdir(parents=True)
    os.utime(stale, (1, 1))
    bring(home, Told(("a", rows(1))))
    assert (stale.exists(), fresh.exists()) == (False, True)


def test_a_further_start_is_a_further_attempt(home: Home) -> None:
    assert bring(home, Told(("a", rows(1, 2)))) == "imported"
    two = Told(("a", rows(1, 2)), ("b", rows(2, 3, value=2.0)))
    assert not is_present(home, two)
    assert bring(home, two) == "extended"
    assert is_present(home, two)
    assert [(row["_step"], row["loss"]) for row in read(home).rows()] == [(1, 1.0), (2, 2.0), (3, 2.0)]
    assert [attempt.number for attempt in read(home).attempts] == [1, 2]
    assert bring(home, two) == "present"


def test_an_earlier_start_comes_too_late(home: Home) -> None:
    bring(home, Told(("a", []), ("b", rows(1))))
    with pytest.raises(NotImportable, match="with a later start already"):
        bring(home, Told(("z", rows(1))))


@pytest.mark.parametrize("replace", [False, True])
def test_another_run_keeps_its_place(home: Home, replace: bool) -> None:
    bring(home, Told(("a", rows(1)), source="one"))
    with pytest.raises(NotImportable, match="another run has the name local/p/abcd1234"):
        bring(home, Told(("b", rows(2)), source="other"), replace=replace)
    assert [row["_step"] for row in read(home).rows()] == [1]


def test_replacing_moves_the_old_one_to_the_trash(home: Home) -> None:
    bring(home, Told(("a", rows(1))))
    grown = Told(("a", rows(1, 2)), size=2)
    assert is_present(home, grown)
    assert has_changed(home, grown)
    assert bring(home, grown, replace=True) == "imported"
    assert [row["_step"] for row in read(home).rows()] == [1, 2]
    assert not has_changed(home, grown)
    assert len(list(home.trash.iterdir())) == 1


def test_values_that_a_row_cannot_hold(home: Home) -> None:
    deep: Any = 1
    for _ in range(100_000):  # deeper than any Python's encoder follows
        deep = [deep]
    items: list[Item] = [
        Row(1, BEGAN, {"big": 2**80, "text": "\ud800", "long": "x" * 100_000, "fine": 1}),
        Row(2, BEGAN, {"deep": deep, "fine": 2}),
        Row(3, BEGAN, {f"k{number}": "x" * 60_000 for number in range(100)}),
        ev.Config(time_ns=BEGAN, changes={"seed": 2**80}),
        ev.Summary(time_ns=BEGAN, changes={"best": 2**80}),
        Sample(BEGAN, {"system.odd": 2**80}),
    ]
    report = Report()
    record(home, Told(("a", items)), report)
    run = read(home)
    found = {row["_step"]: row for row in run.rows()}
    assert (found[1]["big"], found[1]["text"], found[1]["fine"]) == (2**80, "\\ud800", 1)
    assert found[2]["fine"] == 2
    assert sum(key.startswith("k") for key in found[3]) == 100
    assert (run.config, run.summary["best"]) == ({"seed": 2**80}, 2**80)
    assert [row["system.odd"] for row in run.system_rows()] == [2**80]
    assert ["nested deeper" in note for note in report.notes] == [True]


def test_files_and_artifacts_have_the_time_of_the_run(home: Home, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    source = tmp_path / "sub" / "a.txt"
    source.write_text("content")
    at_ns = BEGAN + 5 * SECOND
    artifact = LoggedArtifact(at_ns, "data", "dataset", None, {}, ["best"], [], {"in/a.txt": source}, {})
    refused = LoggedArtifact(at_ns, "no good name!", "dataset", None, {}, [], [], {"a": source}, {})
    report = Report()
    outcome = record(home, Told(("a", [KeptFile(at_ns, tmp_path, "sub/a.txt"), artifact, refused])), report)
    run = read(home)
    assert (outcome.files, outcome.artifacts) == (1, 1)
    assert (run.run_dir.files / "sub" / "a.txt").read_text() == "content"
    assert run.files["sub/a.txt"].time_ns == at_ns
    assert [(use.name, use.time_ns) for use in run.artifacts] == [("data", at_ns)]
    assert "artifact 'no good name!' was not brought over" in report.notes[0]
