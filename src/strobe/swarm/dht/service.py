"""What a peer answers: it looks up what it holds and knows, and believes nothing of what it is told.

Plain functions from a request's bytes to an answer's bytes, on the peer's table and storage. A request that is no
request is refused in words; it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from strobe.swarm.dht.id import number
from strobe.swarm.dht.peers import Peers
from strobe.swarm.dht.protocol import (
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
from strobe.swarm.dht.storage import Entry, Record, Storage, entries
from strobe.swarm.dht.validator import RawRecord, RecordValidator
from strobe.swarm.net.network import Caller, Payload, PeerRefused

_MAX_ANSWER_BYTES: Final = 1 << 20
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
        #: when each record that we hold was last stored, by whomever
        self.touched: dict[bytes, float] = {}
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
        size = 0
        agreements = request.agreements or [NO_AGREEMENT] * len(request.keys)
        if len(agreements) != len(request.keys):
            raise PeerRefused(f"{len(agreements)} agreements for {len(request.keys)} keys")
        for key, agreed in zip(request.keys, agreements, strict=True):
            record = self.held(key, now)
            if record is not None:
                records.append(wire_entries(record))
                size += sum(len(subkey) + len(value) + 16 for subkey, value, _ in records[-1])
            else:
                records.append([])
            if record is None or request.is_latest:
                known = self._peers.responsible(number(key), request.count, now)
                nearest.append([] if agreement(known) == agreed else names.positions(known))
            else:
                nearest.append([])
            if size > _MAX_ANSWER_BYTES:
                break
        return encode(Found(records, nearest, names.contacts))

    def store(self, caller: Caller, payload: Payload) -> bytes:
        """Answer a Store."""
        request, now = opened(Store, payload), self._clock()
        if request.since:
            self._peers.heard(caller.contact, now, request.since)
        self.num_stores += 1
        names: _Names | None = None
        outcomes = bytearray()
        nearest: dict[int, list[int]] = {}
        own, num_replicas = self._peers.table.own_id, self._num_replicas
        for position, item in enumerate(request.items):
            if request.is_cache:
                self._put(self._cache, item, now, outcomes)
                continue
            target = int.from_bytes(item.key, "big")
            responsible = self._peers.responsible(target, num_replicas, now)
            is_near = own in responsible or self._is_near(target, now)
            self._put(self._storage if is_near else self._cache, item, now, outcomes)
            if agreement(responsible) != item.agreement:
                names = names or _Names(self._peers, skip=number(caller.id))
                nearest[position] = names.positions(responsible)
        return encode(Stored(bytes(outcomes), nearest, names.contacts if names is not None else []))

    def held(self, key: bytes, now: float) -> Record | None:
        """Return the record, or a copy in the cache that outlives it."""
        record = self._storage.get(key, now)
        if len(self._cache):
            copy = self._cache.get(key, now)
            if copy is not None and (record is None or copy.expires > record.expires):
                return copy
        return record

    def put(self, key: bytes, entry: Entry, subkey: bytes, now: float) -> int:
        """Hold an entry of our own; return its outcome."""
        outcomes = bytearray()
        self._put(self._storage, StoreItem(key, NO_AGREEMENT, [(subkey, *entry)]), now, outcomes)
        return outcomes[0]

    def _put(self, storage: Storage, item: StoreItem, now: float, outcomes: bytearray) -> None:
        key, validator = item.key, self.validator
        for subkey, value, expires in item.entries:
            if validator is not None and not validator.validate(RawRecord(key, subkey, value, expires)):
                outcomes.append(REFUSED)
            elif storage.put(key, value, expires, now, subkey):
                outcomes.append(STORED)
            else:
                outcomes.append(_is_held(storage, key, Entry(value, expires), subkey, now))
        if storage is self._storage and key in storage:
            self.touched[key] = now

    def _is_near(self, target: int, now: float) -> bool:
        """Whether we are near enough to a key to hold it; what is sent to us all the same is only cached."""
        return self._peers.table.own_id in self._peers.responsible(target, 2 * self._num_replicas, now)


def opened(kind: type[_Request], payload: Payload) -> _Request:
    """Return a request; PeerRefused if it is none."""
    try:
        return decode(kind, payload)
    except Malformed as exc:
        raise PeerRefused(str(exc)) from exc


def _is_held(storage: Storage, key: bytes, entry: Entry, subkey: bytes, now: float) -> int:
    """Return SAME if a store was refused because this very entry is there, else REFUSED."""
    held = storage.get(key, now)
    if isinstance(held, Entry):
        return SAME if not subkey and held == entry else REFUSED
    return SAME if held is not None and held.entries.get(subkey) == entry else REFUSED


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
