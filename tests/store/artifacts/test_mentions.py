"""Runs and the artifacts that they name come by different ways, in any order: they find each other."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from strobe.home import RunPath
from strobe.journal import event as ev
from strobe.store.artifacts import Draft, DraftFacts
from strobe.store.artifacts.record import Role
from strobe.store.blobs.directory import DirectoryBlobs
from strobe.store.database import Cursor, Database
from strobe.store.schema import migrate
from strobe.store.store import Store
from tests.store.artifacts.conftest import Log, bringing, count, manifest_of, send
from tests.store.stories import Clock, Story, batches, send_shuffled

ONE, TWO = {"x": b"1"}, {"x": b"2"}
Tell = Callable[..., int]


@pytest.fixture
def store(database: Database, blobs: DirectoryBlobs) -> Store:
    return Store(database, blobs)


@pytest.fixture
def bring(store: Store) -> Log:
    """Return a function that brings a version in, as a sender does."""
    return bringing_to(store)


@pytest.fixture
def tell(store: Store, tmp_path: Path) -> Tell:
    """Return a function that takes in a run which says something of artifacts; it returns the run's number."""
    return telling(store, tmp_path)


def bringing_to(store: Store) -> Log:
    return bringing(store.artifacts, store.contents, store.projects.ensure("me", "p", now_ns=1).id)


def telling(store: Store, place: Path) -> Tell:
    def take(*uses: ev.ArtifactUse, run: str = "r", project: str = "q", entity: str = "me") -> int:
        clock, path = Clock(), RunPath(entity, project, run)
        story = Story(place / "home", clock, path)
        writer = story.start()
        for use in uses:
            writer.event(use)
        writer.event(ev.Ended(time_ns=clock(), state="finished"))
        writer.close()
        rng = random.Random(0)
        send_shuffled(store.ingest, batches(story.run_dir, rng, rows_at_most=1), rng, clock)
        return store.runs.find(path).id

    return take


def use(
    bodies: dict[str, bytes], version: str = "v0", name: str = "local/p/data", action: str = "use", time_ns: int = 5
) -> ev.ArtifactUse:
    digest = manifest_of(bodies).digest
    return ev.ArtifactUse(time_ns=time_ns, action=action, name=name, kind="dataset", version=version, digest=digest)


def had(store: Store, run_id: int, role: Role = "used") -> list[str]:
    return [version.qualified_name for version in store.artifacts.lineage.of_run(run_id, role)]


def test_a_version_that_was_there_before_the_run(store: Store, tell: Tell, bring: Log) -> None:
    version = bring(ONE)
    run_id = tell(use(ONE, time_ns=7))
    store.settler.settle()
    assert had(store, run_id) == ["me/p/data:v0"]
    (found,) = store.artifacts.lineage.runs(version.id)
    assert (found.run, found.role, found.time_ns) == ("me/q/r", "used", 7)


def test_a_version_that_comes_after_the_run(store: Store, tell: Tell, bring: Log) -> None:
    run_id = tell(use(ONE))
    store.settler.settle()
    assert had(store, run_id) == []
    bring(ONE)
    assert had(store, run_id) == ["me/p/data:v0"]


def test_a_version_that_comes_while_the_run_is_not_settled(store: Store, tell: Tell, bring: Log) -> None:
    run_id = tell(use(ONE))
    bring(ONE)
    assert had(store, run_id) == ["me/p/data:v0"]
    for _ in range(2):
        store.database.write(lambda cursor: cursor.run("UPDATE run SET is_dirty = 1"))
        store.settler.settle()
        bring(ONE)
    assert had(store, run_id) == ["me/p/data:v0"]
    assert count(store.database, "artifact_run") == 1


def test_numbers_may_differ(store: Store, tell: Tell, bring: Log) -> None:
    bring(TWO)
    bring(ONE)
    run_id = tell(use(ONE, "v0"))
    store.settler.settle()
    assert had(store, run_id) == ["me/p/data:v1"], "the content counts"


def test_of_the_same_content_twice_the_number_decides(store: Store, tell: Tell, bring: Log) -> None:
    for bodies in (ONE, TWO, ONE):
        bring(bodies)
    old, new, other = (
        tell(use(ONE, "v0"), run="a"),
        tell(use(ONE, "v2"), run="b"),
        tell(use(ONE, "v7"), run="c"),
    )
    store.settler.settle()
    assert had(store, old) == ["me/p/data:v0"]
    assert had(store, new) == ["me/p/data:v2"]
    assert had(store, other) == ["me/p/data:v2"], "the newest, if no number fits"
    bring(TWO)
    bring(ONE)
    assert had(store, other) == ["me/p/data:v2"], "and it stays"


def test_a_name_without_a_project_is_of_the_runs_own(store: Store, tell: Tell, bring: Log) -> None:
    near, far = tell(use(ONE, name="data"), project="p"), tell(use(ONE, name="data"), run="other")
    bring(ONE)
    store.settler.settle()
    assert (had(store, near), had(store, far)) == (["me/p/data:v0"], [])


def test_another_entity_is_named_by_its_name(store: Store, tell: Tell, bring: Log) -> None:
    bring(ONE)
    run_id = tell(use(ONE, name="me/p/data"), entity="you")
    stranger = tell(use(ONE, name="local/p/data"), entity="you", run="s")
    store.settler.settle()
    assert (had(store, run_id), had(store, stranger)) == (["me/p/data:v0"], [])


def test_logging_is_linked_too(store: Store, tell: Tell, bring: Log) -> None:
    """Two runs log the same content: one of them sends it, both have logged it."""
    first, second = (tell(use(ONE, name="data", action="log"), run=name, project="p") for name in "ab")
    bring(ONE, run_id=first)
    store.settler.settle()
    assert had(store, first, "logged") == had(store, second, "logged") == ["me/p/data:v0"]
    assert had(store, first) == []


def test_a_version_that_is_deleted_and_brought_back(store: Store, tell: Tell, bring: Log) -> None:
    version = bring(ONE)
    store.artifacts.versions.delete(version.id)
    run_id = tell(use(ONE))
    store.settler.settle()
    assert had(store, run_id) == []
    store.artifacts.versions.restore(version.id)
    assert had(store, run_id) == ["me/p/data:v0"]


@pytest.mark.parametrize(
    "strange",
    [
        use(ONE, name="../../etc"),
        use(ONE, name=""),
        use(ONE, name="a/b/c/d"),
        use(ONE, name="da\0ta"),
        use(ONE, action="look"),
        use(ONE, version="v" + "9" * 30),
        use(ONE, version=""),
        ev.ArtifactUse(time_ns=1, action="use", name="data", kind="", version="v0", digest="0" * 10_000),
        ev.ArtifactUse(time_ns=1, action="use", name="data", kind="", version="v0", digest="\0"),
    ],
)
def test_what_makes_no_sense_does_no_harm(store: Store, tell: Tell, bring: Log, strange: ev.ArtifactUse) -> None:
    run_id = tell(strange, use(ONE))
    bring(ONE)
    store.settler.settle()
    assert had(store, run_id) == ["me/p/data:v0"]


def test_a_run_that_is_removed_takes_what_it_said_along(store: Store, tell: Tell, bring: Log) -> None:
    tell(use(ONE))
    store.runs.remove(RunPath("me", "q", "r"))
    assert count(store.database, "artifact_mention") == 0
    bring(ONE)
    assert count(store.database, "artifact_run") == 0


def test_both_at_once_find_each_other(store: Store, tell: Tell) -> None:
    """A run is taken in and settled while the version is committed: whoever is later sees the other."""
    project = store.projects.ensure("me", "p", now_ns=1).id
    runs = []
    for number in range(25):
        bodies = {"x": b"%d" % number}
        draft = store.artifacts.drafts.create(project, DraftFacts(name="data", type="dataset"), manifest_of(bodies))
        assert isinstance(draft, Draft)
        send(store.artifacts, store.contents, draft, bodies)
        committing = threading.Thread(target=store.artifacts.drafts.commit, args=(draft.id,))
        committing.start()
        runs.append(tell(use(bodies, f"v{number}"), run=f"r{number}"))
        store.settler.settle()
        committing.join()
    assert [had(store, run_id) for run_id in runs] == [[f"me/p/data:v{number}"] for number in range(25)]


def test_a_store_of_the_first_version_learns_what_its_runs_said(
    store: Store, database: Database, tell: Tell, bring: Log
) -> None:
    run_id = tell(use(ONE))
    store.settler.settle()

    def go_back(cursor: Cursor) -> None:
        cursor.run("DROP TABLE artifact_mention")
        cursor.run("DROP INDEX artifact_version_digest")
        cursor.run("DROP INDEX run_parent")
        cursor.run("DROP TABLE ended_session")
        cursor.run("DELETE FROM schema_version WHERE version > 1")

    database.write(go_back)
    assert migrate(database) == 1
    bring(ONE)
    assert had(store, run_id) == ["me/p/data:v0"]
    database.write(lambda cursor: cursor.run("DELETE FROM artifact_run"))
    database.write(go_back)
    migrate(database)
    store.settler.settle()
    assert had(store, run_id) == ["me/p/data:v0"]
