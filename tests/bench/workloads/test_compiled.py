"""What the compiler makes is right, as on devices that our own kernels are not written for."""

from __future__ import annotations

import pytest

from strobe.bench.workloads.layers.compiling import compile_frozen
from strobe.bench.workloads.layers.fold import fold_batch_norms
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.regnet import optimized as regnet
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import prove_optimized, prove_training

pytestmark = pytest.mark.frameworks


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_compiled_inference_is_right() -> None:
    prove_optimized(
        OptimizedInference(tiny.WIDE_REGNET, lambda model, _: compile_frozen(fold_batch_norms(model)), tolerance=1e-3)
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_compiled_training_is_right() -> None:
    prove_training(OptimizedTraining(tiny.WIDE_REGNET, regnet.optimize_training, tolerance=1e-2), batch_size=4)
