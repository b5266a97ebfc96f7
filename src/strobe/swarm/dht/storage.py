"""What one peer holds: records that expire, where the newest expiration wins.

The rules are hivemind's. A record is a plain value or a dictionary of subkeys, each with an absolute expiration.
A store is accepted only with an expiration strictly later than what it replaces; a plain value replaces a dictionary
only if it outlives all of it, and the other way round. A refused store changes nothing at all: not the value, not when
it expires. Two are our own: nothing lives longer than the rules allow, and subkeys that have an owner outrank plain
values, which are anybody's and neither replace them nor stand in their way.

Memory is bounded, and so is what each source may take of it. When there is too much, whoever has most loses what
expires soonest of it, and a store that would itself be the first to go is refused: nobody is crowded out by others.

No clock and no I/O here: the caller says what time it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from strobe.swarm.dht.share import Due, Share

#: what an entry costs beside its bytes: objects, table slots and its places in the heaps
_OVERHEAD: Final = 200
#: the part of the memory that is freed at a time, so that who has most is not looked for at every store
_ROOM: Final = 1 / 1024

#: the subkey of a plain value: no packed subkey is empty
PLAIN: Final = b""
#: who is answerable for an entry: a peer by its id, or the network that it is in
Source: TypeAlias = bytes | str
#: the source of what this peer stores itself
OURSELVES: Final = b""


class Entry(NamedTuple):
    """A packed value, when it expires, and from whom it came here."""

    value: bytes
    expires: float
    source: Source = OURSELVES


class Dictionary:
    """The subkeys of one key. Read it; only the Storage that holds it writes."""

    __slots__ = ("_expires", "entries", "size_bytes")

    def __init__(self) -> None:
        self.entries: dict[bytes, Entry] = {}
        self.size_bytes = 0
        self._expires: float | None = -math.inf

    @property
    def expires(self) -> float:
        """When the last of it expires."""
        if self._expires is None:
            self._expires = max(entry.expires for entry in self.entries.values())
        return self._expires

    def put(self, subkey: bytes, entry: Entry) -> None:
        self.entries[subkey] = entry
        if self._expires is not None and entry.expires > self._expires:
            self._expires = entry.expires

    def remove(self, subkey: bytes) -> None:
        del self.entries[subkey]
        self._expires = None  # counted again when somebody asks: often many go at a time


Record: TypeAlias = "Entry | Dictionary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What all storages of a peer agree on, those for what it is told as well as those for what it holds."""

    max_record_bytes: int = 1 << 20
    #: how far ahead an expiration may be
    max_lifetime_s: float = math.inf
    #: whether a packed subkey has an owner, who alone can write it
    is_owned: Callable[[bytes], bool] = lambda subkey: False


class Storage:
    """Records by place. `max_share` is the part of `max_bytes` that one source may take, ourselves excepted."""

    def __init__(self, rules: Rules | None = None, *, max_bytes: int = 1 << 30, max_share: float = 1.0) -> None:
        self._rules = rules or Rules()
        self._records: dict[bytes, Record] = {}
        self._all = Share(self._is_current)
        self._shares: dict[Source, Share] = {}
        self._max_bytes = max_bytes
        self._max_share_bytes = max_bytes * max_share
        #: when each record was last stored by whomever, as far as somebody noted it
        self.touched: dict[bytes, float] = {}

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, key: bytes) -> bool:
        return key in self._records

    @property
    def num_entries(self) -> int:
        """Plain values and subkeys, together."""
        return self._all.num_entries

    @property
    def size_bytes(self) -> int:
        return self._all.size_bytes

    def get(self, key: bytes, now: float) -> Record | None:
        """Return what is held for `key` and has not expired."""
        if (heap := self._all.heap) and heap[0][0] < now:
            self.expire(now)
        return self._records.get(key)

    def items(self, now: float) -> Iterator[tuple[bytes, Record]]:
        """Yield what was held when the first pair was asked for, and is still there when its turn comes."""
        self.expire(now)
        for key in list(self._records):
            if (record := self._records.get(key)) is not None:
                yield key, record

    def put(
        self, key: bytes, value: bytes, expires: float, now: float, subkey: bytes = PLAIN, source: Source = OURSELVES
    ) -> bool:
        """Store a plain value, or one subkey of a dictionary; return whether it was accepted."""
        if not now <= expires <= now + self._rules.max_lifetime_s:  # also refuses NaN
            return False
        if (heap := self._all.heap) and heap[0][0] < now:
            self.expire(now)
        entry, cost = Entry(value, expires, source), cost_of(value, subkey)
        if not (self._put_subkey(key, subkey, entry, cost) if subkey else self._put_plain(key, entry, cost)):
            return False
        due = (expires, key, subkey)
        share = self._shares.get(source)
        if share is None:
            share = self._shares[source] = Share(self._is_current)
        self._all.add(due, cost)
        share.add(due, cost)
        if self._all.size_bytes > self._max_bytes or (share.size_bytes > self._max_share_bytes and source != OURSELVES):
            self._make_room(source)
            return self._is_current(due)
        return True

    def put_record(self, key: bytes, record: Record, now: float) -> bool:
        """Store a plain value, or merge a dictionary subkey by subkey; return whether anything was accepted."""
        accepted = [
            self.put(key, value, expires, now, subkey, source) for subkey, (value, expires, source) in entries(record)
        ]
        return any(accepted)

    def touch(self, key: bytes, now: float) -> None:
        """Note that a record was stored anew, if it is held."""
        if key in self._records:
            self.touched[key] = now

    def remove(self, key: bytes) -> None:
        """Forget `key`, if it is held."""
        if key in self._records:
            self._drop(key)

    def expire(self, now: float) -> None:
        """Forget all that has expired."""
        while self._all.heap and self._all.heap[0][0] < now:
            self._forget(self._all.pop())

    def _put_plain(self, key: bytes, entry: Entry, cost: int) -> bool:
        if cost > self._rules.max_record_bytes:
            return False
        if (held := self._records.get(key)) is not None:
            if entry.expires <= held.expires or self._has_owner(held):
                return False
            self._drop(key)
        self._records[key] = entry
        return True

    def _put_subkey(self, key: bytes, subkey: bytes, entry: Entry, cost: int) -> bool:
        held = self._records.get(key)
        if isinstance(held, Entry) and entry.expires <= held.expires and not self._rules.is_owned(subkey):
            return False
        size, former = cost, None
        if isinstance(held, Dictionary):
            size += held.size_bytes
            if (former := held.entries.get(subkey)) is not None:
                if entry.expires <= former.expires:
                    return False
                size -= cost_of(former.value, subkey)
        if size > self._rules.max_record_bytes:
            return False
        if isinstance(held, Entry):
            self._drop(key)
        if not isinstance(held, Dictionary):
            held = self._records[key] = Dictionary()
        if former is not None:
            self._strike_out(subkey, former)
        held.put(subkey, entry)
        held.size_bytes = size
        return True

    def _has_owner(self, record: Record) -> bool:
        return isinstance(record, Dictionary) and any(map(self._rules.is_owned, record.entries))

    def _make_room(self, source: Source) -> None:
        """Evict until neither this source has too much nor all together."""
        share = self._shares[source]
        while source != OURSELVES and share.size_bytes > self._max_share_bytes:
            self._forget(share.pop(), source)
        if self._all.size_bytes > self._max_bytes:
            enough = self._max_bytes * (1 - _ROOM)
            while self._all.size_bytes > enough:
                largest = max(self._shares, key=lambda each: self._shares[each].size_bytes)
                share = self._shares[largest]
                while share.num_entries and self._all.size_bytes > enough:
                    self._forget(share.pop(), largest)

    def _is_current(self, due: Due) -> bool:
        return self._entry(due) is not None

    def _entry(self, due: Due) -> Entry | None:
        """Return the entry that a place in a heap stands for, unless it was replaced since."""
        expires, key, subkey = due
        entry = entry_of(self._records.get(key), subkey)
        return entry if entry is not None and entry.expires == expires else None

    def _forget(self, due: Due, source: Source | None = None) -> None:
        """Drop the entry that a place in a heap stands for, if it is there still, and of that source if one is said."""
        entry = self._entry(due)
        if entry is None or (source is not None and entry.source != source):
            return
        _, key, subkey = due
        held = self._records[key]
        if isinstance(held, Entry) or len(held.entries) == 1:
            self._drop(key)
        else:
            held.remove(subkey)
            held.size_bytes -= cost_of(entry.value, subkey)
            self._strike_out(subkey, entry)

    def _drop(self, key: bytes) -> None:
        self.touched.pop(key, None)
        for subkey, entry in entries(self._records.pop(key)):
            self._strike_out(subkey, entry)

    def _strike_out(self, subkey: bytes, entry: Entry) -> None:
        cost, share = cost_of(entry.value, subkey), self._shares[entry.source]
        self._all.subtract(cost)
        share.subtract(cost)
        if not share.num_entries:
            del self._shares[entry.source]


def merge(key: bytes, records: Iterable[Record], now: float, rules: Rules) -> Record | None:
    """Return what a peer would hold to which all of these were stored."""
    both = Storage(rules)
    for record in records:
        both.put_record(key, record, now)
    return both.get(key, now)


def entry_of(record: Record | None, subkey: bytes) -> Entry | None:
    """Return one entry of a record, if it is there."""
    if isinstance(record, Dictionary):
        return record.entries.get(subkey)
    return None if subkey else record


def entries(record: Record) -> Iterator[tuple[bytes, Entry]]:
    """Yield (subkey, entry) of a record; the one entry of a plain value has the subkey PLAIN."""
    if isinstance(record, Entry):
        yield PLAIN, record
    else:
        yield from record.entries.items()


def cost_of(value: bytes, subkey: bytes) -> int:
    """Return what an entry counts against all limits in bytes: of a record, of a peer, and of a message."""
    return _OVERHEAD + len(value) + len(subkey)
