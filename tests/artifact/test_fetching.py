"""Downloads: every byte is checked, nothing wrong appears under its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from strobe.artifact import Artifact, copying
from strobe.artifact.commit import commit
from strobe.errors import ArtifactError, ArtifactNotLogged, UsageError
from strobe.home import Home
from tests.artifact.stage import draft, logged, write


def _damage(artifact: Artifact, name: str, change: Callable[[Path], object]) -> None:
    path = artifact.get_entry(name).object_path
    assert path is not None
    path.chmod(0o644)
    change(path)


def test_download_goes_to_artifacts_beside_the_script(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    artifact = logged(home, {"a": "1", "s/b": "2"})
    assert artifact.download() == os.path.join("artifacts", "data:v0")
    assert (tmp_path / "artifacts" / "data:v0" / "s" / "b").read_text() == "2"
    monkeypatch.setenv("WANDB_ARTIFACT_DIR", str(tmp_path / "w"))
    assert artifact.download() == str(tmp_path / "w" / "data:v0")
    monkeypatch.setenv("STROBE_ARTIFACT_DIR", str(tmp_path / "s"))
    assert artifact.download() == str(tmp_path / "s" / "data:v0")


def test_a_download_may_be_changed_without_harm_to_the_store(home: Home, tmp_path: Path) -> None:
    artifact = logged(home, {"a": "1"})
    copy = Path(artifact.download(tmp_path / "out")) / "a"
    copy.write_text("2")
    assert Path(artifact.get_entry("a").download(tmp_path / "other")).read_text() == "1"
    artifact.download(tmp_path / "out")
    assert copy.read_text() == "1", "what is wrong is replaced"


def test_what_is_there_and_right_is_left_alone(home: Home, tmp_path: Path) -> None:
    artifact = logged(home, {"a": "1"})
    copy = Path(artifact.download(tmp_path / "out")) / "a"
    inode = copy.stat().st_ino
    artifact.download(tmp_path / "out")
    assert copy.stat().st_ino == inode


def test_only_a_part_can_be_downloaded(home: Home, tmp_path: Path) -> None:
    artifact = logged(home, {"a/1": "", "a/2": "x", "b": "y"})
    artifact.download(tmp_path / "out", path_prefix="a/")
    assert sorted(os.listdir(tmp_path / "out")) == ["a"]


@pytest.mark.parametrize("is_cloned", [False, True])
def test_a_flipped_bit_in_the_store_is_found(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_cloned: bool
) -> None:
    if is_cloned:
        # This file system may not share blocks; what matters is that the check does not depend on the copy's bytes.
        monkeypatch.setattr(copying, "clone", lambda source, target: copying.copy_hashing(source, target, None) >= 0)
    artifact = logged(home, {"a": "1"})
    _damage(artifact, "a", lambda path: path.write_text("2"))
    with pytest.raises(ArtifactError, match="damaged"):
        artifact.download(tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_a_lost_object_is_named(home: Home, tmp_path: Path) -> None:
    artifact = logged(home, {"a": "1"})
    _damage(artifact, "a", lambda path: path.unlink())
    with pytest.raises(ArtifactError, match="lost"):
        artifact.download(tmp_path / "out")
    with pytest.raises(ArtifactError, match="lost"):
        artifact.new_draft()


def test_logging_again_heals_what_a_power_cut_emptied(home: Home, tmp_path: Path) -> None:
    artifact = logged(home, {"a": "1"})
    _damage(artifact, "a", lambda path: path.write_text(""))
    logged(home, {"a": "1", "b": "2"})
    assert Path(artifact.get_entry("a").download(tmp_path / "out")).read_text() == "1"


def test_checkout_removes_what_is_not_in_the_version_and_verify_tells(home: Home, tmp_path: Path) -> None:
    artifact = logged(home, {"a": "1", "s/b": "2"})
    root = tmp_path / "out"
    outside = write(tmp_path / "outside" / "precious", "mine")
    artifact.download(root)
    artifact.verify(root)
    write(root / "s" / "extra", "")
    (root / "way-out").symlink_to(outside.parent)
    with pytest.raises(ArtifactError, match="not part of"):
        artifact.verify(root)
    artifact.checkout(root)
    assert sorted(path.name for path in root.rglob("*") if path.is_file() and "way-out" not in path.parts) == ["a", "b"]
    assert outside.read_text() == "mine"
    (root / "way-out").unlink()
    (root / "a").write_text("x")
    with pytest.raises(ArtifactError, match="not what was logged"):
        artifact.verify(root)
    (root / "a").unlink()
    with pytest.raises(ArtifactError, match="missing"):
        artifact.verify(root)


def test_file_is_for_artifacts_of_one_file(home: Home, tmp_path: Path) -> None:
    assert Path(logged(home, {"a": "1"}).file(tmp_path / "out")).read_text() == "1"
    with pytest.raises(UsageError, match="holds 2 files"):
        logged(home, {"a": "1", "b": "2"}).file()


def test_an_unwritable_target_is_an_artifact_error(home: Home, tmp_path: Path) -> None:
    artifact = logged(home, {"s/a": "1"})
    write(tmp_path / "out" / "s", "a file in the way")
    with pytest.raises(ArtifactError, match="can't be written"):
        artifact.download(tmp_path / "out")


def test_an_entry_of_a_draft_cannot_be_downloaded(home: Home) -> None:
    artifact = draft({"a": "1"})
    with pytest.raises(ArtifactError, match="log it first"):
        artifact.manifest.entries["a"].download()
    with pytest.raises(ArtifactNotLogged):
        artifact.verify()


def test_an_entry_of_another_artifact_can_be_added(home: Home, tmp_path: Path) -> None:
    entry = logged(home, {"a": "1"}).get_entry("a")
    other = Artifact("other", "dataset")
    other.add_reference(entry, name="copied")
    commit(other, home, "local", "proj")
    assert Path(other.get_entry("copied").download(tmp_path / "out")).read_text() == "1"
    with pytest.raises(UsageError, match="log it first"):
        Artifact("x", "dataset").add_reference(draft({"a": "1"}).manifest.entries["a"])
