"""Two nodes on one machine: what fails on one is over on both, and the next row goes on."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from strobe.bench import registry
from strobe.bench.records import Correct, Record, Repeat, read_records
from strobe.bench.runner import nodes
from strobe.bench.runner.group import free_ports, free_ports_above
from strobe.bench.runner.message import Outcome
from strobe.bench.runner.nodes import Follower, Leader
from strobe.bench.runner.options import Cell, Options
from strobe.bench.runner.process import Failure
from strobe.bench.workload import Work
from strobe.errors import Error, UsageError

OWN = Path(__file__).parents[1] / "own.py"
FINE = Outcome(repeat=Repeat(wall_s=(1.0,), cpu_s=(1.0,)), work=Work(examples=1, flops=0, bytes=0))


@pytest.fixture
def master() -> str:
    (port,) = free_ports(1)
    return f"127.0.0.1:{port}"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "_PATIENCE_S", 10.0)
    monkeypatch.setattr(nodes, "_GRACE_S", 2.0)


def _cell() -> Cell:
    return Cell(registry.find_one("own/micro/test/Facts-2nodes", [OWN]), 1)


def _options(master: str, node: int, *, timeout_s: float = 60.0) -> Options:
    return Options(files=(OWN,), node=node, master=master, timeout_s=timeout_s)


#: what node 1 does in its first turn, its second one, …
Deed = Callable[[Follower], Outcome | Failure]


def _until_called_off(blame: Callable[[], str | None]) -> Failure:
    while (why := blame()) is None:
        time.sleep(0.01)
    return Failure(f"{why}\nand what it wrote")


def _meet(master: str, here: list[Outcome | Failure | None], there: list[Deed]) -> list[Outcome | Failure]:
    """Let two nodes take turns; None is a part of node 0 that waits until it is called off."""

    def follow() -> None:
        with Follower(_options(master, 1)) as follower:
            for turn, deed in zip(follower.turns(), there, strict=False):
                assert turn.meeting.port > 0
                follower.done(deed(follower))

    def part(outcome: Outcome | Failure | None) -> nodes.Part:
        return lambda meeting, blame: _until_called_off(blame) if outcome is None else outcome

    with ThreadPoolExecutor() as pool:
        following = pool.submit(follow)
        with Leader(_options(master, 0, timeout_s=1.0)) as leader:
            found = [leader.run(_cell(), seal="s", repeat=0, part=part(outcome)) for outcome in here]
        following.result()
    return found


def test_both_are_fine(master: str) -> None:
    assert _meet(master, [FINE, FINE], [lambda node: FINE, lambda node: FINE]) == [FINE, FINE]


def _checked(*, is_correct: bool, peak_bytes: int) -> Outcome:
    check = Correct(is_correct=is_correct, error=0.1, max_error=0.1, tolerance=0.2, reference="counting")
    repeat = msgspec.structs.replace(FINE.repeat, peak_rss_bytes=peak_bytes)
    return msgspec.structs.replace(FINE, correctness=check, repeat=repeat)


def test_a_wrong_output_there_makes_the_row_wrong_and_memory_is_that_of_both(master: str) -> None:
    wrong = _checked(is_correct=False, peak_bytes=30)
    (found,) = _meet(master, [_checked(is_correct=True, peak_bytes=12)], [lambda node: wrong])
    assert isinstance(found, Outcome)
    assert found.correctness == wrong.correctness
    assert found.repeat.peak_rss_bytes == 42


def test_each_kind_of_machine_is_named_once(master: str) -> None:
    here, there = (msgspec.structs.replace(FINE, machines=(name,)) for name in ("a", "b"))
    alike, unlike = _meet(master, [here, here], [lambda node: here, lambda node: there])
    assert isinstance(alike, Outcome)
    assert isinstance(unlike, Outcome)
    assert (alike.machines, unlike.machines) == (("a",), ("a", "b"))


def test_a_failure_there_ends_the_turn_here_and_the_next_goes_on(master: str) -> None:
    first, second = _meet(master, [None, FINE], [lambda node: Failure("RuntimeError: no"), lambda node: FINE])
    assert isinstance(first, Failure)
    assert first.text.splitlines()[0] == "node 1: RuntimeError: no"
    assert second == FINE


def test_a_failure_there_fails_what_was_fine_here(master: str) -> None:
    (found,) = _meet(master, [FINE], [lambda node: Failure("not on this machine: no compiler")])
    assert found == Failure("not on this machine: node 1: no compiler")


def test_a_failure_here_ends_the_turn_there(master: str) -> None:
    wait: Deed = lambda node: _until_called_off(node.blame)  # noqa: E731 - short, and typed
    found = _meet(master, [Failure("killed"), FINE], [wait, lambda node: FINE])
    assert found == [Failure("killed"), FINE]


def test_who_fails_on_both_is_told_of_both(master: str) -> None:
    (found,) = _meet(master, [Failure("reset by peer")], [lambda node: Failure("RuntimeError: no")])
    assert found == Failure("reset by peer\nnode 1: RuntimeError: no")


def test_a_node_that_leaves_costs_rows_that_need_it_and_may_come_back(master: str) -> None:
    with ThreadPoolExecutor() as pool, Leader(_options(master, 0)) as leader:

        def run(part: nodes.Part) -> Outcome | Failure:
            return leader.run(_cell(), seal="s", repeat=0, part=part)

        def leave() -> None:
            with Follower(_options(master, 1)) as node:
                next(node.turns())

        leaving = pool.submit(leave)
        gone = run(lambda meeting, blame: _until_called_off(blame))
        leaving.result()
        assert isinstance(gone, Failure)
        assert gone.text.startswith("node 1: is gone")
        leader._patience_s = 0.0
        missing = run(lambda meeting, blame: FINE)
        assert missing == Failure("node 1 is not here; run the same command there, with --node 1")

        def come_back() -> None:
            with Follower(_options(master, 1)) as node:
                next(node.turns())
                node.done(FINE)

        leader._patience_s = 10.0
        back = pool.submit(come_back)
        assert run(lambda meeting, blame: FINE) == FINE
        back.result()


def test_a_node_that_says_nothing_any_more_is_given_up(master: str) -> None:
    over = threading.Event()
    with ThreadPoolExecutor() as pool:

        def hang() -> None:
            with Follower(_options(master, 1)) as node:
                next(node.turns())
                over.wait(30)

        hanging = pool.submit(hang)
        with Leader(_options(master, 0, timeout_s=0.2)) as leader:
            found = leader.run(_cell(), seal="s", repeat=0, part=lambda meeting, blame: FINE)
        over.set()
        hanging.result()
    assert found == Failure("node 1: does not answer any more")


def test_a_node_whose_leader_is_gone_ends_with_a_word(master: str) -> None:
    host, _, port = master.rpartition(":")
    with socket.create_server((host, int(port))) as server, ThreadPoolExecutor() as pool:
        accepted = pool.submit(server.accept)
        with Follower(_options(master, 1)) as node:
            accepted.result()[0].close()
            with pytest.raises(Error, match=r"node 0 at 127\.0\.0\.1:\d+ is gone"):
                list(node.turns())


def test_a_stranger_costs_nothing(master: str) -> None:
    host, _, port = master.rpartition(":")

    def follow() -> None:
        with Follower(_options(master, 1)) as node:
            next(node.turns())
            node.done(FINE)

    with (
        ThreadPoolExecutor() as pool,
        Leader(_options(master, 0)) as leader,
        socket.create_connection((host, int(port))) as stranger,
    ):
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        following = pool.submit(follow)
        assert leader.run(_cell(), seal="s", repeat=0, part=lambda meeting, blame: FINE) == FINE
        following.result()


def test_a_port_that_is_taken_is_said(master: str) -> None:
    with Leader(_options(master, 0)), pytest.raises(UsageError, match="node 0 cannot listen there"):
        Leader(_options(master, 0))


def test_ports_are_free_and_none_that_a_connection_is_given() -> None:
    with socket.create_server(("127.0.0.1", 0)) as given:
        found = free_ports(5)
        assert len(set(found)) == 5
        assert max(found) < min(given.getsockname()[1], 32_768)
    for port in found:
        socket.create_server(("127.0.0.1", port)).close()


def test_each_meeting_is_at_ports_that_are_free() -> None:
    (port,) = free_ports(1)
    first, second = free_ports_above("127.0.0.1", port, 2)
    assert port < first < second
    with socket.create_server(("127.0.0.1", first)):
        assert first not in free_ports_above("127.0.0.1", port, 2)


# -- real processes ----------------------------------------------------------------------------------------------------


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def _run(
    master: str, home: Path, keys: list[list[str]], started: list[subprocess.Popen[str]], *, timeout_s: int = 60
) -> list[Record]:
    """Run `strobe bench run` on both nodes, each asked for its keys; return what node 0 found."""
    for node, names in enumerate(keys):
        words = [sys.executable, "-m", "strobe", "bench", "run", *(f"own/micro/test/{name}" for name in names)]
        words += ["--file", str(OWN), "--repeats", "2", "--seconds", "0.01", "--threads", "1"]
        words += ["--timeout", str(timeout_s), "--node", str(node), "--master", master, "--no-track"]
        env = {**os.environ, "STROBE_HOME": str(home / f"node-{node}"), "FACTS": str(home)}
        started.append(subprocess.Popen(words, env=env, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    for process in started:
        process.communicate(timeout=120)
    assert not (home / "node-1" / "bench" / "results.jsonl").read_bytes()
    return list(read_records(home / "node-0" / "bench" / "results.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize("failing", [0, 1])
def test_a_row_that_one_node_fails_in_is_over_on_both_and_the_next_goes_on(
    failing: int, master: str, tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    rows = [f"Unlike-{failing}-2nodes", "Facts-2nodes"]
    failed, fine = _run(master, tmp_path, [rows, rows], started, timeout_s=3600)  # nobody waits for that
    assert failed.error is not None
    assert "RuntimeError: this rank has had enough (exit code 1)" in failed.error
    assert failed.error.startswith("node 1: ") == (failing == 1)
    assert fine.error is None
    assert len(fine.samples) == 2
    assert [process.returncode for process in started] == [3, 0]


@pytest.mark.slow
def test_a_row_that_is_wrong_on_one_node_is_wrong(
    master: str, tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    (record,) = _run(master, tmp_path, [["Errs-1-2nodes"]] * 2, started)
    assert record.error is None
    assert record.correctness is not None
    assert not record.correctness.is_correct
    assert [process.returncode for process in started] == [1, 0]


@pytest.mark.slow
def test_nodes_that_were_asked_for_different_rows_say_so(
    master: str, tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    failed, fine = _run(master, tmp_path, [["Unlike-1-2nodes", "Facts-2nodes"], ["Facts-2nodes"]], started)
    assert failed.error is not None
    assert failed.error.startswith("node 1: was not asked for own/micro/test/Unlike-1-2nodes B=1; the same command")
    assert len(fine.samples) == 2
