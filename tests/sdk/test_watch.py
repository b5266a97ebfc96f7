"""Histograms of a real torch model's gradients and parameters."""

from __future__ import annotations

import copy
import io
import math
import pickle
import subprocess
import sys
from typing import Any

import pytest

from strobe import terminal
from strobe.errors import UsageError
from strobe.sdk.watch import Watch, count

frameworks = pytest.mark.frameworks


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


class Rows:
    """Takes what is logged."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def __call__(self, row: dict[str, Any]) -> None:
        self.rows.append(row)

    def names(self) -> list[str]:
        return [key for row in self.rows for key in row]


def make_model(torch: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))


def train(torch: Any, model: Any, steps: int) -> None:
    for _ in range(steps):
        model(torch.ones(2, 4)).sum().backward()


NAMES = ["0.weight", "0.bias", "2.weight", "2.bias"]


@frameworks
def test_gradients_every_so_many_steps(torch: Any) -> None:
    rows, model = Rows(), make_model(torch)
    Watch(rows).watch(model, log_freq=3)
    train(torch, model, 2)
    assert rows.rows == []
    train(torch, model, 5)
    assert sorted(rows.names()) == sorted([f"gradients/{name}" for name in NAMES] * 2)
    record = rows.rows[0][rows.names()[0]].record()
    assert record["_type"] == "histogram"
    assert len(record["values"]) + 1 == len(record["bins"]) == 65


@frameworks
@pytest.mark.parametrize(
    ("log", "kinds"),
    [("gradients", {"gradients"}), ("parameters", {"parameters"}), ("all", {"gradients", "parameters"}), (None, set())],
)
def test_what_is_watched(torch: Any, log: str | None, kinds: set[str]) -> None:
    rows, model = Rows(), make_model(torch)
    Watch(rows).watch(model, torch.nn.MSELoss(), log=log, log_freq=1)
    train(torch, model, 1)
    assert {key.split("/")[0] for key in rows.names()} == kinds
    assert len(rows.names()) == 4 * len(kinds)


@frameworks
def test_frozen_parameters_and_evaluation_are_left_out(torch: Any) -> None:
    rows, model = Rows(), make_model(torch)
    model[0].weight.requires_grad_(False)
    Watch(rows).watch(model, log="all", log_freq=1)
    train(torch, model, 1)
    assert "gradients/0.weight" not in rows.names()
    assert "parameters/0.weight" in rows.names()
    before = len(rows.rows)
    model.eval()
    with torch.no_grad():
        model(torch.ones(2, 4))
    assert len(rows.rows) == before


@frameworks
def test_several_models_have_wandbs_names(torch: Any) -> None:
    rows = Rows()
    first, second, third = (torch.nn.Linear(2, 1, bias=False) for _ in range(3))
    watch = Watch(rows)
    watch.watch([first, second], log_freq=1)
    watch.watch(third, log_freq=1, idx=7)
    for model in (first, second, third):
        model(torch.ones(1, 2)).sum().backward()
    assert rows.names() == ["gradients/weight", "gradients/graph_1weight", "gradients/graph_7weight"]


@frameworks
def test_unwatch(torch: Any) -> None:
    rows, first, second = Rows(), make_model(torch), make_model(torch)
    watch = Watch(rows)
    watch.watch([first, second], log="all", log_freq=1)
    watch.unwatch(first)
    train(torch, first, 1)
    assert rows.rows == []
    watch.unwatch()
    watch.unwatch()
    train(torch, second, 1)
    assert rows.rows == []
    assert not second._forward_hooks
    watch.watch(first, log_freq=1)
    train(torch, first, 1)
    assert "gradients/0.weight" in rows.names()


@frameworks
def test_mistakes(torch: Any) -> None:
    watch, model = Watch(Rows()), make_model(torch)
    with pytest.raises(TypeError, match=r"needs a torch\.nn\.Module.*got builtins\.str"):
        watch.watch("model")
    with pytest.raises(UsageError, match="use 'gradients'"):
        watch.watch(model, log="everything")
    with pytest.raises(UsageError, match="at least 1"):
        watch.watch(model, log_freq=0)
    watch.watch(model)
    with pytest.raises(UsageError, match="watched already"):
        watch.watch(model)


@frameworks
def test_a_log_that_fails_does_not_end_the_training(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "_shared", terminal.Terminal(stream, environ={}))

    def log(row: dict[str, Any]) -> None:
        raise RuntimeError("disk")

    model = make_model(torch)
    Watch(log).watch(model, log="all", log_freq=1)
    train(torch, model, 3)
    assert stream.getvalue().count("\n") == 1
    assert "disk" in stream.getvalue()


@frameworks
def test_models_can_still_be_saved_copied_and_sent(torch: Any) -> None:
    rows, model = Rows(), make_model(torch)

    def log(row: dict[str, Any]) -> None:  # a closure, which pickle cannot take
        rows(row)

    Watch(log).watch(model, log="all", log_freq=1)
    torch.save(model, io.BytesIO())
    torch.save(model.state_dict(), io.BytesIO())
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        train(torch, twin, 1)
    assert rows.rows == []


@frameworks
def test_gradients_are_not_changed(torch: Any) -> None:
    plain, watched = make_model(torch), make_model(torch)
    Watch(Rows()).watch(watched, log="all", log_freq=1)
    train(torch, plain, 2)
    train(torch, watched, 2)
    for a, b in zip(plain.parameters(), watched.parameters(), strict=True):
        assert torch.equal(a.grad, b.grad)


@frameworks
@pytest.mark.long
def test_under_torch_compile(torch: Any) -> None:
    rows, model = Rows(), make_model(torch)
    Watch(rows).watch(model, log="all", log_freq=1)
    compiled = torch.compile(model, backend="eager")
    train(torch, compiled, 2)
    assert {"gradients/0.weight", "parameters/2.bias"} <= set(rows.names())


@frameworks
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "complex64"])
def test_counts_add_up(torch: Any, dtype: str) -> None:
    tensor = torch.arange(100).to(getattr(torch, dtype))
    histogram = count(tensor)
    assert histogram is not None
    assert sum(histogram.histogram) == (200 if dtype == "complex64" else 100)
    assert (histogram.bins[0], histogram.bins[-1]) == (0.0, 99.0)


@frameworks
def test_counts_are_numpys(torch: Any) -> None:
    np = pytest.importorskip("numpy")
    tensor = torch.randn(10_000, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    histogram = count(tensor)
    assert histogram is not None
    expected, edges = np.histogram(tensor.numpy(), bins=64)
    assert np.abs(np.array(histogram.histogram) - expected).sum() <= 4  # values on an edge may fall either way
    assert np.allclose(histogram.bins, edges)


@frameworks
def test_odd_values_are_counted(torch: Any) -> None:
    odd = [math.nan, math.nan, math.inf, -math.inf, -math.inf, -math.inf]
    histogram = count(torch.tensor([1.0, 2.0, *odd]))
    assert histogram is not None
    assert (histogram.nan, histogram.posinf, histogram.neginf) == (2, 1, 3)
    assert sum(histogram.histogram) == 2
    assert (histogram.bins[0], histogram.bins[-1]) == (1.0, 2.0)
    only = count(torch.tensor(odd))
    assert only is not None
    assert (sum(only.histogram), only.nan) == (0, 2)


@frameworks
@pytest.mark.parametrize("value", [0.0, -3.5, 1e30, 1e-30])
def test_constants(torch: Any, value: float) -> None:
    histogram = count(torch.full((7,), value))
    assert histogram is not None
    assert sum(histogram.histogram) == 7
    assert histogram.bins == sorted(histogram.bins)
    assert histogram.bins[0] < histogram.bins[-1]


@frameworks
def test_sparse_and_empty(torch: Any) -> None:
    sparse = torch.sparse_coo_tensor(torch.tensor([[0, 2]]), torch.tensor([1.0, 2.0]), (4,), check_invariants=True)
    histogram = count(sparse)
    assert histogram is not None
    assert sum(histogram.histogram) == 2
    assert count(torch.empty(0)) is None


@frameworks
def test_sparse_gradients_of_an_embedding(torch: Any) -> None:
    rows, model = Rows(), torch.nn.Embedding(10, 2, sparse=True)
    Watch(rows).watch(model, log_freq=1)
    model(torch.tensor([1, 2])).sum().backward()
    assert rows.names() == ["gradients/weight"]


def test_without_torch_nothing_is_imported() -> None:
    code = """
import sys
from strobe.sdk.watch import Watch
try:
    Watch(print).watch(object())
except TypeError as error:
    assert "torch.nn.Module" in str(error)
assert "torch" not in sys.modules and "numpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
