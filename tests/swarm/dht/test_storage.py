"""Storage against a naive model of the same rules, and its limits."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.dht.protocol import MAX_ENTRIES
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


_RULES = Rules(max_record_bytes=10_000, is_owned=lambda subkey: subkey.startswith(b"owned"))


def _subkeys(storage: Storage, key: bytes = b"d") -> dict[bytes, Entry]:
    record = storage.get(key, 0)
    return {} if record is None else dict(entries(record))


def _fill(storage: Storage, name: str, source: bytes, *, size: int = 290, expires: float = 1e6) -> None:
    for number in range(10_000 // (size + 210) + 2):
        storage.put(b"d", b"x" * size, expires + number, 0, f"{name} {number:02}".encode(), source)


def test_one_who_fills_a_record_shuts_nobody_out_of_it() -> None:
    storage = Storage(_RULES)
    _fill(storage, "junk", b"greedy")
    for number in range(9):
        assert storage.put(b"d", b"x" * 500, 10 + number, 0, b"honest %d" % number, b"honest %d" % number)
    assert sum(subkey.startswith(b"honest") for subkey in _subkeys(storage)) == 9
    junk = [subkey for subkey in _subkeys(storage) if subkey.startswith(b"junk")]
    assert junk == [b"junk %02d" % number for number in range(22 - len(junk), 22)], "the soonest to expire went"
    assert len(junk) > 5, "and no more than necessary"


def test_a_full_record_is_as_it_was_after_a_store_that_it_refuses() -> None:
    storage = Storage(_RULES)
    storage.put(b"d", b"x", 10, 0, b"honest", b"honest")
    storage.put(b"d", b"x" * 2000, 50, 0, b"grows", b"honest")
    _fill(storage, "junk", b"greedy")
    before, size_bytes = _subkeys(storage), storage.size_bytes
    for _ in range(3):
        assert not storage.put(b"d", b"x" * 400, 20, 0, b"junk that expires first", b"greedy")
        assert not storage.put(b"d", b"x" * 9000, 2e6, 0, b"more than all have", b"honest")
        assert not storage.put(b"d", b"x" * 9000, 60, 0, b"grows", b"honest")
        assert not storage.put(b"d", b"x" * 10_000, 2e6, 0, b"larger than a record", b"honest")
        assert (_subkeys(storage), storage.size_bytes) == (before, size_bytes)


def test_what_has_an_owner_is_not_crowded_out_by_many_who_have_little() -> None:
    storage = Storage(_RULES)
    for number in range(50):
        storage.put(b"d", b"", 1e6, 0, b"junk %d" % number, b"sybil %d" % number)
    assert not storage.put(b"d", b"x" * 100, 1e7, 0, b"another", b"another"), "it would have most"
    for number in range(5):
        assert storage.put(b"d", b"x" * 1000, 10, 0, b"owned %d" % number, b"owner %d" % number)
    for number in range(50):
        storage.put(b"d", b"", 1e7, 0, b"more junk %d" % number, b"another sybil %d" % number)
    assert sum(subkey.startswith(b"owned") for subkey in _subkeys(storage)) == 5


def test_one_who_signs_junk_does_not_shut_out_those_who_do_not_sign() -> None:
    storage = Storage(_RULES)
    _fill(storage, "owned junk", b"greedy")
    for number in range(9):
        assert storage.put(b"d", b"", 10, 0, b"honest %d" % number, b"honest %d" % number)
    assert not storage.put(b"d", b"x" * 9500, 2e6, 0, b"owned by one", b"another")
    assert sum(subkey.startswith(b"honest") for subkey in _subkeys(storage)) == 9


def test_random_use_of_full_records_keeps_the_books() -> None:
    rng = random.Random(5)
    storage: Any = Storage(_RULES, max_bytes=40_000, max_share=0.5)
    num_refused = num_crowded_out = 0
    for step in range(20_000):
        now, key = step / 10, b"%d" % rng.randrange(3)
        subkey = b"%s %d" % (rng.choice([b"owned", b"anybody's"]), rng.randrange(60))
        expires = now + rng.random() * 3000
        before = dict(entries(held)) if (held := storage.get(key, now)) is not None else {}
        source = rng.choice([b"a", "b", b"c", b""])
        is_held = storage.put(key, b"x" * rng.randrange(1500), expires, now, subkey, source)
        after = dict(entries(held)) if (held := storage.get(key, now)) is not None else {}
        if is_held:
            assert (after[subkey].expires, after[subkey].source) == (expires, source)
            num_crowded_out += len(before.keys() - after.keys())
        elif storage.size_bytes < 35_000:  # else others may have had to go from memory
            assert after == before
            num_refused += 1
        assert storage.size_bytes <= 40_000
        if held is not None:
            assert held.size_bytes == sum(200 + len(k) + len(entry.value) for k, entry in after.items()) <= 10_000
            if held.crowd is not None:
                assert held.crowd._members.keys() == after.keys()
                assert sum(share.size_bytes for share in held.crowd._shares.values()) == held.size_bytes
                assert sum(share.num_entries for share in held.crowd._shares.values()) == len(after)
                assert len(held.crowd._ranking) < 100
    assert num_refused > 100
    assert num_crowded_out > 100


def test_a_store_that_is_refused_for_room_leaves_what_it_would_have_replaced() -> None:
    for former, later in ((b"", b""), (b"s", b"s"), (b"", b"s"), (b"s", b"")):
        storage = Storage(Rules(max_record_bytes=5_000), max_bytes=10_000)
        assert storage.put(b"k", b"honest", 50, now=0, subkey=former, source=b"honest")
        for number in range(7):
            storage.put(b"many %d" % number, b"x" * 1000, 1000 + number, now=0, source=b"greedy")
        assert not storage.put(b"k", b"x" * 2500, 60, now=0, subkey=later, source=b"greedy"), (
            "of its own the first to go"
        )
        assert _subkeys(storage, b"k") == {former: Entry(b"honest", 50, b"honest")}
        assert storage.size_bytes == sum(
            200 + len(s) + len(e.value) for k, r in storage.items(0) for s, e in entries(r)
        )


def test_a_record_has_no_more_entries_than_one_message_carries() -> None:
    storage = Storage(Rules(max_record_bytes=1 << 22))
    for number in range(MAX_ENTRIES):
        assert storage.put(b"d", b"", 100 + number, 0, b"%d" % number, b"one")
    assert not storage.put(b"d", b"", 50, 0, b"first to go", b"one")
    assert storage.put(b"d", b"", 100.5, 0, b"0", b"one"), "no entry more"
    assert storage.put(b"d", b"", 50, 0, b"another's", b"another")
    held = _subkeys(storage)
    assert len(held) == MAX_ENTRIES
    assert b"another's" in held
    assert b"0" not in held


def test_copies_go_as_a_whole_when_the_first_of_them_expires() -> None:
    for is_copy in (False, True):
        storage = Storage(is_copy=is_copy)
        storage.put(b"d", b"x", 10, 0, b"goes")
        storage.put(b"d", b"x", 100, 0, b"stays")
        storage.put(b"k", b"x", 100, 0)
        storage.put(b"d", b"x", 20, 0, b"goes")
        assert storage.get(b"d", 15) is not None, "what was stored anew has not expired"
        assert (storage.get(b"d", 25) is None) == is_copy
        assert storage.get(b"k", 25) is not None
        assert storage.num_entries == (1 if is_copy else 2)
