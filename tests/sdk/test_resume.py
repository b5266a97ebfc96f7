"""Resuming, rewinding, forking: what goes on where, and that the past stays readable."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import strobe
from strobe.errors import RunExists, RunNotFound, UsageError
from strobe.home import Home
from strobe.journal import Replay
from strobe.sdk.run import Run
from tests.sdk.scripts import column, environment, execute, replay_of, start


def record(*values: float, key: str = "x", **options: Any) -> Run:
    """Record one run of these values and return it, finished."""
    with strobe.init(project="p", **options) as run:
        for value in values:
            run.log({key: value})
    return run


def read(run: Run) -> Replay:
    return replay_of(run._recorder.run_dir)


def old(run: Run, attempt: int, key: str = "x") -> list[Any]:
    return [row[key] for row in read(run).rows(attempt=attempt) if key in row]


# -- resume


def test_allow_begins_and_then_goes_on(home: Home) -> None:
    first = record(0, 1, 2, id="r", resume="allow", config={"lr": 1, "layers": 2}, name="n", tags=["t"], notes="text")
    assert (first.resumed, first.attempt, first.starting_step) == (False, 1, 0)
    with strobe.init(project="p", id="r", resume="allow") as run:
        assert (run.resumed, run.attempt, run.starting_step, run.step) == (True, 2, 3, 3)
        assert dict(run.config) == {"lr": 1, "layers": 2}
        assert (run.name, run.tags, run.notes) == ("n", ("t",), "text")
        assert run.summary["x"] == 2
        run.log({"x": 3})
    replay = read(run)
    assert column(replay, "x") == [0, 1, 2, 3]
    assert [attempt.state for attempt in replay.attempts] == ["finished", "finished"]


def test_a_resumed_run_may_change_its_config_and_names(home: Home) -> None:
    record(0, id="r", config={"lr": 1, "layers": 2}, name="n", tags=["t"])
    run = record(1, id="r", resume="allow", config={"lr": 5}, name="other", tags=["u"])
    replay = read(run)
    assert replay.config == {"lr": 5, "layers": 2}
    assert (replay.attributes["name"], replay.attributes["tags"]) == ("other", ["u"])


def test_must_needs_a_past(home: Home) -> None:
    with pytest.raises(RunNotFound, match="local/p/r"):
        strobe.init(project="p", id="r", resume="must")
    with pytest.raises(UsageError, match="id"):
        strobe.init(project="p", resume="must")
    assert list(home.iter_runs()) == []
    record(0, 1, id="r")
    assert record(2, id="r", resume="must").starting_step == 2


def test_never_refuses_a_past(home: Home) -> None:
    assert record(0, id="r", resume="never").attempt == 1
    with pytest.raises(RunExists, match="local/p/r"):
        strobe.init(project="p", id="r", resume="never")


def test_without_a_word_the_run_begins_anew_and_the_old_attempt_stays_readable(home: Home) -> None:
    record(0, 1, 2, id="r", config={"lr": 1})
    run = record(10, 11, id="r", config={"layers": 3})
    assert (run.resumed, run.attempt, run.starting_step) == (False, 2, 0)
    assert column(read(run), "x") == [10, 11]
    assert old(run, 1) == [0, 1, 2]


@pytest.mark.parametrize("resume", [True, "auto"])
def test_auto_finds_the_run_that_did_not_end_well(home: Home, resume: bool | str) -> None:
    crashed = strobe.init(project="p", resume=resume)
    crashed.log({"x": 0})
    crashed.finish(exit_code=1)
    again = record(1, resume=resume)
    assert (again.id, again.attempt, again.starting_step) == (crashed.id, 2, 1)
    assert record(0, resume=resume).id != crashed.id


def test_auto_does_not_take_another_programs_or_projects_run(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_PROGRAM", "train.py")
    strobe.init(project="p", id="crashed").finish(exit_code=1)
    monkeypatch.setenv("STROBE_PROGRAM", "other.py")
    assert record(0, resume="auto").id != "crashed"
    monkeypatch.setenv("STROBE_PROGRAM", "train.py")
    with strobe.init(project="q", resume="auto") as run:
        assert run.id != "crashed"
    assert record(0, resume="auto").id == "crashed"


def test_auto_looks_at_the_latest_start_not_at_the_latest_run(home: Home) -> None:
    import os

    for number, name in enumerate(["a", "b"]):
        strobe.init(project="p", id=name).finish(exit_code=1)
        run_dir = home.runs / "local" / "p" / name
        for path in (run_dir, run_dir / "attempts"):
            os.utime(path, (1000 + number, 1000 + number))
    record(0, id="a", resume="must")
    assert record(0, resume="auto").id not in {"a", "b"}


def test_false_is_no_resuming(home: Home) -> None:
    record(0, id="r")
    assert not record(1, id="r", resume=False).resumed


def test_an_unknown_word_is_named(home: Home) -> None:
    with pytest.raises(UsageError, match="perhaps"):
        strobe.init(project="p", id="r", resume="perhaps")


def test_a_resumed_evaluation_leaves_the_training_curves_alone(home: Home) -> None:
    record(0, 1, 2, id="r")
    with strobe.init(project="p", id="r", resume="must") as run:
        run.log({"eval": 0.9}, step=1)
    assert column(read(run), "x") == [0, 1, 2]
    assert [row["_step"] for row in read(run).rows() if "eval" in row] == [1]


def test_a_restart_at_an_earlier_step_supersedes_the_tail(home: Home) -> None:
    record(0, 1, 2, 3, 4, id="r")
    with strobe.init(project="p", id="r", resume="allow") as run:
        for step in (2, 3):
            run.log({"x": step * 10}, step=step)
    assert column(read(run), "x") == [0, 1, 20, 30]
    assert old(run, 1) == [0, 1, 2, 3, 4]
    assert run.summary["x"] == 30


def test_steps_go_on_after_rows_without_numbers(home: Home) -> None:
    with strobe.init(project="p", id="r") as run:
        run.log({"x": 1})
        run.log({"text": "a row of its own"})
        run.log({"histogram": strobe.Histogram([1, 2])})
    assert record(2, id="r", resume="must").starting_step == 3


def test_a_run_without_rows_resumes_at_zero(home: Home) -> None:
    record(id="r")
    assert record(0, id="r", resume="must").starting_step == 0


def test_strict_steps_know_where_the_past_ended(home: Home) -> None:
    record(0, 1, 2, id="r")
    with (
        strobe.init(project="p", id="r", resume="must", strict_steps=True) as run,
        pytest.raises(strobe.errors.StepOrder),
    ):
        run.log({"x": 1}, step=1)


# -- resume_from


def test_rewind_goes_on_after_the_step_it_names(home: Home) -> None:
    """As wandb does: `_step=2` is the last row that stays, the next one has step 3."""
    record(0, 1, 2, 3, 4, id="r", config={"lr": 1})
    record(7, key="y", id="r", resume="must")
    run = record(30, 40, resume_from="r?_step=2")
    assert (run.id, run.resumed, run.attempt, run.starting_step) == ("r", True, 3, 3)
    assert run.config["lr"] == 1
    assert column(read(run), "x") == [0, 1, 2, 30, 40]
    assert column(read(run), "y") == []
    assert (old(run, 1), old(run, 2, "y")) == ([0, 1, 2, 3, 4], [7])


def test_the_summary_of_a_rewound_run_is_that_of_the_step(home: Home) -> None:
    record(0, 1, 2, 3, id="r")
    record(9, key="late", id="r", resume="must")
    with strobe.init(project="p", resume_from="r?_step=1") as run:
        assert dict(run.summary) == {"x": 1}
        run.log({"x": 20})
        assert dict(run.summary) == {"x": 20}


@pytest.mark.parametrize("moment", ["r", "r?step=3", "r?_step=", "r?_step=-1", "?_step=3", "r?_step=2.5"])
def test_a_moment_must_be_written_as_one(home: Home, moment: str) -> None:
    record(0, id="r")
    for option in ("resume_from", "fork_from"):
        with pytest.raises(UsageError, match="_step="):
            strobe.init(project="p", **{option: moment})  # type: ignore[arg-type]


def test_a_rewind_keeps_the_id_and_needs_a_past(home: Home) -> None:
    with pytest.raises(RunNotFound, match="local/p/r"):
        strobe.init(project="p", resume_from="r?_step=1")
    record(0, id="r")
    with pytest.raises(UsageError, match="'other'"):
        strobe.init(project="p", id="other", resume_from="r?_step=0")


@pytest.mark.parametrize(
    "options",
    [
        {"resume": "allow", "resume_from": "r?_step=0"},
        {"resume": "allow", "fork_from": "r?_step=0"},
        {"resume_from": "r?_step=0", "fork_from": "r?_step=0"},
    ],
)
def test_only_one_way_of_going_on_may_be_given(home: Home, options: dict[str, Any]) -> None:
    record(0, id="r")
    with pytest.raises(UsageError, match="only one"):
        strobe.init(project="p", **options)


# -- fork_from


def test_a_fork_has_its_parents_past(home: Home) -> None:
    record(0, 1, 2, 3, id="parent", config={"lr": 1, "layers": 2})
    run = record(20, 30, id="child", fork_from="parent?_step=1", config={"lr": 5})
    assert (run.resumed, run.attempt, run.starting_step) == (False, 1, 2)
    replay = read(run)
    assert column(replay, "x") == [0, 1, 20, 30]
    assert replay.config == {"lr": 5, "layers": 2}
    assert replay.metrics["x"].count == 4
    assert column(read(record(4, id="parent", resume="must")), "x") == [0, 1, 2, 3, 4]
    assert column(read(run), "x") == [0, 1, 20, 30]


def test_a_forks_summary_and_metrics_begin_with_its_parents(home: Home) -> None:
    with strobe.init(project="p", id="parent") as run:
        run.define_metric("loss", summary="min")
        for step, loss in enumerate([5.0, 1.0, 3.0, 0.5]):
            run.log({"loss": loss, "epoch": step})
    with strobe.init(project="p", fork_from="parent?_step=2") as child:
        assert child.summary["epoch"] == 2
        assert child.summary["loss"] == {"min": 1.0}
        child.log({"loss": 2.0})
        assert dict(child.summary) == {"epoch": 2, "loss": {"min": 1.0}}


def test_a_fork_of_a_fork_and_a_fork_from_another_project(home: Home) -> None:
    record(0, 1, 2, id="a")
    record(20, 30, id="b", fork_from="a?_step=1")
    run = record(300, id="c", fork_from="local/p/b?_step=2")
    assert column(read(run), "x") == [0, 1, 20, 300]
    with strobe.init(project="other", fork_from="p/a?_step=0") as run:
        run.log({"x": 9})
    assert column(read(run), "x") == [0, 9]


def test_a_fork_can_be_resumed_and_rewound_even_into_its_parents_past(home: Home) -> None:
    record(0, 1, 2, 3, id="a")
    record(30, 40, id="b", fork_from="a?_step=2")
    assert record(50, id="b", resume="must").starting_step == 5
    run = record(-1, resume_from="b?_step=3")
    assert column(read(run), "x") == [0, 1, 2, 30, -1]
    run = record(-2, resume_from="b?_step=0")
    assert column(read(run), "x") == [0, -2]
    assert read(run).metrics["x"].count == 2
    assert column(read(run), "x") == [0, -2]
    assert column(replay_of(home.run_dir(msgspec.structs.replace(read(run).path, id="a"))), "x") == [0, 1, 2, 3]


def test_a_fork_needs_a_parent_and_an_id_of_its_own(home: Home) -> None:
    with pytest.raises(RunNotFound, match="local/p/a"):
        strobe.init(project="p", fork_from="a?_step=1")
    record(0, id="a")
    record(0, id="b")
    with pytest.raises(RunExists, match="local/p/b"):
        strobe.init(project="p", id="b", fork_from="a?_step=0")


def test_a_fork_whose_parent_is_gone_keeps_its_own_rows(home: Home) -> None:
    import shutil

    record(0, 1, id="a")
    run = record(20, id="b", fork_from="a?_step=0")
    shutil.rmtree(home.run_dir(msgspec.structs.replace(read(run).path, id="a")).path)
    assert column(read(run), "x") == [20]


# -- processes


@pytest.mark.slow
def test_processes_that_resume_at_once_get_attempts_of_their_own(home: Home) -> None:
    code = """
    import sys, strobe
    with strobe.init(project="p", id="r", resume="allow") as run:
        print(run.attempt, flush=True)
        sys.stdin.readline()
        run.log({sys.argv[1]: 1})
    """
    import subprocess

    processes = [start(code, home, f"w{number}", stdin=subprocess.PIPE) for number in range(4)]
    attempts = [int(process.stdout.readline()) for process in processes if process.stdout]
    for process in processes:
        _, err = process.communicate("go\n", timeout=60)
        assert process.returncode == 0, err
    assert sorted(attempts) == [1, 2, 3, 4]
    (run_dir,) = home.iter_runs()
    replay = replay_of(run_dir)
    assert {f"w{number}" for number in range(4)} <= {key for row in replay.rows() for key in row}


@pytest.mark.slow
def test_a_killed_run_goes_on_with_every_row(home: Home) -> None:
    code = """
    import os, signal, sys, strobe
    run = strobe.init(project="p", id="r", resume="allow")
    for step in range(run.starting_step, run.starting_step + 10):
        run.log({"x": step})
    os.kill(os.getpid(), signal.SIGKILL)
    """
    for _ in range(3):
        execute(code, home)
    (run_dir,) = home.iter_runs()
    replay = replay_of(run_dir)
    assert column(replay, "x") == list(range(30))
    assert [attempt.state for attempt in replay.attempts] == ["crashed"] * 3


@pytest.mark.slow
def test_the_environment_can_ask_for_it(home: Home) -> None:
    record(0, 1, id="r")
    code = "import strobe\nwith strobe.init(project='p') as run:\n    print(run.id, run.starting_step)"
    for prefix in ("STROBE", "WANDB"):
        env = environment(home, **{f"{prefix}_RUN_ID": "r", f"{prefix}_RESUME": "must"})
        assert execute(code, home, env=env).stdout == "r 2\n"
