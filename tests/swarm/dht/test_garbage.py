"""Whatever a peer sends: nothing raises out of the node, nothing false is believed, and memory stays bounded."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.swarm.dht.id import number
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.protocol import (
    FIND,
    MAX_ENTRIES,
    MAX_KEYS,
    MAX_NEAREST,
    MEET,
    PING,
    STORE,
    Find,
    Found,
    Malformed,
    Meet,
    Ping,
    Pong,
    Store,
    Stored,
    StoreItem,
    decode,
    encode,
    is_believable,
    longest_answers,
)
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.dht.sim.world import World
from strobe.swarm.net.network import Caller, PeerRefused, ReplyTooLarge
from tests.swarm.dht.swarms import Swarm

_KINDS = (Ping, Pong, Meet, Find, Found, Store, Stored)
_METHODS = (PING, MEET, FIND, STORE)
_anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 2**64 - 1) | st.floats() | st.text(max_size=9) | st.binary(max_size=30),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.integers(0, 9), inner, max_size=3),
    max_leaves=20,
)  # fmt: skip
_payloads = st.binary(max_size=300) | _anything.map(msgspec.msgpack.encode)


def _valid_messages(rng: random.Random) -> list[bytes]:
    places = [rng.randbytes(20) for _ in range(3)]
    entries = [(b"", b"\x01", clock() + 50), (b"\xa1s", b"\x02", clock() + 60)]
    contact = (rng.randbytes(20), "10.0.0.9", 4000)
    return [
        encode(Ping(5.0)),
        encode(Meet(5.0, [contact])),
        encode(Find(5.0, 20, True, places, [1, 2, 3])),
        encode(Store(5.0, False, [StoreItem(place, 0, entries) for place in places])),
    ]


@given(_payloads)
def test_decoding_garbage_raises_malformed_or_gives_a_message(payload: bytes) -> None:
    for kind in _KINDS:
        try:
            message = decode(kind, payload)
        except Malformed:
            continue
        assert isinstance(message, kind)


async def _try(node: Node, caller: Caller, method: str, payload: bytes) -> bytes | None:
    network: Any = node.network
    try:
        answer: bytes = await network.answer(caller, method, payload)
    except PeerRefused:
        return None
    return answer


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(_METHODS), _payloads), max_size=10))
def test_garbage_requests_are_refused_in_words(requests: list[tuple[str, bytes]]) -> None:
    async def main() -> None:
        world = World()
        node = await Node.create(world.network(), clock=clock)
        caller = Caller(world.network().address.contact, b"")
        for method, payload in requests:
            await _try(node, caller, method, payload)
        assert world.errors == []
        assert not len(node.storage)

    run(main())


def test_damaged_messages_never_raise_and_never_grow_memory() -> None:
    async def main() -> None:
        rng = random.Random(1)
        world = World()
        options = Options(max_storage_bytes=100_000, max_cache_bytes=50_000)
        node = await Node.create(world.network(), options=options, clock=clock)
        strangers = [Caller(world.network().address.contact, b"") for _ in range(30)]
        for _ in range(6000):
            position = rng.randrange(4)
            payload = bytearray(_valid_messages(rng)[position])
            for _ in range(rng.randrange(4)):
                payload[rng.randrange(len(payload))] = rng.randrange(256)
            await asyncio.wait_for(_try(node, rng.choice(strangers), _METHODS[position], bytes(payload)), 10)
        assert world.errors == []
        assert node.storage.size_bytes <= 100_000
        assert node.cache.size_bytes <= 50_000
        assert len(node.storage.touched) <= len(node.storage)
        assert len(node.peers.table) <= len(strangers)

    run(main())


def test_a_liar_cannot_break_the_gets_and_stores_of_others() -> None:
    """Peers that answer with garbage, or with messages that contradict themselves, count as silent."""

    async def main() -> None:
        swarm = await Swarm.grow(30, World(seed=9))
        rng = random.Random(2)
        answers = [
            lambda: rng.randbytes(rng.randrange(80)),
            lambda: encode(Found([], [], [])),
            lambda: encode(Found([[(b"", b"\xc1", float("nan"))]], [[]], [])),
            lambda: encode(Found([[]], [[5]], [])),
            lambda: encode(Found([[]] * 50, [[]] * 50, [])),
            lambda: encode(Stored(b"\x07\x07", {}, [])),
            lambda: encode(Stored(b"\x01", {9: [0]}, [(b"\x01" * 20, "127.0.0.1", 1)])),
            lambda: encode(Stored(b"\x01", {0: [0]}, [(rng.randbytes(20), "10.77.0.1", 9)])),
        ]
        for node, answer in zip(swarm.nodes[10:18], answers, strict=True):
            for method in (FIND, STORE):
                node.network.serve(method, lambda caller, payload, answer=answer: answer())  # type: ignore[misc]
        honest = [node for node in swarm.nodes if node not in swarm.nodes[10:18]]
        keys = [f"k{number}" for number in range(100)]
        stored = await honest[0].store_many(keys, keys, clock() + 500)
        assert all(stored.values())
        for latest in (False, True):
            got = await honest[7].get_many(keys, latest=latest)
            assert all((value := got[key]) is not None and value.value == key for key in keys)
        swarm.check()

    run(main())


def test_an_answer_longer_than_any_can_be_is_not_read_and_its_peer_counts_as_silent() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(2)
        ann, eve = swarm.nodes
        contact = eve.network.address.contact
        questions = (
            (PING, Ping(0.0), Pong, 20_000),
            (FIND, Find(0.0, 1, False, [b"k" * 20], []), Found, 2_000_000),
            (STORE, Store(0.0, False, []), Stored, 500_000),
        )
        for method, question, kind, size in questions:
            ann.peers.heard(contact, clock())
            eve.network.serve(method, lambda caller, payload, size=size: bytes(size))  # type: ignore[misc]
            with pytest.raises(ReplyTooLarge, match=f"{size} bytes"):
                await ann.exchange.ask(contact, method, question, kind)
            assert ann.peers.is_silent(number(contact.id), clock())
        swarm.check()

    run(main())


def test_who_asks_for_no_contacts_is_refused() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(2)
        ann, eve = swarm.nodes
        with pytest.raises(PeerRefused, match=">= 1"):
            await eve.network.call(
                ann.network.address.contact, FIND, encode(Find(0.0, 0, False, [bytes(20)], [])), timeout_s=1.0
            )
        swarm.check()

    run(main())


def test_the_longest_honest_answers_are_taken() -> None:
    longest = longest_answers(1 << 20)
    nearest = [[4095] * MAX_NEAREST] * MAX_KEYS
    contacts = [(b"\xff" * 20, "f" * 45, 65535)] * (MAX_KEYS * MAX_NEAREST)
    records = [[(b"", bytes((1 << 20) - 200), 1.5)], *[[]] * (MAX_KEYS - 1)]
    answers = [
        Pong(1.5, "f" * 45, 65535),
        Found(records, nearest, contacts),
        Stored(bytes(MAX_ENTRIES), dict(enumerate(nearest)), contacts),
    ]
    for answer in answers:
        assert len(encode(answer)) <= longest[type(answer)]


def test_contacts_are_believed_only_where_they_can_be() -> None:
    assert is_believable("10.0.0.1", "10.0.0.2")
    assert is_believable("127.0.0.1", "127.0.0.5")
    assert not is_believable("127.0.0.1", "8.8.8.8"), "nobody elsewhere can point at our own machine"
    assert not is_believable("::1", "8.8.8.8")
    assert not is_believable("example.org", "8.8.8.8")
    assert not is_believable("0.0.0.0", "127.0.0.1")
    assert not is_believable("224.0.0.1", "127.0.0.1")
    assert not is_believable("10.0.0.1", "localhost"), "nor do we look up where somebody is who tells"
    assert is_believable("8.8.4.4", "8.8.8.8")
    assert is_believable("8.8.8.8", "10.0.0.1")
    for private in ("10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1"):
        assert not is_believable(private, "8.8.8.8"), "nobody in the open can point at our own network"
        assert is_believable(private, "10.0.0.2")
    assert not is_believable("::ffff:127.0.0.1", "10.0.0.2")
