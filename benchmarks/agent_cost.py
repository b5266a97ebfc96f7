"""What the agent costs while one run logs 10 rows a second with system metrics on.

CPU is the time that the agent's threads were on a core over the measured seconds, in percent of one core. Memory is
what the process has for itself (anonymous pages, as in smaps), beside the whole resident set. Linux only. The start of
the agent (imports, environment description) is reported apart: it happens once, not per second.

Prints one line of JSON: `anonymous_mb`, `pss_mb`, `rss_mb`, `peak_rss_mb`, `cpu_percent`, `start_cpu_s`, `ensure_ms`
(the first call and the median of later ones), `seconds`, `rows`. The bars: 45 MB anonymous, 1 % of a core.

    python benchmarks/agent_cost.py --seconds 30
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from strobe import identity
from strobe._version import __version__
from strobe.agent import launch
from strobe.agent.lifecycle import stop
from strobe.agent.seat import Seat
from strobe.home import Home, RunPath
from strobe.journal import Header, Writer

_MB = 1024.0  # smaps counts kB


def measure(home: Home, seconds: float, interval_s: float) -> dict[str, Any]:
    """Log to a run in `home` and look at its agent."""
    journal = _begin_run(home, interval_s)
    begun = time.perf_counter()
    launch.ensure(home, version=__version__)
    first_ms = (time.perf_counter() - begun) * 1e3
    pid = _wait_for_agent(home)
    again_ms = statistics.median(_time_ensure(home) for _ in range(50))
    _log(journal, 3.0)  # imports, the first sample, the description
    start_cpu_s = _cpu_s(pid)
    begun = time.monotonic()
    rows = _log(journal, seconds)
    used_s, elapsed_s = _cpu_s(pid) - start_cpu_s, time.monotonic() - begun
    return {
        "anonymous_mb": round(_smaps(pid, "Anonymous") / _MB, 1),
        "pss_mb": round(_smaps(pid, "Pss") / _MB, 1),
        "rss_mb": round(_smaps(pid, "Rss") / _MB, 1),
        "peak_rss_mb": round(_field(Path(f"/proc/{pid}/status"), "VmHWM") / _MB, 1),
        "cpu_percent": round(100.0 * used_s / elapsed_s, 3),
        "start_cpu_s": round(start_cpu_s, 3),
        "ensure_ms": [round(first_ms, 2), round(again_ms, 3)],
        "seconds": round(elapsed_s, 1),
        "rows": rows,
    }


def _begin_run(home: Home, interval_s: float) -> Writer:
    # Through the journal, so that the figures are the agent's alone; to it this is a run like any other.
    run_dir = home.run_dir(RunPath("local", "bench", "agent-cost"))
    journal = Writer(run_dir.journal, Header(entity="local", project="bench", run="agent-cost", writer="0000beef"))
    pid = os.getpid()
    entry = {
        "run_dir": str(run_dir.path),
        "writer": "0000beef",
        "pid": pid,
        "pid_started": identity.process_started(pid),
        "host": identity.host_id(),
        "boot_id": identity.boot_id(),
        "pid_namespace": identity.pid_namespace(),
        "stats_interval_s": interval_s,
        "describe": True,
        "cwd": str(Path.cwd()),
        "argv": ["agent_cost.py"],
        "sys_path": sys.path,
    }
    home.active.mkdir(parents=True)
    (home.active / "0000beef.json").write_bytes(msgspec.json.encode(entry))
    return journal


def _log(journal: Writer, seconds: float) -> int:
    begun, row = time.monotonic(), 0
    while time.monotonic() - begun < seconds:
        journal.row({f"metric/{number}": row * number / 7.0 for number in range(10)}, row)
        row += 1
        time.sleep(max(0.0, begun + row / 10.0 - time.monotonic()))
    return row


def _time_ensure(home: Home) -> float:
    begun = time.perf_counter()
    launch.ensure(home, version=__version__)
    return (time.perf_counter() - begun) * 1e3


def _wait_for_agent(home: Home) -> int:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        state = Seat(home).read_state()
        if state is not None and state.is_alive():
            return state.pid
        time.sleep(0.02)
    raise SystemExit(f"no agent came up: {launch.problem() or Path(Seat(home).log_path).read_text()}")


def _cpu_s(pid: int) -> float:
    # schedstat counts nanoseconds; stat counts hundredths of a second, too coarse for a tenth of a percent.
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def _smaps(pid: int, name: str) -> int:
    return _field(Path(f"/proc/{pid}/smaps_rollup"), name)


def _field(path: Path, name: str) -> int:
    return next(int(line.split()[1]) for line in path.read_text().splitlines() if line.startswith(f"{name}:"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long to measure (default: %(default)s)")
    parser.add_argument("--interval", type=float, default=15.0, help="seconds between samples (default: %(default)s)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="strobe-agent-cost-") as directory:
        home = Home(Path(directory))
        try:
            print(json.dumps(measure(home, args.seconds, args.interval)))
        finally:
            stop(home)


if __name__ == "__main__":
    main()
