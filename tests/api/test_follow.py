"""Following a run yields everything once, in order, and ends with it."""

from __future__ import annotations

from strobe.api.follow import Happening, follow
from strobe.home import Home, RunPath
from strobe.journal import event

from .conftest import START, MakeRun, Recorder


def test_the_last_ones_of_a_finished_run(make_run: MakeRun) -> None:
    run_dir = make_run("r1", rows=[(step, {"loss": float(step)}) for step in range(5)])
    everything = list(follow(run_dir, last=-1))
    assert [item.kind for item in everything if item.kind != "row"] == ["started", "ended"]
    assert [item.step for item in everything if item.kind == "row"] == list(range(5))
    assert [item.step for item in follow(run_dir, last=2, once=True)] == [3, 4]
    assert list(follow(run_dir, last=0, once=True)) == []


def test_what_comes_while_following(home: Home) -> None:
    recorder = Recorder(home.run_dir(RunPath("local", "p", "live")))
    recorder.start()
    waits = 0

    def act_instead_of_sleeping(_: float) -> None:
        nonlocal waits
        waits += 1
        if waits == 1:
            recorder.row(0, loss=1.0, nested={"a": 2})
            recorder.event(event.Console(time_ns=2**62, stream="stdout", text="hi\n"))
        elif waits == 2:
            recorder.event(event.Alert(time_ns=2**62, title="t", text="stalled", level="WARN"))
        else:
            recorder.end("failed", error="boom")

    found: list[Happening] = list(follow(recorder.run_dir, sleep=act_instead_of_sleeping))
    assert [item.kind for item in found] == ["started", "row", "console", "alert", "ended"]
    assert found[1].values == {"loss": 1.0, "nested.a": 2}
    assert found[4].text == "boom"
    assert waits == 3


def test_a_new_attempt_is_followed_too(home: Home) -> None:
    run_dir = home.run_dir(RunPath("local", "p", "again"))
    first = Recorder(run_dir)
    first.start()
    first.end("crashed")
    second = Recorder(run_dir, attempt=2, writer="aaaa0002")
    second.start(time_ns=START + 1)

    def end_it(_: float) -> None:
        second.end(time_ns=START + 2)

    assert [item.kind for item in follow(run_dir, last=0, sleep=end_it)] == ["ended"]
