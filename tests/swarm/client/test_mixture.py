"""Mixtures of experts over real peers: the right mean, the right gradients, and peers that fail on the way."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Iterator

import pytest
import torch

from strobe.errors import UsageError
from strobe.swarm.client import Patience, RemoteMixtureOfExperts, RemoteSwitchMixtureOfExperts, TooFewExperts
from strobe.swarm.client.silence import Silence
from strobe.swarm.dht import DHT, Node, get_dht_time
from strobe.swarm.experts import ExpertInfo, Server, Training, declare_experts
from strobe.swarm.experts.schema import pack_infos
from strobe.swarm.net.network import Caller, Payload, PeerId, PeerRefused
from strobe.swarm.tensors import TensorSpec, decode, encode
from tests.swarm.experts.peers import HIDDEN, left_behind, server, swarm

pytestmark = pytest.mark.frameworks

FROZEN = Training(optimizer="none")


@contextlib.contextmanager
def grid(*kinds: str) -> Iterator[tuple[DHT, list[Server]]]:
    """A client, and a server for each kind with a column of a 4 × n grid."""
    with swarm(len(kinds) + 1) as peers, contextlib.ExitStack() as stack:
        servers = [
            server(peers[number], *(f"ffn.{row}.{number}" for row in range(4)), kind=kind, training=FROZEN)
            for number, kind in enumerate(kinds)
        ]
        for each in servers:
            stack.enter_context(each)
        yield peers[-1], servers


def mixture(dht: DHT, columns: int, k_best: int = 3, **options: object) -> RemoteMixtureOfExperts:
    torch.manual_seed(0)
    return RemoteMixtureOfExperts(
        dht,
        in_features=HIDDEN,
        grid_size=(4, columns),
        uid_prefix="ffn",
        k_best=k_best,
        **options,  # type: ignore[arg-type]
    )


def test_outputs_and_gradients_are_those_of_the_same_mixture_done_here() -> None:
    with grid("ffn", "ffn") as (dht, servers):
        layer = mixture(dht, 2)
        modules = {uid: backend.module for each in servers for uid, backend in each.backends.items()}
        x = torch.randn(10, HIDDEN, requires_grad=True)
        output = layer(x)
        weights = torch.randn_like(output)
        (output * weights).sum().backward()

        here = x.detach().clone().requires_grad_()
        scores = layer.scores(here)
        rows = []
        for number, found in enumerate(layer.find(scores)):
            assert len(found) == 3
            logits = torch.stack(
                [scores[0][number, e.coordinates[0]] + scores[1][number, e.coordinates[1]] for e in found]
            )
            outputs = torch.stack([modules[e.place.uid](here[number : number + 1])[0] for e in found])
            rows.append((torch.softmax(logits, 0)[:, None] * outputs).sum(0))
        gate_grad = layer.gate.weight.grad.clone()
        layer.zero_grad()
        expected = torch.stack(rows)
        (expected * weights).sum().backward()
        assert torch.allclose(output, expected, atol=1e-5)
        assert torch.allclose(x.grad, here.grad, atol=1e-5)
        assert torch.allclose(gate_grad, layer.gate.weight.grad, atol=1e-5)
        # One request per expert and pass, however many rows it gets, besides one to each server for descriptions.
        used = {each.place for found in layer.find(layer.scores(x)) for each in found}
        assert layer.stats.requests == 2 * len(used) + len({place.address for place in used})
        assert layer.stats.failures == 0


def test_a_server_that_dies_is_masked_and_then_left_out() -> None:
    with grid("ffn", "ffn") as (dht, servers):
        layer = mixture(dht, 2, k_best=6, forward=Patience(timeout_s=1.0), backward=Patience(timeout_s=1.0))
        x = torch.randn(8, HIDDEN, requires_grad=True)
        layer(x)
        dead = servers[0].dht.address
        servers[0].dht.shutdown()
        output = layer(x)
        assert output.isfinite().all()
        output.sum().backward()
        assert x.grad.isfinite().all()
        assert layer.stats.failures > 0
        started = time.monotonic()
        layer(x)
        assert time.monotonic() - started < 0.9  # nobody waits for the dead any more
        assert all(e.place.address != dead for found in layer.find(layer.scores(x)) for e in found)


def test_a_server_that_dies_between_the_passes_costs_only_its_part_of_the_gradient() -> None:
    with grid("ffn", "ffn") as (dht, servers):
        layer = mixture(dht, 2, k_best=8, backward=Patience(timeout_s=1.0))
        x = torch.randn(4, HIDDEN, requires_grad=True)
        output = layer(x)
        servers[0].dht.shutdown()
        output.square().sum().backward()
        assert x.grad.abs().sum() > 0


def test_experts_are_asked_where_they_have_moved_to() -> None:
    with grid("ffn") as (dht, [serving]), DHT([dht.address], relay=True) as relay:
        # What the parts of the grid say is older than what the names of the experts do.
        left = str(left_behind(serving.dht, relay))
        for row in range(4):
            assert dht.store(f"ffn.{row}.", (f"ffn.{row}.0", left), get_dht_time() + 60, subkey=0)
        layer = mixture(dht, 1)
        assert {str(each.place.address) for each in layer.find(layer.scores(torch.zeros(1, HIDDEN)))[0]} == {left}
        layer(torch.randn(2, HIDDEN, requires_grad=True)).sum().backward()
        assert layer.stats.failures == 0


def test_slow_experts_are_waited_for_only_as_long_as_asked() -> None:
    with grid("nop", "nop_delay") as (dht, _):
        layer = mixture(dht, 2, k_best=8, forward=Patience(k_min=1, timeout_s=20.0, after_k_min_s=0.05))
        x = torch.randn(3, HIDDEN)
        with torch.no_grad():
            layer(x)
            started = time.monotonic()
            output = layer(x)
        assert time.monotonic() - started < 0.45
        assert torch.allclose(output, x, atol=1e-5)  # what came is a mean of identities
        assert layer.stats.reasons["late"] > 0
        # Slow is not silent: they are asked again.
        assert len(layer.find(layer.scores(x))[0]) == 8


def test_a_row_that_cannot_have_enough_does_not_make_the_others_wait() -> None:
    with grid("nop", "nop_delay") as (dht, [quick, _]):
        patience = Patience(k_min=2, timeout_s=20.0, after_k_min_s=0.05)
        layer = mixture(dht, 2, k_best=8, forward=patience, allow_zero_outputs=True)
        x = torch.randn(2, HIDDEN)
        everyone, _ = layer.find(layer.scores(x))
        of_quick = [each for each in everyone if each.place.address == quick.dht.address]
        with torch.no_grad():
            layer.ask([everyone, of_quick[:1]], (x,))
            started = time.monotonic()
            _, mask = layer.ask([everyone, of_quick[:1]], (x,))
        assert time.monotonic() - started < 0.45
        assert mask.sum(1).tolist() == [4, 1]


@contextlib.contextmanager
def slow_to_describe(dht: DHT, seconds: float) -> Iterator[list[str]]:
    """A peer that declares experts of the second column and takes its time to say what they are; what it was asked."""
    asked: list[str] = []
    spec = TensorSpec("F32", (HIDDEN,))

    async def describe(caller: Caller, payload: Payload) -> bytes:
        asked.append(bytes(payload).decode())
        await asyncio.sleep(seconds)
        return pack_infos([ExpertInfo(uid, "nop", {"x": spec}, {"0": spec}, 8) for uid in asked[-1].split("\n")])

    async def serve(node: Node) -> None:
        node.network.serve("expert.info", describe)
        node.network.serve("expert.forward", lambda caller, payload: encode({"0": decode(payload).tensors()["x"]}))

    with DHT([dht.address]) as slow:
        slow.run_coroutine(serve)
        declare_experts(slow, [f"ffn.{row}.1" for row in range(4)], get_dht_time() + 600)
        yield asked


def test_a_new_expert_that_says_nothing_is_waited_for_only_as_long_as_asked() -> None:
    with grid("nop") as (dht, _), slow_to_describe(dht, 3600) as asked:
        layer = mixture(dht, 2, k_best=8, forward=Patience(k_min=1, timeout_s=40.0, after_k_min_s=0.05))
        x = torch.randn(3, HIDDEN)
        started = time.monotonic()
        with torch.no_grad():
            for _ in range(5):  # the first one too: nobody was ever asked before
                assert torch.allclose(layer(x), x, atol=1e-5)
        assert time.monotonic() - started < 15
        assert len(asked) == 1, "one question about all of its experts, which is still open"


def test_a_new_expert_that_says_nothing_leaves_time_for_the_others() -> None:
    with grid("nop") as (dht, _), slow_to_describe(dht, 3600):
        layer = mixture(dht, 2, k_best=8, forward=Patience(timeout_s=2.0))
        x = torch.randn(3, HIDDEN)
        with torch.no_grad():
            assert torch.allclose(layer(x), x, atol=1e-5)
        # It had all the time there is for that: the next passes do without it.
        assert len(layer.find(layer.scores(x))[0]) == 4


def test_a_description_that_comes_late_counts_from_then_on() -> None:
    with grid("nop") as (dht, _), slow_to_describe(dht, 0.5) as asked:
        layer = mixture(dht, 2, k_best=8, forward=Patience(k_min=1, timeout_s=40.0, after_k_min_s=0.0))
        x = torch.randn(3, HIDDEN)
        deadline = time.monotonic() + 30
        with torch.no_grad():
            while not all(stub.has_info for stub in layer._stubs.values()) or not layer._stubs:
                assert time.monotonic() < deadline
                layer(x)
                time.sleep(0.02)
        assert len(layer._stubs) == 8
        assert len(asked) == 1


def test_patience_may_have_no_end() -> None:
    with grid("nop") as (dht, _):
        endless = Patience(timeout_s=math.inf)
        x = torch.randn(2, HIDDEN, requires_grad=True)
        layer = mixture(dht, 1, forward=endless, backward=endless)
        layer(x).sum().backward()
        assert x.grad.isfinite().all()


def test_too_few_answers_are_an_error_or_zeros() -> None:
    with swarm(1) as [dht]:
        layer = mixture(dht, 2, k_best=2)
        with pytest.raises(TooFewExperts, match="too few experts are declared"):
            layer(torch.randn(2, HIDDEN))
        lenient = mixture(dht, 2, k_best=2, allow_zero_outputs=True)
        x = torch.randn(2, HIDDEN, requires_grad=True)
        output = lenient(x)
        assert output.tolist() == torch.zeros(2, HIDDEN).tolist()
        output.sum().backward()
        assert x.grad.abs().sum() == 0
        with pytest.raises(UsageError, match="k_min"):
            mixture(dht, 2, k_best=2, forward=Patience(k_min=3))


def test_an_expert_that_answers_nan_or_is_of_another_kind_is_masked() -> None:
    with grid("ffn", "ffn") as (dht, _), DHT([dht.address]) as liar:
        spec = {"x": TensorSpec("F32", (HIDDEN,))}
        info = ExpertInfo("ffn.0.0", "ffn", spec, {"0": spec["x"]}, 8)
        declare_experts(liar, ["ffn.0.0"], get_dht_time() + 600)
        declare_experts(liar, ["ffn.1.0"], get_dht_time() + 600)

        def evil_info(uid: str) -> ExpertInfo:
            strange = {"x": TensorSpec("I64", (3, 3)), "y": TensorSpec("F32", ())}
            return info if uid == "ffn.0.0" else ExpertInfo(uid, "odd", strange, {"0": spec["x"]}, 8)

        def evil_infos(caller: Caller, payload: Payload) -> bytes:
            return pack_infos([evil_info(uid) for uid in bytes(payload).decode().split("\n")])

        async def serve(node: Node) -> None:
            node.network.serve("expert.info", evil_infos)
            node.network.serve("expert.forward", lambda c, payload: encode({"0": torch.full((4, HIDDEN), math.nan)}))

        liar.run_coroutine(serve)
        layer = mixture(dht, 2, k_best=8)
        x = torch.randn(4, HIDDEN, requires_grad=True)
        output = layer(x)
        assert output.isfinite().all()
        output.sum().backward()
        assert layer.stats.reasons["BadReply"] == 1


def test_an_expert_that_does_not_fit_is_left_out_of_the_next_passes() -> None:
    with swarm(3) as (one, two, dht):
        wide = server(one, "ffn.0.0", "ffn.1.0", kind="nop", hidden_dim=2 * HIDDEN, training=FROZEN)
        with wide, server(two, "ffn.2.0", kind="nop", training=FROZEN):
            layer = mixture(dht, 1, k_best=2)
            with torch.no_grad():
                layer.gate.bias[:2] += 100
                x = torch.randn(3, HIDDEN)
                with pytest.raises(TooFewExperts, match="'unfit': 2"):
                    layer(x)
                assert torch.allclose(layer(x), x, atol=1e-5)


def test_a_mistake_in_the_inputs_is_named_and_costs_no_expert() -> None:
    with grid("nop") as (dht, _):
        layer = mixture(dht, 2, k_best=2)
        with torch.no_grad():
            with pytest.raises(TooFewExperts, match=rf"takes F32\[{HIDDEN}\] for each row; given: F32\[3, {HIDDEN}\]"):
                layer(torch.randn(2, 3, HIDDEN))
            x = torch.randn(3, HIDDEN)
            assert torch.allclose(layer(x), x, atol=1e-5)


@contextlib.contextmanager
def refusing(dht: DHT, uid: str, *, describes: bool) -> Iterator[None]:
    """A peer that declares an expert and refuses to say what it is, or to compute."""
    spec = TensorSpec("F32", (HIDDEN,))

    def describe(caller: Caller, payload: Payload) -> bytes:
        return pack_infos([ExpertInfo(uid, "nop", {"x": spec}, {"0": spec}, 8) if describes else None])

    def refuse(caller: Caller, payload: Payload) -> bytes:
        raise PeerRefused("no")

    async def serve(node: Node) -> None:
        node.network.serve("expert.info", describe)
        node.network.serve("expert.forward", refuse)

    with DHT([dht.address]) as peer:
        peer.run_coroutine(serve)
        declare_experts(peer, [uid], get_dht_time() + 600)
        yield


@pytest.mark.parametrize("describes", [True, False])
def test_an_expert_that_refuses_is_left_out_of_the_next_passes(describes: bool) -> None:
    with grid("nop") as (dht, _), refusing(dht, "ffn.0.1", describes=describes):
        layer = mixture(dht, 2, k_best=1)
        with torch.no_grad():
            layer.gate.bias[0] += 100
            layer.gate.bias[5] += 100
            x = torch.randn(3, HIDDEN)
            with pytest.raises(TooFewExperts, match="refused"):
                layer(x)
            assert torch.allclose(layer(x), x, atol=1e-5)
            assert layer.stats.failures == 1


def test_experts_that_refuse_values_that_are_not_finite_are_asked_again() -> None:
    with grid("nop") as (dht, _):
        layer = mixture(dht, 1, k_best=4)
        x = torch.randn(3, HIDDEN)
        with torch.no_grad():
            with pytest.raises(TooFewExperts, match="refused"):
                layer.ask(layer.find(layer.scores(x)), (torch.full_like(x, math.nan),))
            assert torch.allclose(layer(x), x, atol=1e-5)


def test_switch_uses_one_expert_and_its_loss_tells_uneven_from_even() -> None:
    with grid("ffn", "ffn") as (dht, servers):
        torch.manual_seed(0)
        layer = RemoteSwitchMixtureOfExperts(
            dht,
            in_features=HIDDEN,
            grid_size=(4, 2),
            uid_prefix="ffn",
            jitter=0.01,
            grid_dropout=0.3,
            utilization_decay=0.5,
        )
        x = torch.randn(32, HIDDEN, requires_grad=True)
        output, even = layer(x)
        assert output.shape == x.shape
        (output.sum() + even).backward()
        assert layer.gate.weight.grad.abs().sum() > 0
        layer.eval()
        found = layer.find(layer.scores(x))
        assert all(len(row) == 1 for row in found)
        chances = [torch.softmax(score, 1) for score in layer.scores(x)]
        place = found[0][0]
        chance = chances[0][0, place.coordinates[0]] * chances[1][0, place.coordinates[1]]
        module = next(s.backends[place.place.uid].module for s in servers if place.place.uid in s.backends)
        assert torch.allclose(layer(x)[0][0], chance * module(x[:1])[0], atol=1e-5)
        # All rows to one corner: the loss grows.
        layer.train()
        with torch.no_grad():
            layer.gate.bias[0] += 20
            layer.gate.bias[4] += 20
        for _ in range(6):
            uneven = layer(x)[1]
        assert uneven > 1.5 * even


def test_switch_passes_rows_on_whose_expert_is_gone() -> None:
    with swarm(1) as [dht]:
        layer = RemoteSwitchMixtureOfExperts(dht, in_features=HIDDEN, grid_size=(2, 2), uid_prefix="ffn")
        x = torch.randn(3, HIDDEN)
        output, loss = layer(x)
        assert torch.equal(output, x)
        assert loss.isfinite()


def test_a_gate_learns_from_an_expert_that_it_gave_no_chance() -> None:
    with grid("nop") as (dht, _):
        layer = RemoteSwitchMixtureOfExperts(dht, in_features=HIDDEN, grid_size=(4, 2), uid_prefix="ffn")
        with torch.no_grad():
            layer.gate.bias[5] += 500  # to the column that nobody serves: the other's probability is 0 in float32
        x = torch.randn(3, HIDDEN, requires_grad=True)
        output, loss = layer(x)
        (output.sum() + loss).backward()
        assert layer.gate.weight.grad.isfinite().all()
        assert x.grad.isfinite().all()


def test_switch_can_be_used_twice_before_one_backward_pass() -> None:
    with grid("nop") as (dht, _):
        layer = RemoteSwitchMixtureOfExperts(dht, in_features=HIDDEN, grid_size=(4, 1), uid_prefix="ffn")
        x = torch.randn(3, HIDDEN)
        first, second = layer(x)[1], layer(x)[1]
        (first + second).backward()
        assert layer.gate.weight.grad.isfinite().all()


def test_a_batch_without_rows_passes() -> None:
    with grid("nop") as (dht, _):
        x = torch.zeros(0, HIDDEN, requires_grad=True)
        layer = mixture(dht, 1)
        output = layer(x)
        assert output.shape == (0, HIDDEN)
        output.sum().backward()
        assert x.grad.shape == (0, HIDDEN)
        switch = RemoteSwitchMixtureOfExperts(dht, in_features=HIDDEN, grid_size=(4, 1), uid_prefix="ffn")
        output, loss = switch(x)
        assert output.shape == (0, HIDDEN)
        (output.sum() + loss).backward()
        assert switch.gate.weight.grad.isfinite().all()


def test_silence_doubles_and_one_answer_clears_it() -> None:
    now = [0.0]
    silence = Silence(first_s=5.0, clock=lambda: now[0])
    peer = PeerId(bytes(20))
    silence.failed(peer)
    silence.failed(peer)  # of the same burst
    now[0] = 4.9
    assert silence.is_silent(peer)
    now[0] = 5.1
    assert not silence.is_silent(peer)
    silence.failed(peer)
    now[0] = 15.0
    assert silence.is_silent(peer)
    now[0] = 15.2
    assert not silence.is_silent(peer)
    silence.failed(peer)
    silence.answered(peer)
    assert not silence.is_silent(peer)
