from __future__ import annotations

import argparse
import datetime as dt
import enum
import math
import re
import sys
import types
import uuid
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import StrobeWarning, UsageError
from strobe.settings.plain import MAX_DEPTH, MAX_TEXT, plain


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Word(str):
    pass


@dataclass
class Optimizer:
    lr: float = 0.1
    betas: tuple[float, float] = (0.9, 0.99)


@dataclass
class Training:
    optimizer: Optimizer = field(default_factory=Optimizer)
    path: Path = Path("data")


class Pair(msgspec.Struct):
    a: int
    b: list[int]


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (2**200, 2**200),
        ("text", "text"),
        (Word("w"), "w"),
        ("\udcff", "\\udcff"),
        (b"bytes", "bytes"),
        (b"\xff\x00", "ff00"),
        (bytearray(b"ab"), "ab"),
        (Colour.RED, "red"),
        (Level.LOW, 1),
        ((1, 2), [1, 2]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        ({1, "a"}, [1, "a"]),
        (deque([1, 2]), [1, 2]),
        ({"a": 1}.keys(), ["a"]),
        (range(3), [0, 1, 2]),
        (range(10**9), "range(0, 1000000000)"),
        (OrderedDict(a=1), {"a": 1}),
        (types.MappingProxyType({"a": (1,)}), {"a": [1]}),
        ({1: "a", None: "b", 2.5: "c"}, {"1": "a", "None": "b", "2.5": "c"}),
        ({1: "a", "1": "b"}, {"1": "a", "'1'": "b"}),
        (PurePosixPath("/a/b"), "/a/b"),
        (Decimal("0.5"), 0.5),
        (Decimal("3"), 3),
        (Fraction(1, 4), 0.25),
        (1 + 2j, "(1+2j)"),
        (dt.datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.timedelta(seconds=90), "0:01:30"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (re.compile("a+"), "a+"),
        (int, "int"),
        (Optimizer, f"{__name__}.Optimizer"),
        (math.sqrt, "math.sqrt"),
        (Training(), {"optimizer": {"lr": 0.1, "betas": [0.9, 0.99]}, "path": "data"}),
        (Pair(1, [2]), {"a": 1, "b": [2]}),
        (Point(1, 2), {"x": 1, "y": 2}),
        (argparse.Namespace(lr=0.1), {"lr": 0.1}),
        (types.SimpleNamespace(a=(1,)), {"a": [1]}),
        (np.float32(0.5), 0.5),
        (np.float64(0.5), 0.5),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.str_("s"), "s"),
        (np.longdouble(0.5), 0.5),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array(3.0), 3.0),
        (np.datetime64("2026-01-02"), "2026-01-02"),
        (np.dtype("float32"), "float32"),
        (pd.Timestamp("2026-01-02"), "2026-01-02T00:00:00"),
        (pd.Series([1, 2]), [1, 2]),
    ],
)
def test_fate(value: Any, expected: Any) -> None:
    found = plain(value)
    assert found == expected
    assert type(found) is type(expected)


def test_nan_and_infinity_are_kept() -> None:
    found = plain({"a": float("nan"), "b": [float("inf"), np.float32("-inf")]})
    assert math.isnan(found["a"])
    assert found["b"] == [math.inf, -math.inf]


def test_object_is_recorded_as_text_without_its_address_and_warns_once_per_type() -> None:
    class Model:
        pass

    with pytest.warns(StrobeWarning, match=r"config\.model is a .*Model, which has no plain form"):
        found = plain({"model": Model()})
    assert found["model"].endswith("Model object>")
    plain([Model(), Model()])  # a second warning would be an error


def test_object_whose_repr_raises() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    with pytest.warns(StrobeWarning):
        assert plain(Broken()).endswith("Broken>")


def test_long_text_of_an_object_is_cut() -> None:
    class Long:
        def __repr__(self) -> str:
            return "x" * 10_000

    with pytest.warns(StrobeWarning):
        assert len(plain(Long())) == MAX_TEXT


def test_big_array_is_described() -> None:
    with pytest.warns(StrobeWarning):
        assert plain(np.zeros((200, 100), np.float32)) == "<numpy.ndarray 200×100 float32>"
    with pytest.warns(StrobeWarning):
        assert "0" in plain(pd.DataFrame({"a": [0]}))


def test_cycles_are_named() -> None:
    tree: dict[str, Any] = {"a": {}}
    tree["a"]["back"] = tree
    with pytest.raises(UsageError, match=r"config\.a\.back contains itself"):
        plain(tree)
    ring: deque[Any] = deque()
    ring.append(ring)
    with pytest.raises(UsageError, match=r"x\[0\] contains itself"):
        plain(ring, "x")
    looped = argparse.Namespace()
    looped.me = looped
    with pytest.raises(UsageError, match="contains itself"):
        plain(looped)


def test_the_same_object_twice_is_no_cycle() -> None:
    shared = {"a": [1]}
    found = plain([shared, shared])
    assert found == [shared, shared]
    assert found[0] is not shared
    assert found[0] is not found[1]


def test_depth() -> None:
    deep: Any = 1
    for _ in range(MAX_DEPTH):
        deep = [deep]
    assert plain(deep) == deep
    with pytest.raises(UsageError, match="nested deeper than 200"):
        plain([deep])


def test_wide_structure() -> None:
    wide = {f"k{index}": [index] * 10 for index in range(2_000)}
    assert plain(wide) == wide


def test_libraries_by_what_they_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:  # pydantic 2
        model_fields = ("a",)

        def model_dump(self) -> dict[str, Any]:
            return {"a": Path("x")}

    class OldModel:  # pydantic 1
        __fields__ = ("a",)

        def dict(self) -> Any:
            return {"a": 1}

    class Attrs:
        __attrs_attrs__ = (types.SimpleNamespace(name="a"),)
        a = 1

    class Flags:  # absl
        def flag_values_dict(self) -> dict[str, Any]:
            return {"a": 1}

    class HuggingFace:
        def to_dict(self) -> dict[str, Any]:
            return {"a": 1}

    class Choosy:
        def to_dict(self, orient: str) -> dict[str, Any]:
            raise AssertionError

        def __repr__(self) -> str:
            return "choosy"

    assert plain(Model()) == {"a": "x"}
    for value in (OldModel(), Attrs(), Flags(), HuggingFace()):
        assert plain(value) == {"a": 1}
    with pytest.warns(StrobeWarning):
        assert plain(Choosy()) == "choosy"


class _FakeOmegaConf:
    """What OmegaConf offers: to_container resolves interpolations, or fails to."""

    class Node(dict[str, Any]):
        pass

    class Failed(Exception):
        pass

    @classmethod
    def is_config(cls, value: object) -> bool:
        return isinstance(value, cls.Node)

    @classmethod
    def to_container(cls, value: dict[str, Any], *, resolve: bool) -> dict[str, Any]:
        if resolve and "bad" in value:
            raise cls.Failed
        return {**value, "resolved": resolve}


def test_omegaconf_is_asked_only_if_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("omegaconf")
    module.OmegaConf = _FakeOmegaConf  # type: ignore[attr-defined]
    module.errors = types.SimpleNamespace(OmegaConfBaseException=_FakeOmegaConf.Failed)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "omegaconf", module)
    assert plain({"c": _FakeOmegaConf.Node(a=1)}) == {"c": {"a": 1, "resolved": True}}
    assert plain(_FakeOmegaConf.Node(bad=1)) == {"bad": 1, "resolved": False}


def test_media_are_refused() -> None:
    media = type("Table", (), {"__module__": "strobe.data.table"})()
    with pytest.raises(UsageError, match=r"config\.t is a Table, which is no config value; log"):
        plain({"t": media})


_LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text()
_TREES = st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(_TREES)
def test_plain_values_stay_and_fit_into_msgpack(tree: Any) -> None:
    found = plain(tree)
    assert found == tree
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found)) == found
    assert plain(found) == found
