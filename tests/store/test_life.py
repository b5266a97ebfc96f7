"""How runs are said to live, crash, stop and go, also when two servers say something about one at once."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from strobe.errors import NotInStore, StoreFull
from strobe.journal import Writer
from strobe.journal import event as ev
from strobe.store.alerts import Alerts
from strobe.store.database import Cursor, Database
from strobe.store.edits import Edits
from strobe.store.ingest import Ingest
from strobe.store.projects import Projects
from strobe.store.quotas import Quotas
from strobe.store.runs import Runs
from tests.store.stories import PATH, START_NS, Clock, Story, batches, take

_SOON_S = 0.3


class Scene:
    """A run on its way into a store."""

    def __init__(self, database: Database, directory: Path) -> None:
        self.database = database
        self.clock = Clock()
        self.story = Story(directory, self.clock)
        self.ingest = Ingest(database, alerts=Alerts(database), quotas=Quotas(database))
        self.edits = Edits(database, self.ingest)
        self.runs = Runs(database)

    def send(self) -> None:
        for queue in batches(self.story.run_dir, random.Random(1)):
            for batch in queue:
                take(self.ingest, batch, self.clock)

    def bury(self) -> list[str]:
        return [str(row.path) for row in self.runs.bury(silent_for_ns=0, now_ns=self.clock() + 1)]

    @property
    def state(self) -> str:
        return self.runs.find(PATH).state


@pytest.fixture
def scene(database: Database, tmp_path: Path) -> Scene:
    return Scene(database, tmp_path)


@pytest.fixture
def writer(scene: Scene) -> Writer:
    """The first process of a run, which has sent something."""
    writer = scene.story.start()
    writer.row({"loss": 2.0}, 0)
    scene.send()
    return writer


def notes_edit(clock: Clock) -> list[ev.Event]:
    return [ev.Attributes(time_ns=clock(), changes={"notes": "look"})]


def test_an_edit_is_no_sign_of_life(scene: Scene, writer: Writer) -> None:
    assert scene.bury() == [str(PATH)]
    silent_since_ns = scene.runs.find(PATH).heartbeat_ns
    scene.edits.write(PATH, notes_edit(scene.clock), now_ns=scene.clock())
    assert (scene.state, scene.runs.get(PATH).attributes["notes"]) == ("crashed", "look")
    assert scene.runs.find(PATH).heartbeat_ns == silent_since_ns
    writer.row({"loss": 1.0}, 1)
    scene.send()
    assert scene.state == "running"


def test_an_edit_that_a_quota_forbids_is_not_passed_over(scene: Scene, writer: Writer) -> None:
    Projects(scene.database).change(PATH.entity, PATH.project, quota_bytes=1)
    with pytest.raises(StoreFull, match="quota"):
        scene.edits.write(PATH, notes_edit(scene.clock), now_ns=scene.clock())


def test_a_run_that_was_stopped_and_is_started_again_is_not_stopped_again(scene: Scene, writer: Writer) -> None:
    scene.runs.request_stop(PATH, by="somebody", now_ns=scene.clock())
    assert scene.runs.asked_to_stop([PATH]) == [PATH]
    writer.event(ev.Ended(time_ns=scene.clock(), state="killed"))
    scene.send()
    assert scene.runs.asked_to_stop([PATH]) == []
    scene.story.start().row({"loss": 1.0}, 1)
    scene.send()
    assert scene.state == "running"
    assert scene.runs.asked_to_stop([PATH]) == []
    assert scene.runs.note_alive([PATH], now_ns=scene.clock()) == []
    scene.runs.request_stop(PATH, by="somebody", now_ns=scene.clock())
    assert scene.runs.asked_to_stop([PATH]) == [PATH]


def meanwhile(database: Database, change: Callable[[Cursor], None], other: Callable[[], object]) -> None:
    """Do `other` while a transaction on the run is open, and then does `change` before it is committed."""
    is_open, may_end = threading.Event(), threading.Event()

    def hold(cursor: Cursor) -> None:
        cursor.run("UPDATE run SET version = version + 1")
        is_open.set()
        may_end.wait(20)
        change(cursor)

    holder = threading.Thread(target=database.write, args=(hold,))
    holder.start()
    assert is_open.wait(20)
    second = threading.Thread(target=other)
    second.start()
    second.join(_SOON_S)  # so far it gets without the lock
    may_end.set()
    holder.join(20)
    second.join(20)


def test_a_run_that_ends_while_it_is_called_crashed_has_ended(scene: Scene, writer: Writer) -> None:
    def end(cursor: Cursor) -> None:
        cursor.run("UPDATE run SET state = 'finished'")

    meanwhile(scene.database, end, scene.bury)
    assert scene.state == "finished"


def test_a_run_that_is_heard_of_while_it_is_called_crashed_lives(scene: Scene, writer: Writer) -> None:
    def beat(cursor: Cursor) -> None:
        cursor.run("UPDATE run SET heartbeat_ns = ?", START_NS * 2)

    meanwhile(scene.database, beat, scene.bury)
    assert scene.state == "running"


def test_a_run_that_is_brought_back_while_it_is_purged_stays(scene: Scene, writer: Writer) -> None:
    scene.runs.delete(PATH, now_ns=scene.clock())

    def undelete(cursor: Cursor) -> None:
        cursor.run("UPDATE run SET deleted_ns = NULL")

    meanwhile(scene.database, undelete, lambda: scene.runs.purge(deleted_before_ns=scene.clock()))
    assert scene.runs.get(PATH).summary == {"loss": 2.0}
    scene.runs.delete(PATH, now_ns=scene.clock())
    assert scene.runs.purge(deleted_before_ns=scene.clock()) == 1
    with pytest.raises(NotInStore):
        scene.runs.find(PATH, with_deleted=True)
    assert scene.runs.asked_to_stop([PATH]) == []  # asked after a batch was taken in: not the moment to fail


def test_a_run_that_is_started_again_while_its_time_is_over_stays(scene: Scene, writer: Writer) -> None:
    Projects(scene.database).change(PATH.entity, PATH.project, retention_days=0)
    scene.bury()

    def start(cursor: Cursor) -> None:
        cursor.run("UPDATE run SET state = 'running'")

    meanwhile(scene.database, start, lambda: scene.runs.expire(now_ns=scene.clock()))
    assert scene.state == "running"
