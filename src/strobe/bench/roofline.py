"""Roofline: the least time that a step could take on this machine, by what the machine itself was measured to do.

Peaks are a large matrix product per precision (in 32 and 8 bits the better of torch's and our own) and the better of
copy and triad over memory, measured in a process of their own on a row's CPUs (`peak_probe`) and kept per
hardware, torch, our own products and their C compiler, number of threads and switches that are set. The fraction is the
least time over the measured one; a step whose data fits into a cache may exceed what memory allows.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from strobe.bench import stats
from strobe.bench.records import SERVING, Record, Roofline
from strobe.bench.runner import allocator
from strobe.bench.runner.software import thread_variables
from strobe.bench.spec import precision_of
from strobe.errors import Error

_LIMIT_S = 120.0
#: raised when peaks are probed otherwise, so that nothing is held against those of another probe
_PROBE = 6
#: our own products that are tried, and how they are built
_PRODUCTS = ("fp32_linear.c", "fp32_linear.py", "int8_linear.c", "int8_linear.py", "int8_dot.h", "lanes.h", "native.py")


class Peaks(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine can do at best; flops per precision, bytes per second."""

    flops: dict[str, float]
    bytes_per_s: float
    #: who else used the machine meanwhile; then they are measured again next time
    noisy: tuple[str, ...] = ()


class PeakStore:
    """Measured peaks in a file, by system."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, system: str) -> Peaks | None:
        return self._all().get(system)

    def write(self, system: str, peaks: Peaks) -> None:
        """Keep the peaks of a system."""
        self._write_all({**self._all(), system: peaks})

    def lend(self, home: Path) -> None:
        """Let a home know all these peaks as undisturbed ones, which nobody measures anew."""
        calm = {system: msgspec.structs.replace(peaks, noisy=()) for system, peaks in self._all().items()}
        store_at(home)._write_all(calm)

    def _write_all(self, known: Mapping[str, Peaks]) -> None:
        """Replace the file in one piece."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(known)))
        temporary.replace(self._path)

    def _all(self) -> dict[str, Peaks]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, Peaks])
        except FileNotFoundError:
            return {}
        except msgspec.DecodeError as exc:
            raise Error(
                f"{self._path}: not a file of measured peaks ({exc}); remove it, they are measured again"
            ) from exc


def store_at(home: Path) -> PeakStore:
    """Return the store of a home."""
    return PeakStore(home / "bench" / "peaks.json")


def system_name(
    fingerprint: str, torch: str, device: str, threads: int, switches: Mapping[str, str], *, compiler: str
) -> str:
    """Return what peaks are kept under; `switches` are the variables that change speed, `compiler` is that of C."""
    # The probe sets those of threads itself.
    text = "\n".join(f"{name}={switches[name]}" for name in sorted(switches) if not name.endswith("_NUM_THREADS"))
    mark = f" switches={_hash(text.encode())}" if text else ""
    # Elsewhere only torch's products are tried.
    ours = f" products={_hash(compiler.encode(), *_product_sources())}" if device == "cpu" else ""
    return f"{fingerprint} torch={torch} {device} threads={threads}{mark}{ours} probe={_PROBE}"


def _product_sources() -> Iterator[bytes]:
    # Read, not imported: torch would come along.
    directory = Path(__file__).parent / "workloads" / "layers"
    return ((directory / name).read_bytes() for name in _PRODUCTS)


def _hash(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def measure_peaks(python: str, device: str, threads: int) -> Peaks:
    """Measure in a fresh process; takes several seconds."""
    try:
        done = subprocess.run(
            [python, "-m", "strobe.bench.peak_probe", device, str(threads)],
            check=False,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            env={**os.environ, **allocator.variables("Micro", os.environ), **thread_variables(threads)},
        )
    except subprocess.TimeoutExpired as exc:
        raise Error(f"the machine's peaks were not measured within {_LIMIT_S:g} s; it is too busy, or hangs") from exc
    if done.returncode:
        # The last line of a traceback says what happened.
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise Error(f"the machine's peaks could not be measured: {last}")
    return msgspec.json.decode(done.stdout, type=Peaks)


def judge(record: Record, peaks: Peaks) -> Roofline | None:
    """Return how near the middle step of a record comes to the machine's limit; None where that has no meaning."""
    # Several devices share memory here and links elsewhere: one machine's peaks do not bound them.
    if record.work is None or not record.samples or not record.repeats or record.devices * record.nodes > 1:
        return None
    # Its rate leaves room for queries that come at random; the steps of its repeats, back to back, are another row's.
    if record.metric == SERVING:
        return None
    # What a machine emulates slowly is computed in fp32 by anybody in a hurry: a lower precision is no lower limit.
    peak_flops = max(peaks.flops.get(record.precision or precision_of(record.config), 0.0), peaks.flops["fp32"])
    compute_s, memory_s = record.work.flops / peak_flops, record.work.bytes / peaks.bytes_per_s
    step_s = stats.median([repeat.step_s for repeat in record.repeats])
    return Roofline(
        peak_flops=peak_flops,
        peak_bytes_per_s=peaks.bytes_per_s,
        fraction=max(compute_s, memory_s) / step_s,
        bound="compute" if compute_s >= memory_s else "memory",
    )
