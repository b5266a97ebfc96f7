"""What each compression changes stays within what its documentation says."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.errors import UsageError
from strobe.swarm.tensors import COMPRESSIONS, MalformedTensors, NotFinite, decode, encode, is_finite
from strobe.swarm.tensors.compression import codec

pytestmark = pytest.mark.frameworks

#: what float32 arithmetic adds, relative to the greatest value
ROUNDING = 2.0**-21
EIGHT_BIT = ["uniform8", "quantile8", "blockwise8"]


def there_and_back(tensor: torch.Tensor, compression: str) -> torch.Tensor:
    return decode(bytearray(encode({"x": tensor}, compression=compression).joined())).tensors()["x"]


def bound_of(tensor: torch.Tensor, compression: str) -> torch.Tensor:
    """Return the greatest error that the documentation allows, for each value."""
    x = tensor.double()
    if compression == "fp16":
        return torch.maximum(x.abs() * 2.0**-11, torch.tensor(2.0**-25, dtype=torch.float64))
    if compression == "bf16":
        return torch.maximum(x.abs() * 2.0**-8, torch.tensor(2.0**-134, dtype=torch.float64))
    rounding = x.abs().max() * ROUNDING
    if compression == "uniform8":
        return ((x.max() - x.min()) / 510 + rounding).expand_as(x)
    if compression == "quantile8":
        levels = codec("quantile8").compress(tensor)["levels"].double()
        return (levels.diff().max() / 2 + rounding).expand_as(x)
    bounds = torch.empty_like(x).view(-1)
    for block, bound in zip(x.reshape(-1).split(4096), bounds.split(4096), strict=True):
        bound.fill_(block.abs().max() * (1 / 254 + ROUNDING))
    return bounds.view(x.shape)


@pytest.mark.parametrize("compression", [name for name in COMPRESSIONS if name != "none"])
@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    shape=st.lists(st.integers(1, 30), min_size=0, max_size=3),
    scale=st.sampled_from([1e-30, 1e-3, 1.0, 1e4]),
    shift=st.sampled_from([0.0, 1.0, -1000.0]),
    power=st.sampled_from([1, 3]),
)
def test_error_is_within_the_stated_bound(
    compression: str, seed: int, shape: list[int], scale: float, shift: float, power: int
) -> None:
    torch.manual_seed(seed)
    tensor = (torch.randn(shape) ** power * scale + shift).clamp(-60000, 60000)
    restored = there_and_back(tensor, compression)
    assert restored.shape == tensor.shape
    assert restored.dtype == tensor.dtype
    error = (restored.double() - tensor.double()).abs()
    assert bool((error <= bound_of(tensor, compression)).all()), (error.max(), bound_of(tensor, compression).max())


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_dtype_and_constant_values_survive(compression: str, dtype: torch.dtype) -> None:
    for value in (0.0, 1.0, -2.5):
        tensor = torch.full((5000,), value, dtype=dtype)
        restored = there_and_back(tensor, compression)
        assert restored.dtype == dtype
        assert torch.allclose(restored.float(), tensor.float(), rtol=2**-7)


def test_eight_bits_are_a_quarter_of_the_bytes() -> None:
    tensor = torch.randn(100_000)
    for compression in EIGHT_BIT:
        assert len(encode({"x": tensor}, compression=compression)) < 102_500
    for compression in ("fp16", "bf16"):
        assert len(encode({"x": tensor}, compression=compression)) < 201_000


def test_quantiles_beat_even_steps_where_tails_are_heavy() -> None:
    torch.manual_seed(0)
    tensor = torch.randn(200_000) ** 3
    even, quantile = ((there_and_back(tensor, name) - tensor).abs().median() for name in ("uniform8", "quantile8"))
    assert quantile < even / 4


def test_whole_numbers_are_never_compressed() -> None:
    tensor = torch.arange(1000)
    for compression in COMPRESSIONS:
        assert torch.equal(there_and_back(tensor, compression), tensor)


@pytest.mark.parametrize("compression", EIGHT_BIT)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_has_no_level_is_refused(compression: str, value: float) -> None:
    with pytest.raises(NotFinite):
        encode({"x": torch.tensor([1.0, value])}, compression=compression)


def test_half_precision_clamps_and_keeps_nan() -> None:
    restored = there_and_back(torch.tensor([1e9, -1e9, math.nan]), "fp16")
    assert restored[:2].tolist() == [65504.0, -65504.0]
    assert restored[2].isnan()


@pytest.mark.parametrize("compression", ["none", "fp16", "bf16"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_arrives_as_such_and_can_be_refused(compression: str, value: float) -> None:
    payload = encode({"x": torch.tensor([1.0, value, -2.0])}, compression=compression).joined()
    restored = decode(payload).tensors()["x"]
    assert torch.equal(restored[[0, 2]], torch.tensor([1.0, -2.0]))
    assert math.isnan(restored[1]) if math.isnan(value) else restored[1] == value
    with pytest.raises(NotFinite):
        decode(payload).tensors(finite=True)


@pytest.mark.parametrize("compression", EIGHT_BIT)
def test_tables_of_a_stranger_are_checked(compression: str) -> None:
    parts = codec(compression).compress(torch.randn(5000))
    name = next(part for part in parts if part)
    for table in (parts[name][:1], torch.full_like(parts[name], math.nan), parts[name].double()):
        with pytest.raises(MalformedTensors):
            codec(compression).restore({**parts, name: table}, torch.float32)


def test_finite_is_told_even_when_the_sum_is_not() -> None:
    assert is_finite(torch.full((4,), 3e38))
    assert is_finite(torch.tensor([1, 2]))
    assert not is_finite(torch.tensor([1.0, math.inf, -math.inf]))
    assert not is_finite(torch.tensor([math.nan]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("length", [1, 1000, 8192, 8193])
def test_one_value_that_is_not_finite_is_found_wherever_it_stands(length: int, dtype: torch.dtype) -> None:
    greatest = torch.full((length,), torch.finfo(dtype).max, dtype=dtype)
    assert is_finite(greatest)
    for place in {0, length // 2, length - 1}:
        for value in (math.nan, math.inf, -math.inf):
            tensor = greatest.clone()
            tensor[place] = value
            assert not is_finite(tensor)
            payload = encode({"x": tensor}).joined()
            assert len(decode(payload).tensors()["x"]) == length
            with pytest.raises(NotFinite, match="x has NaN or infinite values"):
                decode(payload).tensors(finite=True)
    assert decode(encode({"x": greatest}).joined()).tensors(finite=True)["x"].equal(greatest)


def test_unknown_compression_is_named() -> None:
    with pytest.raises(UsageError, match="zip"):
        encode({"x": torch.zeros(1)}, compression="zip")
