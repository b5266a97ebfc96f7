"""The files part of a run: which copies are kept, when, and where they may not go."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from strobe.artifact import copying
from strobe.errors import UsageError
from strobe.home import Home, RunPath
from strobe.journal import event
from strobe.sdk.artifacts import Artifacts
from strobe.sdk.code import is_secret
from strobe.sdk.files import Files
from tests.artifact.stage import FakeRecorder, write


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "work"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


@pytest.fixture
def recorder(home: Home) -> FakeRecorder:
    return FakeRecorder(home)


@pytest.fixture
def files(recorder: FakeRecorder) -> Files:
    return Files(recorder)


def _kept(recorder: FakeRecorder) -> dict[str, str]:
    root = recorder.run_dir.files
    return {
        path.relative_to(root).as_posix(): path.read_text()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".partial" not in path.parts
    }


def _saved(recorder: FakeRecorder) -> list[tuple[str, str]]:
    return [(happened.path, happened.policy) for happened in recorder.events if isinstance(happened, event.SavedFile)]


def test_matches_keep_their_place(files: Files, recorder: FakeRecorder, cwd: Path) -> None:
    for name in ("d/a.txt", "d/b.txt", "d/c.bin", "d/s/e.txt"):
        write(cwd / name, name)
    saved = files.save("d/*.txt")
    assert saved == [str(recorder.run_dir.files / "d" / name) for name in ("a.txt", "b.txt")]
    assert _kept(recorder) == {"d/a.txt": "d/a.txt", "d/b.txt": "d/b.txt"}
    assert _saved(recorder) == [("d/a.txt", "live"), ("d/b.txt", "live")]
    files.save("d/s/*", base_path="d")
    assert "s/e.txt" in _kept(recorder)
    files.save(cwd / "d" / "c.bin")
    assert "d/c.bin" in _kept(recorder), "of an absolute path the last directory is kept"


def test_directories_and_deep_globs(files: Files, recorder: FakeRecorder, cwd: Path) -> None:
    write(cwd / "d" / "a" / "1", "1")
    write(cwd / "d" / "b" / "2", "2")
    files.save("d/a")
    assert list(_kept(recorder)) == ["d/a/1"]
    files.save(str(cwd / "d" / "**" / "2"))
    assert "b/2" in _kept(recorder)


def test_globs_can_be_switched_off(files: Files, recorder: FakeRecorder, cwd: Path) -> None:
    write(cwd / "a[1].txt", "x")
    assert files.save("a[1].txt", policy="end") == []
    assert len(files.save("a[1].txt", glob=False)) == 1
    assert list(_kept(recorder)) == ["a[1].txt"]


def test_a_live_file_is_copied_again_if_it_changed(
    files: Files, recorder: FakeRecorder, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing, still = write(cwd / "changing", "1"), write(cwd / "still", "1")
    files.save("changing")
    files.save("still")
    write(cwd / "once", "1")
    files.save("once", policy="now")
    for path in (changing, cwd / "once"):
        path.write_text("22")
    os.utime(changing, ns=(1, 1))
    copied: list[str] = []
    copy = copying.copy

    def noted(source: io.FileIO, target: io.FileIO) -> None:
        copied.append(str(source.name))
        copy(source, target)

    monkeypatch.setattr(copying, "copy", noted)
    assert files.finish() == []
    assert _kept(recorder) == {"changing": "22", "once": "1", "still": "1"}
    assert [Path(name).name for name in copied] == ["changing"]
    assert still.exists()
    assert len(_saved(recorder)) == 3


def test_end_means_the_end(files: Files, recorder: FakeRecorder, cwd: Path) -> None:
    files.save("*.log", policy="end")
    assert recorder.warnings == []
    write(cwd / "x.log", "late")
    assert _kept(recorder) == {}
    files.finish()
    assert _kept(recorder) == {"x.log": "late"}
    assert _saved(recorder) == [("x.log", "end")]


def test_no_match_warns(files: Files, recorder: FakeRecorder, cwd: Path) -> None:
    assert files.save("nope*") == []
    assert files.save("nope", policy="now") == []
    assert "no file matches yet" in recorder.warnings[0]
    files.save("never", policy="end")
    files.finish()
    assert len(recorder.warnings) == 3
    assert files.save("s3://bucket/x") == []
    assert "add_reference" in recorder.warnings[3]


def test_what_makes_no_sense_is_refused(files: Files, cwd: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside", "x")
    with pytest.raises(UsageError, match="not below the base path"):
        files.save("../outside")
    with pytest.raises(UsageError, match="not below the base path"):
        files.save("a/../../outside", base_path=".")
    with pytest.raises(UsageError, match="policy"):
        files.save("x", policy="sometimes")


def test_a_file_in_the_runs_own_directory_stays_there(files: Files, recorder: FakeRecorder, cwd: Path) -> None:
    path = write(recorder.run_dir.files / "sub" / "model.h5", "weights")
    inode = path.stat().st_ino
    assert files.save(str(path)) == [str(path)]
    files.finish()
    assert path.stat().st_ino == inode
    assert _saved(recorder) == [("sub/model.h5", "live")]


def test_large_files_are_copied_on_the_side(recorder: FakeRecorder, cwd: Path) -> None:
    files = Files(recorder, at_once_bytes=3)
    for name in ("1", "2", "3"):
        write(cwd / name, "xx")
    files.save("?")
    assert files.finish(10) == []
    assert _kept(recorder) == {"1": "xx", "2": "xx", "3": "xx"}


def test_a_file_that_cannot_be_copied_is_counted(files: Files, recorder: FakeRecorder, cwd: Path) -> None:
    write(cwd / "a", "1")
    write(recorder.run_dir.files / "a" / "in the way", "")
    files.save("a", policy="now")
    assert files.failed == ["file 'a'"]
    assert "could not be stored" in recorder.warnings[0]
    os.mkfifo(cwd / "pipe")
    with pytest.raises(UsageError, match="not a regular file"):
        files.save("pipe", policy="now")


def test_restore_brings_files_of_this_and_other_runs(
    files: Files, home: Home, recorder: FakeRecorder, tmp_path: Path
) -> None:
    other = home.run_dir(RunPath("local", "proj", "old"))
    write(other.files / "d" / "w.txt", "old weights")
    with files.restore("d/w.txt", run_path="old") as restored:
        assert restored.read() == "old weights"
    assert _kept(recorder) == {"d/w.txt": "old weights"}
    with files.restore("d/w.txt") as own:
        assert own.read() == "old weights"
    write(other.files / "d" / "w.txt", "new")
    with files.restore("d/w.txt", run_path="proj/old") as kept:
        assert kept.read() == "old weights"
    with files.restore("d/w.txt", run_path="local/proj/old", replace=True) as replaced:
        assert replaced.read() == "new"
    with files.restore("d/w.txt", run_path="old", root=tmp_path / "r") as elsewhere:
        assert elsewhere.name == str(tmp_path / "r" / "d" / "w.txt")
    assert os.listdir(tmp_path / "r" / "d") == ["w.txt"]
    with pytest.raises(UsageError, match="has no file"):
        files.restore("nope", run_path="old")
    with pytest.raises(UsageError, match="must be relative"):
        files.restore("../../../etc/passwd", run_path="old")


def test_code_is_python_without_environments_and_secrets(
    recorder: FakeRecorder, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/train it.py"])
    for name in (
        "train.py",
        "pkg/model.py",
        "notes.md",
        ".env",
        ".venv/lib/x.py",
        "node_modules/y.py",
        ".git/hooks/z.py",
        "my-env/site.py",
        "my-env/pyvenv.cfg",
        "pkg/__pycache__/model.py",
    ):
        write(cwd / name, name)
    artifacts = Artifacts(recorder)
    files = Files(recorder, artifacts=lambda: artifacts)
    code = files.log_code()
    assert code is not None
    assert (code.name, code.type) == ("source-proj-train_it.py:v0", "code")
    assert sorted(code.manifest.entries) == ["pkg/model.py", "train.py"]


def test_code_by_the_callers_choice(recorder: FakeRecorder, cwd: Path, home: Home) -> None:
    for name in ("a.py", "b.md", "sub/c.py", ".env", "key.pem"):
        write(cwd / name, name)
    artifacts = Artifacts(recorder)
    files = Files(recorder, artifacts=lambda: artifacts)
    everything = files.log_code(".", "all", include_fn=lambda path: True)
    assert everything is not None
    assert sorted(everything.manifest.entries) == ["a.py", "b.md", "sub/c.py"]
    chosen = files.log_code(
        str(cwd),
        "chosen",
        include_fn=lambda path, root: os.path.relpath(path, root) != "a.py",
        exclude_fn=lambda path: path.endswith(".md"),
    )
    assert chosen is not None
    assert sorted(chosen.manifest.entries) == ["sub/c.py"]
    assert files.log_code(exclude_fn=lambda path: True) is None
    with pytest.raises(UsageError, match="no directory"):
        files.log_code("nope")


def test_code_never_holds_the_home(tmp_path: Path, cwd: Path) -> None:
    home = Home(cwd / "strobe-home")
    write(home.runs / "x.py", "x")
    write(cwd / "train.py", "x")
    recorder = FakeRecorder(home)
    artifacts = Artifacts(recorder)
    code = Files(recorder, artifacts=lambda: artifacts).log_code()
    assert code is not None
    assert list(code.manifest.entries) == ["train.py"]


@pytest.mark.parametrize(
    "name", [".env", ".env.local", "prod.env", "server.key", "id_rsa", "credentials.json", ".netrc"]
)
def test_secrets_are_known_by_name(name: str) -> None:
    assert is_secret(name)
    assert not is_secret("environment.py")
