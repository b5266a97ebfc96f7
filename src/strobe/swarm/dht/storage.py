"""What one peer holds: records that expire, where the newest expiration wins.

The rules are hivemind's. A record is a plain value or a dictionary of subkeys, each with an absolute expiration.
A store is accepted only with an expiration strictly later than what it replaces; a plain value replaces a dictionary
only if it outlives all of it, and the other way round. A refused store changes nothing at all: not the value, not when
it expires. Two are our own: nothing lives longer than the rules allow, and subkeys that have an owner outrank plain
values, which are anybody's and neither replace them nor stand in their way.

Memory is bounded, and so is a record, and what each source may take of them. When there is too much, whoever has most
loses what expires soonest of it, and a store that would itself be the first to go is refused: nobody is crowded out by
others.

No clock and no I/O here: the caller says what time it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappush
from typing import Final, NamedTuple, TypeAlias

from strobe.swarm.dht.crowd import Crowd, Member
from strobe.swarm.dht.protocol import MAX_ENTRIES
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

    __slots__ = ("_expires", "crowd", "entries", "size_bytes")

    def __init__(self) -> None:
        self.entries: dict[bytes, Entry] = {}
        self.size_bytes = 0
        #: who has how much of it; counted from when it is full for the first time
        self.crowd: Crowd | None = None
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
        if self.crowd is not None:
            self.crowd.remove(subkey)


Record: TypeAlias = "Entry | Dictionary"
#: subkeys and entries that a store took the place of
_Gone: TypeAlias = Collection[tuple[bytes, Entry]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What all storages of a peer agree on, those for what it is told as well as those for what it holds."""

    max_record_bytes: int = 1 << 20
    #: of a record; as many as one message carries, so that a record can be passed on as a whole
    max_entries: int = MAX_ENTRIES
    #: how far ahead an expiration may be
    max_lifetime_s: float = math.inf
    #: whether a packed subkey has an owner, who alone can write it
    is_owned: Callable[[bytes], bool] = lambda subkey: False


class Storage:
    """Records by place. `max_share` is the part of `max_bytes` that one source may take, ourselves excepted.

    `is_copy`: others hold these records. Of a dictionary some of which has expired nobody knows without asking whether
    that was stored anew: the rest goes too.
    """

    def __init__(
        self,
        rules: Rules | None = None,
        *,
        max_bytes: int = 1 << 30,
        max_share: float = 1.0,
        is_copy: bool = False,
    ) -> None:
        self._rules = rules or Rules()
        self._is_copy = is_copy
        self._records: dict[bytes, Record] = {}
        self._all: Share[Due] = Share(self._is_current)
        self._shares: dict[Source, Share[Due]] = {}
        self._max_bytes = max_bytes
        self._max_share_bytes = max_bytes * max_share
        #: when each record was last stored as a whole by whomever, as far as somebody noted it
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
        everything = self._all
        if (heap := everything.heap) and heap[0][0] < now:
            self.expire(now)
        entry, cost = Entry(value, expires, source), _OVERHEAD + len(value) + len(subkey)
        gone = self._put_subkey(key, subkey, entry, cost) if subkey else self._put_plain(key, entry, cost)
        if gone is None:
            return False
        due = (expires, key, subkey)
        share = self._shares.get(source)
        if share is None:
            share = self._shares[source] = Share(self._is_current)
        everything.num_entries += 1
        everything.size_bytes += cost
        heappush(heap, due)
        share.num_entries += 1
        share.size_bytes += cost
        heappush(share.heap, due)
        if everything.size_bytes > self._max_bytes or (
            share.size_bytes > self._max_share_bytes and source != OURSELVES
        ):
            self._make_room(source)
            if not self._is_current(due):
                for former, (held, until, whose) in gone:
                    self.put(key, held, until, now, former, whose)
                return False
        return True

    def put_record(self, key: bytes, record: Record, now: float) -> bool:
        """Store a plain value, or merge a dictionary subkey by subkey; return whether anything was accepted."""
        accepted = [
            self.put(key, value, expires, now, subkey, source) for subkey, (value, expires, source) in entries(record)
        ]
        return any(accepted)

    def touch(self, key: bytes, sent: Sequence[tuple[bytes, bytes, float]], now: float) -> None:
        """Note that a record was stored anew, if all of it that is held is among what was sent.

        Else whoever stores one subkey often would have the others die: nobody would keep them alive.
        """
        record = self._records.get(key)
        if record is not None and _is_among(record, sent):
            self.touched[key] = now

    def remove(self, key: bytes) -> None:
        """Forget `key`, if it is held."""
        if key in self._records:
            self._drop(key)

    def expire(self, now: float) -> None:
        """Forget all that has expired."""
        while self._all.heap and self._all.heap[0][0] < now:
            due = self._all.pop()
            if not self._is_copy:
                self._forget(due)
            elif self._is_current(due):
                self._drop(due[1])

    def _put_plain(self, key: bytes, entry: Entry, cost: int) -> _Gone | None:
        """Put a value in; return what went for it, or None if it is refused."""
        if cost > self._rules.max_record_bytes:
            return None
        gone: _Gone = ()
        if (held := self._records.get(key)) is not None:
            if entry.expires <= held.expires or self._has_owner(held):
                return None
            gone = self._drop(key)
        self._records[key] = entry
        return gone

    def _put_subkey(self, key: bytes, subkey: bytes, entry: Entry, cost: int) -> _Gone | None:
        """Put a subkey in; return what went for it, or None if it is refused."""
        held, rules = self._records.get(key), self._rules
        if cost > rules.max_record_bytes or (
            isinstance(held, Entry) and entry.expires <= held.expires and not rules.is_owned(subkey)
        ):
            return None
        gone: _Gone = ()
        if not isinstance(held, Dictionary):
            if held is not None:
                gone = self._drop(key)
            held = self._records[key] = Dictionary()
        former = held.entries.get(subkey)
        size = held.size_bytes + cost
        if former is not None:
            if entry.expires <= former.expires:
                return None
            size -= cost_of(former.value, subkey)
        excess = size - rules.max_record_bytes
        if former is None and len(held.entries) >= rules.max_entries:
            excess = max(excess, 1)  # at least one has to go, whatever its size
        if excess > 0 or held.crowd is not None:
            victims = self._make_room_in(held, subkey, entry, excess)
            if victims is None:
                return None
            gone = [(victim, held.entries[victim]) for victim in victims]
            for victim, struck in gone:
                self._remove(held, victim, struck)
                size -= cost_of(struck.value, victim)
        if former is not None:
            gone = [*gone, (subkey, former)]
            self._strike_out(subkey, former)
        held.put(subkey, entry)
        held.size_bytes = size
        return gone

    def _make_room_in(self, record: Dictionary, subkey: bytes, entry: Entry, excess: int) -> list[bytes] | None:
        """Take a subkey into the books of a record; return which others go for it, or None if it is refused."""
        if record.crowd is None:
            record.crowd = Crowd(self._member(*item) for item in record.entries.items())
        return record.crowd.make_room(self._member(subkey, entry), excess)

    def _member(self, subkey: bytes, entry: Entry) -> Member:
        party = self._rules.is_owned(subkey), entry.source
        return Member(entry.expires, subkey, cost_of(entry.value, subkey), party)

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
            self._remove(held, subkey, entry)

    def _remove(self, held: Dictionary, subkey: bytes, entry: Entry) -> None:
        held.remove(subkey)
        held.size_bytes -= cost_of(entry.value, subkey)
        self._strike_out(subkey, entry)

    def _drop(self, key: bytes) -> _Gone:
        self.touched.pop(key, None)
        dropped = entries(self._records.pop(key))
        for subkey, entry in dropped:
            self._strike_out(subkey, entry)
        return dropped

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


def _is_among(record: Record, sent: Sequence[tuple[bytes, bytes, float]]) -> bool:
    """Whether all entries of a record are among these (subkey, value, expiration)."""
    if isinstance(record, Entry):
        return (PLAIN, record.value, record.expires) in sent
    if len(record.entries) > len(sent):
        return False
    there = {subkey: (value, expires) for subkey, value, expires in sent}
    return all(there.get(subkey) == entry[:2] for subkey, entry in record.entries.items())


def entry_of(record: Record | None, subkey: bytes) -> Entry | None:
    """Return one entry of a record, if it is there."""
    if isinstance(record, Dictionary):
        return record.entries.get(subkey)
    return None if subkey else record


def entries(record: Record) -> Collection[tuple[bytes, Entry]]:
    """Return (subkey, entry) of a record; the one entry of a plain value has the subkey PLAIN."""
    return ((PLAIN, record),) if isinstance(record, Entry) else record.entries.items()


def cost_of(value: bytes, subkey: bytes) -> int:
    """Return what an entry counts against all limits in bytes: of a record, of a peer, and of a message."""
    return _OVERHEAD + len(value) + len(subkey)
