"""The fate of tensors and arrays of real libraries that are there when logged."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import strobe
from strobe.home import Home
from strobe.journal.value import Array
from strobe.sdk.run import Run
from tests.sdk.scripts import replay_of

pytestmark = pytest.mark.frameworks


@pytest.fixture
def run(home: Home) -> Iterator[Run]:
    run = strobe.init(project="p")
    yield run
    run.finish()


@pytest.fixture
def careful(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps of rows that left the fast way."""
    steps: list[int] = []
    prepare = run._preparer.prepare

    def note(data: Any, step: int) -> Any:
        steps.append(step)
        return prepare(data, step)

    monkeypatch.setattr(run._preparer, "prepare", note)
    return steps


def logged(run: Run) -> dict[str, Any]:
    """What the last row holds."""
    (*_, row) = replay_of(run._recorder.run_dir).rows()
    return {key: value for key, value in row.items() if key[0] != "_"}


def evaluate(expression: str) -> Any:
    """Return what an expression over the libraries gives. They are imported here: collecting tests must stay quick."""
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")

    def quantized(*values: float) -> Any:
        return torch.quantize_per_tensor(torch.tensor(values), 0.1, 0, torch.quint8)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is deprecated or in beta
        return eval(expression, {"jax": jax, "jnp": jax.numpy, "np": np, "torch": torch, "quantized": quantized})


@pytest.mark.parametrize(
    ("expression", "stored"),
    [
        ("torch.tensor(0.5)", 0.5),
        ("torch.tensor([2.0, 3.0], requires_grad=True).sum()", 5.0),
        ("torch.nn.Parameter(torch.tensor(2.0))", 2.0),
        ("torch.tensor(1.5, dtype=torch.bfloat16)", 1.5),
        ("torch.tensor(7)", 7),
        ("torch.tensor(True)", True),
        ("torch.ones(1)", 1.0),
        ("torch.ones(1, 1)", 1.0),
        ("quantized(0.5)", 0.5),
        ("np.float32(0.5)", 0.5),
        ("np.int64(3)", 3),
        ("jnp.float32(0.5).block_until_ready()", 0.5),
        ("jnp.ones((), jnp.bfloat16).block_until_ready()", 1.0),
        ('{"nested": [torch.tensor(0.5), np.float32(0.5)]}', {"nested": [0.5, 0.5]}),
    ],
)
def test_scalars_stay_on_the_fast_way(run: Run, careful: list[int], expression: str, stored: Any) -> None:
    value = evaluate(expression)
    run.log({"key": value})
    assert logged(run) == {"key": pytest.approx(stored) if isinstance(stored, float) else stored}
    assert careful == []


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("torch.tensor([1.0, 2.0], requires_grad=True)", "<f4"),
        ("torch.tensor([1.0, 2.0], dtype=torch.bfloat16)", "<f4"),
        ("torch.tensor([1.0, 2.0]).to(torch.float8_e4m3fn)", "<f4"),
        ("torch.tensor([9, 1, 9, 2])[1::2]", "<i8"),
        ("torch.tensor([1.0, 2.0], dtype=torch.complex64).conj()", "<c8"),
        ("torch.tensor([-1j, -2j]).conj().imag", "<f4"),
        ("quantized(1.0, 2.0)", "<f4"),
        ("jnp.array([1.0, 2.0])", "<f4"),
        ("jnp.array([1.0, 2.0], jnp.bfloat16)", "<f4"),
        ("jnp.array([1.0, 2.0], jnp.float8_e4m3fn)", "<f4"),
        ("jnp.array([1, 2], jnp.int4)", "|i1"),
        ("np.asarray(jnp.array([1.0, 2.0], jnp.bfloat16))", "<f4"),
    ],
)
def test_arrays_keep_their_values_in_a_dtype_that_every_reader_has(run: Run, expression: str, dtype: str) -> None:
    run.log({"key": evaluate(expression)})
    run.finish()
    array = logged(run)["key"]
    assert isinstance(array, Array)
    assert (array.dtype, array.shape) == (dtype, (2,))
    np.testing.assert_array_equal(array.numpy(), [1, 2])


@pytest.mark.parametrize(
    ("expression", "advice"),
    [
        ("torch.ones(2, 2).to_sparse()", "to_dense"),
        ("torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])", "unbind"),
        ('torch.ones(2, device="meta")', "no data"),
        ('torch.ones((), device="meta")', "no data"),
        ("jax.random.key(0)", "key_data"),
    ],
)
def test_tensors_without_numbers_are_named_and_the_rest_of_the_row_is_kept(
    run: Run, expression: str, advice: str
) -> None:
    with pytest.raises(TypeError, match=f"(?s)'weights' cannot be stored.*{advice}.*other 1 keys"):
        run.log({"weights": evaluate(expression), "loss": 0.5})
    assert logged(run) == {"loss": 0.5}


def test_a_distributed_tensor_is_read_without_asking_other_ranks(run: Run) -> None:
    torch = pytest.importorskip("torch")
    dist = pytest.importorskip("torch.distributed")
    tensors = pytest.importorskip("torch.distributed.tensor")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        mesh = tensors.init_device_mesh("cpu", (1,))
        placements = {"whole": tensors.Replicate(), "sum": tensors.Partial(), "parted": tensors.Shard(0)}
        row = {
            name: tensors.DTensor.from_local(torch.tensor([1.5]), mesh, [placement])
            for name, placement in placements.items()
        }
        with pytest.raises(TypeError, match=r"'sum'.*full_tensor.*'parted'.*full_tensor"):
            run.log(row)
    finally:
        dist.destroy_process_group()
    assert logged(run) == {"whole": 1.5}


def test_log_inside_a_traced_function_names_the_key(run: Run) -> None:
    jax = pytest.importorskip("jax")

    def step(x: Any) -> Any:
        run.log({"loss": x, "other": 1})
        return x

    with pytest.raises(TypeError, match=r"'loss'.*traced array"):
        jax.jit(step)(1.0)
    assert logged(run) == {"other": 1}


def test_log_inside_a_compiled_function(run: Run) -> None:
    torch = pytest.importorskip("torch")

    def step(x: Any) -> Any:
        y = x * 2
        run.log({"loss": y})
        return y + 1

    assert torch.compile(step, backend="eager")(torch.tensor(1.0)).item() == 3.0
    assert logged(run) == {"loss": 2.0}
