"""What may be changed of a run on a server, and of its files and artifacts; each change seen by who asks next."""

from __future__ import annotations

import math
import os
import threading
from pathlib import Path

import pytest

import strobe
from strobe.api import Run
from strobe.errors import ArtifactError, CommError, RunNotFound, UsageError
from strobe.home import RunDir, RunPath
from strobe.journal import Header, Writer, event
from tests.api.conftest import SECOND, START

from .conftest import Twins


def record(fresh: Twins, run_id: str = "r1", *, ends: bool = True) -> RunDir:
    """Record a run in the home and upload it."""
    run_dir = fresh.home.run_dir(RunPath("local", "p", run_id))
    writer = Writer(run_dir.journal, Header(entity="local", project="p", run=run_id, writer=f"w{run_id}"))
    writer.event(event.Started(time_ns=START, attributes={"name": "first", "tags": ["t1"], "group": "g"}))
    writer.event(event.Config(time_ns=START, changes={"lr": 0.1, "m": {"d": 2}}))
    writer.row({"loss": 1.0}, 0)
    if ends:
        writer.close(event.Ended(time_ns=START + 60 * SECOND, state="finished"))
    else:
        writer.sync()
    fresh.upload(run_dir)
    return run_dir


@pytest.fixture
def run(fresh: Twins) -> Run:
    record(fresh)
    return fresh.remote.run("p/r1")


class TestEdits:
    def test_are_saved_by_update_and_seen_by_others(self, fresh: Twins, run: Run) -> None:
        run.name, run.notes = "better", "longer"
        run.tags.append("t2")
        run.group = None
        run.config["lr"] = math.nan
        run.config["big"] = 2**80
        del run.config["m"]
        run.summary["by_hand"] = [1, math.inf]
        run.update()
        again = fresh.remote.run("p/r1")
        assert (again.name, again.notes, again.tags, again.group) == ("better", "longer", ["t1", "t2"], None)
        assert math.isnan(again.config.pop("lr"))
        assert again.config == {"big": 2**80}
        assert again.summary == {"loss": 1.0, "by_hand": [1, math.inf]}
        assert run.name == "better"

    def test_summary_update_saves_at_once(self, fresh: Twins, run: Run) -> None:
        run.summary.update({"best": 1})
        assert fresh.remote.run("p/r1").summary["best"] == 1

    def test_without_change_nothing_is_sent(self, fresh: Twins, run: Run) -> None:
        version = fresh.real.store.runs.find(RunPath("ann", "p", "r1")).version
        run.tags.append("x")
        run.load(force=True)
        run.update()
        assert fresh.real.store.runs.find(RunPath("ann", "p", "r1")).version == version

    def test_what_cannot_be_stored_is_named(self, run: Run) -> None:
        run.config["odd"] = object()
        with pytest.raises(UsageError, match="cannot be stored"):
            run.update()

    def test_a_key_that_may_only_read_may_not_edit(self, fresh: Twins, run: Run) -> None:
        key = fresh.real.store.accounts.keys.add("ann", scope="read")[1]
        reader = strobe.Api(fresh.real.url, api_key=key).run("p/r1")
        reader.notes = "no"
        with pytest.raises(CommError, match="scope read"):
            reader.update()


def test_delete_and_restore(fresh: Twins, run: Run) -> None:
    run.delete()
    assert list(fresh.remote.runs("p")) == []
    with pytest.raises(RunNotFound):
        fresh.remote.run("p/r1")
    with pytest.raises(RunNotFound, match="deleted"):
        run.load(force=True)
    run.restore()
    assert run.state == "finished"
    fresh.remote.run("p/r1").delete()
    assert fresh.remote.restore("p/r1").name == "first"
    with pytest.raises(RunNotFound):
        fresh.remote.restore("p/nope")


def test_a_running_run_is_deleted_by_force_and_stopped_by_request(fresh: Twins) -> None:
    record(fresh, "live", ends=False)
    run = fresh.remote.run("p/live")
    assert run.state == "running"
    with pytest.raises(UsageError, match="still running"):
        run.delete()
    run.stop()
    assert fresh.real.store.runs.find(RunPath("ann", "p", "live")).stop_by == "ann"
    with pytest.raises(UsageError, match="interrupt"):
        fresh.local.run("live").stop()
    run.delete(force=True)


def test_wait_until_finished(fresh: Twins) -> None:
    run_dir = record(fresh, "live", ends=False)
    run = fresh.remote.run("p/live")
    with pytest.raises(TimeoutError, match="still running"):
        run.wait_until_finished(timeout_s=0.01, poll_s=0.005)
    header = Header(entity="local", project="p", run="live", writer="agent001", kind="agent")
    ender = Writer(run_dir.journal, header)
    ender.event(event.Ended(time_ns=START + SECOND, state="failed", writer="wlive"))
    ender.close()
    later = threading.Timer(0.1, lambda: fresh.upload(run_dir))
    later.start()
    run.wait_until_finished(timeout_s=20, poll_s=0.02)
    later.join()
    assert run.state == "failed"


@pytest.mark.parametrize("size", [0, 5, 9 << 20])
def test_files_go_up_and_come_down(fresh: Twins, run: Run, tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a ü%?.bin").write_bytes(content)
    sent = run.upload_file(str(tmp_path / "sub" / "a ü%?.bin"), root=str(tmp_path))
    assert (sent.name, sent.size) == ("sub/a ü%?.bin", size)
    file = fresh.remote.run("p/r1").file("sub/a ü%?.bin")
    file.download(tmp_path / "down").close()
    assert (tmp_path / "down" / "sub" / "a ü%?.bin").read_bytes() == content
    with pytest.raises(UsageError, match="replace=True"):
        file.download(tmp_path / "down")
    with pytest.raises(UsageError, match="download"):
        _ = file.path
    file.delete()
    assert len(run.files()) == 0
    with pytest.raises(UsageError, match="no file"):
        file.download(tmp_path / "again")
    assert not list((tmp_path / "again").rglob("*.part"))


def test_a_file_that_changes_while_it_is_fetched_is_an_error(fresh: Twins, run: Run, tmp_path: Path) -> None:
    source = tmp_path / "f"
    source.write_bytes(b"old!")
    file = run.upload_file(str(source), root=str(tmp_path))
    source.write_bytes(b"new!")
    run.upload_file(str(source), root=str(tmp_path))
    with pytest.raises(CommError, match="sha256"):
        file.download(tmp_path / "down")
    assert list((tmp_path / "down").iterdir()) == []


@pytest.fixture
def _data(fresh: Twins, tmp_path: Path) -> None:
    """An artifact that a run logged, on the server."""
    (tmp_path / "a.txt").write_text("the content")
    with pytest.MonkeyPatch.context() as patch:
        for name, item in (("HOME", fresh.home.path), ("AGENT", "off"), ("SILENT", "true")):
            patch.setenv(f"STROBE_{name}", str(item))
        with strobe.init(project="p", id="maker", mode="offline") as maker:
            artifact = strobe.Artifact("data", type="dataset")
            artifact.add_file(str(tmp_path / "a.txt"))
            maker.log_artifact(artifact, aliases=["good"]).wait()
    fresh.upload(fresh.home.run_dir(RunPath("local", "p", "maker")))


@pytest.mark.usefixtures("_data")
def test_a_content_that_is_not_what_was_logged_is_refused(fresh: Twins, tmp_path: Path) -> None:
    (blob,) = [
        path for path in (tmp_path / "server" / "blobs").rglob("*") if path.is_file() and path.stat().st_size == 11
    ]
    blob.chmod(0o644)
    blob.write_bytes(b"the kontent")
    for _ in range(2):
        with pytest.raises(ArtifactError, match="digest"):
            fresh.remote.artifact("p/data").download(tmp_path / "down")
    assert [path for path in (tmp_path / "reader").rglob("*") if path.is_file()] == []
    assert list((tmp_path / "down").iterdir()) == []


@pytest.mark.usefixtures("_data")
def test_artifacts_are_edited_and_deleted(fresh: Twins) -> None:
    found = fresh.remote.artifact("p/data")
    found.description, found.tags = "words", ["x"]
    found.metadata["rows"] = 3
    found.aliases.remove("good")
    found.aliases.append("better")
    found.save()
    again = fresh.remote.artifact("p/data:better")
    assert (again.description, again.tags, again.metadata) == ("words", ["x"], {"rows": 3})
    assert again.aliases == ["latest", "better"]
    assert again.logged_by() == RunPath("ann", "p", "maker")
    with pytest.raises(UsageError, match="delete_aliases=True"):
        again.delete()
    with pytest.raises(UsageError, match="takes artifacts from runs"):
        again.link("q/elsewhere")
    again.delete(delete_aliases=True)
    assert again.state == "DELETED"
    with pytest.raises(ArtifactError):
        fresh.remote.artifact("p/data:v0")


def test_projects_are_made(fresh: Twins) -> None:
    project = fresh.remote.create_project("new")
    assert fresh.remote.create_project("new").id == project.id == "ann/new"
    assert [each.name for each in fresh.remote.projects()] == ["new"]
    assert list(project.runs()) == []
    with pytest.raises(RunNotFound, match="there are no runs"):
        fresh.remote.run("new/latest")
