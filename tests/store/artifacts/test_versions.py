"""Versions that are there: aliases, edits, deletion and undo, lists, lineage."""

from __future__ import annotations

import pytest

from strobe.errors import NotInStore, UsageError
from strobe.store.artifacts import Artifacts
from strobe.store.artifacts.versions import Edits
from strobe.store.contents import Contents
from tests.store.artifacts.conftest import Log
from tests.store.files.conftest import NewRun


def _body(number: int) -> dict[str, bytes]:
    return {"x": b"%d" % number}


def test_aliases_move_and_latest_moves_by_itself(log: Log, artifacts: Artifacts, project: int) -> None:
    first = log(_body(0), aliases=["best"])
    second = log(_body(1), aliases=["best"])
    get = artifacts.versions.get
    assert get(project, "data", "best").id == get(project, "data").id == get(project, "data", "v1").id == second.id
    assert get(project, "data", "v0").aliases == []
    moved = artifacts.versions.edit(first.id, Edits(add_aliases=["best", "latest", "prod"]))
    assert moved.aliases == ["best", "prod"], "latest is the highest version, whatever is said"
    artifacts.versions.edit(second.id, Edits(remove_aliases=["best"]))
    assert get(project, "data", "best").id == first.id, "an alias of another version is not taken away"
    artifacts.versions.edit(first.id, Edits(remove_aliases=["best"]))
    for reference in ("best", "v2", "v99999999999999999999", "nothing", "", "x y"):
        with pytest.raises(NotInStore):
            get(project, "data", reference)
    with pytest.raises(UsageError, match="version number"):
        artifacts.versions.edit(first.id, Edits(add_aliases=["v7"]))


def test_edits_change_what_is_given(log: Log, artifacts: Artifacts) -> None:
    version = log(_body(0), description="one", tags=["a"], metadata={"lr": 0.1}, ttl_s=60)
    edited = artifacts.versions.edit(version.id, Edits(description="two"))
    assert (edited.description, edited.tags, edited.metadata, edited.ttl_s) == ("two", ["a"], {"lr": 0.1}, 60)
    edited = artifacts.versions.edit(version.id, Edits(tags=["b", "c"], metadata={}, ttl_s=None))
    assert (edited.description, edited.tags, edited.metadata, edited.ttl_s) == ("two", ["b", "c"], {}, None)
    with pytest.raises(UsageError, match="tag"):
        artifacts.versions.edit(version.id, Edits(tags=["no/"], description="three"))
    assert artifacts.versions.by_id(version.id) == edited, "all of an edit, or nothing"


def test_deleting_can_be_undone(log: Log, artifacts: Artifacts, project: int) -> None:
    first, second = log(_body(0)), log(_body(1), aliases=["best"])
    with pytest.raises(UsageError, match="best"):
        artifacts.versions.delete(second.id)
    artifacts.versions.delete(second.id, with_aliases=True)
    assert artifacts.versions.get(project, "data").id == first.id
    with pytest.raises(NotInStore):
        artifacts.versions.get(project, "data", "best")
    with pytest.raises(NotInStore, match="restore"):
        artifacts.versions.edit(second.id, Edits(description="x"))
    assert [it.number for it in artifacts.versions.page(project, "data", deleted=True)] == [1]
    restored = artifacts.versions.restore(second.id)
    assert restored.aliases == ["latest", "best"]
    assert artifacts.versions.get(project, "data", "best").id == second.id


def test_an_alias_that_moved_meanwhile_does_not_come_back(log: Log, artifacts: Artifacts, project: int) -> None:
    first, second = log(_body(0)), log(_body(1), aliases=["best"])
    artifacts.versions.delete(second.id, with_aliases=True)
    artifacts.versions.edit(first.id, Edits(add_aliases=["best"]))
    assert artifacts.versions.restore(second.id).aliases == ["latest"]


def test_a_number_is_never_used_twice(log: Log, artifacts: Artifacts, contents: Contents, project: int) -> None:
    version = log(_body(0))
    artifacts.versions.delete(version.id)
    assert artifacts.collections.page(project) == []
    assert artifacts.versions.purge(contents.clock() + 1) == 1
    assert log(_body(0)).number == 1
    with pytest.raises(NotInStore):
        artifacts.versions.restore(version.id)


def test_a_time_to_live_ends_what_no_alias_keeps(log: Log, artifacts: Artifacts, contents: Contents) -> None:
    now = contents.clock()
    old = log(_body(0), ttl_s=60, created_ns=now - 61 * 10**9)
    kept = log(_body(1), ttl_s=60, created_ns=now - 61 * 10**9, aliases=["keep"])
    young = log(_body(2), ttl_s=60, created_ns=now - 50 * 10**9)
    assert artifacts.versions.expire(now) == 1
    by_id = artifacts.versions.by_id
    assert [by_id(it.id).deleted_ns is None for it in (old, kept, young)] == [False, True, True]


def test_collections_and_types(log: Log, artifacts: Artifacts, project: int, other_project: int) -> None:
    log(_body(0), "b", "model")
    log(_body(1), "b", "model")
    log(_body(0), "a", "dataset")
    log(_body(0), "c", "model")
    log(_body(0), "z", "model", project_id=other_project)
    found = artifacts.collections.page(project)
    assert [(it.name, it.type, it.num_versions, it.latest) for it in found] == [
        ("a", "dataset", 1, 0),
        ("b", "model", 2, 1),
        ("c", "model", 1, 0),
    ]
    assert found[1].size == 2
    assert [it.name for it in artifacts.collections.page(project, type="model", after="b")] == ["c"]
    assert [(it.name, it.num_collections) for it in artifacts.collections.types(project)] == [
        ("dataset", 1),
        ("model", 2),
    ]
    artifacts.collections.describe(project, "a", "all of it")
    assert artifacts.collections.get(project, "a").description == "all of it"
    for call in (artifacts.collections.get, artifacts.versions.get, artifacts.versions.page):
        with pytest.raises(NotInStore, match="'z'"):
            call(project, "z")


def test_versions_by_page_and_tag(log: Log, artifacts: Artifacts, project: int) -> None:
    for number in range(5):
        log(_body(number), tags=["even"] if number % 2 == 0 else [])
    page = artifacts.versions.page
    assert [it.number for it in page(project, "data", limit=2)] == [4, 3]
    assert [it.number for it in page(project, "data", before=3, limit=2)] == [2, 1]
    assert [it.number for it in page(project, "data", tag="even")] == [4, 2, 0]


def test_entries_by_page(log: Log, artifacts: Artifacts) -> None:
    version = log({"a/1": b"1", "a/2": b"2", "a/3": b"3", "b": b"4"})
    found = artifacts.versions.entries(version, prefix="a/", after="a/1", limit=5)
    assert [it.path for it in found] == ["a/2", "a/3"]
    assert b"".join(artifacts.versions.read(found[0])) == b"2"
    with pytest.raises(NotInStore, match="'a'"):
        artifacts.versions.entry(version, "a")


def test_lineage(log: Log, artifacts: Artifacts, new_run: NewRun) -> None:
    trainer, tester = new_run("trainer"), new_run("tester", project="other")
    data, model = log(_body(0), "data"), log(_body(1), "model", "model", run_id=trainer)
    artifacts.lineage.note_use(data.id, trainer, "train")
    artifacts.lineage.note_use(data.id, trainer, "again")
    artifacts.lineage.note_use(model.id, tester)
    assert [(use.run, use.role, use.use_as) for use in artifacts.lineage.runs(data.id)] == [
        ("me/p/trainer", "used", "train")
    ]
    assert [(use.run, use.role) for use in artifacts.lineage.runs(model.id)] == [
        ("me/p/trainer", "logged"),
        ("me/other/tester", "used"),
    ]
    assert [it.id for it in artifacts.lineage.of_run(trainer, "used")] == [data.id]
    assert [it.id for it in artifacts.lineage.of_run(trainer, "logged")] == [model.id]
    with pytest.raises(NotInStore):
        artifacts.lineage.note_use("0" * 32, trainer)
