"""Runs of the real clients, made now: what wandb, torch and tensorboardX of this environment write can be read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from strobe.data.loading import load
from strobe.home import Home
from strobe.importers import Report, record, tensorboard, wandb
from strobe.journal import Replay

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]
HERE = Path(__file__).parent


def run_script(name: str, *arguments: str, **environ: str) -> int:
    """Run a script of this directory as a program, in a process group of its own."""
    done = subprocess.run(
        [sys.executable, str(HERE / name), *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert done.returncode in (0, -9), done.stderr
    return done.returncode


def bring(home: Home, run: Any) -> tuple[Replay, Report]:
    report = Report()
    record(home, run, report)
    replay = Replay(home.run_dir(run.path))
    replay.refresh()
    return replay, report


def test_a_wandb_run_with_everything(home: Home, tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    run_script("wandb_script.py", str(tmp_path / "w"), "--grow", WANDB_TEST_EXIT="3")
    (found,) = wandb.find_runs([tmp_path / "w"], {})
    run, report = bring(home, found)
    assert (report.losses, report.notes, report.left_out) == ([], [], {})
    assert (run.state, run.exit_code) == ("failed", 3)
    assert run.attributes["name"] == "second name"
    assert [row["_step"] for row in run.rows()] == [*range(26), 1000]
    # The artifact's files are still where the client put them: the table has its pictures, and the artifact is one.
    table = load(next(row["table"] for row in run.rows() if "table" in row), run.run_dir.files)
    assert table.data[0][2].to_numpy().shape == (8, 8, 3)
    assert table.data[1] == [2, "y", None]
    grown = [load(row["growing"], run.run_dir.files).data for row in run.rows() if "growing" in row]
    assert grown == [[[0]], [[0], [1]], [[0], [1], [2]]]
    assert [(use.action, use.name, use.kind, sorted(use.aliases)) for use in run.artifacts] == [
        ("log", "dataset", "dataset", ["best", "latest"])
    ]
    from strobe.artifact import store

    logged = store.find(home, "digits/dataset:best")
    assert Path(logged.download(str(tmp_path / "download")), "data", "kept.txt").read_text() == "kept"
    assert logged.metadata == {"rows": 1}


def test_a_wandb_run_that_was_killed(home: Home, tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    assert run_script("wandb_script.py", str(tmp_path / "w"), "--kill") == -9
    (found,) = wandb.find_runs([tmp_path / "w"], {})
    run, report = bring(home, found)
    assert run.state == "crashed"
    steps = [row["_step"] for row in run.rows()]
    # The client writes blocks of 32 KiB: what was in the last one is lost with the process, and only that.
    assert steps == list(range(len(steps)))
    assert len(steps) > 100
    assert all(loss.is_torn for _, loss in report.losses)


def test_a_wandb_run_that_was_resumed(home: Home, tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    for first in ("0", "15"):
        run_script("wandb_script.py", str(tmp_path / "w"), WANDB_TEST_ID="resumed1", WANDB_TEST_STEP=first)
    (found,) = wandb.find_runs([tmp_path / "w"], {})
    run, _ = bring(home, found)
    assert run.path.id == "resumed1"
    assert [attempt.state for attempt in run.attempts] == ["finished", "finished"]
    losses = {row["_step"]: row["loss"] for row in run.rows() if "loss" in row}
    assert losses == {step: pytest.approx(1 / (step + 1)) for step in range(35)}


def test_event_files_say_what_tensorboard_reads_in_them(home: Home, tmp_path: Path) -> None:
    for library in ("torch", "tensorboard", "tensorboardX"):
        pytest.importorskip(library)
    run_script("tensorboard_script.py", str(tmp_path / "logs"))
    names = {}
    for found in tensorboard.find_runs([tmp_path / "logs"], {}):
        run, report = bring(home, found)
        names[found.name] = run
        assert report.losses == []
        ours = {
            (key, row["_step"]): repr(item)
            for row in run.rows()
            for key, item in row.items()
            if isinstance(item, float) and not key.startswith("_")
        }
        assert ours == _read_by_tensorboard(found.sources[0].parent)
    assert sorted(names) == ["torch", "torch/hp", "x"]


#: it gives up what a restart supersedes of the old scalars, but not of those that are tensors
_EVENT_ACCUMULATOR = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util.tensor_util import make_ndarray
log = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "tensors": 0})
log.Reload()
found = [[tag, event.step, repr(event.value)] for tag in log.Tags()["scalars"] for event in log.Scalars(tag)]
for tag in log.Tags()["tensors"]:
    if log.SummaryMetadata(tag).plugin_data.plugin_name == "scalars":
        found += [[tag, e.step, repr(float(make_ndarray(e.tensor_proto)))] for e in log.Tensors(tag) if e.step < 10]
print(json.dumps(found))
"""


def _read_by_tensorboard(directory: Path) -> dict[tuple[str, int], str]:
    import json

    # A process of its own: its imports warn, and stay.
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _EVENT_ACCUMULATOR, str(directory)],
        capture_output=True,
        text=True,
        check=True,
    )
    return {(tag, step): value for tag, step, value in json.loads(done.stdout.splitlines()[-1])}
