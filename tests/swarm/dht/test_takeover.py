"""What one peer may try against the records of others: hide them, crowd them out, erase them."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from strobe.swarm.dht.id import place_of
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.protocol import FIND, NO_AGREEMENT, REFUSED, STORE, STORED, Store, Stored, StoreItem, WireEntry
from strobe.swarm.dht.signature import SignatureValidator
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.dht.sim.world import World
from strobe.swarm.dht.storage import Entry
from strobe.swarm.dht.validator import SLICE, RawRecord
from strobe.swarm.dht.value import pack
from strobe.swarm.net.identity import Identity
from strobe.swarm.net.network import PeerRefused
from tests.swarm.dht.swarms import Swarm

_UNCACHED = Options(cache_locally=False, cache_nearest=0, cache_on_store=False)

_ALICE = Identity(b"a" * 32)


async def _send(attacker: Node, victim: Node, key: Any, entries: list[WireEntry], *, is_cache: bool = False) -> bytes:
    """Have one peer hold entries, whoever should hold them; return the outcomes."""
    items = [StoreItem(place_of(key), NO_AGREEMENT, entries)]
    contact = victim.network.address.contact
    answer = await attacker.exchange.ask(contact, STORE, Store(attacker.exchange.since, is_cache, items), Stored)
    return answer.outcomes


def test_copies_that_others_send_for_the_cache_hide_no_subkey() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(12, options=_UNCACHED)
        now = clock()
        for number in range(4):
            assert await swarm.nodes[number].store("d", number, now + 100, subkey=number)
        for node in swarm.nodes[1:]:
            await _send(swarm.nodes[0], node, "d", [(pack("junk"), pack("junk"), now + 500)], is_cache=True)
        for reader in swarm.nodes:
            got = await reader.get("d", latest=True)
            assert got is not None
            assert {0, 1, 2, 3} <= set(got.value)
        for holder in swarm.holders("d"):
            assert place_of("d") not in holder.cache, "a key is in one place"
        swarm.check()

    run(main())


def test_a_copy_in_the_cache_counts_when_its_key_comes_to_be_held() -> None:
    """Also without malice: who cached a dictionary and then becomes one of its holders has all of it."""

    async def main() -> None:
        swarm = await Swarm.grow(5, options=_UNCACHED)
        now, holder = clock(), swarm.nodes[0]
        await _send(swarm.nodes[1], holder, "d", [(pack("old"), pack(1), now + 500)], is_cache=True)
        assert place_of("d") in holder.cache
        assert await swarm.nodes[1].store("d", 2, now + 100, subkey="new")
        got = await swarm.nodes[2].get("d", latest=True)
        assert got is not None
        assert got.value == {"old": (1, now + 500), "new": (2, now + 100)}
        assert place_of("d") not in holder.cache
        older = await _send(swarm.nodes[3], holder, "d", [(pack("old"), pack(3), now + 400)])
        assert older == bytes([REFUSED]), "the copy was newer"
        swarm.check()

    run(main())


def test_what_would_live_for_ever_is_held_by_nobody_and_believed_of_nobody() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(6, options=_UNCACHED)
        now, liar = clock(), swarm.nodes[0]
        for expires in (math.inf, math.nan, now + 31 * 86400):
            for is_cache in (True, False):
                sent: list[WireEntry] = [(b"", pack("junk"), expires)]
                assert await _send(liar, swarm.nodes[1], "k", sent, is_cache=is_cache) == bytes([REFUSED])
        assert await swarm.nodes[2].store("k", "true", now + 100)
        liar.storage._records[place_of("k")] = Entry(pack("junk"), math.inf)
        assert await swarm.nodes[3].get("k", latest=True) == ("true", now + 100)
        swarm.check()

    run(main())


def test_one_peer_that_fills_the_memory_of_another_crowds_nobody_out() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(2, options=Options(max_storage_bytes=200_000, max_share=0.25, cache_locally=False))
        victim, attacker = swarm.nodes
        honest = [await swarm.add() for _ in range(3)]
        now = clock()
        for number, node in enumerate(honest):
            await _send(node, victim, f"first {number}", [(b"", b"x" * 1000, now + 60)])
        for number in range(300):
            await _send(attacker, victim, f"junk {number}", [(b"", b"x" * 1000, now + 2_000_000)])
        assert victim.storage.size_bytes <= 200_000 * 0.25 + 3 * 1200, "a quarter at most is one peer's"
        sybils = [Node(swarm.world.network(), Options(client_mode=True), clock=clock) for _ in range(8)]
        for number in range(300):
            await _send(sybils[number % 8], victim, f"more junk {number}", [(b"", b"x" * 1000, now + 2_000_000)])
        for number, node in enumerate(honest):
            assert await _send(node, victim, f"second {number}", [(b"", b"x" * 1000, now + 60)]) == bytes([STORED])
        assert victim.storage.size_bytes <= 200_000
        held = [key for key in ("first", "second") for n in range(3) if place_of(f"{key} {n}") in victim.storage]
        assert len(held) == 6, "of those who have least nothing was dropped, though it expires first"
        swarm.check()

    run(main())


def test_peers_of_one_public_network_share_what_one_may_take() -> None:
    async def main() -> None:
        world = World()
        victim = await Node.create(
            world.network(host="8.8.8.8"), options=Options(max_storage_bytes=100_000, max_share=0.25), clock=clock
        )
        for number in range(40):
            sybil = Node(world.network(host=f"9.9.9.{number}"), Options(client_mode=True), clock=clock)
            for part in range(5):
                await _send(sybil, victim, (number, part), [(b"", b"x" * 1000, clock() + 1000)])
        assert victim.storage.size_bytes <= 25_000
        assert world.errors == []

    run(main())


def test_plain_values_neither_erase_signed_subkeys_nor_keep_them_out() -> None:
    async def main() -> None:
        swarm = Swarm(options=_UNCACHED)
        for number in range(6):
            await swarm.add(validator=SignatureValidator(Identity(bytes([number]) * 32)))
        mark = SignatureValidator(Identity(bytes([3]) * 32)).mark
        now = clock()
        assert await swarm.nodes[3].store("d", 7, now + 100, subkey="peer" + mark)
        assert not await swarm.nodes[4].store("d", "erased", now + 500)
        swarm.nodes[4].storage._records[place_of("d")] = Entry(pack("erased"), now + 500)  # a holder that lies
        got = await swarm.nodes[0].get("d", latest=True)
        assert got is not None
        assert got.value == {"peer" + mark: (7, now + 100)}
        # And when the plain value came first:
        assert await swarm.nodes[4].store("e", "mine", now + 500)
        assert not await swarm.nodes[3].store("e", 7, now + 100, subkey="unsigned")
        assert await swarm.nodes[3].store("e", 7, now + 100, subkey="peer" + mark)
        got = await swarm.nodes[0].get("e", latest=True)
        assert got is not None
        assert got.value == {"peer" + mark: (7, now + 100)}
        swarm.check()

    run(main())


def test_many_signatures_in_one_message_do_not_keep_others_waiting() -> None:
    """Neither those who store nor those who answer can stop a peer's loop for long."""
    checked = [0]  # in each turn of the loop

    class _Counting(SignatureValidator):
        def validate(self, record: RawRecord) -> bool:
            if not checked[-1]:
                asyncio.get_running_loop().call_soon(checked.append, 0)
            checked[-1] += 1
            return super().validate(record)

    async def main() -> None:
        swarm = Swarm(options=_UNCACHED)
        for number in range(3):
            await swarm.add(validator=_Counting(Identity(bytes([number]) * 32)))
        mark = SignatureValidator(_ALICE).mark
        junk: list[WireEntry] = [(pack(f"{number}{mark}"), b"x" * 80, clock() + 50) for number in range(2000)]
        await _send(swarm.nodes[0], swarm.nodes[1], "d", junk)
        assert max(checked) <= SLICE
        assert sum(checked) == len(junk)
        now = clock()
        for subkey, value, expires in junk:
            swarm.nodes[1].storage.put(place_of("d"), value, expires, now, subkey)
        assert await swarm.nodes[0].get("d", latest=True) is None
        assert max(checked) <= SLICE
        assert sum(checked) == 2 * len(junk)
        swarm.check()

    run(main())


def test_messages_of_too_many_bytes_or_entries_are_refused_unread() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(2)
        attacker, victim = swarm.nodes
        contact, now = victim.network.address.contact, clock()
        items = [StoreItem(bytes([n]) * 20, 0, [(pack(s), b"", now + 50) for s in range(200)]) for n in range(100)]
        for request, reason in (
            (Store(0.0, False, items), "20000 entries"),
            (Store(0.0, False, [StoreItem(b"k" * 20, 0, [(b"", b"x" * (1 << 20), now + 50)])] * 2), r"over .* limit"),
        ):
            with pytest.raises(PeerRefused, match=reason):
                await attacker.exchange.ask(contact, STORE, request, Stored)
        with pytest.raises(PeerRefused, match=r"over .* limit"):
            await attacker.network.call(contact, FIND, b"x" * 100_000, timeout_s=3)
        assert not len(victim.storage)

    run(main())


async def _signing_swarm(count: int) -> tuple[Swarm, list[str]]:
    """Return a swarm whose peers sign, and the subkeys that each of them alone can write."""
    swarm, names = Swarm(options=_UNCACHED), []
    for number in range(count):
        validator = SignatureValidator(Identity(bytes([number + 1]) * 32))
        await swarm.add(validator=validator)
        names.append(f"peer {number}{validator.mark}")
    return swarm, names


def _junk() -> list[list[WireEntry]]:
    """Return, in two messages, as many subkeys as fill a record to the last few bytes."""
    expires = clock() + 2e6
    large: list[WireEntry] = [(pack(f"junk {number}"), pack(b"x" * 20_000), expires) for number in range(52)]
    small: list[WireEntry] = [(pack(f"more {number}"), pack(number), expires) for number in range(100)]
    return [large, small]


def test_one_who_fills_a_dictionary_shuts_nobody_out_of_it() -> None:
    async def main() -> None:
        swarm, names = await _signing_swarm(6)
        attacker, now = swarm.nodes[0], clock()
        for victim in swarm.nodes[1:]:
            for part in _junk():
                await _send(attacker, victim, "progress", part)
        for number in range(1, 6):
            assert await swarm.nodes[number].store("progress", number, now + 60, subkey=names[number])
            assert await swarm.nodes[number].store("progress", number, now + 60, subkey=f"unsigned {number}")
        got = await swarm.nodes[2].get("progress", latest=True)
        assert got is not None
        assert set(names[1:]) | {f"unsigned {number}" for number in range(1, 6)} <= set(got.value)
        swarm.check()

    run(main())


def test_a_holder_that_answers_first_with_a_full_record_hides_no_subkey() -> None:
    async def main() -> None:
        swarm, names = await _signing_swarm(5)
        now, place, (liar, owner, *_, reader) = clock(), place_of("progress"), swarm.nearest("progress", 5)
        name = names[swarm.nodes.index(owner)]
        assert await owner.store("progress", 1, now + 60, subkey=name)
        assert await owner.store("progress", 2, now + 60, subkey="unsigned")
        reader.storage.remove(place)
        liar.storage.remove(place)
        for subkey, value, expires in [entry for part in _junk() for entry in part]:
            liar.storage.put(place, value, expires, now, subkey)
        got = await reader.get("progress", latest=True)
        assert got is not None
        assert {name, "unsigned"} <= set(got.value)
        assert len(got.value) > 40, "what the nearest said was there already"
        swarm.check()

    run(main())
