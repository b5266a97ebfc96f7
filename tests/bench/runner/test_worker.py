"""What a worker finds out by itself: that its machine lacks something, and whose energy it can count."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from strobe.bench import registry
from strobe.bench.runner.message import Seat
from strobe.bench.runner.options import Cell, Options
from strobe.bench.runner.session import measure
from strobe.bench.runner.worker import _as_record, _turn_of, metered_devices
from strobe.bench.workload import Correctness
from strobe.errors import UsageError
from tests.bench import own

LACKING = """
from strobe.bench.spec import Benchmark
from strobe.bench.workload import NotHere


class Lacking:
    def __init__(self, tolerance):
        pass

    def setup(self, batch_size, seed, device, threads):
        print("something else that it says")

    def compile(self):
        raise NotHere("8-bit layers are written for CPUs, and the device is cuda:0")


class Unwritten(Lacking):
    def compile(self):
        raise NotImplementedError("Could not run 'quantized::bag' on 'CUDA'.\\nIt may be that ...")


def declare(workload):
    return Benchmark(
        model="Own", implementation="Micro", mode="Test", config=workload.__name__, version=1, owner="me", units="ex/s",
        batch_sizes=(1,), max_batch=1, tier="smoke", workload=f"{__file__}:{workload.__name__}",
    )


BENCHMARKS = [declare(Lacking), declare(Unwritten)]
"""


def _measure(tmp_path: Path, config: str, device: str) -> tuple[str | None, bool]:
    path = tmp_path / "lacking.py"
    path.write_text(LACKING)
    cell = Cell(registry.find_one(f"own/micro/test/{config}", [path]), 1)
    (record,) = measure([cell], Options(repeats=2, seconds=0.01, device=device, files=(path,))).records
    return record.error, record.is_left_out


@pytest.mark.slow
def test_a_row_whose_machine_lacks_something_is_left_out_with_the_reason(tmp_path: Path) -> None:
    error, is_left_out = _measure(tmp_path, "Lacking", "cpu")
    assert is_left_out
    assert error == "not on this machine: 8-bit layers are written for CPUs, and the device is cuda:0"


@pytest.mark.slow
def test_an_operator_that_was_never_written_for_a_device_leaves_a_row_out_but_not_on_a_cpu(tmp_path: Path) -> None:
    error, is_left_out = _measure(tmp_path, "Unwritten", "xpu")
    assert is_left_out
    assert error == "not on this machine: Could not run 'quantized::bag' on 'CUDA'."
    error, is_left_out = _measure(tmp_path, "Unwritten", "cpu")
    assert not is_left_out
    assert error is not None
    assert "NotImplementedError" in error


def test_a_turn_is_a_number_of_steps() -> None:
    workload = own.Plain(0.0)
    assert _turn_of(workload) == 1
    workload.turn = np.int64(3)  # type: ignore[attr-defined]  # any workload may have it
    found = _turn_of(workload)
    assert (found, type(found)) == (3, int)
    for wrong in (0, 1.5, lambda: 4):
        workload.turn = wrong  # type: ignore[attr-defined]
        with pytest.raises(UsageError, match="after which their work comes again, got"):
            _turn_of(workload)


def test_a_check_may_speak_numpy() -> None:
    one = np.float32(0.5)
    found = _as_record(
        Correctness(
            is_correct=np.bool_(True),  # type: ignore[arg-type]  # what comparing arrays gives
            error=one,
            max_error=one,
            tolerance=one,
            reference="numpy",
        )
    )
    assert msgspec.json.decode(msgspec.json.encode(found)) == {
        "is_correct": True, "error": 0.5, "max_error": 0.5, "tolerance": 0.5, "reference": "numpy",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("device", "seat", "devices"),
    [
        ("cpu", Seat(), ["cpu"]),
        ("cuda:1", Seat(), ["cuda:1"]),
        ("cpu", Seat(size=2, per_node=2), ["cpu"]),
        ("cuda:0", Seat(size=3, per_node=3), ["cuda:0", "cuda:1", "cuda:2"]),
        ("cuda:0", Seat(size=4, per_node=2), []),
        ("cpu", Seat(size=2, per_node=1), []),
    ],
)
def test_energy_is_that_of_all_ranks_or_none(device: str, seat: Seat, devices: list[str]) -> None:
    assert metered_devices(device, seat) == devices
