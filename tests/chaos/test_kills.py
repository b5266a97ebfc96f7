"""A store whose process is killed at any moment, again and again, ends up like one that nobody disturbed.

And what it acknowledged before a kill is there after it.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import psycopg
import pytest

from strobe.home import Home, RunPath
from strobe.journal import event as ev
from strobe.journal.value import HOLE_VALUE
from strobe.store import tail
from strobe.store.store import open_store
from strobe.wire.batch import encode_batch
from tests.store.cluster import postgres_address
from tests.store.stories import Clock, Story, batches

from .content import Content, content_of_journals, content_of_store, explain
from .ingester import Outcome, Plan, ingest, read_batches
from .seeds import announce, seeds

pytestmark = pytest.mark.slow

_WORDS = ("a\n", "\r 10 %", "\r100 %\n", "\x1b[31mred\x1b[0m\n", "two\nlines\n")


def tell(home: Path, run_id: str, rng: random.Random, num_rows: int) -> Story:
    """Write a run with a bit of everything: attempts, ranks, values that come later, console, alerts, samples."""
    story = Story(home, Clock(), RunPath("local", "p", run_id))
    for attempt in range(2):
        writers = [story.start(attributes={"name": f"n{attempt}"}), story.join("rank"), story.join("system")]
        waiting: list[tuple[int, int]] = []
        for number in range(num_rows):
            main, other = writers[0], rng.choice(writers[:2])
            step = number + 40 * attempt
            other.row({"loss": rng.random(), "nan": float("nan"), "text": f"t{number}"}, step)
            if number % 5 == 0:
                waiting.append((main.row({"late": HOLE_VALUE, "here": number}, step), step))
                writers[2].row({"cpu": rng.random()}, number)
                main.event(ev.Console(time_ns=story.clock(), stream="stdout", text=rng.choice(_WORDS)))
            if waiting and rng.random() < 0.3:
                sequence, at = waiting.pop(0)
                main.fill(sequence, at, story.clock(), {"late": rng.random()})
            if number % 50 == 7:
                main.event(ev.Config(time_ns=story.clock(), changes={"lr": rng.random()}, removed=[]))
                main.event(ev.Alert(time_ns=story.clock(), title=f"alert {number}", text="text"))
        writers[0].event(ev.Ended(time_ns=story.clock(), state="finished"))
    return story


@pytest.fixture(params=["sqlite", "postgres"])
def make_address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """What makes the address of a fresh database."""
    numbers = itertools.count()
    if request.param == "sqlite":
        yield lambda: f"sqlite:///{tmp_path}/{next(numbers)}.db"
        return
    schemas: list[str] = []

    def make() -> str:
        schemas.append(f"t{uuid.uuid4().hex}")
        with psycopg.connect(postgres_address(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schemas[-1]}".encode())
        return f"{postgres_address()}&options=-csearch_path%3D{schemas[-1]}"

    yield make
    with psycopg.connect(postgres_address(), autocommit=True) as connection:
        for schema in schemas:
            connection.execute(f"DROP SCHEMA {schema} CASCADE".encode())


def survive_kills(
    tmp_path: Path,
    make_address: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    seed: int,
    num_kills: int,
    num_rows: int,
) -> None:
    announce(seed)
    rng = random.Random(seed)
    stories = [tell(tmp_path / "home", f"r{number}", rng, num_rows) for number in range(3)]
    cut = [queue for story in stories for queue in batches(story.run_dir, rng, rows_at_most=12)]
    file = tmp_path / "batches"
    file.write_bytes(b"".join(encode_batch(batch) for queue in cut for batch in queue))
    plan = Plan(
        store=make_address(),
        blobs=str(tmp_path / "blobs"),
        batches=str(file),
        seed=seed,
        num_kills=num_kills,
        life_s=0.05,
    )
    command = [sys.executable, "-m", "tests.chaos.ingester", msgspec.json.encode(plan).decode()]
    timeout_s = 60 + num_kills * 5
    done = subprocess.run(command, capture_output=True, timeout=timeout_s, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr.decode()
    outcome = msgspec.json.decode(done.stdout, type=Outcome)
    print(outcome, sum(map(len, cut)))
    assert not outcome.lost, outcome.lost
    assert outcome.num_kills > num_kills // 3, "workers were too quick to be killed: nothing was tested"
    assert outcome.num_acks > sum(map(len, cut))

    monkeypatch.setattr(tail, "MAX_ROWS", plan.tail_rows)
    calm = msgspec.structs.replace(plan, store=make_address())
    store = open_store(calm.store, calm.blobs)
    ingest(store, read_batches(file), random.Random(seed))
    store.close()
    for story in stories:
        disturbed, undisturbed = (read(one.store, one.blobs, story.path) for one in (plan, calm))
        assert not (told := explain(disturbed, undisturbed)), told
        assert not (told := explain(disturbed, content_of_journals(Home(tmp_path / "home"), story.run_dir))), told


def read(address: str, blobs: str, path: RunPath) -> Content:
    store = open_store(address, blobs)
    try:
        return content_of_store(store, path)
    finally:
        store.close()


@pytest.mark.parametrize("seed", seeds(1))
def test_a_few_kills(
    tmp_path: Path, make_address: Callable[[], str], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    survive_kills(tmp_path, make_address, monkeypatch, seed=seed, num_kills=12, num_rows=120)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", seeds(11, 12, 13))
def test_many_kills(
    tmp_path: Path, make_address: Callable[[], str], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    survive_kills(tmp_path, make_address, monkeypatch, seed=seed, num_kills=100, num_rows=800)
