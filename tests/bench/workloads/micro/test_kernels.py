"""Every microbenchmark computes what it says, notices when it does not, and counts its work as torch does."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from strobe.bench.workload import NotHere, Workload
from strobe.bench.workloads.layers import native
from strobe.bench.workloads.micro.attention import attention
from strobe.bench.workloads.micro.cvt_convs import cvt_convs
from strobe.bench.workloads.micro.embedding_bag import Bits, embedding_bag
from strobe.bench.workloads.micro.gemm import gemm
from strobe.bench.workloads.micro.layers import LAYERS
from strobe.bench.workloads.micro.linear import LinearTask, take_own_product
from strobe.bench.workloads.micro.linear import forward as linear_forward
from strobe.bench.workloads.micro.memory import memory
from strobe.bench.workloads.micro.optimizer_step import Rule, optimizer_step
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.optimized import OptimizedInference
from strobe.errors import Error
from tests.bench.workloads.proof import COUNTED, prove_correct, prove_work, set_up

pytestmark = pytest.mark.frameworks

SMALL_LINEAR = LinearTask(width=24, matrices=4)
KERNELS: dict[str, Callable[[], Workload]] = {
    "gemm, forward": partial(gemm, 20, "m", tolerance=1e-5),
    "gemm, gradient": partial(gemm, 20, "k", tolerance=1e-5),
    "gemm, int8": partial(gemm, 32, "m", "int8", tolerance=0),
    "gemm, bf16": partial(gemm, 32, "m", "bf16", tolerance=0.02),
    "embedding_bag": partial(embedding_bag, 100, 16, 5, tolerance=1e-5),
    "embedding_bag, zipf": partial(embedding_bag, 100, 16, 5, alpha=1.05, tolerance=1e-5),
    "embedding_bag, int8": partial(embedding_bag, 100, 16, 5, 8, tolerance=1e-4),
    "embedding_bag, int4": partial(embedding_bag, 100, 16, 5, 4, tolerance=1e-4),
    "attention": partial(attention, 2, 7, 5, 8, tolerance=1e-5),
    "copy": partial(memory, "copy", 1, tolerance=0),
    "triad": partial(memory, "triad", 1, tolerance=1e-6),
    "read": partial(memory, "read", 1, tolerance=1e-5),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compute_what_they_say(name: str) -> None:
    workload = set_up(KERNELS[name](), batch_size=1 if name in ("copy", "triad", "read") else 32)
    for index in range(3):
        output = workload.step(index).clone()
        verdict = workload.check(output, workload.reference(index))
        assert verdict.is_correct, verdict
        assert not workload.check(output * 1.5, workload.reference(index)).is_correct


@pytest.mark.parametrize("rule", ["sgd", "momentum", "adamw"])
def test_optimizers_take_the_steps_that_they_say(rule: Rule) -> None:
    workload = set_up(optimizer_step(rule, (300, 40), tolerance=1e-3), batch_size=1)
    for index in range(3):
        output = workload.step(index)
        verdict = workload.check(output, workload.reference(index))
        assert verdict.is_correct, verdict
        assert not workload.check(output, workload.reference(index) * 1.5).is_correct
    reference = workload.reference(2)
    workload.step(3)
    assert not workload.check(None, reference).is_correct
    for index in range(4, 5_000):  # what has been measured when it is checked
        workload.step(index)
    verdict = workload.check(None, workload.reference(2))
    assert verdict.is_correct, verdict


@pytest.mark.parametrize("name", ["gemm, forward", "gemm, gradient", "attention"])
def test_kernels_count_their_work_as_torch_does(name: str) -> None:
    workload = set_up(KERNELS[name](), batch_size=6)
    # Torch counts attention's products where it computes them one by one.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        workload.step(0)
    assert workload.work().flops == counter.get_total_flops()


def test_linear_counts_its_work_and_is_right() -> None:
    for workload in (OotbInference(SMALL_LINEAR), OotbTraining(SMALL_LINEAR)):
        prove_work(workload)
        prove_correct(workload, batch_size=3)


def test_linear_is_layers_with_relu_and_a_softmax() -> None:
    torch.manual_seed(0)
    net = SMALL_LINEAR.build().double()
    x = torch.randn(24, dtype=torch.float64)
    with torch.no_grad():
        output = net(x[None])[0]
        for layer in net.layers[::2]:
            x = (layer.weight @ x + layer.bias).clamp(min=0)
        torch.testing.assert_close(output, x.exp() / x.exp().sum())


def test_linears_own_product_is_right() -> None:
    prove_correct(OptimizedInference(SMALL_LINEAR, take_own_product, 1e-4), batch_size=3)


def test_linear_has_no_row_where_its_own_product_cannot_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch's layers under the same name and version would be a result of something else."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    native.load_kernels.cache_clear()
    with pytest.raises(NotHere, match="no C compiler"):
        set_up(linear_forward(24))
    native.load_kernels.cache_clear()


def test_mlp_a_has_nineteen_matrices() -> None:
    assert LinearTask(1024).matrices == 19


@pytest.mark.parametrize("is_training", [False, True])
def test_convolutions_are_right_and_count_their_work(is_training: bool) -> None:
    workload = set_up(cvt_convs(is_training=is_training, tolerance=1e-3), batch_size=1)
    outputs = workload.step(0)
    assert len(outputs) == len(LAYERS) == 11
    verdict = workload.check(outputs, workload.reference(0))
    assert verdict.is_correct, verdict
    for place in (0, 5, 10):
        for wrong in (outputs[place] * 1.5, torch.full_like(outputs[place], math.nan)):
            one_wrong = [*outputs[:place], wrong, *outputs[place + 1 :]]
            assert not workload.check(one_wrong, workload.reference(0)).is_correct, (place, wrong)
    with FlopCounterMode(display=False, custom_mapping=COUNTED) as counter:
        workload.step(1)
    assert workload.work().flops == counter.get_total_flops()


def test_a_convolution_is_that_of_windows_cut_by_hand() -> None:
    workload = cvt_convs(("stage1.block0.conv_proj_k",))
    set_up(workload, batch_size=1)
    (layer,) = workload.layers
    (output,) = workload.reference(0)
    conv, norm = layer.module
    windows = torch.nn.functional.pad(layer.ring[0][0].double(), (1, 1, 1, 1)).unfold(1, 3, 2).unfold(2, 3, 2)
    expected = torch.einsum("chwab,cab->hwc", windows, conv.weight[:, 0].double()).flatten(0, 1)
    torch.testing.assert_close(output[0], expected / math.sqrt(1 + norm.eps))


def test_bytes_are_those_of_public_scores() -> None:
    bag = set_up(embedding_bag(100, 16, 5), batch_size=8)
    assert bag.work().bytes == 8 * 5 * 16 * 4
    assert set_up(embedding_bag(100, 16, 5, 4), batch_size=8).work().bytes == 8 * 5 * (8 + 4)
    copy, triad = (set_up(memory(operation, 1), 1).work().bytes for operation in ("copy", "triad"))
    assert (copy, triad) == (2e6, 3e6)
    assert set_up(optimizer_step("adamw", (10,)), 1).work().bytes == 10 * 4 * 7


@pytest.mark.parametrize("bits", [32, 8, 4])
def test_a_turn_of_the_ring_asks_for_nearly_all_rows(bits: Bits) -> None:
    bag = embedding_bag(1000, 16, 5, bits)
    set_up(bag, batch_size=8)
    assert len(torch.cat(bag.ring).unique()) > 0.95 * 1000
    assert torch.equal(bag.step(len(bag.ring) + 2), bag.step(2))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there tf32 exists")
def test_tf32_is_refused_where_there_is_none() -> None:
    with pytest.raises(Error, match="only CUDA has"):
        set_up(gemm(8, "m", "tf32"))
