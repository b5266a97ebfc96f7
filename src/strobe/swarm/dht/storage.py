"""What one peer holds: records that expire, where the newest expiration wins.

The rules are hivemind's. A record is a plain value or a dictionary of subkeys, each with an absolute expiration.
A store is accepted only with an expiration strictly later than what it replaces; a plain value replaces a dictionary
only if it outlives all of it, and the other way round. A refused store changes nothing at all: not the value, not when
it expires.

Expirations are in one heap whose entries are believed only if they still describe the record. Memory is bounded: when
it is full, what expires soonest goes first, and a store that would itself be the first to go is refused.

No clock and no I/O here: the caller says what time it is.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

#: what an entry costs beside its bytes: objects, table slots and its place in the heap
_OVERHEAD: Final = 200
_MIN_HEAP: Final = 64

#: the subkey of a plain value: no packed subkey is empty
PLAIN: Final = b""


class Entry(NamedTuple):
    """A packed value and when it expires."""

    value: bytes
    expires: float


class Dictionary:
    """The subkeys of one key. Read it; only the Storage that holds it writes."""

    __slots__ = ("entries", "expires", "size_bytes")

    def __init__(self) -> None:
        self.entries: dict[bytes, Entry] = {}
        self.expires = -math.inf
        self.size_bytes = 0


Record: TypeAlias = "Entry | Dictionary"


class Storage:
    """Records by place."""

    def __init__(self, *, max_bytes: int = 1 << 30, max_record_bytes: int = 1 << 20) -> None:
        self._records: dict[bytes, Record] = {}
        self._heap: list[tuple[float, bytes, bytes]] = []
        self._num_entries = 0
        self._max_bytes = max_bytes
        self._max_record_bytes = max_record_bytes
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, key: bytes) -> bool:
        return key in self._records

    @property
    def num_entries(self) -> int:
        """Plain values and subkeys, together."""
        return self._num_entries

    def get(self, key: bytes, now: float) -> Record | None:
        """Return what is held for `key` and has not expired."""
        if self._heap and self._heap[0][0] < now:
            self.expire(now)
        return self._records.get(key)

    def items(self, now: float) -> Iterator[tuple[bytes, Record]]:
        """Yield what was held when the first pair was asked for, and is still there when its turn comes."""
        self.expire(now)
        for key in list(self._records):
            if (record := self._records.get(key)) is not None:
                yield key, record

    def put(self, key: bytes, value: bytes, expires: float, now: float, subkey: bytes = PLAIN) -> bool:
        """Store a plain value, or one subkey of a dictionary; return whether it was accepted."""
        if not expires >= now:  # also refuses NaN
            return False
        heap = self._heap
        if heap and heap[0][0] < now:
            self.expire(now)
        held = self._records.get(key)
        cost = _OVERHEAD + len(key) + len(value) + len(subkey)
        if not subkey:
            if (held is not None and expires <= held.expires) or cost > self._max_record_bytes:
                return False
            if held is not None:
                self._drop(key)
            self._records[key] = Entry(value, expires)
            self._num_entries += 1
            self.size_bytes += cost
        elif not self._put_subkey(key, held, subkey, Entry(value, expires), cost):
            return False
        heapq.heappush(heap, (expires, key, subkey))
        if len(heap) > 2 * self._num_entries + _MIN_HEAP:
            self._rebuild_heap()
        return self.size_bytes <= self._max_bytes or self._shrink(key, subkey, expires)

    def put_record(self, key: bytes, record: Record, now: float) -> bool:
        """Store a plain value, or merge a dictionary subkey by subkey; return whether anything was accepted."""
        if isinstance(record, Entry):
            return self.put(key, record.value, record.expires, now)
        accepted = [self.put(key, entry.value, entry.expires, now, subkey) for subkey, entry in record.entries.items()]
        return any(accepted)

    def remove(self, key: bytes) -> None:
        """Forget `key`, if it is held."""
        if key in self._records:
            self._drop(key)

    def expire(self, now: float) -> None:
        """Forget all that has expired."""
        heap = self._heap
        while heap and heap[0][0] < now:
            self._forget(*heapq.heappop(heap))

    def _put_subkey(self, key: bytes, held: Record | None, subkey: bytes, entry: Entry, cost: int) -> bool:
        if isinstance(held, Entry):
            if entry.expires <= held.expires or cost > self._max_record_bytes:
                return False
            self._drop(key)
            held = None
        if held is None:
            if cost > self._max_record_bytes:
                return False
            held = self._records[key] = Dictionary()
        former = held.entries.get(subkey)
        if former is not None:
            if entry.expires <= former.expires:
                return False
            cost -= _cost(key, former.value, subkey)
        if held.size_bytes + cost > self._max_record_bytes:
            return False
        self._num_entries += former is None
        held.entries[subkey] = entry
        held.expires = max(held.expires, entry.expires)
        held.size_bytes += cost
        self.size_bytes += cost
        return True

    def _shrink(self, key: bytes, subkey: bytes, expires: float) -> bool:
        """Evict until there is room; return whether the entry just stored is still there."""
        kept = True
        while self.size_bytes > self._max_bytes:
            oldest = heapq.heappop(self._heap)
            self._forget(*oldest)
            kept = kept and oldest != (expires, key, subkey)
        return kept

    def _forget(self, expires: float, key: bytes, subkey: bytes) -> None:
        """Drop the entry that this place of the heap stands for, unless it was replaced since."""
        held = self._records.get(key)
        if held is None:
            return
        if isinstance(held, Entry):
            if not subkey and held.expires == expires:
                self._drop(key)
        elif (entry := held.entries.get(subkey)) is not None and entry.expires == expires:
            if len(held.entries) == 1:
                self._drop(key)
                return
            del held.entries[subkey]
            cost = _cost(key, entry.value, subkey)
            held.size_bytes -= cost
            self.size_bytes -= cost
            self._num_entries -= 1

    def _drop(self, key: bytes) -> None:
        held = self._records.pop(key)
        if isinstance(held, Entry):
            self.size_bytes -= _cost(key, held.value, PLAIN)
            self._num_entries -= 1
        else:
            self.size_bytes -= held.size_bytes
            self._num_entries -= len(held.entries)

    def _rebuild_heap(self) -> None:
        self._heap = [
            (entry.expires, key, subkey) for key, record in self._records.items() for subkey, entry in entries(record)
        ]
        heapq.heapify(self._heap)


def entries(record: Record) -> Iterator[tuple[bytes, Entry]]:
    """Yield (subkey, entry) of a record; the one entry of a plain value has the subkey PLAIN."""
    if isinstance(record, Entry):
        yield PLAIN, record
    else:
        yield from record.entries.items()


def _cost(key: bytes, value: bytes, subkey: bytes) -> int:
    return _OVERHEAD + len(key) + len(value) + len(subkey)
