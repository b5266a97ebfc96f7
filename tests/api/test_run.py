"""A recorded run gives back what was logged, under wandb's names."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pandas as pd
import pytest

import strobe
from strobe.api import Api, Run
from strobe.api import history as history_forms
from strobe.errors import MissingExtra, UsageError
from strobe.home import Home, RunPath
from strobe.journal import Replay, event
from strobe.journal.value import Array, bigint

from .conftest import SECOND, START, MakeRun, Recorder, run_of

IMAGE = {"_type": "image-file", "path": "media/images/x.png"}


@pytest.fixture
def run(home: Home, make_run: MakeRun) -> Run:
    rows = [(step, {"loss": 1.0 / (step + 1), "nested": {"a": step}}) for step in range(10)]
    rows[4][1]["img"] = IMAGE
    rows[7][1]["acc"] = 0.5
    run_dir = make_run("r1", rows=rows, config={"lr": 0.1, "m": {"d": 2}}, tags=["t1"], notes="n", host="h1", group="g")
    return run_of(home, run_dir)


def test_names_and_state(run: Run) -> None:
    assert (run.id, run.entity, run.project, run.path) == ("r1", "local", "proj", ["local", "proj", "r1"])
    assert (run.name, run.state, run.tags, run.notes) == ("name-of-r1", "finished", ["t1"], "n")
    assert (run.group, run.job_type, run.url) == ("g", None, None)
    assert run.created_at == "2023-11-14T22:13:20Z"
    assert run.runtime_s == 60
    assert run.metadata == {"host": "h1"}
    assert run.num_rows == 10
    assert run.rejected == 0
    assert run.damages == []
    assert "finished" in repr(run)


def test_a_run_whose_start_is_not_recorded_still_has_an_age(home: Home, now_ns: int) -> None:
    recorder = Recorder(home.run_dir(RunPath("local", "p", "headless")))
    recorder.row(0, loss=1.0)
    run = run_of(home, recorder.run_dir)
    assert abs(run.created_ns - now_ns) < 600 * SECOND
    assert run.state == "running"


def test_config_and_summary(run: Run) -> None:
    assert run.config == {"lr": 0.1, "m": {"d": 2}}
    assert run.summary["loss"] == pytest.approx(0.1)
    assert run.summary.get("nope") is None
    assert run.summary_metrics["acc"] == 0.5
    assert run.lastHistoryStep == 9
    assert run.metrics["loss"].best_step == 9


class TestHistory:
    def test_is_full_and_flat(self, run: Run) -> None:
        frame = run.history()
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) == 10
        assert list(frame.columns[:3]) == ["_step", "_runtime", "_timestamp"]
        assert list(frame["nested.a"]) == list(range(10))
        assert frame["img"][4] == IMAGE
        assert math.isnan(frame["acc"][0])

    def test_as_dicts(self, run: Run) -> None:
        rows = run.history(pandas=False)
        assert rows[7]["acc"] == 0.5
        assert "acc" not in rows[6]

    def test_keys_are_filled_with_nothing_where_absent(self, run: Run) -> None:
        assert list(run.history(keys=["acc"])["_step"]) == [7]
        both = run.history(keys=["acc", "loss"])
        assert len(both) == 10
        assert both["acc"].count() == 1
        assert "nope" in run.history(keys=["nope"]).columns

    def test_nested_keys_and_the_axes_may_be_asked_for(self, run: Run) -> None:
        assert list(run.history(keys=["nested.a"])["nested.a"]) == list(range(10))
        assert list(run.history(keys=["_step"])["_step"]) == list(range(10))
        assert [row["nested.a"] for row in run.scan_history(keys=["nested.a", "_step"])] == list(range(10))

    def test_arrays_are_numpys_in_a_frame(self, home: Home, make_run: MakeRun) -> None:
        odd = Array("float5", (1,), b"xx")
        rows = [(0, {"a": Array("<f4", (2,), struct.pack("<2f", 1, 2)), "odd": odd}), (1, {"b": 1})]
        run = run_of(home, make_run("arrays", rows=rows))
        assert run.history()["a"][0].tolist() == [1, 2]
        assert run.history()["odd"][0] == odd
        assert isinstance(run.history(pandas=False)[0]["a"], Array)

    def test_samples_are_even(self, run: Run) -> None:
        assert list(run.history(samples=4)["_step"]) == [0, 3, 6, 9]

    def test_another_axis(self, run: Run) -> None:
        frame = run.history(keys=["loss"], x_axis="nested.a", samples=2)
        assert list(frame["nested.a"]) == [0, 9]

    def test_without_pandas(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(history_forms, "has_pandas", lambda: False)
        assert isinstance(run.history(), list)
        with pytest.raises(MissingExtra, match="pip install pandas"):
            run.to_pandas()

    def test_mistakes_are_explained(self, run: Run) -> None:
        with pytest.raises(UsageError, match=r"write \['loss'\]"):
            run.history(keys="loss")
        with pytest.raises(UsageError, match="stream"):
            run.history(stream="x")
        with pytest.raises(UsageError, match="no attempt 9"):
            run.history(attempt=9)

    def test_numbers_keep_their_kind(self, home: Home, make_run: MakeRun) -> None:
        huge = 2**70
        rows = [(0, {"i": 1, "big": bigint(huge), "nan": math.nan}), (1, {"i": 2, "big": 1, "nan": 1.0})]
        run_dir = make_run("r2", rows=rows)
        frame = run_of(home, run_dir).to_pandas()
        assert str(frame["i"].dtype) == "int64"
        assert list(frame["big"]) == [huge, 1]
        assert math.isnan(frame["nan"][0])


def test_scan_history_wants_all_keys(run: Run) -> None:
    assert len(list(run.scan_history())) == 10
    assert [row["_step"] for row in run.scan_history(keys=["acc", "loss"])] == [7]
    assert len(list(run.scan_history(keys=["acc", "loss"], any_key=True))) == 10
    assert [row["_step"] for row in run.scan_history(min_step=2, max_step=4)] == [2, 3]


def test_system_metrics_and_console(home: Home, make_run: MakeRun) -> None:
    run_dir = make_run("r3")
    system = Recorder(run_dir, kind="system", writer="bbbb0001")
    system.row(0, cpu=10.0)
    system.row(1, cpu=20.0, gpu={"0": {"util": 5}})
    main = Recorder(run_dir, kind="main", writer="cccc0001")
    main.event(event.Console(time_ns=START, stream="stdout", text="hello\n"))
    main.event(event.Console(time_ns=START + 1, stream="stderr", text=" 1%\r 2%\r"))
    main.event(event.Console(time_ns=START + 2, stream="stderr", text="100%\n"))
    run = run_of(home, run_dir)
    assert run.system_metrics == {"cpu": 20.0, "gpu.0.util": 5}
    assert list(run.history(stream="system")["cpu"]) == [10.0, 20.0]
    assert run.console_logs() == "hello\n100%\n"
    assert run.console_logs(raw=True) == "hello\n 1%\r 2%\r100%\n"


def test_attempts_and_their_superseded_tails(home: Home) -> None:
    run_dir = home.run_dir(RunPath("local", "p", "twice"))
    first = Recorder(run_dir)
    first.start()
    for step in range(6):
        first.row(step, loss=1.0)
    first.end("crashed")
    second = Recorder(run_dir, attempt=2, writer="aaaa0002")
    second.start(time_ns=START + 100 * SECOND, from_step=3)
    for step in range(3, 5):
        second.row(step, loss=2.0)
    second.end(time_ns=START + 160 * SECOND)
    run = run_of(home, run_dir)
    assert [attempt.number for attempt in run.attempts] == [1, 2]
    assert list(run.history()["loss"]) == [1, 1, 1, 2, 2]
    assert list(run.history(attempt=1)["loss"]) == [1] * 6
    assert run.state == "finished"


class TestEdits:
    def test_are_saved_by_update_and_seen_by_others(self, home: Home, run: Run) -> None:
        run.name, run.notes = "better", "longer"
        run.tags.append("t2")
        run.group = None
        run.config["lr"] = 0.2
        del run.config["m"]
        run.summary["by_hand"] = 7
        run.update()
        again = Api(home).run("r1")
        assert (again.name, again.notes, again.tags, again.group) == ("better", "longer", ["t1", "t2"], None)
        assert again.config == {"lr": 0.2}
        assert again.summary["by_hand"] == 7
        assert run.name == "better"

    def test_summary_update_saves_at_once(self, home: Home, run: Run) -> None:
        run.summary.update({"best": 1})
        assert Api(home).run("r1").summary["best"] == 1

    def test_without_change_nothing_is_written(self, run: Run) -> None:
        before = sorted(run.run_dir.journal.iterdir())
        run.tags.append("x")
        run.load(force=True)
        assert run.summary["loss"]
        run.update()
        assert sorted(run.run_dir.journal.iterdir()) == before
        assert run.tags == ["t1"]

    def test_tags_must_be_a_list(self, run: Run) -> None:
        with pytest.raises(UsageError, match="list of strings"):
            run.tags = "good"


def test_delete_moves_to_the_trash(home: Home, run: Run) -> None:
    run.delete()
    assert len(Api(home).runs()) == 0
    with pytest.raises(UsageError, match="artifacts are shared"):
        run.delete(delete_artifacts=True)


def test_a_running_run_is_deleted_only_by_force(home: Home, make_run: MakeRun) -> None:
    run = run_of(home, make_run("live", state=None))
    with pytest.raises(UsageError, match="still running"):
        run.delete()
    run.delete(force=True)


def test_wait_until_finished(home: Home, make_run: MakeRun) -> None:
    run_dir = make_run("live", state=None)
    run = run_of(home, run_dir)
    with pytest.raises(TimeoutError, match="still running"):
        run.wait_until_finished(timeout_s=0.01, poll_s=0.005)
    assert run.runtime_s is not None
    ender = Recorder(run_dir, kind="agent", writer="dddd0001")
    ender.event(event.Ended(time_ns=START, state="crashed", writer="aaaa0001"))
    run.wait_until_finished(timeout_s=5)
    assert run.state == "crashed"


def test_files(run: Run, home: Home, tmp_path_factory: pytest.TempPathFactory) -> None:
    files = run.run_dir.files
    (files / "media").mkdir(parents=True)
    (files / "a.txt").write_text("abc")
    (files / "media" / "b.png").write_bytes(b"png")
    assert [file.name for file in run.files()] == ["a.txt", "media/b.png"]
    assert [file.name for file in run.files(pattern="*.png")] == ["media/b.png"]
    assert [file.name for file in run.files(names=["a.txt", "zz"])] == ["a.txt"]
    file = run.file("a.txt")
    assert (file.size, file.mimetype, file.md5) == (3, "text/plain", "kAFQmDzST7DWlj99KOF/cg==")
    assert file.url.startswith("file://")
    target = tmp_path_factory.mktemp("down")
    with file.download(target) as stream:
        assert stream.read() == "abc"
    with pytest.raises(UsageError, match="replace=True"):
        file.download(target)
    file.download(target, exist_ok=True).close()
    file.download(target, replace=True).close()
    with pytest.raises(UsageError, match="leads out"):
        run.file("../journal")
    with pytest.raises(UsageError, match="has no file"):
        run.file("zz")
    file.delete()
    assert len(run.files()) == 1


def test_upload_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.txt").write_text("late")
    assert run.upload_file(str(tmp_path / "sub" / "x.txt"), root=str(tmp_path)).name == "sub/x.txt"
    assert run.file("sub/x.txt").path.read_text() == "late"
    replay = Replay(run.run_dir)
    replay.refresh()
    assert replay.files["sub/x.txt"].policy == "now"
    with pytest.raises(UsageError, match="does not lie under"):
        run.upload_file(str(tmp_path / "sub" / "x.txt"), root=str(run.run_dir.path))
    with pytest.raises(UsageError, match="not a file"):
        run.upload_file(str(tmp_path))


def test_a_run_is_a_picture_in_a_notebook(home: Home) -> None:
    with strobe.init(project="p", name="<seen>") as made:
        made.define_metric("secret", hidden=True)
        for step in range(20):
            made.log({**{f"m{number}/loss": 1 / (1 + step) for number in range(8)}, "secret": 1})
    run = Api(home).run(made.id)
    bundle = run._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
    assert bundle["text/plain"] == repr(run)
    assert "&lt;seen&gt;: finished, 2 more metrics" in bundle["image/svg+xml"]
    assert "secret" not in bundle["image/svg+xml"]
    assert run.to_html() == bundle["text/html"]
    assert "<details" not in bundle["text/html"]
    assert "<seen>" not in bundle["text/html"]
