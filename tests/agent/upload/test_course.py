"""The upload of one run: whatever goes wrong on the way, each record arrives exactly once."""

from __future__ import annotations

import math
import random
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from strobe.agent.upload import parcel
from strobe.agent.upload.course import Course
from strobe.home import Home, RunDir
from strobe.journal import JournalReader, event
from strobe.journal.entry import Row
from strobe.remote.state import SyncState, read_state, write_state
from tests.remote.small_server import Fault, Handler, SmallServer, drops, fails, hangs, truncates

from .journal import course_to, drive, run_dir_of, writer_of


@pytest.fixture
def run_dir(home: Home) -> RunDir:
    return run_dir_of(home)


def write_rows(run_dir: RunDir, num_rows: int, writer: str = "aaaaaaaa", **options: int) -> None:
    journal = writer_of(run_dir, writer, **options)
    journal.event(event.Started(time_ns=1))
    for step in range(num_rows):
        journal.row({"loss": step / 7, "epoch": step // 10}, step)
    journal.close(event.Ended(time_ns=time.time_ns(), state="finished"))


def expected(num_rows: int) -> list[float]:
    return [step / 7 for step in range(num_rows)]


def test_rows_events_and_all_kinds_of_values_arrive(run_dir: RunDir, server: SmallServer) -> None:
    journal = writer_of(run_dir)
    journal.event(event.Started(time_ns=1, attributes={"name": "n"}))
    sequence = journal.row({"a": 1, "b": math.nan, "c": "text", "d": [1, {"x": None}], "e": 2**70 % (2**64)}, -3)
    journal.fill(sequence, -3, 17, {"late": 0.5})
    journal.event(event.Console(time_ns=2, stream="stdout", text="hello\n"))
    journal.close(event.Ended(time_ns=3, state="finished"))
    course = course_to(server, run_dir)
    drive(course)
    rows = {sequence: row for (_, _, sequence), row in server.rows.items()}
    assert rows[sequence][0] == -3
    assert any(values == {"late": 0.5} for _, values in server.rows.values()) or "late" in rows[sequence][1]
    assert [type(found).__name__ for _, found in server.events] == ["Started", "Console", "Ended"]
    assert (course.state.run, course.state.is_complete, course.state.settled) == ("me/p/r1", True, ["aaaaaaaa"])


def test_everything_arrives_exactly_once_and_the_state_says_so(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 1000)
    write_rows(run_dir, 500, "bbbbbbbb")
    drive(course_to(server, run_dir))
    server.assert_exactly_once()
    assert len(server.rows) == 1500
    state = read_state(run_dir.path)
    assert state is not None
    assert (state.server, state.is_complete, state.error, state.left_bytes) == (server.url, True, "", 0)
    assert state.num_rows == 1500
    assert state.synced_ns > 0


def test_several_writers_share_a_request(run_dir: RunDir, server: SmallServer) -> None:
    for writer in ("aaaaaaaa", "bbbbbbbb", "cccccccc"):
        write_rows(run_dir, 10, writer)
    drive(course_to(server, run_dir))
    assert [path for _, path in server.requests].count("/api/v1/ingest") == 1


def test_a_growing_journal_is_followed(run_dir: RunDir, server: SmallServer) -> None:
    journal = writer_of(run_dir, segment_bytes=4096)
    course = course_to(server, run_dir, is_live=lambda: True)
    for step in range(300):
        journal.row({"loss": step / 7}, step)
        if step % 50 == 0:
            drive(course, until_done=False)
            assert server.values("loss") == expected(step + 1)
    drive(course, until_done=False)
    server.assert_exactly_once()
    assert server.values("loss") == expected(300)
    assert len(list(run_dir.journal.iterdir())) > 2
    assert course.state.settled == []


FAULTS: list[Fault] = [fails(500), fails(502), fails(503), fails(429), fails(507), drops, truncates]


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_faults_in_any_order_lose_and_double_nothing(
    run_dir: RunDir, server: SmallServer, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strobe.agent.upload.journals.MAX_ENTRIES", 40)
    rng = random.Random(seed)
    for writer in ("aaaaaaaa", "bbbbbbbb"):
        write_rows(run_dir, 400, writer, segment_bytes=5000)
    server.faults = [rng.choice([*FAULTS, lambda handler: False]) for _ in range(60)]
    course = course_to(server, run_dir)
    backoff = course.post.link.lanes["points"].backoff
    backoff._cap_s = backoff._first_s = 0.01
    drive(course)
    server.assert_exactly_once()
    assert len(server.rows) == 800


def test_a_server_that_accepts_and_never_answers(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 50)
    server.faults = [lambda handler: False, hangs(5.0), hangs(5.0)]
    course = course_to(server, run_dir, timeout_s=0.2)
    began = time.monotonic()
    assert course.advance() is not None
    assert time.monotonic() - began < 2
    assert "timed out" in course.state.error
    server.faults = []
    drive(course)
    server.assert_exactly_once()
    assert course.state.error == ""


def test_retry_after_is_waited_for(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 5)
    server.faults = [lambda handler: False, fails(429, Retry_After="30")]
    course = course_to(server, run_dir)
    wait_s = course.advance()
    assert wait_s is not None
    assert wait_s > 29
    num_requests = len(server.requests)
    assert course.advance() is not None
    assert len(server.requests) == num_requests


def test_a_kill_at_any_moment_is_gone_on_from(
    run_dir: RunDir, server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new course takes over after each step, with the state of the last one, an old one or none."""
    monkeypatch.setattr("strobe.agent.upload.journals.MAX_ENTRIES", 25)
    write_rows(run_dir, 600, segment_bytes=3000)
    states: list[bytes | None] = [None]
    rng = random.Random(4)
    for _ in range(100):
        course = course_to(server, run_dir)
        if course.advance() is None:
            break
        course.progress.hurry()
        course.progress.save()
        states.append((run_dir.path / "sync.json").read_bytes())
        kept = rng.choice([states[-1], states[-1], rng.choice(states)])
        if kept is None:
            (run_dir.path / "sync.json").unlink()
        else:
            (run_dir.path / "sync.json").write_bytes(kept)
    server.assert_exactly_once()
    assert server.values("loss") == expected(600)


def test_two_uploaders_at_once(run_dir: RunDir, server: SmallServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strobe.agent.upload.journals.MAX_ENTRIES", 20)
    write_rows(run_dir, 1000, segment_bytes=9000)
    threads = [threading.Thread(target=drive, args=(course_to(server, run_dir),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.assert_exactly_once()
    assert server.values("loss") == expected(1000)


def test_a_server_that_lost_its_tail_gets_it_again(run_dir: RunDir, server: SmallServer) -> None:
    """A server that was restored from an older backup has less than it once acknowledged."""
    write_rows(run_dir, 200, segment_bytes=3000)
    drive(course_to(server, run_dir))
    server.next["me/p/r1", "aaaaaaaa"] = 50
    for name in [name for name in server.rows if name[2] >= 50]:
        del server.rows[name], server.taken[name]
    server.events.clear()
    for name in [name for name in server.taken if name[2] >= 50]:
        del server.taken[name]
    writer_of(run_dir, "bbbbbbbb").row({"loss": 1e9}, 10**6)  # something new makes a course look
    state = read_state(run_dir.path)
    assert state is not None
    state.writers["aaaaaaaa"] = type(state.writers["aaaaaaaa"])(100, 0)
    write_state(run_dir.path, state)
    drive(course_to(server, run_dir))
    server.assert_exactly_once()
    assert server.values("loss") == [*expected(200), 1e9]


def test_an_old_journal_is_not_read_again_from_its_start(
    run_dir: RunDir, server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(run_dir, 2000, segment_bytes=3000)
    drive(course_to(server, run_dir))
    opened: list[str] = []
    real = __import__("strobe.journal.tail", fromlist=["SegmentReader"]).SegmentReader

    def note(path: Path, **options: int) -> object:
        opened.append(path.name)
        return real(path, **options)

    monkeypatch.setattr("strobe.journal.tail.SegmentReader", note)
    drive(course_to(server, run_dir))
    assert len(list(run_dir.journal.iterdir())) > 10
    assert len(opened) == 1


def test_places_in_time_do_not_depend_on_where_reading_began(
    run_dir: RunDir, server: SmallServer, make_server: Callable[..., SmallServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that was set back in a later segment than the one that reading begins at after a restart."""
    monkeypatch.setattr("strobe.agent.upload.journals.MAX_ENTRIES", 30)
    clock = [2_000_000_000_000_000_000]

    def now_ns() -> int:
        clock[0] += 1_000_000
        return clock[0]

    monkeypatch.setattr("strobe.journal.writer.time_ns", now_ns)
    journal = writer_of(run_dir, segment_bytes=2500)
    for step in range(300):
        if step == 150:
            clock[0] -= 3_600_000_000_000
        journal.row({"loss": float(step)}, step)
    journal.close()
    for _ in range(100):
        course = course_to(server, run_dir)
        if course.advance() is None:
            break
        course.progress.hurry()
        course.progress.save()
    whole = {
        entry.record: entry.order_ns for _, entry in JournalReader(run_dir.journal).poll() if isinstance(entry, Row)
    }
    assert {name[2]: order for name, order in server.orders.items() if name in server.rows} == whole


def test_batches_are_cut_to_what_the_server_takes(run_dir: RunDir, make_server: Callable[..., SmallServer]) -> None:
    server = make_server(limits={"batch_bytes": 4000, "request_bytes": 9000, "part_bytes": 1000})
    journal = writer_of(run_dir)
    for step in range(100):
        journal.row({"text": "x" * random.Random(step).randrange(400), "loss": float(step)}, step)
    journal.row({"text": "y" * 50_000, "loss": 100.0}, 100)
    journal.row({"loss": 101.0}, 101)
    journal.close(event.Ended(time_ns=1, state="finished"))
    course = course_to(server, run_dir)
    course.post.link.connect()
    drive(course)
    assert server.values("loss") == [*map(float, range(100)), 101.0]
    server.assert_exactly_once()
    assert course.state.num_left_out == 1
    assert "larger than the 4,000 bytes" in course.state.error


def test_a_refusal_is_kept_and_not_repeated_soon(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 5)
    server.refuse = "the run was deleted"
    course = course_to(server, run_dir)
    wait_s = course.advance()
    assert wait_s is not None
    assert wait_s >= 60
    state = read_state(run_dir.path)
    assert state is not None
    assert (state.is_refused, "the run was deleted" in state.error) == (True, True)
    num_requests = len(server.requests)
    course.advance()
    assert len(server.requests) == num_requests
    server.refuse = None
    drive(course_to(server, run_dir))
    assert server.values("loss") == expected(5)


def test_a_wrong_key_is_a_refusal(run_dir: RunDir, make_server: Callable[..., SmallServer]) -> None:
    write_rows(run_dir, 5)
    course = course_to(make_server(key="right"), run_dir)
    course.advance()
    assert (course.state.is_refused, "this key is not known here" in course.state.error) == (True, True)


def test_another_server_begins_from_its_own_offset(
    run_dir: RunDir, server: SmallServer, make_server: Callable[..., SmallServer]
) -> None:
    write_rows(run_dir, 50)
    drive(course_to(server, run_dir))
    other = make_server()
    drive(course_to(other, run_dir))
    assert other.values("loss") == expected(50)


def test_a_run_that_is_deleted_is_let_go_of(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 5)
    course = course_to(server, run_dir, is_live=lambda: True)
    drive(course, until_done=False)
    shutil.rmtree(run_dir.path)
    assert course.advance() is None
    assert not run_dir.path.exists()


def test_heartbeats_go_out_for_runs_that_live_and_are_silent(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 5)
    live = [True]
    course = course_to(server, run_dir, is_live=lambda: live[0])
    drive(course, until_done=False)
    course.advance()
    assert server.heartbeats == [["me/p/r1"]]
    course.advance()
    assert len(server.heartbeats) == 1  # not at each step
    course.post._beat_at = float("-inf")
    live[0] = False
    drive(course)
    assert len(server.heartbeats) == 1


def test_a_torn_record_waits_for_its_rest(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 20)
    (path,) = run_dir.journal.iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:300])
    course = course_to(server, run_dir, is_live=lambda: True)
    drive(course, until_done=False)
    assert 0 < len(server.rows) < 20
    path.write_bytes(content)
    drive(course, until_done=False)
    assert server.values("loss") == expected(20)
    server.assert_exactly_once()


def test_damage_in_the_middle_costs_the_damaged_record_only(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 50)
    (path,) = run_dir.journal.iterdir()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    drive(course_to(server, run_dir))
    assert 45 <= len(server.rows) < 50 + 1
    server.assert_exactly_once()


def test_a_journal_of_a_newer_version_is_reported_and_nothing_skipped(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 5)
    (path,) = run_dir.journal.iterdir()
    content = bytearray(path.read_bytes())
    content[7] += 1
    path.write_bytes(content)
    course = course_to(server, run_dir)
    course.advance()
    assert (course.state.is_refused, course.state.is_complete) == (True, False)
    assert "journal version" in course.state.error


def test_the_state_is_a_hint_that_may_be_nonsense(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 5)
    (run_dir.path / "sync.json").write_bytes(b"{not json")
    drive(course_to(server, run_dir))
    assert server.values("loss") == expected(5)


def test_parcels_have_an_upper_bound(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 3 * parcel.MAX_ENTRIES)
    course: Course = course_to(server, run_dir)
    assert course.advance() == 0.0  # there is more: at once
    assert len(server.rows) <= parcel.MAX_ENTRIES
    drive(course)
    assert len(server.rows) == 3 * parcel.MAX_ENTRIES


def test_the_fields_of_the_state_are_a_promise() -> None:
    assert {"server", "run", "writers", "settled", "error", "is_complete", "synced_ns"} <= set(
        SyncState.__struct_fields__
    )


def test_a_proxy_that_takes_less_than_the_server_says_gets_less(run_dir: RunDir, server: SmallServer) -> None:
    write_rows(run_dir, 5000)
    sizes: list[int] = []

    def choosy(handler: Handler) -> bool:
        size = int(handler.headers.get("Content-Length", 0))
        server.faults.append(choosy)
        if size > 15_000:
            fails(413)(handler)
            return True
        sizes.append(size)
        return False

    server.faults = [choosy]
    drive(course_to(server, run_dir))
    assert server.values("loss") == expected(5000)
    server.assert_exactly_once()
    assert len(sizes) > 3
