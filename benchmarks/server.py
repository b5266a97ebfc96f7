"""What server and store promise, measured one after the other: `make bench-server`.

Runs the benchmarks below, each in a process of its own, so that none disturbs another, and holds their JSON lines
against the bars. A ratio is always of two things measured in one run of one of them.

    store.py         taking in, bytes per point and charts, against DuckDB
    runs_table.py    filter and sort at 1,000 to 100,000 runs, and against mlflow's search
    charts.py        a panel of 100 runs, against mlflow's and TensorBoard's
    ingest_http.py   taking in through HTTP, against the store by itself; the server's memory
    online.py        what a server costs the program that logs

Prints one table (measure, value, bar, met) and, as the last line, JSON; exits with 1 when a bar is missed or a
benchmark fails. About 10 minutes on 2 cores. The first run installs mlflow and TensorBoard (see docs/benchmarks.md).

    python benchmarks/server.py [--only store,charts]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from strobe.bench import machine
from strobe.bench.load.bars import format_ratio
from strobe.bench.table import markdown

MB = 1e6


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one bar."""

    measure: str
    value: str
    bar: str
    is_met: bool


def at_most(measure: str, value: float, bar: float, about: str = "") -> Verdict:
    return Verdict(measure, f"{format_ratio(value)}{about}", f"≤ {format_ratio(bar)}", value <= bar)


def at_least(measure: str, value: float, bar: float, about: str = "") -> Verdict:
    return Verdict(measure, f"{value:.2f}{about}", f"≥ {bar:.3g}", value >= bar)


def judge_store(found: dict[str, Any]) -> Iterator[Verdict]:
    ingest, (short, *_, long) = found["ingest"], found["series"]
    rates = f" ({ingest['store_points_per_s'] / 1e6:.2f} M points/s)"
    yield at_least("ingest of 20 keys × 1,000 rows, SQLite, of DuckDB's rate", ingest["ratio"], 1.5, rates)
    yield at_most("bytes per stored point", ingest["bytes_per_point"], 20)
    took = f" ({long['store_s'] * 1e3:.2f} ms)"
    yield at_most(f"chart of {long['points']:,} points, of DuckDB's time", long["ratio"], 1 / 100, took)
    yield at_most(f"the same, of its time at {short['points']:,}", long["store_s"] / short["store_s"], 4)


def judge_runs_table(found: dict[str, Any]) -> Iterator[Verdict]:
    took = f" ({found['ms']['100000']:.1f} ms)"
    yield at_most("runs table at 100,000 runs, of its time at 1,000", found["ratio_100k_1k"], 3, took)
    yield at_most("runs table at 10,000 runs, of mlflow's search", 1 / found["mlflow_ratio"], 1 / 20)


def judge_charts(found: dict[str, Any]) -> Iterator[Verdict]:
    for name, ratio, bar in found["verdicts"]:
        if bar is not None:
            yield at_most(f"1 key × 100 runs × 10,000 points, {name}", ratio, bar)


def judge_ingest_http(found: dict[str, Any]) -> Iterator[Verdict]:
    rate = f" ({found['http_points_per_s'] / 1e6:.2f} M points/s)"
    yield at_least("ingest through HTTP, of the store's own rate", found["ratio"], 1 / 3, rate)
    idle, peak, long_peak = (found[name] / MB for name in ("idle_bytes", "peak_bytes", "long_peak_bytes"))
    yield Verdict("memory of an idle server", f"{idle:.0f} MB", "≤ 120 MB", idle <= 120)
    is_bounded = long_peak - peak <= 32
    yield Verdict(
        "the same under ingest; runs 4 × as long", f"{peak:.0f}, {long_peak:.0f} MB", "≤ 32 MB more", is_bounded
    )


def judge_online(found: dict[str, Any]) -> Iterator[Verdict]:
    for profile, measured in found.items():
        waiting = f" ({measured['waiting_ratio']:.2f} with finish() waiting for the server)"
        yield at_most(f"{profile} online, client side, of offline", measured["ratio"], 1.5, waiting)


#: name → arguments, and how the JSON line is held against the bars
BENCHMARKS: dict[str, tuple[list[str], Callable[[dict[str, Any]], Iterator[Verdict]]]] = {
    "store": ([], judge_store),
    "runs_table": (["--mlflow"], judge_runs_table),
    "charts": ([], judge_charts),
    "ingest_http": ([], judge_ingest_http),
    "online": ([], judge_online),
}


def run(name: str) -> tuple[dict[str, Any] | None, list[Verdict]]:
    """Run one benchmark; return its JSON line and the verdicts, one that says "failed" if there is no such line."""
    arguments, judge = BENCHMARKS[name]
    began = time.monotonic()
    print(f"{name} …", file=sys.stderr, flush=True)
    command = [sys.executable, str(Path(__file__).with_name(f"{name}.py")), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(f"{name}: {time.monotonic() - began:.0f} s, exit code {done.returncode}", file=sys.stderr, flush=True)
    try:
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        return None, [Verdict(f"{name}.py", f"failed, exit code {done.returncode}", "", False)]
    return found, list(judge(found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAMES", default=",".join(BENCHMARKS), help="default: %(default)s")
    args = parser.parse_args()
    outcomes = {name: run(name) for name in args.only.split(",")}
    verdicts = [verdict for _, found in outcomes.values() for verdict in found]
    lines = [(one.measure, one.value, one.bar, "met" if one.is_met else "MISSED") for one in verdicts]
    print(markdown(("measure", "value", "bar", ""), lines))
    here = machine.describe()
    load = "" if here.load_average is None else f", load average {here.load_average:.1f}"
    print(f"\n{here.started_at}, {here.cpu_count} cores{load}")
    raw = {name: found for name, (found, _) in outcomes.items()}
    print(json.dumps({"verdicts": [asdict(one) for one in verdicts], "raw": raw}))
    return 0 if all(one.is_met for one in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
