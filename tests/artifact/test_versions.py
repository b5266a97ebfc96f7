"""Versions, aliases and edits: what the store says after each thing that can be done to it."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from strobe.artifact import Artifact, ArtifactTTL, store
from strobe.artifact.commit import commit
from strobe.errors import ArtifactError, ArtifactNotLogged, UsageError
from strobe.home import Home, RunPath
from tests.artifact.stage import draft, logged


def _find(home: Home, name: str) -> Artifact:
    return store.find(home, name, project="proj")


def test_each_new_content_is_a_version_and_latest_moves(home: Home) -> None:
    first, second = logged(home, {"a": "1"}), logged(home, {"a": "2"})
    assert (first.version, second.version) == ("v0", "v1")
    assert _find(home, "data").name == "data:v1"
    assert _find(home, "data:v0").digest == first.digest
    assert second.aliases == ["latest"]
    assert _find(home, "data:v0").aliases == []


def test_the_content_of_the_latest_makes_no_version_but_gets_the_aliases(home: Home) -> None:
    logged(home, {"a": "1"})
    again = logged(home, {"a": "1"}, aliases=("best",))
    assert again.version == "v0"
    assert _find(home, "data:best").version == "v0"
    logged(home, {"a": "2"})
    assert logged(home, {"a": "1"}).version == "v2", "only the latest counts"


def test_an_alias_stands_for_the_latest_claim(home: Home) -> None:
    logged(home, {"a": "1"}, aliases=("best", "first"))
    logged(home, {"a": "2"}, aliases=("best",))
    assert _find(home, "data:best").version == "v1"
    old = _find(home, "data:v0")
    assert old.aliases == ["first"]
    old.aliases.append("best")
    old.save()
    assert _find(home, "data:best").version == "v0"
    assert _find(home, "data:v1").aliases == ["latest"]
    logged(home, {"a": "3"}, aliases=("best",))
    assert _find(home, "data:best").version == "v2"


def test_an_alias_taken_away_does_not_come_back(home: Home) -> None:
    logged(home, {"a": "1"}, aliases=("best",))
    artifact = logged(home, {"a": "2"}, aliases=("best",))
    artifact.aliases.remove("best")
    artifact.save()
    assert not store.exists(home, "data:best", project="proj")
    assert _find(home, "data").aliases == ["latest"]


def test_saving_an_old_copy_does_not_steal_an_alias_back(home: Home) -> None:
    logged(home, {"a": "1"}, aliases=("best",))
    stale = _find(home, "data:v0")
    logged(home, {"a": "2"}, aliases=("best",))
    stale.description = "the first"
    stale.save()
    assert _find(home, "data:best").version == "v1"
    stale.aliases.clear()
    stale.save()
    assert _find(home, "data:best").version == "v1"


def test_the_type_of_a_name_is_fixed(home: Home) -> None:
    logged(home, {"a": "1"})
    with pytest.raises(ArtifactError, match="has type 'dataset' already"):
        commit(draft({"a": "2"}, kind="model"), home, "local", "proj")
    commit(draft({"a": "2"}, kind="model"), home, "local", "other")


def test_edits_are_kept_apart_from_the_version(home: Home) -> None:
    artifact = logged(home, {"a": "1"})
    artifact.description = "words"
    artifact.metadata["rows"] = 3
    artifact.tags = ["clean", "clean"]
    artifact.ttl = timedelta(days=2)
    artifact.save()
    read = _find(home, "data")
    assert (read.description, read.metadata, read.tags, read.ttl) == (
        "words",
        {"rows": 3},
        ["clean"],
        timedelta(days=2),
    )
    read.ttl = ArtifactTTL.INHERIT
    read.save()
    assert _find(home, "data").ttl is None
    assert read.updated_at >= read.created_at
    with pytest.raises(UsageError, match="ttl"):
        read.ttl = timedelta(0)


def test_a_draft_has_no_version_and_says_so(home: Home) -> None:
    artifact = draft({"a": "1"})
    assert artifact.is_draft()
    assert (artifact.name, artifact.state, artifact.id) == ("data", "PENDING", None)
    assert not hasattr(artifact, "version")
    for name in ("version", "entity", "qualified_name", "collection", "created_at", "history_step", "commit_hash"):
        with pytest.raises(ArtifactNotLogged, match="before it's logged"):
            getattr(artifact, name)
    for method in (artifact.download, artifact.logged_by, artifact.delete, artifact.wait, artifact.new_draft):
        with pytest.raises(ArtifactNotLogged):
            method()


def test_a_logged_artifact_knows_itself(home: Home) -> None:
    artifact = logged(home, {"a": "1", "b/c": "22"})
    assert artifact.qualified_name == "local/proj/data:v0"
    assert (artifact.entity, artifact.project, artifact.type) == ("local", "proj", "dataset")
    assert (artifact.size, artifact.file_count, artifact.state) == (3, 2, "COMMITTED")
    assert artifact.digest_algorithm == "MANIFEST_MD5"
    assert artifact.commit_hash == artifact.digest
    assert artifact.logged_by() == RunPath("local", "proj", "run1")
    assert artifact.used_by() == []
    assert artifact.wait() is artifact
    assert artifact.json_encode()["sequenceName"] == "data"
    assert "data:v0" in repr(artifact)
    assert [entry.name for entry in artifact.files()] == ["a", "b/c"]
    assert [entry.name for entry in artifact.files(names=["a"])] == ["a"]
    with pytest.raises(KeyError, match="nope"):
        artifact.get_path("nope")


def test_a_draft_of_a_version_shares_its_objects(home: Home, tmp_path: Path) -> None:
    draft_two = logged(home, {"a": "1", "b": "2"}).new_draft()
    assert draft_two.is_draft()
    draft_two.remove("a")
    with draft_two.new_file("c") as file:
        file.write("3")
    commit(draft_two, home, "local", "proj")
    assert draft_two.version == "v1"
    assert sorted(draft_two.manifest.entries) == ["b", "c"]
    assert sorted(os.listdir(draft_two.download(tmp_path / "out"))) == ["b", "c"]


def test_a_draft_of_a_version_can_be_logged_in_another_home(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    artifact = logged(home, {"a": "1"}).new_draft()
    commit(artifact, other, "local", "proj")
    assert (Path(artifact.download(tmp_path / "out")) / "a").read_text() == "1"


def test_an_incremental_artifact_is_added_to_the_latest(home: Home) -> None:
    logged(home, {"a": "1", "b": "2"})
    more = draft({"b": "new", "c": "3"}, incremental=True)
    commit(more, home, "local", "proj")
    assert more.version == "v1"
    assert sorted(more.manifest.entries) == ["a", "b", "c"]
    assert more.size == 5
    nothing_new = draft({"c": "3"}, incremental=True)
    commit(nothing_new, home, "local", "proj")
    assert nothing_new.version == "v1"


def test_deleting_keeps_the_number_and_needs_leave_for_aliases(home: Home) -> None:
    logged(home, {"a": "1"}, aliases=("best",))
    artifact = logged(home, {"a": "2"}, aliases=("best",))
    with pytest.raises(UsageError, match="delete_aliases=True"):
        artifact.delete()
    artifact.delete(delete_aliases=True)
    assert artifact.state == "DELETED"
    assert _find(home, "data").version == "v0"
    assert not store.exists(home, "data:best", project="proj"), "it does not fall back to an older version"
    with pytest.raises(ArtifactError, match="no 'v1'"):
        _find(home, "data:v1")
    assert logged(home, {"a": "3"}).version == "v2"


def test_links_show_a_version_elsewhere(home: Home) -> None:
    artifact = logged(home, {"a": "1"})
    linked = artifact.link("registry/good", aliases=["production"])
    assert linked.qualified_name == "local/registry/good:v0"
    assert linked.is_link
    assert not artifact.is_link
    assert linked.digest == artifact.digest
    assert linked.source_qualified_name == "local/proj/data:v0"
    assert (linked.source_entity, linked.source_project) == ("local", "proj")
    assert (linked.source_name, linked.source_version) == ("data:v0", "v0")
    assert linked.source_artifact.name == "data:v0"
    assert [other.qualified_name for other in artifact.linked_artifacts] == ["local/registry/good:v0"]
    assert store.find(home, "registry/good:production").version == "v0"
    linked.unlink()
    assert artifact.linked_artifacts == []
    with pytest.raises(UsageError, match="not a link"):
        artifact.unlink()


def test_saving_a_draft_without_a_run_puts_it_into_the_default_home(home: Home) -> None:
    artifact = draft({"a": "1"})
    artifact.save(project="solo")
    assert artifact.qualified_name == "local/solo/data:v0"
    assert artifact.logged_by() is None
    assert store.exists(home, "solo/data")


def test_damage_is_told_not_hidden(home: Home) -> None:
    artifact = logged(home, {"a": "1"})
    (artifact.collection.path / "v0" / "version.json").write_text("")
    with pytest.raises(ArtifactError, match="damaged"):
        _find(home, "data")
    with pytest.warns(UserWarning, match="damaged"):
        assert store.versions(home, None, "data", project="proj") == []
    assert logged(home, {"a": "1"}).version == "v1"
