"""The artifact part of a run: what is logged, used and linked, at once or beside the training."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from strobe.artifact import Artifact, context, copying, store
from strobe.artifact import contents as contents_module
from strobe.artifact.objects import Objects
from strobe.artifact.source import Source
from strobe.errors import ArtifactError, UsageError
from strobe.home import Home, RunPath
from strobe.sdk.artifacts import Artifacts
from tests.artifact.stage import FakeRecorder, draft, write

_ROOT = Path(__file__).parents[2]


@pytest.fixture
def recorder(home: Home) -> FakeRecorder:
    return FakeRecorder(home)


@pytest.fixture
def artifacts(recorder: FakeRecorder) -> Iterator[Artifacts]:
    part = Artifacts(recorder, group="team", step=lambda: 7)
    yield part
    part.drain()


class _Gate:
    """Holds the side thread before it stores anything, until opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(contents_module, "AT_ONCE_BYTES", 0)
        monkeypatch.setattr(copying, "clone", lambda source, target: False)
        self.reached, self._opened = threading.Event(), threading.Event()
        put = Objects.put

        def held(objects: Objects, source: Source, algorithm: str) -> None:
            self.reached.set()
            assert self._opened.wait(10)
            put(objects, source, algorithm)

        monkeypatch.setattr(Objects, "put", held)

    def open(self) -> None:
        self._opened.set()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Gate]:
    gate = _Gate(monkeypatch)
    yield gate
    gate.open()


@pytest.fixture
def slow_artifacts(recorder: FakeRecorder, gate: _Gate) -> Iterator[Artifacts]:
    part = Artifacts(recorder, at_once_bytes=0)
    yield part
    gate.open()
    part.drain()


def test_logging_stores_the_version_and_says_so_in_the_journal(recorder: FakeRecorder, artifacts: Artifacts) -> None:
    logged = artifacts.log_artifact(draft({"a": "1"}), aliases=["best"], tags=["good one"])
    assert logged.qualified_name == "local/proj/data:v0"
    assert logged.aliases == ["latest", "best"]
    assert logged.tags == ["good one"]
    assert logged.logged_by() == RunPath("local", "proj", "run1")
    assert logged.history_step == 7
    (use,) = recorder.uses()
    assert (use.action, use.name, use.kind, use.version) == ("log", "data", "dataset", "v0")
    assert (use.digest, use.aliases) == (logged.digest, ["latest", "best"])


def test_a_path_becomes_an_artifact(home: Home, artifacts: Artifacts, tmp_path: Path) -> None:
    path = write(tmp_path / "my model.pt", "weights")
    assert artifacts.log_artifact(path).name == "run-run1-my_model.pt:v0"
    assert artifacts.log_artifact(path).type == "unspecified"
    write(tmp_path / "d" / "s" / "x", "1")
    folder = artifacts.log_artifact(str(tmp_path / "d"), name="folder", type="dataset")
    assert list(folder.manifest.entries) == ["s/x"]
    reference = artifacts.log_artifact(f"file://{path}", name="ref", type="dataset")
    assert reference.get_entry("my model.pt").ref == f"file://{path}"
    with pytest.raises(UsageError, match="no file"):
        artifacts.log_artifact(tmp_path / "nope")


def test_callers_mistakes_are_raised(artifacts: Artifacts) -> None:
    with pytest.raises(UsageError, match="not 'model'"):
        artifacts.log_artifact(draft({"a": "1"}), type="model")
    with pytest.raises(UsageError, match="alias"):
        artifacts.log_artifact(draft({"a": "1"}), aliases=["a/b"])
    with pytest.raises(UsageError, match="tag"):
        artifacts.log_artifact(draft({"a": "1"}), tags=["a/b"])
    artifacts.log_artifact(draft({"a": "1"}))
    with pytest.raises(ArtifactError, match="has type 'dataset' already"):
        artifacts.log_artifact(draft({"a": "1"}, kind="model"))


def test_logging_a_logged_artifact_moves_its_aliases(recorder: FakeRecorder, artifacts: Artifacts) -> None:
    logged = artifacts.log_artifact(draft({"a": "1"}))
    artifacts.log_artifact(logged, aliases="best")
    assert artifacts.use_artifact("data:best").version == "v0"
    assert [use.action for use in recorder.uses()] == ["log", "use"]


def test_using_records_who_used_what(home: Home, recorder: FakeRecorder, artifacts: Artifacts) -> None:
    artifacts.log_artifact(draft({"a": "1"}))
    other = FakeRecorder(home, RunPath("local", "elsewhere", "run2"))
    theirs = Artifacts(other)
    used = theirs.use_artifact("proj/data:latest", type="dataset", use_as="train", aliases=["seen"])
    assert used.use_as == "train"
    assert used.used_by() == [RunPath("local", "elsewhere", "run2")]
    assert [artifact.name for artifact in store.used_by(home, other.path)] == ["data:v0"]
    (use,) = other.uses()
    assert (use.action, use.name, use.version) == ("use", "local/proj/data", "v0")
    assert store.find(home, "proj/data:seen").version == "v0"
    with pytest.raises(ArtifactError, match="no artifact"):
        artifacts.use_artifact("nope")
    with pytest.raises(ArtifactError, match="has type"):
        artifacts.use_artifact("data", type="model")
    with pytest.raises(UsageError, match="has type"):
        artifacts.use_artifact(used, type="model")


def test_using_a_draft_logs_it_first(artifacts: Artifacts, recorder: FakeRecorder) -> None:
    assert artifacts.use_artifact(draft({"a": "1"})).version == "v0"
    assert [use.action for use in recorder.uses()] == ["log", "use"]


def test_models(artifacts: Artifacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.pt", "weights")
    artifacts.log_model(tmp_path / "net.pt", name="net", aliases=["best"])
    path = artifacts.use_model("net:best")
    assert Path(path).read_text() == "weights"
    write(tmp_path / "shards" / "1", "a")
    write(tmp_path / "shards" / "2", "b")
    artifacts.log_model(tmp_path / "shards", name="big")
    assert sorted(os.listdir(artifacts.use_model("big"))) == ["1", "2"]
    artifacts.log_artifact(draft({"a": "1"}))
    with pytest.raises(UsageError, match="use_model takes models"):
        artifacts.use_model("data")
    linked = artifacts.link_model(tmp_path / "net.pt", "registry/nets", name="net", aliases=["prod"])
    assert linked is not None
    assert linked.qualified_name == "local/registry/nets:v0"
    assert linked.source_name == "net:v0"


def test_linking_logs_a_draft_first(artifacts: Artifacts) -> None:
    linked = artifacts.link_artifact(draft({"a": "1"}), "shelf", aliases=["x"])
    assert linked is not None
    assert linked.qualified_name == "local/proj/shelf:v0"
    assert linked.aliases == ["latest", "x"]


def test_a_large_artifact_does_not_hold_up_the_caller(
    home: Home, recorder: FakeRecorder, slow_artifacts: Artifacts, gate: _Gate, tmp_path: Path
) -> None:
    artifact = slow_artifacts.log_artifact(write(tmp_path / "big", "content"), name="big", type="model")
    assert gate.reached.wait(10)
    assert artifact.state == "PENDING"
    assert artifact.is_pending
    assert not hasattr(artifact, "version")
    assert not store.exists(home, "proj/big")
    (tmp_path / "big").unlink()
    with pytest.raises(ArtifactError, match="still being copied"):
        artifact.wait(timeout=0.01)
    assert slow_artifacts.drain(0.01) == ["artifact 'big'"]
    assert "lost if the process ends now" in recorder.warnings[0]
    assert slow_artifacts.log_artifact(artifact) is artifact, "it's being logged already"
    assert slow_artifacts.link_artifact(artifact, "shelf") is None
    gate.open()
    assert artifact.wait(10).version == "v0"
    assert slow_artifacts.drain(10) == []
    assert store.find(home, "proj/shelf").source_name == "big:v0"
    assert [use.action for use in recorder.uses()] == ["log"]


def test_a_small_artifact_does_not_wait_for_a_large_one_of_another_name(
    home: Home, slow_artifacts: Artifacts, gate: _Gate, tmp_path: Path
) -> None:
    large = slow_artifacts.log_artifact(write(tmp_path / "big", "content"), name="big", type="model")
    assert gate.reached.wait(10)
    empty = slow_artifacts.log_artifact(Artifact("small", "dataset"))
    assert empty.version == "v0"
    following = slow_artifacts.log_artifact(Artifact("big", "model"))
    assert following.is_pending
    gate.open()
    assert (large.wait(10).version, following.wait(10).version) == ("v0", "v1")


def test_using_a_name_that_is_being_stored_waits_for_it(slow_artifacts: Artifacts, gate: _Gate, tmp_path: Path) -> None:
    slow_artifacts.log_artifact(write(tmp_path / "big", "content"), name="big", type="model")
    threading.Timer(0.05, gate.open).start()
    assert slow_artifacts.use_artifact("big").version == "v0"


def test_a_large_file_changed_in_place_is_told(
    recorder: FakeRecorder, slow_artifacts: Artifacts, gate: _Gate, tmp_path: Path
) -> None:
    path = write(tmp_path / "big", "content")
    artifact = slow_artifacts.log_artifact(path, name="big", type="model")
    assert gate.reached.wait(10)
    path.write_text("CONTENT")
    os.utime(path, ns=(1, 1))
    gate.open()
    assert slow_artifacts.drain() == []
    assert slow_artifacts.failed == ["artifact 'big'"]
    assert "changed after it was added" in recorder.warnings[0]
    assert artifact.state == "FAILED"
    with pytest.raises(ArtifactError, match="was not logged"):
        artifact.wait()


def test_a_full_disk_warns_and_logging_again_works(
    recorder: FakeRecorder, artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(objects: Objects, source: Source, algorithm: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Objects, "put", full)
        artifact = artifacts.log_artifact(draft({"a": "1"}))
        assert artifact.state == "FAILED"
        assert artifacts.failed == ["artifact 'data'"]
        assert "No space left" in recorder.warnings[0]
        assert artifacts.link_artifact(artifact, "shelf") is None
        assert recorder.uses() == []
    artifacts.log_artifact(artifact)
    assert artifact.wait().version == "v0"


def test_a_read_only_home_warns(home: Home, recorder: FakeRecorder, artifacts: Artifacts, tmp_path: Path) -> None:
    home.path.mkdir(exist_ok=True)
    home.artifacts.write_text("in the way")
    path = write(tmp_path / "x", "1")
    assert artifacts.log_artifact(path, name="x").state == "FAILED"
    assert len(recorder.warnings) == 1


def test_several_processes_make_one_artifact(home: Home, recorder: FakeRecorder, artifacts: Artifacts) -> None:
    ranks = [Artifacts(FakeRecorder(home, RunPath("local", "proj", f"rank{rank}")), group="team") for rank in range(3)]
    for rank, part in enumerate(ranks):
        part.upsert_artifact(draft({f"shard{rank}": str(rank)}))
    assert not store.exists(home, "proj/data")
    finished = artifacts.finish_artifact(draft({"index": "i"}), aliases=["done"])
    assert finished.version == "v0"
    assert sorted(finished.manifest.entries) == ["index", "shard0", "shard1", "shard2"]
    assert finished.distributed_id == "team"
    assert store.find(home, "proj/data:done").file_count == 4
    assert [use.action for use in recorder.uses()] == ["log"]
    assert not list((finished.collection.path / "parts").iterdir())


def test_parts_that_contradict_each_other_are_told(home: Home, artifacts: Artifacts) -> None:
    artifacts.upsert_artifact(draft({"x": "1"}), distributed_id="d")
    with pytest.raises(ArtifactError, match="different contents as 'x'"):
        artifacts.finish_artifact(draft({"x": "2"}), distributed_id="d")
    lone = Artifacts(FakeRecorder(home))
    with pytest.raises(UsageError, match="distributed_id"):
        lone.upsert_artifact(draft({"x": "1"}))


def test_saving_a_draft_logs_it_to_the_current_run(recorder: FakeRecorder, artifacts: Artifacts) -> None:
    current = context.Context(recorder.home, artifacts.log_artifact)
    context.enter(current)
    artifact = draft({"a": "1"})
    artifact.save()
    context.leave(current)
    assert artifact.logged_by() == recorder.path
    assert context.current() is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_neither_waits_for_nor_removes_its_parents_work(
    slow_artifacts: Artifacts, gate: _Gate, tmp_path: Path
) -> None:
    staged = draft({"small": "kept"}, name="staged")
    artifact = slow_artifacts.log_artifact(write(tmp_path / "big", "content"), name="big", type="model")
    assert gate.reached.wait(10)
    read, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        answer = b"?"
        try:
            assert slow_artifacts.drain(5) == []
            try:
                artifact.wait(5)
            except ArtifactError:
                answer = b"told"
            del staged
        finally:
            os.write(write_end, answer)
            os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(read, 10) == b"told"
    gate.open()
    assert artifact.wait(10).version == "v0"
    assert slow_artifacts.log_artifact(staged).wait(10).version == "v0"


_KILLED = """
import os, signal, sys, threading, time
from pathlib import Path
from strobe.home import Home
from strobe.sdk.artifacts import Artifacts
from strobe.artifact.objects import Objects
from tests.artifact.stage import FakeRecorder

artifacts = Artifacts(FakeRecorder(Home(Path(sys.argv[1]))), at_once_bytes=0)
put = Objects.put
def held(self, source, algorithm):
    put(self, source, algorithm)
    print("stored", flush=True)
    time.sleep(60)
Objects.put = held
artifacts.log_artifact(sys.argv[2], name="big", type="model")
time.sleep(60)
"""


@pytest.mark.slow
def test_a_kill_while_a_large_artifact_is_stored_leaves_no_version(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path / "big", b"x" * (33 << 20))
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(home.path), str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{_ROOT}{os.pathsep}{_ROOT / 'src'}"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "stored\n"
    process.kill()
    process.communicate()
    assert not store.exists(home, "proj/big")
    part = Artifacts(FakeRecorder(home))
    assert part.log_artifact(path, name="big", type="model").wait(20).version == "v0"


@pytest.mark.slow
def test_the_interpreter_may_end_while_an_artifact_waits(home: Home, tmp_path: Path) -> None:
    script = (
        "import atexit, sys\nfrom pathlib import Path\nfrom strobe.home import Home\n"
        "from strobe.sdk.artifacts import Artifacts\nfrom tests.artifact.stage import FakeRecorder\n"
        "artifacts = Artifacts(FakeRecorder(Home(Path(sys.argv[1]))), at_once_bytes=0)\n"
        "def end():\n"
        "    artifact = artifacts.log_artifact(sys.argv[2], name='big', type='model')\n"
        "    print(artifacts.drain(), artifact.wait().version)\n"
        "atexit.register(end)\n"
    )
    path = write(tmp_path / "big", b"x" * (33 << 20))
    done = subprocess.run(
        [sys.executable, "-c", script, str(home.path), str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": f"{_ROOT}{os.pathsep}{_ROOT / 'src'}"},
    )
    assert done.stdout == "[] v0\n"
    assert isinstance(store.find(home, "proj/big"), Artifact)
