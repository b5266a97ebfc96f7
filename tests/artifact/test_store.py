"""The store as others read it, and what gc takes away."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from strobe.artifact import Artifact, context, staging, store
from strobe.artifact.commit import commit, store_contents
from strobe.artifact.part import Parts
from strobe.errors import ArtifactError, UsageError
from strobe.home import Home, RunPath
from tests.artifact.stage import draft, logged, write

_DAYS_NS = 24 * 3600 * 10**9


def _objects(home: Home) -> list[Path]:
    return [path for path in (home.artifacts / "objects").rglob("*") if path.is_file()]


def test_find_says_what_there_is_instead(home: Home) -> None:
    logged(home, {"a": "1"}, aliases=("best",))
    with pytest.raises(ArtifactError, match="there is latest, best, v0"):
        store.find(home, "proj/data:worst")
    with pytest.raises(ArtifactError, match="no artifact 'local/proj/nope'"):
        store.find(home, "proj/nope")
    with pytest.raises(ArtifactError, match="has type 'dataset', not 'model'"):
        store.find(home, "proj/data", "model")
    with pytest.raises(UsageError):
        store.find(home, "data")
    assert store.find(home, "local/proj/data:best", "dataset").version == "v0"
    assert store.exists(home, "proj/data")
    assert not store.exists(home, "proj/data", "model")
    assert not store.exists(home, "proj/data:v1")


def test_lists(home: Home) -> None:
    assert store.collections(home) == []
    logged(home, {"a": "1"})
    logged(home, {"a": "2"})
    logged(home, {"a": "2"}, name="more")
    commit(draft({"m": "1"}, name="net", kind="model"), home, "local", "other")
    assert [artifact.name for artifact in store.versions(home, "dataset", "proj/data")] == ["data:v1", "data:v0"]
    assert store.versions(home, "model", "proj/data") == []
    assert store.versions(home, None, "proj/nope") == []
    assert [found.name for found in store.collections(home, project="proj")] == ["data", "more"]
    assert [found.name for found in store.collections(home, type="model")] == ["net"]
    assert store.types(home, project="proj") == ["dataset"]
    assert store.collections(home, project="proj")[0].aliases() == {"latest": 1}


def test_what_a_run_logged(home: Home) -> None:
    logged(home, {"a": "1"})
    second = logged(home, {"a": "2"})
    second.link("elsewhere/linked")
    names = [artifact.name for artifact in store.logged_by(home, RunPath("local", "proj", "run1"))]
    assert names == ["data:v0", "data:v1"]
    assert store.logged_by(home, RunPath("local", "proj", "other")) == []


def test_equal_contents_are_stored_once(home: Home) -> None:
    logged(home, {"a": "same", "b": "same"})
    logged(home, {"c": "same"}, name="other")
    assert len(_objects(home)) == 1


def test_gc_takes_only_what_nothing_refers_to(home: Home, tmp_path: Path) -> None:
    keep = logged(home, {"a": "keep", "b": "shared"})
    gone = logged(home, {"b": "shared", "c": "gone"}, name="gone")
    gone.delete()
    assert store.gc(home).objects == 0, "not yet: it's younger than the grace"
    swept = store.gc(home, grace_s=-1)
    assert swept == store.Swept(versions=0, objects=1, size_bytes=4)
    keep.download(tmp_path / "out")
    keep.verify(tmp_path / "out")


def test_gc_takes_expired_versions_unless_an_alias_holds_them(home: Home) -> None:
    for number, alias in enumerate(["", "best", ""]):
        artifact = draft({"a": str(number)})
        artifact.ttl = timedelta(days=1)
        artifact.aliases = [alias] if alias else []
        commit(artifact, home, "local", "proj")
    now = os.stat(home.artifacts).st_mtime_ns
    assert store.gc(home, now_ns=now).versions == 0
    assert store.gc(home, now_ns=now + 2 * _DAYS_NS).versions == 2
    assert [artifact.version for artifact in store.versions(home, None, "proj/data")] == ["v1"]


def test_gc_keeps_the_parts_of_an_unfinished_artifact(home: Home) -> None:
    artifact = draft({"a": "part"})
    collection = logged(home, {"x": "1"}).collection
    store_contents(artifact.manifest, home)
    Parts(collection.path, "group").add(artifact.manifest)
    assert store.gc(home, grace_s=-1).objects == 0
    (part,) = (collection.path / "parts").rglob("*.json")
    os.utime(part, (0, 0))
    assert store.gc(home, grace_s=-1).objects == 1


def test_gc_spares_what_cannot_be_read(home: Home) -> None:
    artifact = logged(home, {"a": "1"})
    (artifact.collection.path / "v0" / "manifest.json").write_text("")
    with pytest.raises(ArtifactError, match="not an artifact manifest"):
        store.gc(home, grace_s=-1)
    assert len(_objects(home)) == 1


def test_gc_removes_what_a_killed_process_left_half_made(home: Home) -> None:
    collection = logged(home, {"a": "1"}).collection
    left = collection.path / ".new-0123"
    write(left / "version.json", "{}")
    write(collection.path / "aliases" / ".new-4567", "{}")
    store.gc(home)
    assert left.exists()
    store.gc(home, grace_s=-1)
    assert not left.exists()
    assert os.listdir(collection.path / "aliases") == []


@pytest.mark.slow
def test_staging_of_a_dead_process_is_swept_of_a_living_one_not(home: Home) -> None:
    script = (
        "import os; from tests.artifact.stage import draft\n"
        "draft({'a': '1'}).manifest.entries['a'].source.is_owned = False; os._exit(0)"
    )
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), str(root / "src")])
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": paths})
    directory = home.artifacts / "staging"
    assert len(os.listdir(directory)) == 2
    kept = draft({"b": "2"})
    assert len(os.listdir(directory)) == 2, "the new one, with its lock, and the old one gone"
    assert staging.sweep(directory) == 0
    commit(kept, home, "local", "proj")


def test_a_draft_that_is_dropped_leaves_nothing(home: Home) -> None:
    artifact = draft({"a": "1"})
    assert len(os.listdir(staging.current().path)) == 1
    del artifact
    assert os.listdir(staging.current().path) == []


def test_drafts_are_staged_in_the_home_of_the_current_run(home: Home, tmp_path: Path) -> None:
    other = context.Context(Home(tmp_path / "other"), lambda artifact: None)
    context.enter(other)
    try:
        assert staging.current().path.is_relative_to(tmp_path / "other")
        artifact = draft({"a": "1"})
    finally:
        context.leave(other)
        context.leave(other)
    commit(artifact, home, "local", "proj")
    assert isinstance(artifact, Artifact)
    assert not staging.current().path.is_relative_to(tmp_path / "other")
