"""Signatures, schemas, and both together in a swarm with a liar."""

from __future__ import annotations

import pickle
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import UsageError
from strobe.swarm.dht.id import place_of
from strobe.swarm.dht.schema import SchemaValidator, Subkeys
from strobe.swarm.dht.signature import SignatureValidator
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.dht.storage import Entry
from strobe.swarm.dht.validator import CompositeValidator, RawRecord
from strobe.swarm.dht.value import pack
from strobe.swarm.net.identity import Identity
from tests.swarm.dht.swarms import Swarm

_ALICE, _MALLORY = Identity(b"a" * 32), Identity(b"m" * 32)


def _record(value: Any, subkey: Any = None, key: Any = "k", expires: float = 5.0) -> RawRecord:
    return RawRecord(place_of(key), b"" if subkey is None else pack(subkey), pack(value), expires)


def _signed(validator: SignatureValidator | CompositeValidator, record: RawRecord) -> RawRecord:
    return record._replace(value=validator.sign_value(record))


def test_only_the_owner_signs_and_everything_signed_is_bound() -> None:
    alice, mallory = SignatureValidator(_ALICE), SignatureValidator(_MALLORY)
    plain = _record(1, "s" + alice.mark)
    signed = _signed(alice, plain)
    assert mallory.validate(signed)
    assert mallory.strip_value(signed) == plain.value
    assert not mallory.validate(plain)
    assert not mallory.validate(_signed(mallory, plain))
    assert not mallory.validate(signed._replace(expires=6.0))
    assert not mallory.validate(signed._replace(key=place_of("other")))
    assert not mallory.validate(signed._replace(subkey=pack("t" + alice.mark)))
    assert not mallory.validate(signed._replace(value=pack(2) + signed.value[1:]))
    assert not mallory.validate(_signed(alice, _record(1, alice.mark + mallory.mark))), "one owner only"
    assert mallory.validate(_record(1, "anybody's"))
    assert mallory.strip_value(_record(1, "anybody's")) == pack(1)


@given(st.binary(max_size=120), st.binary(max_size=120), st.floats())
def test_no_bytes_make_a_validator_raise(subkey: bytes, value: bytes, expires: float) -> None:
    both = CompositeValidator([SignatureValidator(_ALICE), SchemaValidator({"k": int, "d": dict[str, int]})])
    for key in ("k", "d"):
        assert both.validate(RawRecord(place_of(key), subkey, value, expires)) in (True, False)
    marked = subkey + SignatureValidator(_ALICE).mark.encode()
    assert not both.validate(RawRecord(place_of("x"), marked, value, expires))


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (int, 1, "1"),
        (list[float], [1.0, 2.5], ["x"]),
        (str | None, None, 3),
        (lambda value: value > 3, 4, "not a number"),
        (lambda value: value > 3, 4, 3),
    ],
)
def test_a_schema_knows_right_from_wrong(rule: Any, good: Any, bad: Any) -> None:
    schema = SchemaValidator({"k": rule})
    assert schema.validate(_record(good))
    assert not schema.validate(_record(bad))
    assert not schema.validate(_record(good, "subkey")), "it is a plain value"
    assert schema.validate(_record(bad, key="other"))
    assert not SchemaValidator({"k": rule}, allow_extra_keys=False).validate(_record(good, key="other"))


class _Picky(msgspec.Struct):
    number: int

    def __post_init__(self) -> None:
        assert self.number > 3


def _asserts(value: Any) -> bool:
    assert value["number"] > 3
    return True


def _raises(value: Any) -> bool:
    if value["number"] <= 3:
        raise RuntimeError("on purpose")
    return True


def _recurses(value: Any) -> bool:
    return value["number"] > 3 or _recurses(value)


@pytest.mark.parametrize("rule", [_Picky, _asserts, _raises, _recurses])
def test_a_rule_that_stumbles_over_a_value_refuses_it(rule: Any) -> None:
    schema = SchemaValidator({"k": rule})
    assert schema.validate(_record({"number": 4}))
    assert not schema.validate(_record({"number": 3}))
    assert schema.merge_with(SchemaValidator({"k": dict[str, int], "d": Subkeys(rule, int)}))
    assert schema.merge_with(SchemaValidator({"k": Any}))
    assert schema.validate(_record({"number": 3})), "another rule says that it is right"


@pytest.mark.parametrize("rule", [5, "int", Subkeys(str, 5)])
def test_a_rule_that_is_neither_type_nor_function_is_told(rule: Any) -> None:
    with pytest.raises(UsageError, match=r"neither a type .* nor a function"):
        SchemaValidator({"k": rule})


def test_schemas_of_subkeys_and_merged_schemas() -> None:
    schema = SchemaValidator({"k": dict[str, int]})
    assert schema.validate(_record(1, "s"))
    assert not schema.validate(_record(1))
    assert not schema.validate(_record(1, 5))
    other = SchemaValidator({"k": Subkeys(lambda subkey: subkey == 5, str), "j": bytes})
    assert schema.merge_with(other)
    assert schema.validate(_record("text", 5))
    assert not schema.validate(_record("text", 6))
    assert not schema.validate(_record("text", key="j"))


def _is_even(value: Any) -> bool:
    return bool(value % 2 == 0)


def test_validators_keep_their_rules_when_they_are_pickled() -> None:
    alice = SignatureValidator(_ALICE)
    rules = {"k": int, "u": str | None, "f": _is_even, "d": dict[str, list[float]], "s": Subkeys(_is_even, bytes)}
    both = CompositeValidator([alice, SchemaValidator(rules)])
    again: CompositeValidator = pickle.loads(pickle.dumps(both))
    good = [
        _record(1),
        _record(None, key="u"),
        _record(2, key="f"),
        _record([1.5], "s", key="d"),
        _record(b"", 2, key="s"),
    ]
    bad = [_record("1"), _record(1, key="u"), _record(1, key="f"), _record([1], 1, key="d"), _record(b"", 1, key="s")]
    assert [again.validate(record) for record in good + bad] == [True] * len(good) + [False] * len(bad)
    mine = _record(1, "s" + alice.mark, key="other")
    assert both.validate(_signed(again, mine)), "it has the key too"
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(SchemaValidator({"k": lambda value: True}))


def test_combining_validators_changes_none_of_them() -> None:
    numbers, words = SchemaValidator({"k": int}), SchemaValidator({"k": str, "j": str}, allow_extra_keys=False)
    alice, mallory = SignatureValidator(_ALICE), SignatureValidator(_MALLORY)
    both = CompositeValidator([numbers, alice])
    both.extend([words, mallory])
    assert both.validate(_record(1))
    assert both.validate(_record("text"))
    assert not numbers.validate(_record("text"))
    assert numbers.validate(_record(1, key="j"))
    assert not words.validate(_record(1))
    assert not words.validate(_record(1, key="other"))
    for owner, other in ((alice, mallory), (mallory, alice)):
        mine = _record(1, owner.mark, key="k")
        assert other.sign_value(mine) == mine.value, "the key is its owner's alone"
        assert owner.validate(mine._replace(value=both.sign_value(mine)))


def test_a_swarm_refuses_what_is_not_signed_or_not_of_the_form() -> None:
    def validator(identity: Identity) -> CompositeValidator:
        schema = SchemaValidator({"progress": dict[str, int]})
        return CompositeValidator([SignatureValidator(identity), schema])

    async def main() -> None:
        swarm = Swarm()
        for number in range(8):
            await swarm.add(validator=validator(Identity(bytes([number]) * 32)))
        mine = SignatureValidator(Identity(bytes([3]) * 32)).mark
        now = clock()
        assert await swarm.nodes[3].store("progress", 7, now + 50, subkey="peer" + mine)
        assert not await swarm.nodes[4].store("progress", 8, now + 60, subkey="peer" + mine), "not its owner"
        assert not await swarm.nodes[3].store("progress", "seven", now + 60, subkey="peer" + mine), "not a number"
        liar = await swarm.add()  # without validators: it signs nothing and holds anything
        assert not await liar.store("progress", 9, now + 60, subkey="peer" + mine)
        liar.storage.put(place_of("progress"), pack(9), now + 70, now, pack("peer" + mine))
        got = await swarm.nodes[0].get("progress", latest=True)
        assert got is not None
        assert got.value == {"peer" + mine: (7, now + 50)}
        swarm.check()

    run(main())


def test_rules_can_come_later_and_what_breaks_them_goes() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(3)
        first, second, third = swarm.nodes
        mark = SignatureValidator(_ALICE).mark
        assert await third.store("d", 13, clock() + 600, subkey="m" + mark)  # nobody minds yet
        assert await third.store("d", 1, clock() + 600, subkey="other")
        schema = SchemaValidator({"n": int})
        first.add_validators([SignatureValidator(_ALICE), schema])
        second.add_validators([SignatureValidator(_MALLORY)])
        second.add_validators([schema])
        for node in (first, second):
            record = node.storage.get(place_of("d"), clock())
            assert not isinstance(record, Entry)
            assert record is not None
            assert list(record.entries) == [pack("other")]
        assert await first.store("d", 7, clock() + 700, subkey="m" + mark)
        await third.store("d", 14, clock() + 800, subkey="m" + mark)
        found = await second.get("d", latest=True)
        assert found is not None
        assert {subkey: entry.value for subkey, entry in found.value.items()} == {"other": 1, "m" + mark: 7}
        assert not await first.store("n", "text", clock() + 60)
        swarm.check()

    run(main())
