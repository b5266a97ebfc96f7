"""What is added is what is stored, whatever happens to the files afterwards."""

from __future__ import annotations

import base64
import hashlib
import os
import threading
from pathlib import Path

import pytest

from strobe.artifact import Artifact, contents, copying, source
from strobe.artifact.commit import commit
from strobe.errors import ArtifactError, UsageError
from strobe.home import Home
from tests.artifact.stage import draft, write


@pytest.fixture(params=["small", "large"])
def sized(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Files are small enough to be copied at once, or all are large (and can't be reflinked here)."""
    if request.param == "large":
        monkeypatch.setattr(contents, "AT_ONCE_BYTES", 0)
        monkeypatch.setattr(copying, "clone", lambda source, target: False)
    return str(request.param)


def _commit(artifact: Artifact, home: Home) -> Artifact:
    commit(artifact, home, "local", "proj")
    return artifact


def _read(artifact: Artifact, name: str, root: Path) -> str:
    return Path(artifact.get_entry(name).download(root)).read_text()


def test_a_small_file_may_be_overwritten_right_after_it_was_added(home: Home, tmp_path: Path) -> None:
    artifact = Artifact("figures", "plot")
    for number in range(3):
        artifact.add_file(write(tmp_path / "fig.png", f"figure {number}"), name=f"{number}.png")
    _commit(artifact, home)
    assert [_read(artifact, f"{number}.png", tmp_path / "out") for number in range(3)] == [
        "figure 0",
        "figure 1",
        "figure 2",
    ]


def test_a_file_may_be_removed_or_replaced_after_it_was_added(home: Home, tmp_path: Path, sized: str) -> None:
    removed, replaced = write(tmp_path / "removed", "1"), write(tmp_path / "replaced", "2")
    artifact = Artifact("ckpt", "model")
    artifact.add_file(removed)
    artifact.add_file(replaced)
    removed.unlink()
    write(tmp_path / "new", "changed").replace(replaced)
    _commit(artifact, home)
    assert _read(artifact, "removed", tmp_path / "out") == "1"
    assert _read(artifact, "replaced", tmp_path / "out") == "2"


def test_a_large_file_rewritten_in_place_is_an_error_not_a_wrong_artifact(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "AT_ONCE_BYTES", 0)
    monkeypatch.setattr(copying, "clone", lambda source, target: False)
    path = write(tmp_path / "last.ckpt", "old!")
    artifact = Artifact("ckpt", "model")
    artifact.add_file(path)
    path.write_text("new!")
    os.utime(path, ns=(1, 1))
    with pytest.raises(ArtifactError, match=r"last\.ckpt changed after it was added"):
        _commit(artifact, home)
    assert artifact.state == "PENDING"


def test_threads_that_ask_for_a_digest_at_once_get_the_same(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "AT_ONCE_BYTES", 0)
    monkeypatch.setattr(copying, "clone", lambda source, target: False)
    content = bytes(range(256)) * (20 << 12)
    artifact = Artifact("ckpt", "model")
    entry = artifact.add_file(write(tmp_path / "big", content))
    assert entry.source is not None
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(entry.source.digest("MD5"))) for _ in range(4)]  # type: ignore[union-attr]  # checked above
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    raw = hashlib.md5(content, usedforsecurity=False).digest()
    assert found == [base64.b64encode(raw).decode()] * 4


def test_more_large_files_than_descriptors(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "AT_ONCE_BYTES", 0)
    monkeypatch.setattr(copying, "clone", lambda source, target: False)
    monkeypatch.setattr(source, "_MAX_HELD", source._num_held + 2)
    for number in range(5):
        write(tmp_path / "d" / str(number), f"content {number}")
    artifact = Artifact("shards", "dataset")
    artifact.add_dir(tmp_path / "d")
    _commit(artifact, home)
    assert _read(artifact, "4", tmp_path / "out") == "content 4"


def test_an_immutable_file_is_linked_not_copied(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path / "big.bin", "x" * 100)
    artifact = Artifact("big", "dataset")
    entry = artifact.add_file(path, policy="immutable")
    digest = entry.digest
    _commit(artifact, home)
    stored = artifact.get_entry("big.bin").object_path
    assert stored is not None
    assert stored.samefile(path)
    assert artifact.get_entry("big.bin").digest == digest
    assert path.stat().st_mode & 0o200, "the user's file stays writable"


def test_a_mutable_file_is_never_linked(home: Home, tmp_path: Path, sized: str) -> None:
    path = write(tmp_path / "a", "before")
    artifact = Artifact("a", "dataset")
    artifact.add_file(path)
    _commit(artifact, home)
    path.write_text("after!")
    assert _read(artifact, "a", tmp_path / "out") == "before"


def test_a_directory_keeps_its_structure_and_links_are_followed_once(home: Home, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "blob", "linked")
    root = tmp_path / "d"
    write(root / "a" / "b.txt", "b")
    (root / "link").symlink_to(tmp_path / "elsewhere" / "blob")
    (root / "a" / "loop").symlink_to(root)
    os.mkfifo(root / "pipe")
    artifact = Artifact("d", "dataset")
    artifact.add_dir(root, name="top")
    assert sorted(artifact.manifest.entries) == ["top/a/b.txt", "top/link"]


def test_the_same_path_takes_one_content_only(home: Home, tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", "1"), write(tmp_path / "two", "2")
    artifact = Artifact("a", "dataset")
    first = artifact.add_file(one, "x")
    assert artifact.add_file(one, "x") is first
    with pytest.raises(UsageError, match="overwrite=True"):
        artifact.add_file(two, "x")
    artifact.add_file(two, "x", overwrite=True)
    assert artifact.manifest.entries["x"].size == 1
    assert artifact.get_added_local_path_name(two) == "x"
    write(tmp_path / "d" / "x", "3")
    with pytest.raises(UsageError, match="overwrite=True"):
        artifact.add_dir(tmp_path / "d")
    artifact.add_dir(tmp_path / "d", merge=True)


def test_what_cannot_be_added_says_why(home: Home, tmp_path: Path) -> None:
    artifact = Artifact("a", "dataset")
    with pytest.raises(UsageError, match="there is no file"):
        artifact.add_file(tmp_path / "nope")
    with pytest.raises(UsageError, match="there is no directory"):
        artifact.add_dir(tmp_path / "nope")
    with pytest.raises(UsageError, match="must be relative"):
        artifact.add_file(write(tmp_path / "x", ""), name="../x")
    with pytest.raises(UsageError, match="policy"):
        artifact.add_file(tmp_path / "x", policy="maybe")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="dangling"):
        artifact.add_dir(tmp_path / "d")


def test_new_file_is_added_unless_the_block_fails(home: Home) -> None:
    artifact = Artifact("a", "dataset")
    with artifact.new_file("sub/n.txt") as file:
        file.write("text")
    with artifact.new_file("b.bin", mode="wb") as file:
        file.write(b"\x00")
    with pytest.raises(UsageError, match="mode='w'"), artifact.new_file("sub/n.txt"):
        pass
    with pytest.raises(RuntimeError), artifact.new_file("failed"):
        raise RuntimeError
    assert sorted(artifact.manifest.entries) == ["b.bin", "sub/n.txt"]
    with artifact.new_file("sub/n.txt", mode="w") as file:
        file.write("longer text")
    assert artifact.size == 12


def test_temporary_files_are_named_by_their_content(home: Home, tmp_path: Path) -> None:
    entry = Artifact("a", "dataset").add_file(write(tmp_path / "t.tmp.png", "x"), "m/t.tmp.png", is_tmp=True)
    assert entry.path == "m/9dd4e461268c8034f5c8.tmp.png"


def test_remove_takes_a_file_or_a_tree(home: Home) -> None:
    artifact = draft({"p/a": "1", "p/s/b": "2", "p/s/c": "3", "ps": "4"})
    artifact.remove("p/s")
    artifact.remove(artifact.manifest.entries["p/a"])
    assert list(artifact.manifest.entries) == ["ps"]
    with pytest.raises(FileNotFoundError, match="nope"):
        artifact.remove("nope")


def test_a_file_and_a_directory_of_one_name_are_refused(home: Home) -> None:
    with pytest.raises(UsageError, match="'a/b' can't be a file of the artifact beside 'a/b/c'"):
        _commit(draft({"a/b": "1", "a/b/c": "2"}), home)


def test_a_logged_artifact_takes_no_more(home: Home, tmp_path: Path) -> None:
    artifact = _commit(draft({"a": "1"}), home)
    with pytest.raises(UsageError, match="new_draft"):
        artifact.add_file(write(tmp_path / "x", ""))
    with pytest.raises(UsageError, match="new_draft"):
        artifact.remove("a")


def test_adding_works_without_a_place_to_stage(home: Home, tmp_path: Path) -> None:
    home.path.mkdir()
    home.artifacts.write_text("in the way")
    artifact = Artifact("a", "dataset")
    artifact.add_file(write(tmp_path / "x", "content"))
    assert artifact.digest
    home.artifacts.unlink()
    _commit(artifact, home)
    assert _read(artifact, "x", tmp_path / "out") == "content"


@pytest.mark.parametrize("metadata", ["text", {"a": object()}, [1]])
def test_metadata_must_be_plain(metadata: object) -> None:
    with pytest.raises(UsageError, match="metadata"):
        Artifact("a", "dataset", metadata=metadata)  # type: ignore[arg-type]  # what a caller may do


def test_metadata_keeps_what_json_lacks(home: Home, tmp_path: Path) -> None:
    import numpy as np

    given = {"inf": float("inf"), "f": np.float32(0.5), "a": np.arange(2), "p": Path("x"), "s": {2, 1}}
    assert Artifact("a", "dataset", metadata=given).metadata == {
        "inf": float("inf"),
        "f": 0.5,
        "a": [0, 1],
        "p": "x",
        "s": [1, 2],
    }
