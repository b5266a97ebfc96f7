"""Rooflines: which peak bounds a row, and how peaks are kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec
import pytest

from strobe.bench import roofline
from strobe.bench.records import Record, Repeat
from strobe.bench.registry import find_one
from strobe.bench.roofline import Peaks, judge, measure_peaks, store_at, system_name
from strobe.bench.spec import precision_of
from strobe.bench.workload import NotHere, Work
from strobe.cli import main
from strobe.errors import Error
from tests.bench.results import result

PEAKS = Peaks(flops={"fp32": 1e12, "int8": 4e12, "fp16": 1e9}, bytes_per_s=1e10)


def _record(config: str, *, flops: float, size: float, step_s: float = 1.0, devices: int = 1) -> Record:
    return result(
        [1.0],
        config=config,
        work=Work(examples=1, flops=flops, bytes=size),
        repeats=(Repeat(wall_s=(step_s, step_s, 9 * step_s), cpu_s=()),),
        devices=devices,
    )


def _system(
    switches: Mapping[str, str] = MappingProxyType({}), *, compiler: str = "gcc 12.2.0", device: str = "cpu"
) -> str:
    return system_name("f", "2.13", device, 2, switches, compiler=compiler)


def test_the_slower_of_the_two_limits_bounds() -> None:
    compute = judge(_record("a-fp32", flops=5e11, size=1e9), PEAKS)
    assert compute is not None
    assert compute.bound == "compute"
    assert compute.fraction == pytest.approx(0.5)
    memory = judge(_record("a-fp32", flops=1e9, size=2e9), PEAKS)
    assert memory is not None
    assert memory.bound == "memory"
    assert memory.fraction == pytest.approx(0.2)


def test_each_precision_has_its_peak_but_none_below_fp32() -> None:
    int8 = judge(_record("a-embed4-int8", flops=1e12, size=0), PEAKS)
    emulated = judge(_record("a-fp16", flops=1e12, size=0), PEAKS)
    assert int8 is not None
    assert emulated is not None
    assert int8.peak_flops == 4e12
    assert emulated.peak_flops == 1e12


def test_peaks_of_another_probe_are_not_taken() -> None:
    assert _system().endswith("probe=6")


def test_peaks_are_kept_apart_for_switches_that_change_speed() -> None:
    plain = _system()
    assert plain.startswith("f torch=2.13 cpu threads=2 ")
    slow, slower = (_system({"ATEN_CPU_CAPABILITY": value}) for value in ("avx2", "default"))
    assert len({plain, slow, slower}) == 3
    assert _system({"OMP_NUM_THREADS": "7"}) == plain


def test_another_compiler_or_product_of_ours_is_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = _system()
    assert _system(compiler="clang 14.0.6") != plain
    assert _system(compiler="") != plain
    assert _system(device="cuda") == _system(device="cuda", compiler="") == "f torch=2.13 cuda threads=2 probe=6"
    monkeypatch.setattr(roofline, "_product_sources", lambda: [b"another"])
    assert _system() != plain


def _flops(monkeypatch: pytest.MonkeyPatch, peak: Callable[[str], float], device: str) -> dict[str, float]:
    """Return what a probe finds where a product that is named by what makes it has such a peak."""
    torch = pytest.importorskip("torch")
    from strobe.bench import peak_probe

    monkeypatch.setattr(peak_probe, "_peak_flops", lambda make, device: peak(make.__qualname__.partition(".")[0]))
    try:
        return peak_probe._flops(device)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False  # a probe has a process of its own for this


def test_the_peak_of_8_bits_is_the_better_of_torchs_product_and_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an instruction for it, torch's is a hundred times slower than what Optimized rows run."""

    def peak(name: str) -> float:
        return 2.0 if name.startswith("_own") else 1.0

    assert _flops(monkeypatch, peak, "cpu") == {"fp32": 2.0, "bf16": 1.0, "fp16": 1.0, "int8": 2.0}
    others = dict.fromkeys(("fp32", "bf16", "fp16", "int8", "tf32"), 1.0)
    assert _flops(monkeypatch, peak, "cuda:0") == others


def _lacking(part: str, fault: Exception) -> Callable[[str], float]:
    def peak(name: str) -> float:
        if name.startswith(part):
            raise fault
        return 1.0

    return peak


@pytest.mark.parametrize("fault", [NotHere("no compiler"), Error("false cannot compile it"), OSError("no room")])
def test_where_our_product_cannot_be_built_torchs_is_the_peak(
    fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _flops(monkeypatch, _lacking("_own", fault), "cpu")
    assert found == dict.fromkeys(("fp32", "bf16", "fp16", "int8"), 1.0)


def test_a_card_that_lacks_a_precision_has_the_peaks_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows of 8 bits are then held against fp32."""
    lacking = _lacking("_int8_product", RuntimeError("not implemented for this card"))
    found = _flops(monkeypatch, lacking, "cuda:0")
    assert set(found) == {"fp32", "bf16", "fp16", "tf32"}
    assert judge(_record("a-int8", flops=1.0, size=0.0), Peaks(flops=found, bytes_per_s=1.0)) is not None
    assert _flops(monkeypatch, lacking, "cpu")["int8"] == 1.0  # ours


def test_without_a_peak_of_fp32_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="the card is gone"):
        _flops(monkeypatch, _lacking("_product", RuntimeError("the card is gone")), "cuda:0")


def test_a_product_that_finds_no_room_leaves_the_peak_of_the_smaller_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from strobe.bench import peak_probe

    def make(size: int) -> Callable[[], object]:
        if size > 1024:
            raise RuntimeError("out of memory")
        return lambda: None

    monkeypatch.setattr(peak_probe, "_best_s", lambda work, device: 0.001)
    assert peak_probe._peak_flops(make, "cuda") == pytest.approx(2 * 1024**3 / 0.001)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="nothing is pinned here")
def test_the_probe_sits_on_the_cpus_that_rows_are_pinned_to() -> None:
    """With two threads on four CPUs, rows may share a core; a probe that the kernel spreads has both."""
    pytest.importorskip("torch")
    code = """
import os, sys
from strobe.bench import peak_probe
peak_probe._peak_flops = lambda make, device: float(len(os.sched_getaffinity(0)))
peak_probe._bytes_per_s = lambda device: float(min(os.sched_getaffinity(0)))
sys.argv = ["peak_probe", "cpu", "1"]
peak_probe.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    found = msgspec.json.decode(done.stdout, type=Peaks)
    assert (found.flops["fp32"], found.bytes_per_s) == (1, min(os.sched_getaffinity(0)))


@pytest.mark.parametrize(
    ("config", "precision"),
    [("tiny", "fp32"), ("400MF-int8", "int8"), ("A.1dev-embed4-fp16", "fp16"), ("tiny-embed8-fp32", "fp32")],
)
def test_the_precision_is_in_the_name(config: str, precision: str) -> None:
    assert precision_of(config) == precision


def test_a_precision_that_is_no_part_of_the_name_is_known() -> None:
    for implementation in ("ootb", "optimized"):
        assert find_one(f"xlm-r/{implementation}/inference/fb-1dev-A").precision == "fp16"
    fast = Peaks(flops={"fp32": 1e12, "fp16": 4e12}, bytes_per_s=1e10)
    judged = judge(msgspec.structs.replace(_record("fb-1dev-A", flops=1e12, size=1.0), precision="fp16"), fast)
    assert judged is not None
    assert judged.peak_flops == 4e12


def test_no_roofline_without_work_samples_or_for_several_devices() -> None:
    assert judge(_record("a", flops=1.0, size=1.0, devices=2), PEAKS) is None
    assert judge(result([], error="failed"), PEAKS) is None


def test_a_rate_of_queries_is_not_given_the_peak_of_steps_back_to_back() -> None:
    served = msgspec.structs.replace(_record("a", flops=5e11, size=1e9), metric="serving")
    assert judge(served, PEAKS) is None


def test_peaks_are_kept_by_system(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    assert store.read("a") is None
    store.write("a", PEAKS)
    store.write("b", Peaks(flops={"fp32": 1.0}, bytes_per_s=1.0))
    assert store.read("a") == PEAKS
    (tmp_path / "bench" / "peaks.json").write_text("nothing")
    with pytest.raises(Error, match="remove it"):
        store.read("a")


def test_a_python_without_torch_says_so(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho Traceback >&2\necho 'No module named torch' >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(Error, match="could not be measured: No module named torch"):
        measure_peaks(str(python), "cpu", 1)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_peaks_of_this_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert main(["bench", "peaks", "--threads", "1", "--home", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"fp32", "bf16", "fp16", "int8"} <= set(found["flops"])
    assert found["flops"]["fp32"] > 1e8
    assert found["bytes_per_s"] > 1e8
    (kept,) = json.loads((tmp_path / "bench" / "peaks.json").read_text()).values()
    assert kept["flops"] == found["flops"]
