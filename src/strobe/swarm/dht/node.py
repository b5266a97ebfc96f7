"""A peer of the DHT: joins a swarm, stores and gets, answers others, and keeps itself and its records in order.

Runs on any `Network` (real sockets, or the simulation in `sim`) and any clock, on one event loop. Values go in and
come out as Python values here; everywhere below they are bytes.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from strobe.errors import Error
from strobe.swarm.dht.batch import Batch, note_name
from strobe.swarm.dht.exchange import Exchange
from strobe.swarm.dht.greeting import ONLY_ASKS, Greeting
from strobe.swarm.dht.id import number, place_of
from strobe.swarm.dht.names import in_numbers
from strobe.swarm.dht.opened import ValueWithExpiration, open_record
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.parcel import parcels, size_of
from strobe.swarm.dht.peers import Peers
from strobe.swarm.dht.protocol import (
    FIND,
    MEET,
    NO_AGREEMENT,
    PING,
    STORE,
    Malformed,
    Store,
    Stored,
    StoreItem,
    WireEntry,
)
from strobe.swarm.dht.reader import Findings, Reader
from strobe.swarm.dht.routing import RoutingTable
from strobe.swarm.dht.searches import Searches
from strobe.swarm.dht.service import Service, wire_entries
from strobe.swarm.dht.storage import PLAIN, Record, Rules, Storage, entries, merge
from strobe.swarm.dht.upkeep import Upkeep
from strobe.swarm.dht.validator import CompositeValidator, Ownership, RawRecord, RecordValidator
from strobe.swarm.dht.writer import Writer
from strobe.swarm.net.network import Contact, Network, NetworkError, NoRoute, PeerBusy, PeerRefused

_PLACES_OF_MERGE: Final = 8
#: of requests that carry no records: most are far smaller
_MAX_QUESTION_BYTES: Final = 64 << 10


class BootstrapFailed(Error):
    """None of the peers that should introduce us to a swarm answered."""


class ClockSkew(Error):
    """This machine's clock is too far from the swarm's: its records would expire too early or too late."""


class Node:
    """One peer. Make it with `Node.create`, end it with `close`."""

    def __init__(
        self,
        network: Network,
        options: Options | None = None,
        *,
        clock: Callable[[], float] = time.time,
        validator: RecordValidator | None = None,
    ) -> None:
        self.options = opts = options or Options()
        self.clock = clock
        self.network = network
        self._validator = validator
        table = RoutingTable(
            number(network.address.id),
            bucket_size=opts.bucket_size,
            depth_step=opts.depth_step,
            max_per_network=opts.max_per_network,
        )
        self.peers = Peers(table, silence_s=opts.silence_s, backoff_rate=opts.backoff_rate)
        self._rules = Rules(
            max_record_bytes=opts.max_record_bytes,
            max_lifetime_s=opts.max_lifetime_s + 2 * opts.max_clock_skew_s,  # theirs may be ahead, and ours behind
            is_owned=self._is_owned,
        )
        self.storage = Storage(self._rules, max_bytes=opts.max_storage_bytes, max_share=opts.max_share)
        self.cache = Storage(self._rules, max_bytes=opts.max_cache_bytes, max_share=opts.max_share, is_copy=True)
        self.service = Service(
            self.peers, self.storage, self.cache, num_replicas=opts.num_replicas, clock=clock, validator=validator
        )
        serves = not opts.client_mode
        self.exchange = Exchange(
            network,
            self.peers,
            clock=clock,
            timeout_s=opts.timeout_s,
            max_record_bytes=opts.max_record_bytes,
            min_bytes_per_s=opts.min_bytes_per_s,
            serves=serves,
        )
        self.reader = Reader(
            self.exchange,
            beam_size=opts.beam_size,
            window=opts.window,
            overdue_s=opts.overdue_s,
            rules=self._rules,
            validator=validator,
        )
        self.writer = Writer(
            self.exchange,
            self.service,
            num_replicas=opts.num_replicas,
            window=opts.window,
            overdue_s=opts.overdue_s,
        )
        self.upkeep = Upkeep(self)
        self.greeting = Greeting(self.exchange, network, self._meet)
        self._searches = Searches(self._search)
        self._background: set[asyncio.Task[None]] = set()
        if serves:
            network.serve(PING, self.greeting.on_ping, max_payload=_MAX_QUESTION_BYTES)
            network.serve(MEET, self.greeting.on_meet, max_payload=_MAX_QUESTION_BYTES)
            network.serve(FIND, self.service.find, max_payload=_MAX_QUESTION_BYTES)
            # One record goes as a whole, however large it is; smaller ones together are cut at less.
            network.serve(STORE, self.service.store, max_payload=opts.max_record_bytes + _MAX_QUESTION_BYTES)

    @classmethod
    async def create(
        cls,
        network: Network,
        initial_peers: Iterable[Contact] = (),
        options: Options | None = None,
        *,
        clock: Callable[[], float] = time.time,
        validator: RecordValidator | None = None,
    ) -> Node:
        """Return a peer that has joined the swarm of `initial_peers`; with none, it is the first of a swarm."""
        node = cls(network, options, clock=clock, validator=validator)
        node.start()
        contacts = list(initial_peers)
        try:
            if contacts:
                await node.join(contacts)
        except BaseException:
            await node.close()
            raise
        return node

    def start(self) -> None:
        """Begin the upkeep; `create` has done so."""
        self.upkeep.start()

    def add_validators(self, validators: Iterable[RecordValidator]) -> None:
        """Keep more rules from now on, and drop what we hold against them."""
        if not isinstance(self._validator, CompositeValidator):
            self._validator = CompositeValidator([self._validator] if self._validator is not None else ())
        self._validator.extend(validators)
        self.service.validator = self.reader.validator = self._validator
        now = self.clock()
        for storage in (self.storage, self.cache):
            for key, record in storage.items(now):
                held = list(entries(record))
                kept = [item for item in held if self._validator.validate(RawRecord(key, item[0], *item[1][:2]))]
                if len(kept) < len(held):
                    storage.remove(key)
                    for subkey, (value, expires, source) in kept:
                        storage.put(key, value, expires, now, subkey, source)

    async def join(self, contacts: Sequence[Contact]) -> int:
        """Join, or merge with, the swarm of these peers; return how many of them answered.

        Raises BootstrapFailed if none did, and ClockSkew if their clocks agree that ours is wrong.
        """
        named, (contacts, unknown) = contacts, await in_numbers(contacts, self.options.timeout_s)
        self.peers.remember(contacts)
        is_merge = len(self.peers.table) > 0
        answers = dict(zip(contacts, await asyncio.gather(*map(self._skew_of, contacts)), strict=True))
        skew_of = {contact: skew for contact, skew in answers.items() if isinstance(skew, float)}
        if not skew_of:
            raise BootstrapFailed(
                f"none of {len(named)} initial peers answered within {self.options.timeout_s:g} s: "
                f"{', '.join(f'{contact.host}:{contact.port}' for contact in named[:5])}; "
                + (f"no address is known of {', '.join(unknown[:5])}; " if unknown else "")
                + _advice(answers)
            )
        for contact in skew_of:  # one that answers at one of its addresses is not silent for being silent at others
            self.peers.heard(contact, self.clock())
        if abs(skew := _median(list(skew_of.values()))) > self.options.max_clock_skew_s:
            raise ClockSkew(
                f"this machine's clock is {abs(skew):.1f} s {'behind' if skew > 0 else 'ahead of'} the swarm's, "
                f"at most {self.options.max_clock_skew_s:g} s are allowed; set it (NTP), then start again"
            )
        await self.reader.explore(self.network.address.id, self.options.join_width, list(skew_of))
        if is_merge:  # two swarms meet in us: make us known all over the other one, so that many meet soon
            await self.upkeep.look_around(_PLACES_OF_MERGE, list(skew_of))
        return len({contact.id for contact in skew_of})

    async def _skew_of(self, contact: Contact) -> float | NetworkError | Malformed:
        try:
            return await self.greeting.skew_of(contact)
        except (NetworkError, Malformed) as exc:
            return exc

    def _is_owned(self, subkey: bytes) -> bool:
        return isinstance(self._validator, Ownership) and self._validator.is_owned(subkey)

    def _meet(self, contact: Contact) -> None:
        self.upkeep.swarms_meet()
        self.in_background(self.greeting.meet(contact))

    async def store(self, key: Any, value: Any, expiration_time: float, subkey: Any = None) -> bool:
        """Store one value, or one subkey of a dictionary; return whether it is now the newest."""
        subkeys = None if subkey is None else [subkey]
        return next(iter((await self.store_many([key], [value], expiration_time, subkeys)).values()))

    async def store_many(
        self,
        keys: Sequence[Any],
        values: Sequence[Any],
        expiration_time: float | Sequence[float],
        subkeys: Sequence[Any] | None = None,
    ) -> dict[Any, bool]:
        """Store many values at once; return by key, or by (key, subkey), whether each is now the newest.

        A subkey of None is a plain value.
        """
        now = self.clock()
        batch = Batch.of(
            keys, values, expiration_time, subkeys, options=self.options, now=now, validator=self._validator
        )
        held = await self.writer.store(batch.records)
        self._searches.stored(held)
        for place, placed in held.items():
            self._cache_stored(place, batch.records[place], placed.accepted, now)
        return {name: held[place].accepted[position] for name, place, position in batch.positions}

    async def get(self, key: Any, *, latest: bool = False) -> ValueWithExpiration | None:
        """Return the value of a key, or a dictionary of its subkeys; None if nobody has it."""
        return (await self.get_many([key], latest=latest))[key]

    async def get_many(
        self, keys: Iterable[Hashable], *, latest: bool = False
    ) -> dict[Any, ValueWithExpiration | None]:
        """Return the values of many keys.

        Without `latest`, the first that is found and has not expired, be it from a cache. With it, all peers near the
        key are asked, and what they say is merged.
        """
        places: dict[Any, bytes] = {}
        for key in keys:
            note_name(places, key, place_of(key))
        found = await self.find(list(dict.fromkeys(places.values())), latest=latest)
        now = self.clock()
        return {
            key: None if (record := found.get(place)) is None else open_record(place, record, self._validator, now)
            for key, place in places.items()
        }

    async def find(self, places: list[bytes], *, latest: bool) -> dict[bytes, Record]:
        """Return the packed records of many places."""
        now = self.clock()
        found: dict[bytes, Record] = {}
        missing: list[bytes] = []
        for place in places:
            held = None if latest else self.service.held(place, now)
            if held is None:
                missing.append(place)
            else:
                found[place] = held
                self.upkeep.was_read(place, held)
        if missing:
            found.update(await self._searches.find(missing, latest=latest))
        return found

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something run that nobody waits for; `close` ends it."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def send_records(self, contact: Contact, records: dict[bytes, Record], *, is_cache: bool = False) -> bool:
        """Have one peer hold these records; return whether it answered."""
        items = [StoreItem(key, NO_AGREEMENT, wire_entries(record)) for key, record in records.items()]
        for parcel in parcels((item, size_of(item.entries)) for item in items):
            try:
                await self.exchange.ask(contact, STORE, Store(self.exchange.since, is_cache, parcel), Stored)
            except (NetworkError, Malformed):
                return False
        return True

    async def close(self) -> None:
        """Stop; the network is closed with it."""
        await self.upkeep.stop()
        await self._searches.close()
        for task in (running := list(self._background)):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self.network.close()

    async def _search(self, places: list[bytes], latest: bool) -> dict[bytes, Record]:
        findings = await self.reader.find(places, math.inf if latest else self.clock())
        now = self.clock()
        for place in places if latest else ():
            if (held := self.service.held(place, now)) is not None:
                # What we hold ourselves counts like what any other peer holds.
                said = findings.records.get(place)
                if (record := merge(place, [held] if said is None else [held, said], now, self._rules)) is not None:
                    findings.records[place] = record
        self._keep_found(findings, now)
        return findings.records

    def _keep_found(self, findings: Findings, now: float) -> None:
        for place, record in findings.records.items():
            if place in self.storage:
                self.storage.put_record(place, record, now)
            elif self.options.cache_locally or place in self.cache:
                self.cache.put_record(place, record, now)
        if self.options.cache_nearest:
            due: dict[Contact, dict[bytes, Record]] = {}
            for place, contacts in findings.lacking.items():
                for contact in contacts[: self.options.cache_nearest]:
                    due.setdefault(contact, {})[place] = findings.records[place]
            for contact, records in due.items():
                self.in_background(self._push(contact, records))

    async def _push(self, contact: Contact, records: dict[bytes, Record]) -> None:
        await self.send_records(contact, records, is_cache=True)

    def _cache_stored(self, place: bytes, sent: list[WireEntry], accepted: list[bool], now: float) -> None:
        if not self.options.cache_on_store or place in self.storage:
            return
        for (subkey, value, expires), is_accepted in zip(sent, accepted, strict=True):
            if is_accepted and (subkey == PLAIN or place in self.cache):
                self.cache.put(place, value, expires, now, subkey)
        if place in self.cache and not (all(accepted) and sent[0][0] == PLAIN):
            self.upkeep.refresh(place)  # ours was refused, or others have subkeys that our copy lacks


def _advice(answers: Mapping[Contact, object]) -> str:
    """Return what to do about initial peers none of which could be greeted."""
    for contact, fault in answers.items():
        if isinstance(fault, PeerRefused) and not isinstance(fault, PeerBusy):
            return f"{contact.host}:{contact.port} is {ONLY_ASKS}; join through another peer"
    for fault in answers.values():
        if isinstance(fault, (NoRoute, PeerBusy)):
            return str(fault)
    return "check that they run and that UDP reaches them"


def _median(values: list[float]) -> float:
    ordered, half = sorted(values), len(values) // 2  # the module of that name is slow to import, for one line
    return (ordered[half] + ordered[~half]) / 2
