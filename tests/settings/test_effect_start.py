"""Settings about how a run starts and who writes it: resuming, active runs, ranks, shared runs."""

from __future__ import annotations

import pytest

from strobe.errors import RunExists, RunNotFound
from strobe.home import Home
from strobe.sdk import current

from .effect import Start, replay_of, shows


@shows("resume")
def test_resume(start: Start) -> None:
    with pytest.raises(RunNotFound):
        start(run_id="a", resume="must")
    run = start(run_id="a")
    run.log({"x": 1})
    run.finish()
    with pytest.raises(RunExists):
        start(run_id="a", resume="never")
    assert (start(run_id="a", resume="allow").starting_step, start(run_id="a").starting_step) == (1, 0)


@shows("resume_from", "fork_from")
def test_going_back_to_a_step(start: Start) -> None:
    run = start(run_id="a")
    for value in range(5):
        run.log({"x": value})
    run.finish()
    forked = start(fork_from="a?_step=1", run_id="b")
    forked.log({"x": 10})
    assert [row["x"] for row in replay_of(forked).rows()] == [0, 1, 10]
    rewound = start(resume_from="a?_step=2")
    assert (rewound.id, rewound.starting_step) == ("a", 3)
    assert [row["x"] for row in replay_of(rewound).rows()] == [0, 1, 2]


@shows("reinit")
@pytest.mark.parametrize(
    ("reinit", "is_same", "num_active"),
    [("return_previous", True, 1), ("finish_previous", False, 1), ("create_new", False, 2)],
)
def test_reinit(start: Start, reinit: str, is_same: bool, num_active: int) -> None:
    first = start()
    assert (start(reinit=reinit) is first) is is_same
    assert len(current.active_runs()) == num_active


@shows("ranks")
def test_ranks(start: Start, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert start(run_id="a").disabled
    run = start(run_id="a", ranks="all")
    run.log({"x": 1})
    assert not run.disabled
    assert [row["x"] for row in replay_of(run).rows()] == [1]


@shows("label")
def test_label_tells_the_writers_of_one_run_apart(start: Start) -> None:
    start(mode="shared", run_id="a", label="trainer")
    run = start(mode="shared", run_id="a", label="evaluator", primary=False)
    (attempt,) = replay_of(run).attempts
    starts = [writer.started for writer in attempt.writers.values()]
    assert sorted(started.attributes["label"] for started in starts if started) == ["evaluator", "trainer"]


@shows("primary")
def test_only_the_primary_speaks_for_a_shared_run(start: Start) -> None:
    first = start(mode="shared", run_id="a", run_name="one", primary=True)
    second = start(mode="shared", run_id="a", run_name="two", primary=False)
    print("printed once")
    second.log({"x": 2})
    second.finish()
    replay = replay_of(first)
    assert (replay.attributes["name"], replay.state, replay.summary["x"]) == ("one", "running", 2)
    assert len(replay.attempts) == 1
    first.finish()
    replay = replay_of(first)
    assert replay.state == "finished"
    assert "".join(event.text for event in replay.console()).count("printed once") == 1


@shows("update_finish_state")
def test_a_process_whose_end_does_not_count(start: Start) -> None:
    first = start(mode="shared", run_id="a")
    guest = start(mode="shared", run_id="a", update_finish_state=False)
    guest.finish(exit_code=1)
    assert replay_of(first).state == "running"
    first.finish()
    assert replay_of(first).state == "finished"
    assert replay_of(first).exit_code == 0
