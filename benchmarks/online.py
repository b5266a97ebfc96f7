"""What a server costs the program that logs: `v1-scalars` and `v1-tables` online against offline, in one run.

Both are load profiles of `strobe bench load`, from the first `init()` to the last `finish()`; online against a real
`strobe server` process on this machine. Three subjects take turns, each in a fresh process:

    offline   recorded here
    online    recorded here and sent by the agent meanwhile; `finish()` leaves the rest to the agent (finish_timeout=0):
              the client side, which the bar is about
    waiting   the same, `finish()` waits until the server has everything, as it does by default: shown beside it, since
              that is the time of agent, network and server

After each online repetition the rows that the server has are counted; a row that is missing fails the benchmark.

Prints a table and, as the last line, JSON; exits with 1 when the median online is more than 1.5 x the median offline.

    python benchmarks/online.py [--repeat 11] [--profile v1-scalars,v1-tables]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from strobe._version import __version__
from strobe.bench import stats
from strobe.bench.load import catalog, runner, venvs
from strobe.bench.load.job import Server
from strobe.bench.load.variant import Subject
from strobe.bench.server import local_server
from strobe.bench.table import format_value

AT_MOST = 1.5
#: name → mode, how `finish()` ends
SUBJECTS = {"offline": ("offline", "wait"), "online": ("online", "leave"), "waiting": ("online", "wait")}


class Bench:
    """One profile, measured for all subjects in turn."""

    def __init__(self, name: str, server: Server, directory: Path) -> None:
        self._profiles = catalog.find_profiles([name])
        (self._tracker,) = catalog.find_trackers(["strobe"])
        self._server = server
        self._directory = directory
        #: seconds of each repetition, and how long the server then took to have everything
        self.load: dict[str, list[float]] = {name: [] for name in SUBJECTS}
        self.wait: dict[str, list[float]] = {name: [] for name in SUBJECTS}

    def repeat(self) -> None:
        for name, (mode, finish) in SUBJECTS.items():
            plan = runner.Plan(
                profiles=self._profiles,
                subjects=[Subject(self._tracker, {"finish": finish})],
                mode=mode,
                repeat=1,
                venvs=self._directory,
                server=self._server if mode == "online" else None,
            )
            found = {record.metric: record for record in runner.run(plan, _say)}
            if error := found["time_load"].error:
                raise SystemExit(f"{name}: {error}")
            self.load[name] += found["time_load"].samples
            if mode == "online":
                self.wait[name] += found["server_wait"].samples

    def result(self) -> dict[str, Any]:
        medians = {f"{name}_s": stats.median(samples) for name, samples in self.load.items()}
        waits = {f"{name}_server_wait_s": stats.median(samples) for name, samples in self.wait.items() if samples}
        ratios = {name: stats.ratio(self.load[name], self.load["offline"]) for name in ("online", "waiting")}
        return {
            **medians,
            **waits,
            "ratio": ratios["online"].value,
            "ratio_bounds": [ratios["online"].low, ratios["online"].high],
            "waiting_ratio": ratios["waiting"].value,
            "samples": self.load,
        }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=11)
    parser.add_argument("--profile", default="v1-scalars,v1-tables", metavar="NAMES")
    parser.add_argument("--venvs", type=Path, default=venvs.default_directory(), metavar="DIR")
    args = parser.parse_args()
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="strobe-online-") as name, local_server(Path(name)) as started:
        for profile in args.profile.split(","):
            bench = Bench(profile, Server(started.url, started.key, __version__), args.venvs)
            for _ in range(args.repeat):
                bench.repeat()
            result[profile] = bench.result()
    for profile, found in result.items():
        times = [format_value(found[f"{name}_s"], "s") for name in SUBJECTS]
        is_met = found["ratio"] <= AT_MOST
        value = f"{times[1]} / {times[0]} = {found['ratio']:.2f}"
        print(f"{profile + ', online / offline':<44} {value:<44} {'<= 1.5':<10} {'met' if is_met else 'MISSED'}")
        value = f"{times[2]} = {found['waiting_ratio']:.2f}"
        print(f"{'  finish() waiting for the server':<44} {value}")
        value = format_value(found["online_server_wait_s"], "s")
        print(f"{'  not waiting: all there after finish() in':<44} {value}")
    print(json.dumps(result))
    return 0 if all(found["ratio"] <= AT_MOST for found in result.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
