"""Workloads whose batches are not alike say so: they are measured by whole turns, and the others need not be."""

from __future__ import annotations

import pytest

from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.oscar.optimized import PackedOscarTask
from strobe.bench.workloads.rnnt.ootb import Decoding, DecodingTask
from strobe.bench.workloads.task import Task
from tests.bench.workloads import tiny

pytestmark = pytest.mark.frameworks


def _turn(workload: OotbInference | OotbTraining) -> int:
    workload.setup(batch_size=4, seed=0, device="cpu", threads=1)
    return workload.turn


@pytest.mark.parametrize("task", [tiny.DLRM, tiny.XLMR, tiny.CVT, tiny.OSCAR, tiny.RESNEXT3D, tiny.REGNET])
def test_batches_of_one_shape_are_alike(task: Task) -> None:
    assert _turn(OotbInference(task)) == _turn(OotbTraining(task)) == 1


@pytest.mark.parametrize(
    "task",
    [
        tiny.XLMR_VARIED,
        pytest.param(PackedOscarTask(tiny.OSCAR.config, tiny.OSCAR.text, tiny.OSCAR.regions), id="packed"),
    ],
)
def test_texts_of_any_length_are_not(task: Task) -> None:
    assert _turn(OotbInference(task)) == _turn(OotbTraining(task)) == 4


def test_utterances_take_as_long_as_they_say_something() -> None:
    """Cut at one length, all have the same frames and the same operations in the encoder, but not the same texts."""
    workload = Decoding(DecodingTask(tiny.RNNT.config, max_seconds=0.4))
    assert _turn(workload) == 4
    shapes = {batch.inputs[0].shape for batch in workload.ring}
    assert len(shapes) == 1, "else their frames alone would tell"
