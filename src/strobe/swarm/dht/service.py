"""What a peer answers: it looks up what it holds and knows, and believes nothing of what it is told.

Plain functions from a request's bytes to an answer's bytes, on the peer's table and storage. A request that is no
request is refused in words; it changes nothing. Only checking many records takes so long that others get their turn
meanwhile.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

from strobe.swarm.dht.id import number
from strobe.swarm.dht.parcel import size_of
from strobe.swarm.dht.peers import Peers
from strobe.swarm.dht.protocol import (
    MAX_ENTRIES,
    MAX_FOUND_BYTES,
    NO_AGREEMENT,
    REFUSED,
    SAME,
    STORED,
    Find,
    Found,
    Malformed,
    Message,
    Store,
    Stored,
    StoreItem,
    WireContact,
    WireEntry,
    agreement,
    decode,
    encode,
)
from strobe.swarm.dht.routing import network_of
from strobe.swarm.dht.storage import OURSELVES, Entry, Record, Source, Storage, entries, entry_of
from strobe.swarm.dht.validator import SLICE, RawRecord, RecordValidator, check_in_slices
from strobe.swarm.net.network import Caller, Payload, PeerRefused

_Request = TypeVar("_Request", bound=Message)


class Service:
    """The requests of other peers, answered from what this one holds and knows."""

    def __init__(
        self,
        peers: Peers,
        storage: Storage,
        cache: Storage,
        *,
        num_replicas: int,
        clock: Callable[[], float],
        validator: RecordValidator | None = None,
    ) -> None:
        self._peers = peers
        self._storage = storage
        self._cache = cache
        self._num_replicas = num_replicas
        self._clock = clock
        self.validator = validator
        self.num_finds = self.num_stores = 0

    def find(self, caller: Caller, payload: Payload) -> bytes:
        """Answer a Find."""
        request, now = opened(Find, payload), self._clock()
        if request.since:
            self._peers.heard(caller.contact, now, request.since)
        self.num_finds += 1
        names = _Names(self._peers, skip=number(caller.id))
        records: list[list[WireEntry]] = []
        nearest: list[list[int]] = []
        sizes: dict[int, int] = {}
        size, most = 0, min(request.most_bytes, MAX_FOUND_BYTES)
        agreements = request.agreements or [NO_AGREEMENT] * len(request.keys)
        if len(agreements) != len(request.keys):
            raise PeerRefused(f"{len(agreements)} agreements for {len(request.keys)} keys")
        for key, agreed in zip(request.keys, agreements, strict=True):
            record = self.held(key, now)
            held = [] if record is None else wire_entries(record)
            if (here := size_of(held)) > request.most_bytes:
                sizes[len(records)], held, here = here, [], 0
            size += here
            if size > most and records:
                break  # the asker asks again about the others
            records.append(held)
            if record is None or request.is_latest:
                known = self._peers.responsible(number(key), request.count, now)
                nearest.append([] if agreement(known) == agreed else names.positions(known))
            else:
                nearest.append([])
        return encode(Found(records, nearest, names.contacts, sizes))

    def store(self, caller: Caller, payload: Payload) -> bytes | Awaitable[bytes]:
        """Answer a Store."""
        request = opened(Store, payload)
        num_entries = sum([len(item.entries) for item in request.items])
        if num_entries > MAX_ENTRIES:
            raise PeerRefused(f"{num_entries} entries in one message; at most {MAX_ENTRIES} are allowed")
        if request.since:
            self._peers.heard(caller.contact, self._clock(), request.since)
        self.num_stores += 1
        if self.validator is None:
            return self._store(caller, request, [True] * num_entries)
        records = [RawRecord(item.key, *entry) for item in request.items for entry in item.entries]
        if num_entries > SLICE:
            return self._store_checked(caller, request, records, self.validator)
        return self._store(caller, request, list(map(self.validator.validate, records)))

    async def _store_checked(
        self, caller: Caller, request: Store, records: list[RawRecord], validator: RecordValidator
    ) -> bytes:
        return self._store(caller, request, await check_in_slices(validator, records))

    def _store(self, caller: Caller, request: Store, verdicts: Sequence[bool]) -> bytes:
        """Hold what is valid of a request; return the answer."""
        now, are_valid = self._clock(), iter(verdicts)
        names: _Names | None = None
        outcomes = bytearray()
        nearest: dict[int, list[int]] = {}
        own, num_replicas, source = self._peers.table.own_id, self._num_replicas, _source_of(caller)
        for position, item in enumerate(request.items):
            if request.is_cache:
                self._put(self._shelf(item.key, False, now), item, are_valid, source, now, outcomes)
                continue
            target = int.from_bytes(item.key, "big")
            responsible = self._peers.responsible(target, num_replicas, now)
            shelf = self._shelf(item.key, own in responsible or self._is_near(target, now), now)
            self._put(shelf, item, are_valid, source, now, outcomes)
            shelf.touch(item.key, item.entries, now)
            if agreement(responsible) != item.agreement:
                names = names or _Names(self._peers, skip=number(caller.id))
                nearest[position] = names.positions(responsible)
        return encode(Stored(bytes(outcomes), nearest, names.contacts if names is not None else []))

    def held(self, key: bytes, now: float) -> Record | None:
        """Return what we hold of a record, or the copy in the cache."""
        record = self._storage.get(key, now)
        return self._cache.get(key, now) if record is None else record

    def put(self, key: bytes, entry: Entry, subkey: bytes, now: float) -> int:
        """Hold an entry of our own; return its outcome."""
        outcomes, (value, expires, _) = bytearray(), entry
        is_valid = self.validator is None or self.validator.validate(RawRecord(key, subkey, value, expires))
        item = StoreItem(key, NO_AGREEMENT, [(subkey, value, expires)])
        self._put(self._shelf(key, True, now), item, iter([is_valid]), OURSELVES, now, outcomes)
        self._storage.touch(key, item.entries, now)
        return outcomes[0]

    def _shelf(self, key: bytes, is_near: bool, now: float) -> Storage:
        """Return where a key belongs. It is never in both, so that no copy hides what is held: they merge here."""
        if self._storage.get(key, now) is not None:
            return self._storage
        if not is_near:
            return self._cache
        if (copy := self._cache.get(key, now)) is not None:
            self._cache.remove(key)
            self._storage.put_record(key, copy, now)
        return self._storage

    def _put(
        self,
        storage: Storage,
        item: StoreItem,
        are_valid: Iterator[bool],
        source: Source,
        now: float,
        outcomes: bytearray,
    ) -> None:
        key = item.key
        for subkey, value, expires in item.entries:
            if not next(are_valid):
                outcomes.append(REFUSED)
            elif storage.put(key, value, expires, now, subkey, source):
                outcomes.append(STORED)
            else:
                outcomes.append(_is_held(storage, key, (value, expires), subkey, now))

    def _is_near(self, target: int, now: float) -> bool:
        """Whether we are near enough to a key to hold it; what is sent to us all the same is only cached."""
        return self._peers.table.own_id in self._peers.responsible(target, 2 * self._num_replicas, now)


def opened(kind: type[_Request], payload: Payload) -> _Request:
    """Return a request; PeerRefused if it is none."""
    try:
        return decode(kind, payload)
    except Malformed as exc:
        raise PeerRefused(str(exc)) from exc


def _source_of(caller: Caller) -> Source:
    """Return whose share of our memory a request counts against: ids cost nothing, public networks do."""
    contact = caller.contact
    network = network_of(contact.host) if contact.relay is None else None
    return network or contact.id


def _is_held(storage: Storage, key: bytes, entry: tuple[bytes, float], subkey: bytes, now: float) -> int:
    """Return SAME if a store was refused because this very entry is there, else REFUSED."""
    there = entry_of(storage.get(key, now), subkey)
    return SAME if there is not None and there[:2] == entry else REFUSED


def wire_entries(record: Record) -> list[WireEntry]:
    """Return a record as it travels."""
    return [(subkey, entry.value, entry.expires) for subkey, entry in entries(record)]


class _Names:
    """The contacts that an answer names, each once."""

    def __init__(self, peers: Peers, skip: int) -> None:
        self._table = peers.table
        self._skip = skip
        self._positions: dict[int, int] = {}
        self.contacts: list[WireContact] = []

    def positions(self, peers: list[int]) -> list[int]:
        found = []
        for peer in peers:
            if peer == self._skip or peer == self._table.own_id:
                continue
            position = self._positions.get(peer)
            if position is None:
                position = self._positions[peer] = len(self.contacts)
                self.contacts.append(self._table[peer][:3])
            found.append(position)
        return found
