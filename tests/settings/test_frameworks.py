"""The real libraries whose objects people give as a config."""

from __future__ import annotations

from typing import Any

import pytest

from strobe.settings.fields import fields_of
from strobe.settings.plain import plain

pytestmark = pytest.mark.frameworks


def test_omegaconf() -> None:
    omegaconf = pytest.importorskip("omegaconf")
    node = omegaconf.OmegaConf.create({"a": {"b": 1, "c": "${a.b}"}, "l": [1, {"x": 2}]})
    assert plain(node) == {"a": {"b": 1, "c": 1}, "l": [1, {"x": 2}]}
    assert plain({"part": node.l}) == {"part": [1, {"x": 2}]}
    assert plain(omegaconf.OmegaConf.create({"a": "${nowhere}", "m": "???"})) == {"a": "${nowhere}", "m": "???"}


def test_absl_flags() -> None:
    flags: Any = pytest.importorskip("absl.flags")
    values = flags.FlagValues()
    flags.DEFINE_float("lr", 0.1, "Learning rate.", flag_values=values)
    values(["program", "--lr=0.5"])
    assert fields_of(values) == {"lr": 0.5}


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    value = {"t": torch.tensor([1, 2]), "s": torch.tensor(0.5), "d": torch.float32, "v": torch.device("cpu")}
    assert plain(value) == {"t": [1, 2], "s": 0.5, "d": "torch.float32", "v": "cpu"}


def test_jax() -> None:
    numpy = pytest.importorskip("jax.numpy")
    assert plain({"a": numpy.array([1, 2]), "s": numpy.float32(0.5)}) == {"a": [1, 2], "s": 0.5}
