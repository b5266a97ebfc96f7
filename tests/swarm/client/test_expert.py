"""Remote experts in autograd, and peers that lie to them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

from strobe.errors import UsageError
from strobe.swarm.client import BadReply, CallOptions, Link, RemoteExpert, get_experts
from strobe.swarm.client.stub import ExpertStub
from strobe.swarm.dht import DHT
from strobe.swarm.experts import ExpertBackend, ExpertInfo, ExpertPlace, SchemaMismatch, Server, parse_uid, schema
from strobe.swarm.net import Address, PeerRefused, PeerUnreachable, ReplyTooLarge, Sendable
from strobe.swarm.tensors import TensorSpec, decode, encode
from tests.swarm.experts.peers import HIDDEN, left_behind, server, swarm

pytestmark = pytest.mark.frameworks


@pytest.fixture
def pair() -> Iterator[list[DHT]]:
    with swarm(2) as peers:
        yield peers


def remote_of(dht: DHT, host: DHT, uid: str = "ffn.0.1", **options: Any) -> RemoteExpert:
    return RemoteExpert(ExpertPlace(parse_uid(uid), host.address), dht, CallOptions(**{"timeout_s": 20.0, **options}))


def test_gradients_are_those_of_the_module_and_it_learns(pair: list[DHT]) -> None:
    with server(pair[0], "ffn.0.1") as serving:
        module = serving.backends["ffn.0.1"].module
        remote = remote_of(pair[1], pair[0])
        x = torch.randn(6, HIDDEN, requires_grad=True)
        local = x.detach().clone().requires_grad_()
        weights = torch.randn(6, HIDDEN)
        (module(local) * weights).sum().backward()
        before = [parameter.detach().clone() for parameter in module.parameters()]
        module.zero_grad()
        (remote(x) * weights).sum().backward()
        assert torch.allclose(x.grad, local.grad, atol=1e-5)
        assert not any(map(torch.equal, before, module.parameters()))
        assert serving.backends["ffn.0.1"].num_steps == 1


def test_answers_stay_as_they_came(pair: list[DHT]) -> None:
    with server(pair[0], "nop.0", kind="nop"):
        remote = remote_of(pair[1], pair[0], "nop.0")
        sent = [torch.full((1 << 14, HIDDEN), float(value)) for value in range(1, 6)]  # 2 MiB each
        got = [remote(tensor) for tensor in sent]
        assert all(map(torch.equal, got, sent))


def test_an_expert_learns_even_if_its_input_needs_no_gradient(pair: list[DHT]) -> None:
    with server(pair[0], "ffn.0.1") as serving:
        remote_of(pair[1], pair[0])(torch.randn(3, HIDDEN)).sum().backward()
        assert serving.backends["ffn.0.1"].num_steps == 1


def test_a_swarm_of_one_expert_can_be_trained_to_do_something(pair: list[DHT]) -> None:
    with server(pair[0], "ffn.0.1"):
        remote = remote_of(pair[1], pair[0])
        x = torch.randn(64, HIDDEN)
        target = torch.roll(torch.nn.functional.layer_norm(x, (HIDDEN,)), 1, dims=1)
        losses = []
        for _ in range(40):
            loss = (remote(x) - target).square().mean()
            loss.backward()
            losses.append(loss.item())
        assert losses[-1] < losses[0] * 0.7


def test_several_inputs_by_place_and_by_name_and_other_precisions(pair: list[DHT]) -> None:
    with server(pair[0], "drop.0", kind="det_dropout") as serving:
        remote = remote_of(pair[1], pair[0], "drop.0")
        x, mask = torch.randn(3, HIDDEN, requires_grad=True), torch.ones(3, HIDDEN)
        expected = serving.backends["drop.0"].forward([x.detach(), mask])[0]
        assert torch.allclose(remote(x, mask), expected, atol=1e-6)
        assert torch.allclose(remote(x, mask=mask), expected, atol=1e-6)
        half = x.detach().bfloat16().requires_grad_()
        remote(half, mask).sum().backward()
        assert half.grad.dtype == torch.bfloat16
        for args, kwargs in [((x,), {}), ((x, mask, mask), {}), ((x, mask), {"mask": mask}), ((x,), {"nask": mask})]:
            with pytest.raises((UsageError, SchemaMismatch)):
                remote(*args, **kwargs)
        with pytest.raises(SchemaMismatch):
            remote(torch.zeros(3, HIDDEN + 1), mask)
        with pytest.raises(SchemaMismatch):
            remote(x, mask[:2])


def test_masks_and_sequences(pair: list[DHT]) -> None:
    with server(pair[0], "t.0", kind="transformer", max_batch_size=2):
        remote = remote_of(pair[1], pair[0], "t.0")
        x = torch.randn(3, 128, HIDDEN, requires_grad=True)
        mask = torch.zeros(3, 128, dtype=torch.bool)
        mask[:, 100:] = True
        output = remote(x, mask)
        output[:, :100].sum().backward()
        assert output.shape == x.shape
        assert float(x.grad[:, 100:].abs().max()) == 0.0


def test_a_server_that_is_gone_is_told_in_time(pair: list[DHT]) -> None:
    remote = remote_of(pair[1], pair[0], timeout_s=0.5)
    with server(pair[0], "ffn.0.1"):
        remote(torch.zeros(1, HIDDEN))
    pair[0].shutdown()
    started = time.monotonic()
    with pytest.raises(PeerUnreachable):
        remote(torch.zeros(1, HIDDEN))
    assert time.monotonic() - started < 5


def test_an_expert_is_asked_where_the_swarm_says_it_is_now(pair: list[DHT]) -> None:
    with DHT([pair[0].address], relay=True) as relay, server(pair[0], "ffn.0.1") as serving:
        place = ExpertPlace(parse_uid("ffn.0.1"), left_behind(pair[0], relay))
        remote = RemoteExpert(place, pair[1], CallOptions(timeout_s=20.0))
        remote(torch.zeros(1, HIDDEN)).sum().backward()
        assert serving.backends["ffn.0.1"].num_steps == 1
        assert remote.stub.place.address == pair[0].address


def test_an_expert_is_followed_to_the_server_that_has_it_next() -> None:
    with swarm(3) as (first, second, client):
        remote = remote_of(client, first)
        x = torch.randn(700, HIDDEN)  # goes by a connection, and to connect fails at once
        with server(first, "ffn.0.1"):
            remote(x)
        first.shutdown()
        with server(second, "ffn.0.1") as serving:
            assert torch.allclose(remote(x), serving.backends["ffn.0.1"].forward([x])[0], atol=1e-5)
            assert remote.stub.place.address == second.address


def test_a_slow_pass_at_a_peer_with_several_hosts_is_done_once(pair: list[DHT]) -> None:
    class Slow(nn.Linear):  # type: ignore[misc]
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if torch.is_grad_enabled():
                time.sleep(1.5)
            return super().forward(x)

    backend = ExpertBackend(parse_uid("slow.0"), Slow(4, 4), (torch.zeros(3, 4),))
    with Server(pair[0], [backend]):
        [host], port = pair[0].address.hosts, pair[0].address.port
        # The names of one host, so that all are heard; the last is nobody's (RFC 5737) and must cost nothing.
        address = Address(pair[0].peer_id, (host, "localhost", host, "localhost", host, host, host, "192.0.2.1"), port)
        remote = RemoteExpert(ExpertPlace(parse_uid("slow.0"), address), pair[1], CallOptions(timeout_s=10.0))
        remote(torch.zeros(2, 4)).sum().backward()
        assert backend.num_steps == 1


def test_a_peer_is_called_at_the_host_where_it_is_heard(pair: list[DHT]) -> None:
    with server(pair[0], "ffn.0.1"):
        hosts = ("192.0.2.1", *pair[0].address.hosts)
        address = Address(pair[0].peer_id, hosts, pair[0].address.port)
        remote = RemoteExpert(ExpertPlace(parse_uid("ffn.0.1"), address), pair[1], CallOptions(timeout_s=40.0))
        started = time.monotonic()
        for _ in range(3):
            remote(torch.zeros(1, HIDDEN))
        assert time.monotonic() - started < 15
    pair[0].shutdown()
    brief = RemoteExpert(ExpertPlace(parse_uid("ffn.0.1"), address), pair[1], CallOptions(timeout_s=0.3))
    for _ in range(2):  # where it was heard before, then nowhere
        with pytest.raises(PeerUnreachable):
            brief.info  # noqa: B018


INFO = ExpertInfo("ffn.0.1", "ffn", {"x": TensorSpec("F32", (4,))}, {"0": TensorSpec("F32", (4,))}, 8)


def lie(dht: DHT, *, info: bytes | None = None, answer: Callable[[Any], Sendable] | None = None) -> None:
    """Serve an expert that says and answers what it likes."""

    async def serve(node: Any) -> None:
        node.network.serve(schema.INFO, lambda caller, payload: info if info is not None else schema.pack_infos([INFO]))
        if answer is not None:
            node.network.serve(schema.FORWARD, lambda caller, payload: answer(payload))
            node.network.serve(schema.BACKWARD, lambda caller, payload: answer(payload))

    dht.run_coroutine(serve)


@pytest.mark.parametrize(
    "answer",
    [
        lambda payload: b"",
        lambda payload: b"\x00" * 100,
        lambda payload: encode({"0": torch.zeros(3, 4)}),
        lambda payload: encode({"0": torch.zeros(2, 5)}),
        lambda payload: encode({"0": torch.zeros(2, 4, dtype=torch.float64)}),
        lambda payload: encode({"1": torch.zeros(2, 4)}),
        lambda payload: encode({"0": torch.zeros(2, 4), "1": torch.zeros(1)}),
        lambda payload: encode({"0": torch.tensor([[torch.nan] * 4] * 2)}),
        lambda payload: encode({"0": torch.tensor([[torch.inf] * 4] * 2)}),
        lambda payload: encode({}),
    ],
)
def test_answers_that_are_not_what_the_expert_gives_are_bad(pair: list[DHT], answer: Any) -> None:
    lie(pair[0], answer=answer)
    with pytest.raises(BadReply, match=r"ffn\.0\.1"):
        remote_of(pair[1], pair[0])(torch.zeros(2, 4))


def test_an_answer_of_far_more_bytes_than_the_expert_gives_is_not_read(pair: list[DHT]) -> None:
    lie(pair[0], answer=lambda payload: bytes(32 << 20))
    with pytest.raises(ReplyTooLarge, match=rf"{schema.FORWARD}.* with {32 << 20} bytes"):
        remote_of(pair[1], pair[0])(torch.zeros(2, 4))


def test_gradients_of_a_liar_are_checked_too(pair: list[DHT]) -> None:
    def answer(payload: Any) -> Sendable:
        is_backward = len(decode(payload).specs) == 2
        return encode({"x": torch.zeros(2, 5)}) if is_backward else encode({"0": torch.zeros(2, 4)})

    lie(pair[0], answer=answer)
    output = remote_of(pair[1], pair[0])(torch.zeros(2, 4, requires_grad=True))
    with pytest.raises(BadReply):
        output.sum().backward()


def test_a_pass_that_could_not_be_taken_back_is_refused_before_it_is_sent(pair: list[DHT]) -> None:
    lie(pair[0], answer=lambda payload: encode({"0": torch.zeros(2, 4)}))
    remote = remote_of(pair[1], pair[0])
    # 16 bytes a row: it fits into a request, but not together with its gradient.
    x = torch.zeros(1, 4).expand(9 << 20, 4)
    with pytest.raises(UsageError, match=r"ffn\.0\.1 was given 9437184 rows; at most 83\d{5} fit"):
        remote(x)
    remote(x[:2])


def test_values_that_are_not_finite_pass_for_those_who_want_them(pair: list[DHT]) -> None:
    lie(pair[0], answer=lambda payload: encode({"0": torch.full((2, 4), torch.inf)}))
    assert remote_of(pair[1], pair[0], non_finite="pass")(torch.zeros(2, 4)).isinf().all()


@pytest.mark.parametrize(
    "info",
    [
        b"",
        b"{}",
        b"[]",
        b"[null, null]",
        b"[" * 5000,
        b'[{"uid":"ffn.0.2","expert_class":"f","inputs":{"x":{"dtype":"F32","shape":[4]}},'
        b'"outputs":{"0":{"dtype":"F32","shape":[4]}},"max_batch_size":8}]',
        b'[{"uid":"ffn.0.1","expert_class":"f","inputs":{},"outputs":{},"max_batch_size":8}]',
        b'[{"uid":"ffn.0.1","expert_class":"f","inputs":{"x":{"dtype":"F32","shape":[1000000,1000000]}},'
        b'"outputs":{"0":{"dtype":"F32","shape":[4]}},"max_batch_size":8}]',
        b'[{"uid":"ffn.0.1","expert_class":"f","inputs":{"x":{"dtype":"EVIL","shape":[4]}},'
        b'"outputs":{"0":{"dtype":"F32","shape":[4]}},"max_batch_size":8}]',
        b'[{"uid":"ffn.0.1","expert_class":"f","inputs":{"a:b":{"dtype":"F32","shape":[4]}},'
        b'"outputs":{"0":{"dtype":"F32","shape":[-4]}},"max_batch_size":8}]',
    ],
)
def test_descriptions_that_make_no_sense_are_refused(pair: list[DHT], info: bytes) -> None:
    lie(pair[0], info=info)
    with pytest.raises(SchemaMismatch):
        remote_of(pair[1], pair[0]).info  # noqa: B018


def test_a_description_of_more_bytes_than_any_has_is_not_read(pair: list[DHT]) -> None:
    lie(pair[0], info=b"x" * 300_000)
    with pytest.raises(ReplyTooLarge, match=f"at most {schema.MAX_INFO_BYTES} are taken"):
        remote_of(pair[1], pair[0]).info  # noqa: B018


def test_many_experts_are_found_with_one_question(pair: list[DHT]) -> None:
    with server(pair[0], "ffn.0.1", "ffn.0.3"):
        found = get_experts(pair[1], ["ffn.0.1", "ffn.0.2", "ffn.0.3", "ffn.0.1"])
        assert [each is not None and each.uid for each in found] == ["ffn.0.1", False, "ffn.0.3", "ffn.0.1"]


def test_the_experts_of_one_peer_are_described_together(pair: list[DHT]) -> None:
    asked: list[str] = []
    infos = {uid: ExpertInfo(uid, "ffn", INFO.inputs, INFO.outputs, 8) for uid in ("ffn.0.1", "ffn.0.3")}

    def describe(caller: Any, payload: Any) -> bytes:
        asked.append(bytes(payload).decode())
        return schema.pack_infos([infos.get(uid) for uid in asked[-1].split("\n")])

    async def serve(node: Any) -> None:
        node.network.serve(schema.INFO, describe)

    pair[0].run_coroutine(serve)
    link = Link(pair[1])
    stubs = [
        ExpertStub(ExpertPlace(parse_uid(uid), pair[0].address), link, CallOptions(timeout_s=20.0))
        for uid in ("ffn.0.1", "ffn.0.2", "ffn.0.3")
    ]
    assert stubs[0].info.uid == "ffn.0.1"
    assert stubs[2].info.uid == "ffn.0.3"
    assert [set(names.split("\n")) for names in asked] == [{"ffn.0.1", "ffn.0.2", "ffn.0.3"}]
    with pytest.raises(PeerRefused, match=r"no expert 'ffn\.0\.2' there"):
        stubs[1].info  # noqa: B018
    assert asked[1:] == ["ffn.0.2"]
