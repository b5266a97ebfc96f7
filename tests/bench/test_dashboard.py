"""The Benchmarks page of a server: made of the runs that carry results, for who may read their projects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from strobe.bench import run_results
from strobe.bench.dashboard import endpoints
from strobe.bench.publish.figures import collect
from strobe.bench.records import Environment, Record
from strobe.bench.run_results import RunResults
from strobe.bench.tracker import FILE, track
from strobe.home import Home, RunPath
from strobe.journal import event as ev
from strobe.journal.entry import Entry, Noted
from strobe.journal.segment import Header
from strobe.server.local.home_tail import HomeTail
from strobe.server.local.store import LocalStore
from strobe.store.address import open_database
from strobe.store.blobs import open_blobs
from strobe.store.store import Store
from strobe.wire.pack import pack
from tests.bench.publish.suite import records as suite
from tests.bench.results import ELSEWHERE, latency, result
from tests.server.conftest import Clock, Stage

PAGE = "/api/v1/benchmarks"


@dataclass
class Bench:
    """A server with the page, to which results are sent as agents send runs."""

    stage: Stage

    def send(self, entity: str, record: Record, *, project: str = "bench", body: bytes | None = None) -> RunPath:
        path = self.begin(entity, record.id, project=project)
        self.put(path, msgspec.json.encode(record) if body is None else body)
        return path

    def begin(self, entity: str, run: str, *, project: str = "bench") -> RunPath:
        """Send a run that has the job type, and no result."""
        now = self.stage.clock()
        entries: list[Entry] = [
            Noted(0, ev.Started(time_ns=now), now),
            Noted(1, ev.Attributes(time_ns=now, changes={"job_type": "bench"}), now),
        ]
        header = Header(entity=entity, project=project, run=run, writer="w", attempt=1)
        assert self.stage.store.ingest.take(pack(header, entries, first=0, until=2), now_ns=now).ack.status == "stored"
        self.stage.store.settler.settle()
        return RunPath(entity, project, run)

    def put(self, path: RunPath, body: bytes) -> None:
        files = self.stage.store.files
        with files.contents.incoming() as incoming:
            incoming.write(body)
            files.put(self.stage.store.runs.find(path).id, FILE, incoming)

    def page(self, key: str | None, **query: str) -> str:
        """Return the page, or the status and detail of the answer."""
        answer = self.stage.ask("GET", PAGE, key=key, params=query)
        return answer.text if answer.is_success else f"{answer.status_code}: {answer.json()['detail']}"

    def projects(self, key: str | None) -> list[str]:
        items = self.stage.ask("GET", f"{PAGE}/projects", key=key).json()["items"]
        return [f"{item['entity']}/{item['project']} {item['num_results']}" for item in items]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    clock = Clock()
    store = Store(open_database(str(tmp_path / "strobe.db")), open_blobs(tmp_path / "blobs"), clock)
    yield Bench(Stage(store, clock, extra=endpoints()))
    store.close()


def _named(config: str, **fields: object) -> Record:
    return result([1.0, 2.0, 1.5], f"toy/ootb/inference/{config}", model="Toy", config=config, **fields)


def test_results_of_several_machines_are_on_one_page(bench: Bench) -> None:
    ann = bench.stage.key("ann")
    assert bench.page(ann).startswith("404: there are no benchmark results yet")
    assert bench.projects(ann) == []
    bench.send("ann", _named("one"))
    bench.send("ann", _named("one", environment=ELSEWHERE))
    page = bench.page(ann)
    assert "toy/ootb/inference/one" in page
    assert '"between":[{"a":' in page
    assert bench.projects(ann) == ["ann/bench 2"]


def test_it_is_made_again_when_a_run_comes_changes_or_goes(bench: Bench) -> None:
    ann = bench.stage.key("ann")
    path = bench.send("ann", _named("one"), body=b"not here yet")
    assert bench.page(ann).startswith("404")
    bench.put(path, msgspec.json.encode(_named("one")))
    assert "toy/ootb/inference/one" in bench.page(ann)
    bench.send("ann", _named("two"))
    assert "toy/ootb/inference/two" in bench.page(ann)
    bench.stage.store.runs.delete(path, now_ns=bench.stage.clock())
    assert "toy/ootb/inference/one" not in bench.page(ann)


def test_runs_of_one_s_own_with_the_job_type_are_no_results(bench: Bench) -> None:
    ann = bench.stage.key("ann")
    bench.begin("ann", "mine", project="vision")
    on_its_way = bench.begin("ann", "first")
    assert bench.projects(ann) == []
    bench.put(on_its_way, msgspec.json.encode(_named("first")))
    assert bench.projects(ann) == ["ann/bench 1"]
    bench.begin("ann", "second")
    assert bench.projects(ann) == ["ann/bench 1"]


def test_the_page_says_of_how_many_results_it_was_made_as_the_list_counts_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_results, "MAX_RESULTS", 3)
    ann = bench.stage.key("ann")
    bench.send("ann", _named("one"))
    for number in range(3):
        bench.send("ann", _named(f"c{number}"), project="nightly")
    bench.send("ann", _named("bad"), project="nightly", body=b"{")
    bench.begin("ann", "on-its-way")
    assert bench.projects(ann) == ["ann/bench 1", "ann/nightly 4"]
    assert '"num_results":5' in bench.page(ann)
    assert '"num_results":4' in bench.page(ann, project="ann/nightly")


@pytest.mark.parametrize("access", ["private", "team", "public"])
def test_who_may_read_the_project_sees_its_results(bench: Bench, access: str) -> None:
    ann, bob, root = bench.stage.key("ann"), bench.stage.key("bob", "read"), bench.stage.key("root", is_admin=True)
    bench.send("ann", _named("hers"))
    bench.send("bob", _named("his"))
    bench.stage.store.projects.change("ann", "bench", access=access)
    bench.stage.store.projects.change("bob", "bench", access="private")
    for key, is_seen in ((ann, True), (root, True), (bob, access != "private"), (None, access == "public")):
        assert ("inference/hers" in bench.page(key)) == is_seen
        assert ("ann/bench 1" in bench.projects(key)) == is_seen
        assert ("inference/hers" in bench.page(key, project="ann/bench")) == is_seen
    assert "inference/his" not in bench.page(ann)
    assert bench.page(ann, project="bob/bench").startswith("404: there are no benchmark results in bob/bench that you")


def test_one_project_can_be_chosen(bench: Bench) -> None:
    ann = bench.stage.key("ann")
    bench.send("ann", _named("one"))
    bench.send("ann", _named("two"), project="nightly")
    both, first = bench.page(ann), bench.page(ann, project="local/bench")  # `local` is the caller's own
    assert "inference/two" in both
    assert "inference/two" not in first
    assert "inference/one" in first
    assert bench.page(ann, project="ann").startswith("422")


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b"[]",
        msgspec.json.encode(_named("bad", schema=99)),
        msgspec.json.encode(_named("bad", version=0)),
        b'{"benchmark":"b","subject":"s","metric":"m","unit":"s","version":1,"samples":[1e300]}',
        b'{"benchmark":"b","subject":"s","metric":"m","unit":"s","version":1,"samples":[-1.0]}',
        b'{"benchmark":"b","subject":"s","metric":"m","unit":"s","version":1,"samples":[5e-324]}',
        *(
            msgspec.json.encode(_named("bad", latency=msgspec.structs.replace(latency("met"), percentile=share)))
            for share in (0.0, -1.0, 100.5, 5e-324)
        ),
        msgspec.json.encode(_named("bad", environment=Environment(software={"threads": "1" * 5_000}))),
        msgspec.json.encode(_named("bad")).replace(b'"hardware":', b'"memory_bytes":1%s,"hardware":' % (400 * b"0")),
    ],
)
def test_what_is_no_record_is_left_out_and_counted(bench: Bench, body: bytes) -> None:
    ann = bench.stage.key("ann")
    bench.send("ann", _named("good"))
    bench.send("ann", _named("bad"), body=body)
    assert "The records of 1 runs cannot be read." in bench.page(ann)


def test_a_strange_record_does_not_take_the_page_from_the_others(bench: Bench) -> None:
    ann = bench.stage.key("ann")
    bench.send("ann", _named("good"))
    right = {"is_correct": True, "error": 1e-6, "max_error": 1e-6, "tolerance": 1e-3, "reference": "r"}
    strange = {"benchmark": "mine", "metric": "throughput", "unit": "ex/s", "version": 1, "devices": 0}
    for subject in ("OOTB", "Optimized", "s"):
        body = {**strange, "subject": subject, "samples": [1.0], "correctness": right, "id": f"strange-{subject}"}
        bench.send("ann", _named(subject), body=msgspec.json.encode(body))
    assert "inference/good" in bench.page(ann)


def test_sessions_that_lie_beyond_all_bounds_apart_do_not_take_the_page(bench: Bench) -> None:
    ann = bench.stage.key("ann")
    for number, score in enumerate([1e-49, 1e49] * 3):
        bench.send("ann", msgspec.structs.replace(_named("wild"), samples=(score,) * 2, id=f"{number:04}"))
    assert "inference/wild" in bench.page(ann)
    for score in (1e-99, 1e99, 1e-99):
        bench.send("ann", msgspec.structs.replace(_named("wilder"), samples=(score,) * 2))
    assert "The records of 3 runs cannot be read." in bench.page(ann)


def test_only_so_many_are_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_results, "MAX_RESULTS", 2)
    ann = bench.stage.key("ann")
    for number in range(3):
        bench.stage.clock.now_ns += 10**9
        bench.send("ann", _named(f"c{number}"))
    page = bench.page(ann)
    assert "1 older results are not shown." in page
    assert "inference/c0" not in page
    assert "inference/c2" in page


def test_single_steps_are_kept_of_the_newest_only(bench: Bench) -> None:
    bench.stage.key("ann")
    first, _, _, again = [one for one in suite() if "tiny-100k-fp32" in one.benchmark][:4]
    assert first.benchmark == again.benchmark
    results, store = RunResults(), bench.stage.store
    newer = bench.send("ann", again)
    bench.send("ann", first)

    def steps() -> list[int]:
        found = results.read(store, [("ann", "bench")], now_ns=bench.stage.clock())
        return [sum(len(repeat.wall_s) for repeat in record.repeats) for record in found.records]

    assert steps() == steps() == [0, 600]
    store.runs.delete(newer, now_ns=bench.stage.clock())
    assert steps() == [600]


@pytest.mark.parametrize("mark", ["is_confirmation", "is_trial"])
def test_the_steps_of_a_session_s_result_outlive_a_confirmation_or_a_search(bench: Bench, mark: str) -> None:
    bench.stage.key("ann")
    first, _, _, again = [one for one in suite() if "tiny-100k-fp32" in one.benchmark][:4]
    aside = msgspec.structs.replace(again, **{mark: True})
    results, store = RunResults(), bench.stage.store
    bench.send("ann", first)
    bench.send("ann", aside)
    for _ in range(2):
        found = results.read(store, [("ann", "bench")], now_ns=bench.stage.clock()).records
        assert [sum(len(repeat.wall_s) for repeat in record.repeats) for record in found] == [600, 0]
        assert collect(found)["systems"][0]["rows"][0]["num_steps"] == 600


def test_results_of_a_home(home: Home, tmp_path: Path) -> None:
    """`strobe ui`: what was tracked here, by the same way."""
    record = _named("here")
    track(record, home.path)
    store = LocalStore(home, tmp_path / "index.db")
    HomeTail(home, store, lambda: 10**18, lambda *words: None).poll()
    store.settler.settle()
    (found,) = store.values.projects_with("job_type", "bench")
    assert (found.entity, found.project, found.num_runs) == ("local", "bench", 1)
    assert RunResults().read(store, [("local", "bench")], now_ns=10**18).records == [record]
    store.close()
