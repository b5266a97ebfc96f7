"""Optimizations that keep precision, each with a tiny task: what they answer is what OOTB answers."""

from __future__ import annotations

from functools import partial

from torch import nn

from strobe.bench.workloads.cvt import optimized as cvt
from strobe.bench.workloads.layers.fold import fold_batch_norms
from strobe.bench.workloads.optimized import Optimization
from strobe.bench.workloads.oscar import optimized as oscar
from strobe.bench.workloads.regnet import optimized as regnet
from strobe.bench.workloads.resnext3d import optimized as resnext3d
from strobe.bench.workloads.task import Task
from strobe.bench.workloads.xlmr import optimized as xlmr
from tests.bench.workloads import tiny


def _folded(model: nn.Module, _: object) -> nn.Module:
    return fold_batch_norms(model)


EXACT: dict[str, tuple[Task, Optimization]] = {
    "regnet, norms folded": (tiny.WIDE_REGNET, _folded),
    "resnext3d, norms folded": (tiny.RESNEXT3D, _folded),
    "regnet": (tiny.WIDE_REGNET, regnet.optimize_fp32),
    "resnext3d": (tiny.RESNEXT3D, resnext3d.optimize_fp32),
    "cvt": (tiny.CVT, cvt.optimize_fp32),
    "xlmr": (tiny.XLMR, partial(xlmr.optimize_fp32, is_varied=False)),
    "xlmr, varied": (tiny.XLMR_VARIED, partial(xlmr.optimize_fp32, is_varied=True)),
    "oscar": (tiny.OSCAR, oscar.optimize_fp32),
}
