"""States as values: cut into parts, put together again, and refused when they are not what they should be."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from strobe.errors import UsageError
from strobe.swarm.collaborative.state import (
    LEAST_PART_BYTES,
    Assembly,
    Offer,
    Snapshot,
    StateMismatch,
    encode_offer,
    encode_part,
    parse_offer,
    parts_of,
)
from strobe.swarm.collaborative.training import TrainingState
from strobe.swarm.tensors import COMPRESSIONS, TensorSpec, encode

pytestmark = pytest.mark.frameworks


def offer_of(snapshot: Snapshot, part_bytes: int = LEAST_PART_BYTES) -> Offer:
    return Offer(
        token="t",
        epoch=snapshot.epoch,
        part_bytes=part_bytes,
        tensors=snapshot.specs,
        scalars=dict(snapshot.scalars),
    )


def trained(steps: int = 3, seed: int = 0, **more: Any) -> tuple[nn.Module, TrainingState]:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    state = TrainingState(optimizer, **more)
    for number in range(steps):
        train(model, state, number)
    return model, state


def train(model: nn.Module, state: TrainingState, number: int) -> None:
    x = torch.randn(16, 4, generator=torch.Generator().manual_seed(number))
    model.zero_grad()
    model(x).square().mean().backward()
    state.step()


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=4),
        st.builds(
            TensorSpec,
            st.sampled_from(["F32", "F64", "BF16", "U8"]),
            st.lists(st.integers(0, 12), max_size=3).map(tuple),
        ),
        max_size=8,
    ),
    st.integers(8, 512),
)
def test_parts_have_every_element_once_and_are_not_too_large(specs: dict[str, TensorSpec], part_bytes: int) -> None:
    parts = parts_of(specs, part_bytes)
    sizes = {"F32": 4, "F64": 8, "BF16": 2, "U8": 1}
    assert all(
        0 < sum((piece.end - piece.begin) * sizes[specs[piece.name].dtype] for piece in part) <= part_bytes
        for part in parts
    )
    for name, spec in specs.items():
        pieces = [piece for part in parts for piece in part if piece.name == name]
        assert [element for piece in pieces for element in range(piece.begin, piece.end)] == list(
            range(math.prod(spec.shape))
        )
    assert all(len({piece.name for piece in part}) == len(part) for part in parts)


def test_many_small_tensors_are_spread_over_parts() -> None:
    parts = parts_of({str(number): TensorSpec("F32", (1,)) for number in range(2500)}, LEAST_PART_BYTES)
    assert [len(part) for part in parts] == [1024, 1024, 452]


@pytest.mark.parametrize(("compression", "tolerance"), [("none", 0.0), ("fp16", 1e-3), ("blockwise8", 0.05)])
def test_a_state_arrives_as_it_was_sent(compression: str, tolerance: float) -> None:
    tensors = {
        "param.0": torch.randn(300, 200),
        "param.1": torch.randn(7).to(torch.bfloat16),
        "param.2": torch.zeros(0, 3),
        "state.0.step": torch.tensor(3.0),
        "state.0.mask": torch.randint(0, 2, (300, 200)).bool(),
    }
    snapshot = Snapshot(5, tensors, {"state.0.rate": 0.5, "state.0.name": None})
    assembly = Assembly(parse_offer(encode_offer(offer_of(snapshot))))
    assert len(assembly.parts) > 3
    for number in reversed(range(len(assembly.parts))):
        assembly.fill(number, encode_part(snapshot, assembly.parts[number], compression).joined())
    arrived = assembly.snapshot()
    assert (arrived.epoch, arrived.scalars) == (5, snapshot.scalars)
    assert list(arrived.tensors) == list(tensors)
    for name, tensor in tensors.items():
        assert arrived.tensors[name].dtype == tensor.dtype
        torch.testing.assert_close(arrived.tensors[name], tensor, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("compression", [name for name in COMPRESSIONS if name != "none"])
def test_only_parameters_are_compressed(compression: str) -> None:
    rest = {"extra.0": torch.rand(5000) * 1e-8, "state.0.exp_avg_sq": torch.rand(20_000) * 1e-10}
    snapshot = Snapshot(1, {"param.0": torch.randn(20_000), **rest})
    assembly = Assembly(offer_of(snapshot))
    encoded = [encode_part(snapshot, part, compression).joined() for part in assembly.parts]
    for number, payload in enumerate(encoded):
        assembly.fill(number, payload)
    for name, tensor in rest.items():
        torch.testing.assert_close(assembly.snapshot().tensors[name], tensor, rtol=0, atol=0)
    assert len(encoded[0]) < 0.7 * len(encode_part(snapshot, assembly.parts[0], "none").joined())


def test_a_part_that_is_not_the_one_offered_is_refused() -> None:
    snapshot = Snapshot(1, {"param.0": torch.randn(20_000), "param.1": torch.randn(3)})
    assembly = Assembly(offer_of(snapshot))
    good = encode_part(snapshot, assembly.parts[0], "none").joined()
    for wrong, why in [
        (b"", "cannot be read"),
        (good[:-4], "cannot be read"),
        (encode_part(snapshot, assembly.parts[1], "none").joined(), "other tensors"),
        (encode({"param.0": torch.zeros(16384, dtype=torch.float64)}).joined(), "cannot be read|other tensors"),
        (encode({"param.0": torch.full((16384,), torch.nan)}).joined(), "NaN"),
    ]:
        with pytest.raises(StateMismatch, match=why):
            assembly.fill(0, wrong)
    assembly.fill(0, good)


@given(st.binary(max_size=200))
def test_no_bytes_pass_for_an_offer(payload: bytes) -> None:
    with pytest.raises(StateMismatch):
        parse_offer(payload)


@pytest.mark.parametrize(
    "change",
    [
        {"epoch": -1},
        {"part_bytes": 1},
        {"part_bytes": 1 << 40},
        {"token": ""},
        {"tensors": {"a": {"dtype": "F31", "shape": []}}},
        {"tensors": {"a": {"dtype": "F32", "shape": [-1]}}},
        {"tensors": {"": {"dtype": "F32", "shape": []}}},
        {"tensors": {"a": {"dtype": "F32", "shape": [1] * 9}}},
        {"scalars": {"a": [1]}},
        {"more": 1},
    ],
)
def test_an_offer_has_to_make_sense(change: dict[str, Any]) -> None:
    good = msgspec.to_builtins(offer_of(Snapshot(1, {"param.0": torch.zeros(3)})))
    assert parse_offer(msgspec.json.encode(good)).epoch == 1
    with pytest.raises(StateMismatch):
        parse_offer(msgspec.json.encode({**good, **change}))


# -- what is trained


def test_one_who_loads_a_state_goes_on_as_the_other_would() -> None:
    model, state = trained(steps=5)
    state.advance(5)
    other_model, other = trained(steps=0, seed=1)
    other.check(offer_of(state.snapshot()))
    other.load(state.snapshot())
    assert other.epoch == 5
    for number in range(5, 8):
        train(model, state, number)
        train(other_model, other, number)
    for one, two in zip(model.parameters(), other_model.parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=0)


def test_a_snapshot_does_not_change_with_the_state() -> None:
    model, state = trained()
    snapshot = state.snapshot()
    before = {name: tensor.clone() for name, tensor in snapshot.tensors.items()}
    version = state.version
    train(model, state, 9)
    assert state.version != version
    for name, tensor in snapshot.tensors.items():
        torch.testing.assert_close(tensor, before[name], rtol=0, atol=0)


def _changed(snapshot: Snapshot, **tensors: torch.Tensor | None) -> Offer:
    changed = {**snapshot.tensors, **{name.replace("__", "."): tensor for name, tensor in tensors.items()}}
    tensors = {name: tensor for name, tensor in changed.items() if tensor is not None}
    return offer_of(Snapshot(1, tensors, snapshot.scalars))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"param__0": None}, "param.0 is .* here, None is offered"),
        ({"param__0": torch.zeros(3, 3)}, "param.0 is"),
        ({"param__0": torch.zeros(8, 4, dtype=torch.float64)}, "param.0 is"),
        ({"param__9": torch.zeros(1)}, "belongs to nothing"),
        ({"state__4__exp_avg": torch.zeros(1)}, "belongs to nothing"),
        ({"state__00__exp_avg": torch.zeros(1)}, "belongs to nothing"),
        ({"extra__0": torch.zeros(1)}, "belongs to nothing"),
        ({"state__0__exp_avg": torch.zeros(4, 8)}, "state.0.exp_avg is"),
        ({"state__0__new": torch.zeros(33)}, "larger than its parameter"),
        ({f"state__0__new{number}": torch.zeros(1) for number in range(16)}, "more than 16"),
    ],
)
def test_a_state_of_another_training_is_refused(change: dict[str, torch.Tensor], why: str) -> None:
    _, state = trained()
    state.check(_changed(state.snapshot()))
    with pytest.raises(StateMismatch, match=why):
        state.check(_changed(state.snapshot(), **change))


def test_a_state_of_another_optimizer_is_refused() -> None:
    model, state = trained()
    momentum = TrainingState(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    train(model, momentum, 0)
    with pytest.raises(StateMismatch, match="the optimizer is Adam here, 'SGD' there"):
        state.check(offer_of(momentum.snapshot()))


@pytest.mark.parametrize(
    ("tensors", "scalars"),
    [({"momentum_buffer": torch.zeros(8, 4)}, {}), ({"exp_avg": torch.zeros(8, 4)}, {"step": "x"})],
)
def test_a_state_that_cannot_be_loaded_changes_nothing(
    tensors: dict[str, torch.Tensor], scalars: dict[str, str]
) -> None:
    model, state = trained()
    before, other = state.snapshot(), trained(seed=1)[1].snapshot()
    wrong = Snapshot(
        9,
        {
            **{name: tensor for name, tensor in other.tensors.items() if name.startswith("param.")},
            **{f"state.0.{name}": tensor for name, tensor in tensors.items()},
        },
        {f"state.0.{name}": scalar for name, scalar in scalars.items()},
    )
    with pytest.raises(StateMismatch, match="Adam cannot go on"):
        state.load(wrong)
    assert state.epoch == 0
    for name, tensor in state.snapshot().tensors.items():
        torch.testing.assert_close(tensor, before.tensors[name], rtol=0, atol=0)
    train(model, state, 3)


@pytest.mark.parametrize(("name", "tensor"), [("exp_avg", torch.zeros(3)), ("exp_avg", None), ("step", torch.zeros(5))])
def test_an_optimizer_that_cannot_step_with_what_came_begins_anew(
    name: str, tensor: torch.Tensor | None, caplog: pytest.LogCaptureFixture
) -> None:
    model, state = trained(steps=0)
    came = trained()[1].snapshot()
    tensors = {key: value for key, value in came.tensors.items() if key != f"state.0.{name}"}
    if tensor is not None:
        tensors[f"state.0.{name}"] = tensor
    state.load(Snapshot(3, tensors, came.scalars))
    train(model, state, 3)
    assert "nothing that Adam can go on from" in caplog.text
    assert [float(value["step"]) for value in state.optimizer.state.values()] == [1.0] * 4
    state.optimizer.state[state.parameters[0]].pop("exp_avg")
    with pytest.raises(KeyError):  # but who breaks it here is told
        train(model, state, 4)


def test_extra_tensors_and_schedules_come_along() -> None:
    def made(seed: int) -> TrainingState:
        _, state = trained(steps=1, seed=seed, extra_tensors=[torch.full((2,), float(seed))])
        state.scheduler = torch.optim.lr_scheduler.StepLR(state.optimizer, step_size=2, gamma=0.5)
        return state

    state, other = made(0), made(1)
    state.advance(1)
    state.advance(4)
    assert state.optimizer.param_groups[0]["lr"] == pytest.approx(0.0025)
    other.load(state.snapshot())
    assert other.optimizer.param_groups[0]["lr"] == pytest.approx(0.0025)
    assert other.extra_tensors[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("value", [-math.inf, math.nan])
def test_extra_tensors_without_an_average_are_refused_at_once(value: float) -> None:
    mask = torch.zeros(3, 3).masked_fill(torch.ones(3, 3).triu(1).bool(), value)
    with pytest.raises(UsageError, match=r"extra_tensors\[1\] has NaN or infinite values"):
        trained(extra_tensors=[torch.zeros(2, dtype=torch.int64), mask])


def test_counts_of_steps_are_not_averaged() -> None:
    _, state = trained()
    assert all(tensor.ndim > 0 for tensor in state.averageable())
    assert len(state.averageable()) == 3 * len(state.parameters)
    state.replace([tensor + 1 for tensor in state.averageable()])
    assert [float(tensor) for name, tensor in state.snapshot().tensors.items() if name.endswith("step")] == [3.0] * 4


def test_what_cannot_travel_is_named() -> None:
    _, state = trained()
    state.optimizer.state[state.parameters[0]]["history"] = [1, 2]
    with pytest.raises(UsageError, match=r"state\.0\.history as list"):
        state.snapshot()
