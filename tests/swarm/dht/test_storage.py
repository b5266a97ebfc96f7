"""Storage against a naive model of the same rules, and its limits."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.dht.storage import PLAIN, Dictionary, Entry, Rules, Storage, entries

_KEYS = [b"a" * 20, b"b" * 20]
_SUBKEYS = [PLAIN, b"s", b"t"]


class _Model:
    """The rules as one would say them: everything is looked at each time, nothing is clever."""

    def __init__(self) -> None:
        self.records: dict[bytes, dict[bytes, Entry]] = {}

    def live(self, key: bytes, now: float) -> dict[bytes, Entry]:
        return {subkey: entry for subkey, entry in self.records.get(key, {}).items() if entry.expires >= now}

    def put(self, key: bytes, value: bytes, expires: float, now: float, subkey: bytes) -> bool:
        held = self.live(key, now)
        self.records[key] = held
        if expires < now:
            return False
        latest = max((entry.expires for entry in held.values()), default=float("-inf"))
        if subkey == PLAIN or PLAIN in held:
            if expires <= latest:
                return False
            self.records[key] = {subkey: Entry(value, expires)}
            return True
        if subkey in held and expires <= held[subkey].expires:
            return False
        held[subkey] = Entry(value, expires)
        return True


_puts = st.tuples(
    st.sampled_from(_KEYS), st.sampled_from(_SUBKEYS), st.binary(max_size=3), st.integers(0, 20), st.integers(0, 3)
)


@given(st.lists(_puts, max_size=60))
def test_it_does_what_the_rules_say(puts: list[tuple[bytes, bytes, bytes, int, int]]) -> None:
    storage, model, now = Storage(), _Model(), 0.0
    for key, subkey, value, expires, wait in puts:
        now += wait
        assert storage.put(key, value, expires, now, subkey) == model.put(key, value, expires, now, subkey)
        for each in _KEYS:
            record = storage.get(each, now)
            assert (dict(entries(record)) if record is not None else {}) == model.live(each, now)
    kept = [dict(entries(record)) for _, record in storage.items(now)]
    assert storage.num_entries == sum(map(len, kept))
    storage.expire(1e9)
    assert (len(storage), storage.num_entries, storage.size_bytes) == (0, 0, 0)


def test_a_refused_older_store_does_not_shorten_the_life_of_the_newer() -> None:
    storage = Storage()
    assert storage.put(b"k", b"new", 100, now=0)
    assert not storage.put(b"k", b"old", 10, now=0)
    assert storage.get(b"k", now=50) == Entry(b"new", 100)
    assert storage.put(b"d", b"new", 100, now=0, subkey=b"s")
    assert not storage.put(b"d", b"old", 10, now=0, subkey=b"s")
    held = storage.get(b"d", now=50)
    assert isinstance(held, Dictionary)
    assert held.entries == {b"s": Entry(b"new", 100)}


def test_equal_expirations_and_nan_are_refused_and_infinity_is_not() -> None:
    storage = Storage()
    assert storage.put(b"k", b"1", 10, now=0)
    assert not storage.put(b"k", b"2", 10, now=0)
    assert not storage.put(b"n", b"1", float("nan"), now=0)
    assert storage.put(b"k", b"3", float("inf"), now=0)
    assert storage.get(b"k", now=1e300) == Entry(b"3", float("inf"))


def test_what_expires_soonest_goes_first_when_memory_is_full() -> None:
    storage = Storage(Rules(max_record_bytes=5_000), max_bytes=10_000)
    for number in range(100):
        storage.put(b"%020d" % number, b"x" * 100, 1000 + number, now=0)
        assert storage.size_bytes <= 10_000
    kept = sorted(key for key, _ in storage.items(0))
    assert kept == [b"%020d" % number for number in range(100 - len(kept), 100)]
    assert len(kept) > 20
    assert not storage.put(b"early", b"x" * 100, 5, now=0), "it would be the first to go"
    assert not storage.put(b"large", b"x" * 6_000, 1e9, now=0)
    for number in range(100):
        storage.put(b"dictionary", b"x" * 100, 1e9 + number, now=0, subkey=b"%d" % number)
    held = storage.get(b"dictionary", 0)
    assert isinstance(held, Dictionary)
    assert held.size_bytes <= 5_000


def test_the_heap_stays_small_under_renewals() -> None:
    storage: Any = Storage()
    for number in range(10_000):
        storage.put(b"k%d" % (number % 10), b"v", 1000 + number, now=0)
    assert len(storage._all.heap) < 200


def test_random_use_with_little_memory_keeps_the_books() -> None:
    rng = random.Random(4)
    storage: Any = Storage(max_bytes=20_000)
    for step in range(5000):
        storage.put(
            b"%d" % rng.randrange(50), b"x" * rng.randrange(200), step + rng.random() * 500, step, rng.choice(_SUBKEYS)
        )
        assert storage.size_bytes <= 20_000
    recount = Storage()
    for key, record in storage.items(5000):
        recount.put_record(key, record, 5000)
    assert recount.size_bytes == storage.size_bytes
    assert recount.num_entries == storage.num_entries


def test_whoever_has_most_loses_what_expires_soonest_of_it() -> None:
    storage = Storage(max_bytes=46_000)
    for number in range(30):
        assert storage.put(b"many %d" % number, b"x" * 1000, 1000 + number, now=0, source=b"greedy")
    for number in range(30):
        assert storage.put(b"d", b"x" * 100, 10 + number, now=0, subkey=b"%d" % number, source=b"%d" % number)
    assert not storage.put(b"late", b"x" * 1000, 500, now=0, source=b"greedy"), "of its own the first to go"
    assert storage.put(b"last", b"x" * 10_000, 5, now=0, source=b"modest")
    kept = sorted(int(key[5:]) for key, _ in storage.items(0) if key.startswith(b"many"))
    assert kept == list(range(30 - len(kept), 30))
    held = storage.get(b"d", 0)
    assert isinstance(held, Dictionary)
    assert len(held.entries) == 30
    assert storage.size_bytes <= 46_000


def test_a_dictionary_that_loses_its_latest_subkey_expires_with_what_is_left() -> None:
    storage = Storage(Rules(max_record_bytes=10_000), max_bytes=10_000, max_share=0.5)
    storage.put(b"d", b"x", 100, now=0, subkey=b"honest", source=b"honest")
    storage.put(b"d", b"x" * 4000, 900, now=0, subkey=b"greedy", source=b"greedy")
    assert storage.put(b"k", b"x" * 4000, 1000, now=0, source=b"greedy")
    held = storage.get(b"d", 0)
    assert isinstance(held, Dictionary)
    assert (list(held.entries), held.expires) == ([b"honest"], 100)
    assert storage.put(b"d", b"plain", 101, now=0)
