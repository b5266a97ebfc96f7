"""A server and what asks it, over real sockets: honest clients, hostile ones, and too many."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import random
import signal
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from strobe.errors import UsageError
from strobe.swarm.client import CallOptions, Link, RemoteExpert, get_experts
from strobe.swarm.dht import DHT, get_dht_time
from strobe.swarm.experts import (
    CheckpointUnsaved,
    ExpertBackend,
    Server,
    ServerOptions,
    checkpoint,
    declare_experts,
    find_experts,
    parse_uid,
    schema,
)
from strobe.swarm.experts.service import Service
from strobe.swarm.experts.work import Job
from strobe.swarm.net import PeerBusy, PeerRefused, PeerUnreachable, Sendable
from strobe.swarm.tensors import decode, encode
from tests.swarm.experts.peers import HIDDEN, server, swarm

pytestmark = pytest.mark.frameworks


@pytest.fixture
def pair() -> Iterator[list[DHT]]:
    with swarm(2) as peers:
        yield peers


def call(dht: DHT, to: DHT, method: str, payload: Sendable, timeout_s: float = 10.0) -> Any:
    return dht.run_coroutine(lambda node: node.network.call(to.address.contact, method, payload, timeout_s=timeout_s))


def expert(dht: DHT, uid: str, **options: Any) -> RemoteExpert:
    [found] = get_experts(dht, [uid], CallOptions(**{"timeout_s": 20.0, **options}))
    assert found is not None
    return found


def test_declared_experts_are_found_and_described(pair: list[DHT]) -> None:
    with server(pair[0], "ffn.0.1", "ffn.0.2"):
        assert get_experts(pair[1], ["ffn.9.9"]) == [None]
        info = expert(pair[1], "ffn.0.2").info
        assert (info.uid, info.expert_class) == ("ffn.0.2", "ffn")
        assert info.inputs["x"].shape == (HIDDEN,)
        record = pair[1].get("ffn.0.", latest=True)
        assert record is not None
        assert {key: entry.value for key, entry in record.value.items()} == {
            1: ("ffn.0.1", str(pair[0].address)),
            2: ("ffn.0.2", str(pair[0].address)),
        }


def test_declarations_are_renewed_and_expire_with_the_server(pair: list[DHT]) -> None:
    options = ServerOptions(update_period_s=0.2, expiration_s=0.8)
    with server(pair[0], "ffn.0.1", options=options):
        first = pair[1].get("ffn.0.1", latest=True)
        assert first is not None
        _until(lambda: (later := pair[1].get("ffn.0.1", latest=True)) is not None and later[1] > first[1])
    _until(lambda: pair[1].get("ffn.0.1", latest=True) is None)


def _until(is_so: Any, timeout_s: float = 10.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_strangers_write_into_the_dht_is_absent(pair: list[DHT]) -> None:
    later = get_dht_time() + 30
    declare_experts(pair[0], ["ffn.0.1"], later)
    for uid, value in [("ffn.0.2", 7), ("ffn.0.3", "http://nonsense"), ("ffn.0.4", ("a", "b"))]:
        pair[0].store(uid, value, later)
    found = find_experts(pair[1], ["ffn.0.1", "ffn.0.2", "ffn.0.3", "ffn.0.4"])
    assert [place is not None for place in found.values()] == [True, False, False, False]


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 100, 5000])
def test_passes_of_any_size_are_those_of_the_module(pair: list[DHT], rows: int) -> None:
    with server(pair[0], "ffn.0.1", max_batch_size=8 if rows < 1000 else 2048) as serving:
        remote = expert(pair[1], "ffn.0.1")
        x = torch.randn(rows, HIDDEN)
        assert torch.allclose(remote(x), serving.backends["ffn.0.1"].forward([x])[0], atol=1e-6)


def test_requests_of_many_clients_are_computed_together() -> None:
    class Slow(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.batches: list[int] = []

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.batches.append(len(x))
            time.sleep(0.05)
            return x + 1

    module = Slow()
    with swarm(2) as peers:
        backend = ExpertBackend(parse_uid("slow.0"), module, (torch.zeros(3, 4),), max_batch_size=16)
        with Server(peers[0], [backend]):
            remote = expert(peers[1], "slow.0")
            assert remote.info.expert_class == "custom"
            module.batches.clear()
            inputs = [torch.full((2, 4), float(number)) for number in range(24)]
            futures = [remote.stub.begin_forward([x]) for x in inputs]
            for x, future in zip(inputs, futures, strict=True):
                assert torch.equal(remote.stub.finish_forward(future.result(), 2)[0], x + 1)
    assert sum(module.batches) == 48
    assert len(module.batches) < 12
    assert max(module.batches) <= 16


def test_a_module_that_returns_its_input_is_not_overwritten_by_the_next_batch(pair: list[DHT]) -> None:
    backend = ExpertBackend(parse_uid("same.0"), nn.Identity(), (torch.zeros(3, 4),), max_batch_size=64)
    with Server(pair[0], [backend]):
        remote = expert(pair[1], "same.0")
        for _ in range(5):
            inputs = [torch.randn(3, 4) for _ in range(16)]
            futures = [remote.stub.begin_forward([x]) for x in inputs]
            for x, future in zip(inputs, futures, strict=True):
                assert torch.equal(remote.stub.finish_forward(future.result(), 3)[0], x)


def test_an_expert_that_fails_refuses_its_batch_and_goes_on(pair: list[DHT], caplog: pytest.LogCaptureFixture) -> None:
    class Moody(nn.Module):  # type: ignore[misc]
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if bool((x == 7).any()):
                raise RuntimeError("secret of the server")
            return x

    backend = ExpertBackend(parse_uid("moody.0"), Moody(), (torch.zeros(3, 4),), max_batch_size=4)
    with Server(pair[0], [backend]) as serving:
        remote = expert(pair[1], "moody.0")
        with pytest.raises(PeerRefused, match="failed") as refusal:
            remote(torch.full((10, 4), 7.0))
        assert "secret" not in str(refusal.value)
        assert torch.equal(remote(torch.ones(10, 4)), torch.ones(10, 4))
        assert serving.meter.failed >= 1
    assert "secret of the server" in caplog.text


def test_a_module_that_changes_what_it_gives_is_refused_and_its_threads_live(
    pair: list[DHT], caplog: pytest.LogCaptureFixture
) -> None:
    class Fickle(nn.Module):  # type: ignore[misc]
        def forward(self, x: torch.Tensor) -> Any:
            if len(x) == 3:
                return x
            return {4: x.double(), 5: x[:-1], 6: (x, x), 7: x.to(torch.complex64)}.get(len(x), x)

    backend = ExpertBackend(parse_uid("fickle.0"), Fickle(), (torch.zeros(3, 4),))
    with Server(pair[0], [backend]):
        remote = expert(pair[1], "fickle.0")
        for rows in (4, 5, 6, 7):
            with pytest.raises(PeerRefused, match="failed"):
                remote(torch.zeros(rows, 4))
        assert remote(torch.zeros(8, 4)).shape == (8, 4)
    assert "fickle.0" in caplog.text


def test_an_answer_that_cannot_be_sent_is_refused_and_the_next_ones_are_sent(
    pair: list[DHT], caplog: pytest.LogCaptureFixture
) -> None:
    class Sparse(nn.Module):  # type: ignore[misc]
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            time.sleep(0.001)  # no quick one: it has its turn in the thread that computes
            return x.to_sparse() if bool((x == 7).all()) else x  # of the right shape, but not in one piece of memory

    backend = ExpertBackend(parse_uid("sparse.0"), Sparse(), (torch.zeros(3, 4),))
    with Server(pair[0], [backend]) as serving:
        remote = expert(pair[1], "sparse.0")
        for _ in range(3):
            with pytest.raises(PeerRefused, match="cannot be sent"):
                remote(torch.full((2, 4), 7.0))
            assert torch.equal(remote(torch.ones(2, 4)), torch.ones(2, 4))
        assert serving.meter.failed == 3
    assert "the answer of expert sparse.0 cannot be sent" in caplog.text
    assert "Traceback" in caplog.text


def test_an_expert_that_cannot_be_saved_keeps_no_other_from_being_saved(
    pair: list[DHT], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Turning(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("phase", torch.ones(2, dtype=torch.complex64))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    odd = ExpertBackend(parse_uid("odd.0"), Turning(), (torch.zeros(3, 4),))
    good = ExpertBackend(parse_uid("good.0"), nn.Linear(4, 4), (torch.zeros(3, 4),))
    serving = Server(pair[0], [odd, good], checkpoint_dir=tmp_path, options=ServerOptions(update_period_s=0.05))
    serving.start()
    for number in range(3):  # again and again
        expert(pair[1], "good.0")(torch.ones(2, 4)).sum().backward()
        _until(lambda number=number: _steps_saved(tmp_path / "good.0.safetensors") > number)
    with pytest.raises(CheckpointUnsaved, match=r"1 of 2 experts could not be saved .* first odd\.0: .*complex64"):
        serving.shutdown()
    assert checkpoint.stored_uids(tmp_path) == ["good.0"]
    assert "trying again in 0.05 s" in caplog.text


def _steps_saved(path: Path) -> int:
    return int(decode(path.read_bytes()).metadata["steps"]) if path.exists() else 0


def test_a_server_makes_room_for_the_next_on_its_dht(pair: list[DHT]) -> None:
    payload = encode({"x": torch.zeros(2, HIDDEN)}, {"uid": "ffn.0.1"})
    for _ in range(2):
        with server(pair[0], "ffn.0.1") as serving:
            assert expert(pair[1], "ffn.0.1")(torch.zeros(2, HIDDEN)).shape == (2, HIDDEN)
        asked: dict[str, Sendable] = {
            schema.FORWARD: payload,
            schema.BACKWARD: payload,
            schema.INFO: b"ffn.0.1",
            schema.STATUS: b"",
        }
        for method, question in asked.items():
            with pytest.raises(PeerRefused, match="no method"):
                call(pair[1], pair[0], method, question)
        with pytest.raises(UsageError, match="make a new one"):
            serving.start()


def test_one_peer_has_one_server(pair: list[DHT], tmp_path: Path) -> None:
    with server(pair[0], "ffn.0.1"):
        second = server(pair[0], "ffn.0.2", checkpoint_dir=tmp_path)
        with pytest.raises(UsageError, match="served already"):
            second.start()
        second.shutdown()  # of nothing
        assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("tensors", "metadata"),
    [
        ({"x": torch.zeros(2, HIDDEN + 1)}, {"uid": "ffn.0.1"}),
        ({"x": torch.zeros(2, HIDDEN, dtype=torch.float64)}, {"uid": "ffn.0.1"}),
        ({"x": torch.zeros(0, HIDDEN)}, {"uid": "ffn.0.1"}),
        ({"x": torch.zeros(())}, {"uid": "ffn.0.1"}),
        ({"y": torch.zeros(2, HIDDEN)}, {"uid": "ffn.0.1"}),
        ({"x": torch.zeros(2, HIDDEN), "y": torch.zeros(2)}, {"uid": "ffn.0.1"}),
        ({"x": torch.zeros(2, HIDDEN)}, {"uid": "ffn.9.9"}),
        ({"x": torch.zeros(2, HIDDEN)}, {}),
        ({"x": torch.zeros(2, HIDDEN)}, {"uid": "ffn.0.1", "compression": "pickle"}),
        ({"x": torch.full((2, HIDDEN), torch.nan)}, {"uid": "ffn.0.1"}),
        ({"x": torch.full((2, HIDDEN), torch.inf)}, {"uid": "ffn.0.1"}),
        ({}, {"uid": "ffn.0.1"}),
    ],
)
def test_requests_that_make_no_sense_are_refused(
    pair: list[DHT], tensors: dict[str, torch.Tensor], metadata: dict[str, str]
) -> None:
    with server(pair[0], "ffn.0.1") as serving:
        before = [parameter.clone() for parameter in serving.backends["ffn.0.1"].module.parameters()]
        for method in (schema.FORWARD, schema.BACKWARD):
            with pytest.raises(PeerRefused):
                call(pair[1], pair[0], method, encode(tensors, metadata))
        assert all(map(torch.equal, before, serving.backends["ffn.0.1"].module.parameters()))
        assert expert(pair[1], "ffn.0.1")(torch.zeros(1, HIDDEN)).shape == (1, HIDDEN)


def test_noise_is_refused_and_harms_nobody(pair: list[DHT]) -> None:
    rng = random.Random(0)
    good = bytearray(encode({"x": torch.randn(2, HIDDEN)}, {"uid": "ffn.0.1"}).joined())
    with server(pair[0], "ffn.0.1"):
        for number in range(60):
            noise = bytearray(good)
            if number % 3:
                for _ in range(3):
                    noise[rng.randrange(min(len(noise), 120))] = rng.randrange(256)
            else:
                noise = bytearray(rng.randbytes(rng.randrange(200)))
            try:
                answer = call(pair[1], pair[0], schema.FORWARD, bytes(noise))
            except PeerRefused:
                continue
            assert decode(answer).specs["0"].shape == (2, HIDDEN)  # the damage was in the values
        with pytest.raises(PeerRefused, match="no expert"):
            call(pair[1], pair[0], schema.INFO, b"\xff" * 5000)
        assert expert(pair[1], "ffn.0.1")(torch.zeros(1, HIDDEN)).shape == (1, HIDDEN)


def test_a_server_with_much_to_do_says_busy_and_clients_come_again(pair: list[DHT]) -> None:
    options = ServerOptions(max_waiting=2, num_threads=1)
    with server(pair[0], "nop.0", kind="nop_delay", options=options, max_batch_size=1) as serving:
        remote = expert(pair[1], "nop.0")
        x = torch.zeros(1, HIDDEN)
        patient = [remote.stub.begin_forward([x]) for _ in range(5)]
        payload = encode({"x": x}, {"uid": "nop.0"}).joined()

        def ask_until_refused() -> None:  # a place may have become free just then
            for _ in range(50):
                patient.append(remote.stub.begin_forward([x]))
                call(pair[1], pair[0], schema.FORWARD, payload)

        with pytest.raises(PeerBusy) as busy:
            ask_until_refused()
        assert 0 < busy.value.retry_after_s <= 30
        for future in patient:
            assert remote.stub.finish_forward(future.result(20), 1)
        assert serving.meter.refused > 0


def test_requests_that_were_given_up_are_not_computed(pair: list[DHT]) -> None:
    with server(pair[0], "nop.0", kind="nop_delay", max_batch_size=1) as serving:
        remote = expert(pair[1], "nop.0")
        futures = [remote.stub.begin_forward([torch.zeros(1, HIDDEN)]) for _ in range(20)]
        _until(lambda: serving.queue.num_waiting >= 15)
        for future in futures:
            future.cancel()
        _until(lambda: serving.queue.num_waiting == 0)
        assert serving.meter.batches < 6


def test_requests_that_were_given_up_leave_at_once_not_when_their_turn_comes(pair: list[DHT]) -> None:
    class Stuck(nn.Module):  # type: ignore[misc]
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            may_go_on.wait(20)
            return x

    may_go_on = threading.Event()
    may_go_on.set()
    backend = ExpertBackend(parse_uid("stuck.0"), Stuck(), (torch.zeros(3, 4),), max_batch_size=2)
    with Server(pair[0], [backend]) as serving:
        remote = expert(pair[1], "stuck.0")
        remote.info  # noqa: B018  # asked for before the expert is stuck
        may_go_on.clear()
        try:
            first = remote.stub.begin_forward([torch.ones(3, 4)])  # its last row waits, and goes with it
            _until(lambda: serving.queue.rows_waiting == 1)
            others = [remote.stub.begin_forward([torch.ones(1, 4)]) for _ in range(3)]
            _until(lambda: serving.queue.num_waiting == 4)
            for future in (first, *others):
                future.cancel()
            _until(lambda: serving.queue.num_waiting == 0, timeout_s=5.0)
        finally:
            may_go_on.set()
        assert torch.equal(remote(torch.ones(5, 4)), torch.ones(5, 4))


def test_what_was_sent_is_free_as_soon_as_it_is_answered(pair: list[DHT], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[weakref.ref[Any]] = []
    made = Service._job

    def watched(*args: Any) -> Job:
        job = made(*args)
        seen.append(weakref.ref(job.unpack))  # which has the message
        return job

    monkeypatch.setattr(Service, "_job", watched)
    gc.disable()  # which would find it in the end
    try:
        with server(pair[0], "ffn.0.1"):
            remote = expert(pair[1], "ffn.0.1")
            for rows in (1, 500):  # small ones are computed elsewhere
                for _ in range(3):
                    remote(torch.zeros(rows, HIDDEN))
            _until(lambda: not any(unpack() for unpack in seen))
    finally:
        gc.enable()
    assert len(seen) == 6


def test_compressed_answers_are_within_the_stated_error(pair: list[DHT]) -> None:
    with server(pair[0], "ffn.0.1") as serving:
        x = torch.randn(50, HIDDEN)
        exact = serving.backends["ffn.0.1"].forward([x])[0]
        for compression, error in [("fp16", 0.01), ("bf16", 0.05), ("uniform8", 0.1), ("blockwise8", 0.1)]:
            got = expert(pair[1], "ffn.0.1", compression=compression)(x)
            assert got.dtype == torch.float32
            assert (got - exact).abs().max() < error


def test_a_server_resumes_from_its_checkpoints(pair: list[DHT], tmp_path: Path) -> None:
    options = {"pattern": "ffn.[0:4].[0:4]", "num_experts": 3, "checkpoint_dir": tmp_path, "hidden_dim": HIDDEN}
    with Server.create(pair[0], rng=random.Random(1), **options) as serving:  # type: ignore[arg-type]
        uids = serving.uids
        remote = expert(pair[1], uids[0])
        remote(torch.randn(4, HIDDEN)).sum().backward()
        after = [parameter.clone() for parameter in serving.backends[uids[0]].module.parameters()]
    assert sorted(uids) == checkpoint.stored_uids(tmp_path)
    again = Server.create(pair[0], rng=random.Random(2), **options)  # type: ignore[arg-type]
    assert sorted(again.uids) == sorted(uids)
    assert again.backends[uids[0]].num_steps == 1
    assert all(map(torch.equal, after, again.backends[uids[0]].module.parameters()))


def test_a_server_clears_away_what_saves_that_were_killed_left_of_its_experts(pair: list[DHT], tmp_path: Path) -> None:
    (tmp_path / ".ffn.0.1.safetensors.0123abcd").write_bytes(b"half")
    (tmp_path / ".ffn.0.2.safetensors.0123abcd").write_bytes(b"another server's, being written")
    (tmp_path / "notes").write_bytes(b"mine")
    with server(pair[0], "ffn.0.1", checkpoint_dir=tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {
        ".ffn.0.2.safetensors.0123abcd",
        "ffn.0.1.safetensors",
        "notes",
    }


def test_names_that_others_serve_are_not_taken(pair: list[DHT]) -> None:
    options: dict[str, Any] = {"pattern": "ffn.[0:2].[0:2]", "hidden_dim": HIDDEN}
    with Server.create(pair[0], num_experts=3, **options) as first:
        second = Server.create(pair[1], num_experts=1, **options)
        assert not set(second.uids) & set(first.uids)
        with pytest.raises(UsageError, match="4 names"):
            Server.create(pair[1], num_experts=2, **options)
    with pytest.raises(UsageError, match="which experts"):
        Server.create(pair[0])


def test_a_number_of_experts_that_cannot_be_meant_is_refused(pair: list[DHT], tmp_path: Path) -> None:
    options: dict[str, Any] = {"pattern": "ffn.[0:4]", "hidden_dim": HIDDEN, "checkpoint_dir": tmp_path}
    with server(pair[0], "ffn.0", "ffn.1", "ffn.2", checkpoint_dir=tmp_path):
        pass
    for count in (-1, 0):
        with pytest.raises(UsageError, match="a server has at least one"):
            Server.create(pair[0], num_experts=count, **options)
    with pytest.raises(UsageError, match="goes with a pattern"):
        Server.create(pair[0], uids=["ffn.0", "ffn.1"], num_experts=1)


def test_a_peer_that_served_a_whole_pattern_can_do_so_again_at_once(pair: list[DHT]) -> None:
    options: dict[str, Any] = {"pattern": "ffn.[0:2].[0:2]", "hidden_dim": HIDDEN}
    for _ in range(2):
        with Server.create(pair[0], **options) as serving:
            assert len(serving.uids) == 4
    with pytest.raises(UsageError, match="free when its records expire"):  # for another they count
        Server.create(pair[1], **options)


def test_status_is_told_to_anybody_who_asks(pair: list[DHT]) -> None:
    with server(pair[0], "ffn.0.1"):
        expert(pair[1], "ffn.0.1")(torch.randn(4, HIDDEN))
        status = json.loads(bytes(call(pair[1], pair[0], schema.STATUS, b"")))
    assert (status["experts"], status["samples"], status["peers"]) == (1, 4, 1)
    assert status["latency_p50_ms"] > 0


def test_a_server_that_stops_tells_those_who_wait(pair: list[DHT]) -> None:
    serving = server(pair[0], "nop.0", kind="nop_delay", max_batch_size=1)
    serving.start()
    remote = expert(pair[1], "nop.0", timeout_s=3.0)
    futures = [remote.stub.begin_forward([torch.zeros(1, HIDDEN)]) for _ in range(8)]
    _until(lambda: serving.queue.num_waiting >= 5)
    threading.Thread(target=serving.shutdown).start()
    outcomes = [type(future.exception(10)) for future in futures]
    assert PeerBusy in outcomes
    assert set(outcomes) <= {type(None), PeerBusy, PeerUnreachable}
    serving.shutdown()  # twice does no harm


def test_a_dht_in_another_process_is_told_to_be_the_wrong_one() -> None:
    with DHT(process=True) as dht, pytest.raises(UsageError, match="process=True"):
        Link(dht)


def test_asyncio_code_shares_the_loop_without_blocking_it(pair: list[DHT]) -> None:
    with server(pair[0], "ffn.0.1"):
        remote = expert(pair[1], "ffn.0.1")

        async def many() -> list[Any]:
            passes = [remote.stub.begin_forward([torch.zeros(1, HIDDEN)]) for _ in range(10)]
            return await asyncio.gather(*map(asyncio.wrap_future, passes))

        remote.info  # noqa: B018  # asked for before, it blocks
        assert len(asyncio.run(many())) == 10


class _Interrupt(Exception):
    pass


@pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")
def test_an_interrupt_anywhere_in_join_does_not_keep_a_server_from_ending(pair: list[DHT]) -> None:
    def interrupt(number: int, frame: object) -> None:
        raise _Interrupt

    serving = Server(pair[0], [ExpertBackend(parse_uid("nop.0"), nn.Identity(), (torch.zeros(1, 1),))])
    serving.start()
    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        for _ in range(300):
            # After some CPU time, so that it comes while Python runs and not while it sleeps.
            with contextlib.suppress(_Interrupt):
                signal.setitimer(signal.ITIMER_VIRTUAL, 1e-4)
                while True:
                    serving.join(0)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert not serving.join(0)
    ending = threading.Thread(target=serving.shutdown, daemon=True)
    ending.start()
    assert serving.join(10)
    assert serving.join(10)
    ending.join(10)
    assert not ending.is_alive()
