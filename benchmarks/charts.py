"""One key of 100 runs with 10,000 points each, as a panel asks for it: Strobe's server, mlflow's and TensorBoard's.

The same random walks in all three, of runs that have ended, each served by its own server process on this machine as it
comes, asked over HTTP on a connection that is kept, answers uncompressed and not parsed, in turns, warm; medians count.

    Strobe        POST /api/v1/series, one request, 1,000 pixels: up to 1,000 buckets per run, over all points, with the
                  columns that a line with its band is drawn from (step, min, max, mean; `--columns all`: all fifteen).
                  Warm means that the server has been asked before and keeps the curves of runs that have not changed;
                  "first time" is the same at a width that nobody has asked for, computed from the store
    mlflow        GET metrics/get-history-bulk-interval, which its charts use, one request (it takes up to 100 runs),
                  max_results=1000: every tenth point
    TensorBoard   POST timeseries/timeSeries and scalars/scalars_multirun, which its two tabs use, one request; the
                  quicker one counts. As it comes it keeps 1,000 points per run, chosen at random, in memory; a second
                  server (`--samples_per_plugin`) keeps them all, and so has the same data as ours

Prints a table and, as the last line, JSON; exits with 1 unless Strobe, asked again, takes at most 1/20 of each, and,
asked for the first time, at most 1/20 of those that answer from all points.

    python benchmarks/charts.py [--runs 100] [--points 10_000] [--repeat 15]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import urllib3

from strobe.bench.load import catalog, venvs
from strobe.bench.server import USER, LocalServer, local_server
from strobe.journal import value
from strobe.journal.event import Ended
from strobe.wire import BATCHES
from strobe.wire.batch import Batch, Block, Column, Note, encode_batch
from strobe.wire.series import decode_series

KEY, PIXELS, PROJECT = "loss", 1000, "charts"
AT_MOST = 1 / 20
LINE = ["step", "min", "max", "mean"]
TENSORBOARD = "tensorboard==2.21.0"
_START_LIMIT_S = 120.0
_ROWS_PER_BATCH = 1000
#: the server looks twice a second for runs that have ended
_SETTLE_S = 5.0
#: an ask that takes longer than this is repeated three times only
_SLOW_S = 5.0

#: one answer's body
Ask = Callable[[], bytes]


class Client:
    """Asks one server over a connection that is kept."""

    def __init__(self, url: str, headers: dict[str, str] | None = None) -> None:
        self._pool = urllib3.connection_from_url(url, headers={**(headers or {}), "Accept-Encoding": "identity"})

    def ask(self, method: str, path: str, body: bytes | None = None, kind: str = "") -> bytes:
        headers = {**self._pool.headers, **({"Content-Type": kind} if kind else {})}
        answer = self._pool.urlopen(method, path, body, headers, timeout=300.0)
        if answer.status != 200:
            raise SystemExit(f"{method} {path[:80]}: {answer.status} {answer.data[:500]!r}")
        return answer.data


# -- the three -------------------------------------------------------------------------------------------------------


def strobe_asks(server: LocalServer, values: Any, columns: list[str] | None) -> dict[str, Ask]:
    """Send the values as a run's agent would, and return the question, and one that was never asked before."""
    client = Client(server.url, {"Authorization": f"Bearer {server.key}"})
    steps = np.arange(values.shape[1], dtype="<i8")
    times: Any = 1_700_000_000_000_000_000 + 100_000_000 * steps
    for number, row in enumerate(values):
        body = b"".join(
            encode_batch(_batch(f"run-{number}", steps[part], times[part], row[part]))
            for part in (slice(at, at + _ROWS_PER_BATCH) for at in range(0, len(steps), _ROWS_PER_BATCH))
        )
        ended = encode_batch(_end(f"run-{number}", len(steps)))
        client.ask("POST", "/api/v1/ingest", body + ended, BATCHES)
    time.sleep(_SETTLE_S)
    runs = [f"{USER}/{PROJECT}/run-{number}" for number in range(len(values))]
    question = {"runs": runs, "keys": [KEY], **({"columns": columns} if columns else {})}
    widths = itertools.count(PIXELS + 1)

    def ask(pixels: int) -> bytes:
        asked = json.dumps({**question, "pixels": pixels}).encode()
        return client.ask("POST", "/api/v1/series", asked, "application/json")

    for (_, found), row in zip(decode_series(ask(PIXELS)), values, strict=True):
        if max(found["max"]) != row.max() or min(found["min"]) != row.min():
            raise SystemExit("Strobe's curve is not the one that was sent")
    return {"strobe": lambda: ask(PIXELS), "strobe, first time": lambda: ask(next(widths))}


def _batch(run: str, steps: Any, times: Any, values: Any) -> Batch:
    at = steps.tobytes()
    block = Block([KEY], at, at, times.tobytes(), b"", [Column("d", values.tobytes())])
    first = int(steps[0])
    return Batch(
        entity=USER, project=PROJECT, run=run, writer="w", first=first, until=first + len(steps), blocks=[block]
    )


def _end(run: str, first: int) -> Batch:
    ended = value.encode_decoded(Ended(time_ns=1_800_000_000_000_000_000, state="finished"))
    note = Note(first, 1_800_000_000_000_000_000, ended)
    return Batch(entity=USER, project=PROJECT, run=run, writer="w", first=first, until=first + 1, notes=[note])


@contextmanager
def mlflow_ask(source: Path, directory: Path, num_runs: int) -> Iterator[tuple[str, dict[str, Ask]]]:
    (tracker,) = catalog.find_trackers(["mlflow"])
    python = venvs.ensure(tracker, venvs.default_directory(), _say)
    made = _prepare(python, "mlflow_points.py", source, directory)
    port = _free_port()
    artifacts = str(directory / "artifacts")
    arguments = ["--backend-store-uri", made["store"], "--default-artifact-root", artifacts, "--port", str(port)]
    with _serving(
        [str(python), "-m", "mlflow", "server", "--host", "127.0.0.1", *arguments], directory, port
    ) as client:
        query = [("metric_key", KEY), ("max_results", PIXELS), *(("run_ids", run) for run in made["runs"])]
        path = f"/ajax-api/2.0/mlflow/metrics/get-history-bulk-interval?{urlencode(query)}"
        found = json.loads(client.ask("GET", path))["metrics"]
        if len({point["run_id"] for point in found}) != num_runs:
            raise SystemExit("mlflow does not have all runs")
        yield f"mlflow {made['version']}", {"get-history-bulk-interval": lambda: client.ask("GET", path)}


@contextmanager
def tensorboard_ask(
    source: Path, directory: Path, num_runs: int, *, keep: int | None = None
) -> Iterator[tuple[str, dict[str, Ask]]]:
    tracker = venvs.Package("tensorboard", (TENSORBOARD,))
    python = venvs.ensure(tracker, venvs.default_directory(), _say)
    made = _prepare(python, "tensorboard_points.py", source, directory / "logs")
    port = _free_port()
    command = [str(python), "-m", "tensorboard.main", "--logdir", str(directory / "logs"), "--port", str(port)]
    samples = ["--samples_per_plugin", f"scalars={keep}"] if keep else []
    with _serving([*command, "--host", "127.0.0.1", *samples], directory, port) as client:
        form = "application/x-www-form-urlencoded"
        series = urlencode({"requests": json.dumps([{"plugin": "scalars", "tag": KEY}])}).encode()
        names = [f"run-{number:03}" for number in range(num_runs)]
        scalars = urlencode([("tag", KEY), *(("runs", name) for name in names)]).encode()
        asks: dict[str, Ask] = {
            "timeSeries": lambda: client.ask("POST", "/data/plugin/timeseries/timeSeries", series, form),
            "scalars_multirun": lambda: client.ask("POST", "/data/plugin/scalars/scalars_multirun", scalars, form),
        }
        _wait_until(lambda: _has_read_all(asks["scalars_multirun"](), num_runs), "TensorBoard to read its files")
        yield f"TensorBoard {made['version']}{', all points' if keep else ''}", asks


def _has_read_all(answer: bytes, num_runs: int) -> bool:
    found = json.loads(answer)
    # The sample always has the newest point, so a run that is read to its end is known by it.
    lasts = {points[-1][1] for points in found.values() if points}
    return len(found) == num_runs and len(lasts) == 1 and all(len(points) >= PIXELS for points in found.values())


# -- their processes -------------------------------------------------------------------------------------------------


def _prepare(python: Path, script: str, source: Path, directory: Path) -> dict[str, Any]:
    directory.mkdir(parents=True)
    command = [str(python), str(Path(__file__).with_name(script)), str(source), str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=directory)
    if done.returncode:
        raise SystemExit(f"{script} failed:\n{done.stderr[-2000:]}")
    made: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return made


@contextmanager
def _serving(command: list[str], directory: Path, port: int) -> Iterator[Client]:
    """Run a peer's server for the length of the block, with all processes it starts."""
    environment = {**os.environ, "HOME": str(directory), "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "1"}
    with (directory / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, cwd=directory, env=environment, start_new_session=True
        )
    try:
        _wait_until(lambda: process.poll() is not None or _listens(port), f"`{command[2]}` to listen")
        if process.poll() is not None:
            raise SystemExit(f"{command} ended:\n{(directory / 'server.log').read_text()[-2000:]}")
        yield Client(f"http://127.0.0.1:{port}")
    finally:
        os.killpg(process.pid, 15)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait_until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _START_LIMIT_S
    while not is_so():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {_START_LIMIT_S:.0f} s for {what}")
        time.sleep(0.1)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# -- measuring -------------------------------------------------------------------------------------------------------


def take_turns(asks: dict[str, Ask], repeat: int) -> dict[str, dict[str, Any]]:
    """Ask everybody in turn, several times; the first turn warms up. Return seconds and sizes by name."""
    times: dict[str, list[float]] = {name: [] for name in asks}
    sizes: dict[str, int] = {}
    for turn in range(repeat + 1):
        for name, ask in asks.items():
            if len(times[name]) >= 3 and min(times[name]) > _SLOW_S:
                continue
            began = time.perf_counter()
            sizes[name] = len(ask())
            if turn:
                times[name].append(time.perf_counter() - began)
    return {
        name: {"s": statistics.median(found), "least_s": min(found), "bytes": sizes[name]}
        for name, found in times.items()
    }


def measure(directory: Path, num_runs: int, points: int, repeat: int, columns: list[str] | None) -> dict[str, Any]:
    """Return each call's seconds and the ratios."""
    values = np.cumsum(np.random.default_rng(0).standard_normal((num_runs, points)), axis=1)
    source = directory / "values.npy"
    np.save(source, values)
    with (
        local_server(directory / "strobe") as server,
        mlflow_ask(source, directory / "mlflow", num_runs) as mlflow,
        tensorboard_ask(source, directory / "sampled", num_runs) as sampled,
        tensorboard_ask(source, directory / "whole", num_runs, keep=points) as whole,
    ):
        peers = dict([mlflow, sampled, whole])
        asks = strobe_asks(server, values, columns)
        asks |= {f"{peer}: {name}": ask for peer, found in peers.items() for name, ask in found.items()}
        calls = take_turns(asks, repeat)
    quickest = {peer: min(calls[f"{peer}: {name}"]["s"] for name in found) for peer, found in peers.items()}
    from_a_sample = sampled[0]
    verdicts: list[tuple[str, float, float | None]] = [
        (f"of {peer}'s time", calls["strobe"]["s"] / took, AT_MOST) for peer, took in quickest.items()
    ]
    # A first answer, computed from all points, is not held against a sample that lies in memory: it is told only.
    verdicts += [
        (f"first time, of {peer}'s time", calls["strobe, first time"]["s"] / took, bar)
        for peer, took in quickest.items()
        for bar in [None if peer == from_a_sample else AT_MOST]
    ]
    return {"calls": calls, "verdicts": verdicts}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--points", type=lambda text: int(text.replace("_", "")), default=10_000)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--columns", default=",".join(LINE), help="of Strobe's answer, or `all` (default: %(default)s)")
    args = parser.parse_args()
    columns = None if args.columns == "all" else args.columns.split(",")
    with tempfile.TemporaryDirectory(prefix="strobe-charts-") as name:
        result = measure(Path(name), args.runs, args.points, args.repeat, columns)
    for call, found in result["calls"].items():
        print(f"{call:<56} {found['s'] * 1e3:>8.1f} ms {found['bytes'] / 1e6:>8.2f} MB")
    for name, ratio, bar in result["verdicts"]:
        verdict = "" if bar is None else f"<= 1/20   {'met' if ratio <= bar else 'MISSED'}"
        print(f"{f'{args.runs} runs x {args.points:,}, {name}':<80} 1/{1 / ratio:<8.1f} {verdict}")
    print(json.dumps(result))
    return 0 if all(bar is None or ratio <= bar for _, ratio, bar in result["verdicts"]) else 1


if __name__ == "__main__":
    sys.exit(main())
