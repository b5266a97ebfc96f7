"""Taking in through HTTP from real uploaders, against the store's own rate, in one run; and the server's memory.

The load is that of `store.py`: rows of 20 random float64 values. They lie in the journals of offline runs, one home for
each uploader; a process per home runs the uploader of agent and `strobe sync` on them and brings them to a real
`strobe server` process on SQLite: journals are read, packed, compressed, sent, checked, decompressed and taken in. The
rate counts from the word "go" until the last uploader has its last acknowledgement; starting interpreters does not
count. The store's own rate is what `store.py` measures: batches of 1,000 rows in memory, a transaction each, in a new
file. Both take turns, and the median of the ratios counts. Uploaders and server share the machine's cores.

Memory: what the server has in RAM before the first request, and the most it has during these loads and then during runs
that are several times as long. It may grow by what allocators keep, not with what was sent.

Prints a table and, as the last line, JSON; exits with 1 when a bar is missed.

    python benchmarks/ingest_http.py [--rows 30_000] [--uploaders 2] [--turns 5]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strobe.bench.load.worker.process import cpu_seconds
from strobe.bench.server import USER, LocalServer, local_server

KEYS = 20
AT_LEAST = 1 / 3
IDLE_BYTES = 120e6
#: how much more memory loads of several times the length may take
GROWTH_BYTES = 32e6
LONGER = 4

# A process of its own: writes one offline run below a home.
_WRITE = """
import sys, numpy, strobe
home, rows, keys = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
values = numpy.random.default_rng(0).standard_normal((rows, keys)).tolist()
names = [f"key{number}" for number in range(keys)]
settings = {"agent": False, "stats": False, "silent": True}
run = strobe.init("ingest", id="r", mode="offline", dir=home, settings=settings)
for row in values:
    run.log(dict(zip(names, row)))
run.finish()
"""

# A process of its own: the uploader on the run of a home. It says "ready", waits for a line, and tells how it ended.
_SEND = """
import json, sys, time
from pathlib import Path
from strobe.agent.upload.foreground import Foreground, Order
from strobe.home import Home, RunPath
from strobe.remote.target import Target
home, url, key, place = sys.argv[1:]
home, target, place = Home(Path(home)), Target(base_url=url, api_key=key), RunPath.parse(place)
orders = [Order(home=home, run_dir=found, target=target, destination=place) for found in home.iter_runs()]
work = Foreground(orders, report=sys.stderr.write)
print("ready", flush=True)
sys.stdin.readline()
began = time.process_time()
work.start()
while not work.is_done():
    time.sleep(0.002)
took = time.process_time() - began
(trip,) = work.trips
print(json.dumps([trip.is_synced, trip.course.state.num_rows, trip.error, took]), flush=True)
"""


class Homes:
    """Offline runs, one for each uploader."""

    def __init__(self, directory: Path, uploaders: int, rows: int) -> None:
        self.rows = rows
        #: seconds of processor time that the uploaders have used so far
        self.cpu_s = 0.0
        self.homes = [directory / f"home{number}-{rows}" for number in range(uploaders)]
        for home in self.homes:
            _check(subprocess.run([sys.executable, "-c", _WRITE, str(home), str(rows), str(KEYS)]))

    @property
    def points(self) -> int:
        return len(self.homes) * self.rows * KEYS

    def send(self, server: LocalServer, project: str) -> float:
        """Bring all runs to a project of the server; return the seconds it took."""
        commands = [
            [sys.executable, "-c", _SEND, str(home), server.url, server.key, f"{USER}/{project}/r{number}"]
            for number, home in enumerate(self.homes)
        ]
        senders = [subprocess.Popen(one, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for one in commands]
        for sender in senders:
            _line(sender)
        began = time.perf_counter()
        for sender in senders:
            assert sender.stdin is not None
            print("go", file=sender.stdin, flush=True)
        outcomes = [json.loads(_line(sender)) for sender in senders]
        took = time.perf_counter() - began
        for sender in senders:
            sender.communicate()
        if any(not is_synced or rows != self.rows for is_synced, rows, *_ in outcomes):
            raise SystemExit(f"not everything arrived: {outcomes}")
        self.cpu_s += sum(outcome[-1] for outcome in outcomes)
        for number in range(len(self.homes)):
            self._check_counts(server, f"{USER}/{project}/r{number}")
        return took

    def _check_counts(self, server: LocalServer, run: str) -> None:
        request = urllib.request.Request(
            f"{server.url}/api/v1/runs/{run}/digests", headers={"Authorization": f"Bearer {server.key}"}
        )
        with urllib.request.urlopen(request) as answer:
            digests = json.load(answer)["digests"]
        counts = {digest["count"] for digest in digests.values()}
        if len(digests) != KEYS or counts != {self.rows}:
            raise SystemExit(f"{run} has {len(digests)} keys of {counts} points; {KEYS} of {self.rows} were sent")


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"an uploader ended with exit code {process.wait()}")
    return line


def _check(done: subprocess.CompletedProcess[bytes]) -> None:
    if done.returncode:
        raise SystemExit(f"writing a run failed with exit code {done.returncode}")


@contextmanager
def highest_memory(server: LocalServer) -> Iterator[list[int]]:
    """Collect the server's resident memory while the block runs; its highest is the list's maximum."""
    samples = [server.resident_bytes()]
    is_over = threading.Event()

    def sample() -> None:
        while not is_over.wait(0.02):
            samples.append(server.resident_bytes())

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        is_over.set()
        thread.join()
        samples.append(server.resident_bytes())


def store_rate(points: int) -> float:
    """Return the points per second that the store takes in by itself, as `store.py` finds it."""
    script = Path(__file__).with_name("store.py")
    batches = str(points // (KEYS * 1000))
    command = [sys.executable, str(script), "--only", "ingest", "--batches", batches]
    # Its exit code is about its own bars.
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return float(json.loads(done.stdout.splitlines()[-1])["ingest"]["store_points_per_s"])


def measure(directory: Path, rows: int, uploaders: int, turns: int) -> dict[str, Any]:
    """Return the rates of both, turn by turn, and the server's memory."""
    homes = Homes(directory, uploaders, rows)
    long_homes = Homes(directory, uploaders, LONGER * rows)
    ours, theirs = [], []
    with local_server(directory / "server") as server:
        idle = server.resident_bytes()
        server_cpu_s = cpu_seconds(server.pid)
        with highest_memory(server) as short:
            for turn in range(turns):
                theirs.append(store_rate(homes.points))
                ours.append(homes.points / homes.send(server, f"turn{turn}"))
        server_cpu_s = cpu_seconds(server.pid) - server_cpu_s
        with highest_memory(server) as long:
            long_homes.send(server, "long")
    return {
        "http_points_per_s": statistics.median(ours),
        "store_points_per_s": statistics.median(theirs),
        "ratio": statistics.median(a / b for a, b in zip(ours, theirs, strict=True)),
        "ratios": [round(a / b, 3) for a, b in zip(ours, theirs, strict=True)],
        # Where the time goes, whatever else the machine does: processor seconds for a million points.
        "uploader_cpu_s_per_million": homes.cpu_s / (turns * homes.points) * 1e6,
        "server_cpu_s_per_million": server_cpu_s / (turns * homes.points) * 1e6,
        "uploaders": uploaders,
        "points_per_turn": homes.points,
        "points_of_long_load": long_homes.points,
        "idle_bytes": idle,
        "peak_bytes": max(short),
        "long_peak_bytes": max(long),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=30_000, help="of each run")
    parser.add_argument("--uploaders", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="strobe-ingest-") as name:
        found = measure(Path(name), args.rows, args.uploaders, args.turns)
    rates = f"{found['http_points_per_s'] / 1e6:.2f} / {found['store_points_per_s'] / 1e6:.2f} M points/s"
    growth = found["long_peak_bytes"] - found["peak_bytes"]
    peaks = f"{found['peak_bytes'] / 1e6:.0f} -> {found['long_peak_bytes'] / 1e6:.0f} MB"
    bars = [
        ("ingest, HTTP / store", f"{rates} = {found['ratio']:.2f}", ">= 1/3", found["ratio"] >= AT_LEAST),
        ("server, idle", f"{found['idle_bytes'] / 1e6:.0f} MB", "<= 120 MB", found["idle_bytes"] <= IDLE_BYTES),
        (f"server, peak; runs {LONGER} x as long", peaks, "<= 32 MB more", growth <= GROWTH_BYTES),
    ]
    for measured, value, bar, is_met in bars:
        print(f"{measured:<44} {value:<44} {bar:<14} {'met' if is_met else 'MISSED'}")
    used = [found[f"{who}_cpu_s_per_million"] for who in ("uploader", "server")]
    print(f"processor time for a million points: uploaders {used[0]:.2f} s, server {used[1]:.2f} s")
    print(json.dumps(found))
    return 0 if all(is_met for *_, is_met in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
