"""DLRM: the published sizes, an output computed another way in each way of pooling, and its work."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from strobe.bench.workloads.dlrm import model, model_parallel, ootb, optimized
from strobe.bench.workloads.dlrm.tables import pack_int4, unpack_int4
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.task import Batch
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import count_parameters, prove_correct, prove_work, set_up

pytestmark = pytest.mark.frameworks

SMALL = tiny.DLRM.config
VARIANTS = [
    SMALL,
    replace(SMALL, pooling="learned", is_fixed=True),
    replace(SMALL, pooling="fixed"),
    replace(SMALL, pooling="fixed", embedding_bits=4),
]


def _dense(config: model.DlrmConfig) -> int:
    sizes = [*zip(config.bottom, config.bottom[1:], strict=False), *zip(config.top_layers, config.top, strict=False)]
    return sum(inputs * outputs + outputs for inputs, outputs in sizes)


def test_the_training_configuration_has_the_published_sizes() -> None:
    config = model.A_EMBED32_FP32
    assert config.top_layers[0] == 31_068
    count = count_parameters(lambda: model.Dlrm(config))
    assert count == _dense(config) + 248 * 965 * (192 + 1)
    assert round(count / 1e6, 1) == 306.3


def test_the_inference_configuration_has_the_published_sizes() -> None:
    config = model.A_EMBED4_FP32
    assert config.top_layers[0] == 1_987
    assert len(config.top) == 37
    assert round(_dense(config) / 1e6, 1) == 100.6
    packed = config.num_tables * config.num_rows * (config.width // 2 + 4)
    assert round(packed / 1e9, 2) == 1.76
    assert round(config.num_tables * config.num_rows * config.width * 4 / 1e9) == 13


def test_tiny_has_the_published_sizes() -> None:
    assert model.TINY.num_tables * model.TINY.num_rows * model.TINY.width * 4 == 2_048_000_000


@pytest.mark.parametrize("config", VARIANTS)
def test_output_is_that_of_loops(config: model.DlrmConfig) -> None:
    torch.manual_seed(0)
    net = model.Dlrm(config)
    for table in net.tables:
        if table.row_weights is not None:
            torch.nn.init.uniform_(table.row_weights, 0.5, 2.0)
    net.double()
    batch = ootb.DlrmTask(config).draw(np.random.default_rng(1), 4).to("cpu", torch.float64)
    dense, rows, offsets = batch.inputs
    with torch.no_grad():
        for example in range(4):
            x = dense[example]
            for layer in net.bottom[::2]:
                x = (layer.weight @ x + layer.bias).clamp(min=0)
            vectors = [x]
            for table, table_rows, table_offsets in zip(net.tables, rows, offsets, strict=True):
                ends = [*table_offsets[1:].tolist(), len(table_rows)]
                pooled = torch.zeros(8, dtype=torch.float64)
                for row in table_rows[int(table_offsets[example]) : ends[example]].tolist():
                    is_packed = config.embedding_bits == 4
                    values = unpack_int4(table.bag.packed[[row]])[0] if is_packed else table.bag.weight[row]
                    pooled += values * (1 if table.row_weights is None else table.row_weights[row])
                vectors.append(pooled)
            products = [vectors[i] @ vectors[j] for i in range(len(vectors)) for j in range(i)]
            assert len(products) == config.num_pairs
            y = torch.cat([x, torch.stack(products)])
            layers = list(net.top[::2])
            for layer in layers[:-1]:
                y = (layer.weight @ y + layer.bias).clamp(min=0)
            expected = 1 / (1 + torch.exp(-(layers[-1].weight @ y + layers[-1].bias)))
            torch.testing.assert_close(net(*batch.inputs)[example], expected)


@pytest.mark.parametrize("config", model.CONFIGS.values(), ids=model.CONFIGS)
def test_examples_differ_in_every_configuration(config: model.DlrmConfig) -> None:
    # Depth is what makes signals vanish: MLPs are as deep as published, but narrower, and tables short, to be quick.
    bottom = (*(min(size, 512) for size in config.bottom[:-1]), config.width)
    top = tuple(min(size, 512) for size in config.top)
    narrow = replace(config, bottom=bottom, top=top, num_rows=20, mlp_bits=32)
    workload = OotbInference(ootb.DlrmTask(narrow))
    workload.setup(24, seed=0, device="cpu", threads=1)
    reference = workload.reference(0)
    assert torch.cat([right for _, right in reference]).std(0).item() > 1e-3
    assert workload.check(workload.step(0), reference).error < workload.tolerance / 20


def test_int4_rows_are_near_what_was_packed() -> None:
    rows = torch.empty(30, 16).uniform_(-0.5, 0.5)
    step = (rows.max(1).values - rows.min(1).values) / 15
    assert ((unpack_int4(pack_int4(rows)) - rows).abs() <= step[:, None] * 0.55).all()


@pytest.mark.parametrize("config", VARIANTS)
def test_inference_counts_its_work_and_is_right(config: model.DlrmConfig) -> None:
    prove_work(OotbInference(ootb.DlrmTask(config)))
    prove_correct(OotbInference(ootb.DlrmTask(config, alpha=1.05)), batch_size=6)


@pytest.mark.parametrize("config", VARIANTS[:3])
def test_training_counts_its_work_and_is_right(config: model.DlrmConfig) -> None:
    prove_work(OotbTraining(ootb.DlrmTask(config)))
    prove_correct(OotbTraining(ootb.DlrmTask(config)), batch_size=6)


def test_bytes_are_weights_once_and_the_rows_looked_up() -> None:
    config = replace(SMALL, is_fixed=True)
    workload = OotbInference(ootb.DlrmTask(config))
    workload.setup(2, seed=1, device="cpu", threads=1)
    inputs = 2 * 9 * 4 + 3 * (2 * 5 * 8 + 2 * 8)
    assert workload.work().bytes == inputs + _dense(config) * 4 + 3 * 2 * 5 * 8 * 4


def _rows_of(ring: list[Batch]) -> list[list[torch.Tensor]]:
    return [list(batch.inputs[1]) for batch in ring]


def test_a_turn_of_the_ring_asks_for_nearly_all_rows_whoever_answers() -> None:
    """Four batches of a table of any size stay in a large cache, and then the score is the cache's."""
    task = ootb.DlrmTask(replace(SMALL, num_rows=500))
    workloads: list[OotbInference | OotbTraining] = [
        OotbInference(task),
        OotbTraining(task),
        OptimizedInference(task, partial(optimized.optimize, bits=32, is_int8=False), 1e-3),
        OptimizedTraining(task, lambda model: model, 1e-2),
    ]
    rings = []
    for workload in workloads:
        set_up(workload, batch_size=10)
        rings.append(_rows_of(workload.ring))
    for table in range(3):
        assert len(torch.cat([rows[table] for rows in rings[0]]).unique()) > 0.95 * 500
    for ring in rings[1:]:
        torch.testing.assert_close(ring, rings[0], rtol=0, atol=0)


@pytest.mark.parametrize("config", model.CONFIGS)
def test_every_configuration_has_the_long_ring(config: str) -> None:
    inferences = (ootb.inference(config), optimized.inference(config, 8, is_int8=True))
    trainings = (ootb.training(config), optimized.training(config), model_parallel.training(config))
    assert all(isinstance(workload.task, ootb.DlrmTask) for workload in (*inferences, *trainings))


def test_references_are_in_64_bits_where_the_tables_fit() -> None:
    dtypes = {name: ootb.DlrmTask(config).reference_dtype for name, config in model.CONFIGS.items()}
    assert [name for name, dtype in dtypes.items() if dtype != torch.float64] == ["tiny"]
