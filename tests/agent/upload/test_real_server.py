"""Uploads to the real server: journals, files and artifacts end up in its store, each exactly once."""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import strobe
from strobe.agent.upload.cargos import cargo_of
from strobe.agent.upload.course import Course
from strobe.agent.upload.crew import Crew
from strobe.agent.upload.post import Post
from strobe.errors import StoreChanged
from strobe.home import Home, RunPath
from strobe.remote.answer import Answer, Retry
from strobe.remote.link import Link
from strobe.remote.state import read_state
from strobe.remote.target import Target
from tests.remote.real_server import RealServer

from .journal import drive


@pytest.fixture
def real(tmp_path: Path) -> Iterator[RealServer]:
    place = tmp_path / "server"
    place.mkdir()
    server = RealServer(place)
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")


def course_of(real: RealServer, home: Home, run: strobe.Run, **options: Any) -> Course:
    run_dir = home.run_dir(RunPath.parse(run.path))
    link = Link(Target(base_url=real.url, api_key=real.key))
    return Course(run_dir, Post(link), cargo=cargo_of(home, run_dir, link), **options)


def test_a_run_with_everything_in_it(real: RealServer, home: Home, tmp_path: Path) -> None:
    run = strobe.init(project="p", id="r1", name="a name", tags=["x"], config={"lr": 0.1, "deep": {"a": [1, 2]}})
    for step in range(500):
        run.log({"loss": 1 / (step + 1), "nan": math.nan if step % 7 == 0 else 1.0, "text": f"t{step % 3}"})
    run.log({"hist": strobe.Histogram([1, 2, 3]), "html": strobe.Html("<b>hi</b>")})
    (tmp_path / "cwd" / "notes.txt").write_text("saved")
    run.save("notes.txt")
    run.summary["best"] = 0.5
    print("on the console")
    run.finish()
    drive(course_of(real, home, run))
    rows = real.history("ann/p/r1")
    assert [row["loss"] for row in rows if "loss" in row] == [1 / (step + 1) for step in range(500)]
    stored = real.store.runs.find(RunPath("ann", "p", "r1"))
    assert stored.state == "finished"
    files = real.files("ann/p/r1")
    assert files["notes.txt"] == b"saved"
    assert any(path.startswith("media/") and content == b"<b>hi</b>" for path, content in files.items()) or any(
        b"hi</b>" in content for content in files.values()
    )


def test_uploading_twice_changes_nothing(real: RealServer, home: Home) -> None:
    run = strobe.init(project="p", id="r1")
    for step in range(50):
        run.log({"loss": step})
    run.finish()
    drive(course_of(real, home, run))
    before = real.history("ann/p/r1")
    (home.run_dir(RunPath.parse(run.path)).path / "sync.json").unlink()
    drive(course_of(real, home, run))
    assert real.history("ann/p/r1") == before


def test_a_big_file_goes_in_parts_and_is_gone_on_with(
    real: RealServer, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real.store.uploads, "_part_bytes", 1 << 20)
    content = random.Random(1).randbytes(5 << 20)
    (tmp_path / "cwd" / "model.bin").write_bytes(content)
    run = strobe.init(project="p", id="r1")
    run.log({"x": 1})
    run.save("model.bin", policy="now")
    run.finish()
    first = course_of(real, home, run)
    for _ in range(5):  # the journal, the announcement and some of the parts; then the uploader is killed
        first.advance()
    assert first.state.num_files_left > 0
    sent_before = first.post.link.num_sent
    second = course_of(real, home, run)
    drive(second)
    assert real.files("ann/p/r1")["model.bin"] == content
    assert 1 << 20 < sent_before < 5 << 20
    assert second.post.link.num_sent < (5 << 20) - sent_before + (1 << 20) + 100_000


def test_a_content_that_the_project_has_is_not_sent_again(real: RealServer, home: Home, tmp_path: Path) -> None:
    content = random.Random(2).randbytes(2 << 20)
    (tmp_path / "cwd" / "model.bin").write_bytes(content)
    sent = []
    for run_id in ("r1", "r2"):
        run = strobe.init(project="p", id=run_id)
        run.log({"x": 1})
        run.save("model.bin")
        run.finish()
        course = course_of(real, home, run)
        drive(course)
        sent.append(course.post.link.num_sent)
        assert real.files(f"ann/p/{run_id}")["model.bin"] == content
    assert sent[0] > 2 << 20
    assert sent[1] < 100_000


def test_a_changed_file_is_sent_again_and_one_for_the_end_waits(
    real: RealServer, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strobe.agent.upload.course._LOOK_S", 0.0)
    monkeypatch.setattr("strobe.agent.upload.files._AGAIN_S", 0.0)
    live, late = tmp_path / "cwd" / "live.txt", tmp_path / "cwd" / "late.txt"
    live.write_text("first")
    late.write_text("first")
    run = strobe.init(project="p", id="r1")
    run.log({"x": 1})
    run.save("live.txt", policy="live")
    run.save("late.txt", policy="end")
    Path(run.dir, "unannounced.txt").write_text("from the program")
    is_live = [True]
    course = course_of(real, home, run, is_live=lambda: is_live[0])
    drive(course, until_done=False)
    assert real.files("ann/p/r1") == {"live.txt": b"first"}
    live.write_text("second, longer")
    late.write_text("second, longer")
    run.finish()
    is_live[0] = False
    drive(course)
    expected = {"live.txt": b"second, longer", "late.txt": b"second, longer", "unannounced.txt": b"from the program"}
    assert real.files("ann/p/r1") == expected


def test_a_trouble_with_files_that_has_passed_is_not_told_for_ever(
    real: RealServer, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = strobe.init(project="p", id="r1")
    run.log({"x": 1})
    Path(run.dir, "model.bin").write_bytes(b"content")
    run.finish()
    course = course_of(real, home, run)
    troubles = [Retry("nobody there")]
    request = course.post.link.request

    def fail_once(method: str, path: str, *rest: Any) -> Answer:
        return troubles.pop() if path.endswith("/files") and troubles else request(method, path, *rest)

    monkeypatch.setattr(course.post.link, "request", fail_once)
    drive(course)
    state = read_state(course.run_dir.path)
    assert state is not None
    assert (troubles, state.is_complete, state.error, state.is_unreachable) == ([], True, "", False)


@pytest.mark.parametrize("size", [10, 300_000])
def test_an_uploader_that_knows_nothing_replaces_what_another_sent(
    real: RealServer, home: Home, tmp_path: Path, size: int
) -> None:
    run = strobe.init(project="p", id="r1")
    run.log({"x": 1})
    path = Path(run.dir, "model.bin")
    path.write_bytes(b"a" * size)
    run.finish()
    drive(course_of(real, home, run))
    path.write_bytes(b"b" * (size + 1))
    drive(course_of(real, home, run))
    assert real.files("ann/p/r1")["model.bin"] == b"b" * (size + 1)
    stored = real.store.runs.find(RunPath("ann", "p", "r1"))
    with real.store.files.contents.incoming() as late:  # the first uploader's request, delivered once more
        late.write(b"a" * size)
        with pytest.raises(StoreChanged):
            real.store.files.put(stored.id, "model.bin", late, over="none")


def test_a_file_that_the_server_does_not_take_holds_up_nothing(real: RealServer, home: Home) -> None:
    run = strobe.init(project="p", id="r1")
    run.log({"x": 1})
    Path(run.dir).mkdir(exist_ok=True, parents=True)
    Path(run.dir, "a\x01b.txt").write_text("control")
    Path(run.dir, "fine.txt").write_text("fine")
    run.finish()
    course = course_of(real, home, run)
    drive(course)
    assert real.files("ann/p/r1") == {"fine.txt": b"fine"}
    state = read_state(course.run_dir.path)
    assert state is not None
    assert (state.num_left_out, state.is_complete) == (1, True)
    assert "control character" in state.error


def test_points_do_not_wait_behind_a_big_file(real: RealServer, home: Home, tmp_path: Path) -> None:
    (tmp_path / "cwd" / "model.bin").write_bytes(os.urandom(3 << 20))
    run = strobe.init(project="p", id="r1")
    run.log({"x": 0})
    run.save("model.bin", policy="now")
    run_dir = home.run_dir(RunPath.parse(run.path))
    link = Link(Target(base_url=real.url, api_key=real.key, bytes_per_s=500_000))  # about six seconds
    freight = Crew(lambda job: None, size=1)
    make = cargo_of(home, run_dir, link)
    course = Course(run_dir, Post(link), cargo=make, freight=freight.add, is_live=lambda: True)
    until = time.monotonic() + 3.0
    while course.state.num_files_left == 0:
        course.advance()
        assert time.monotonic() < until
    run.log({"x": 1})
    while real.history("ann/p/r1")[-1]["x"] != 1:
        course.advance()
        time.sleep(0.02)
        assert time.monotonic() < until + 3
    assert course.state.num_files_left == 1
    freight.close()
    link._pace.rate = None  # the rest at once


def test_artifacts_that_the_run_logged(real: RealServer, home: Home, tmp_path: Path) -> None:
    big = random.Random(3).randbytes(1 << 20)
    (tmp_path / "cwd" / "weights.bin").write_bytes(big)
    run = strobe.init(project="p", id="r1")
    for number in range(2):
        artifact = strobe.Artifact("model", type="model", metadata={"epoch": number, "f1": 0.5}, description="d")
        with artifact.new_file("config.txt") as stream:
            stream.write(f"number {number}")
        artifact.add_file("weights.bin")
        artifact.add_reference("https://example.com/raw", name="raw", checksum=False)
        run.log_artifact(artifact, aliases=["best"]).wait()
    run.log({"x": 1})
    run.finish()
    course = course_of(real, home, run)
    drive(course)
    assert sorted(course.state.artifacts) == ["model:v0", "model:v1"]
    project = real.store.projects.get("ann", "p")
    assert project is not None
    versions = real.store.artifacts.versions
    newest = versions.get(project.id, "model", "best")
    assert (newest.number, newest.metadata["epoch"], newest.logged_by, newest.num_files) == (1, 1, "ann/p/r1", 3)
    assert course.post.link.num_sent < 2 * len(big)  # what both hold went once
    # Another uploader that knows nothing makes no third version.
    course.state.artifacts = []
    (course.run_dir.path / "sync.json").unlink()
    drive(course_of(real, home, run))
    assert versions.get(project.id, "model", "latest").number == 1


def test_what_is_left_counts_the_bytes_of_files_and_artifacts_down(
    real: RealServer, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real.store.uploads, "_part_bytes", 1 << 20)
    (tmp_path / "cwd" / "model.bin").write_bytes(random.Random(4).randbytes(3 << 20))
    (tmp_path / "cwd" / "weights.bin").write_bytes(random.Random(5).randbytes(2 << 20))
    run = strobe.init(project="p", id="r1")
    run.log({"x": 1})
    run.save("model.bin")
    artifact = strobe.Artifact("model", type="model")
    artifact.add_file("weights.bin")
    run.log_artifact(artifact).wait()
    run.finish()
    course = course_of(real, home, run)
    left = []
    while course.advance() is not None:
        left.append(course.state.left_bytes >> 20)
    assert [at for at, before in zip(left[1:], left, strict=False) if at != before] == [5, 4, 3, 2, 1, 0]
    assert course.state.left_bytes == 0


def test_a_server_that_is_restarted_in_the_middle(
    real: RealServer, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strobe.agent.upload.journals.MAX_ENTRIES", 50)
    run = strobe.init(project="p", id="r1")
    for step in range(400):
        run.log({"loss": step})
    run.finish()
    course = course_of(real, home, run)
    for _ in range(3):
        course.advance()
    real.stop()
    assert course.advance() is not None
    assert course.state.is_unreachable
    real.start()
    course.post.link.lanes["points"].retry_at = 0.0
    drive(course)
    assert [row["loss"] for row in real.history("ann/p/r1")] == list(range(400))


def test_a_key_that_may_only_read_is_refused(real: RealServer, home: Home) -> None:
    real.key = real.store.accounts.keys.add("ann", scope="read")[1]
    run = strobe.init(project="p", id="r1")
    run.log({"x": 1})
    run.finish()
    course = course_of(real, home, run)
    course.advance()
    assert course.state.is_refused
    assert course.state.error
