"""Where the time of a log() goes: its parts measured alone, in one process, beside the whole.

Answers why a durable append in Python cannot be much cheaper than it is: the write(2) that makes the row survive a
kill is the largest part, and most of the rest is the interpreter calling what has to be called. Each figure is the
least of many rounds of thread CPU time, so that a busy machine matters little; compare them only with each other.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_ROUNDS = 40
_CALLS = 5_000


def cost_ns(call: Callable[[], Any]) -> float:
    """Return the thread CPU time of one call, without that of the loop around it."""
    return max(0.0, _least(call) - _least(_nothing))


def _least(call: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(_ROUNDS):
        began = time.thread_time_ns()
        for _ in range(_CALLS):
            call()
        best = min(best, (time.thread_time_ns() - began) / _CALLS)
    return best


def _nothing() -> None:
    pass


def parts_of(width: int, directory: Path) -> dict[str, float]:
    """Return name → nanoseconds for the parts of a log() of `width` scalars, and for the whole."""
    import strobe
    from strobe.journal.frame import ROW, encode_frame
    from strobe.sdk.value import encode_row

    row = {f"metric_{index}": 0.5 + index for index in range(width)}
    payload = encode_row([0, 1000, time.time_ns(), *row.values()])
    record = encode_frame(ROW, 1000, payload)
    known, lock, write = {tuple(row): 0}, threading.RLock(), ctypes.PyDLL(None).write
    fd = os.open(directory / f"records-{width}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def take_lock() -> None:
        with lock:
            pass

    with strobe.init(project="profile") as run:
        whole = cost_ns(lambda: run.log(row))
    measured = {
        "write(2), keeping the GIL": cost_ns(lambda: write(fd, record, len(record))),
        "frame: header, checksum, copy": cost_ns(lambda: encode_frame(ROW, 1000, payload)),
        "encode the values": cost_ns(lambda: encode_row([0, 1000, 1_700_000_000_000_000_000, *row.values()])),
        "find the key set": cost_ns(lambda: known.get(tuple(row))),
        "lock": cost_ns(take_lock),
        "clock": cost_ns(time.time_ns),
    }
    os.close(fd)
    return {**measured, "the rest: two calls, steps, counts": whole - sum(measured.values()), "log()": whole}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        os.environ.update(STROBE_HOME=str(directory / "home"), STROBE_AGENT="off", STROBE_SILENT="true")
        columns = {width: parts_of(width, directory) for width in (1, 10, 100)}
    print(f"{'part of log(), µs':36}" + "".join(f"{width:>6} scalars" for width in columns))
    for part in columns[1]:
        print(f"{part:36}" + "".join(f"{column[part] / 1e3:14.2f}" for column in columns.values()))


if __name__ == "__main__":
    main()
