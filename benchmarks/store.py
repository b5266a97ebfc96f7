"""The store against DuckDB, in one run: taking in batches, bytes per point, and charts over more and more points.

Ingest: batches of 20 keys × 1,000 rows, random float64 values, steps that rise by one, times 10 ms apart with a noise
of nanoseconds. The store takes them as they come over the wire (decoding included), each a transaction of its own in a
SQLite file, with summaries, offsets and the pyramid; DuckDB inserts the same arrays into a table of (key, step, time,
value) in a file, each batch a transaction. Both take turns, ten times; the ratio is that of their times in all, because
the store moves its tail into pages every 17 batches, and a turn may have more or fewer of these.

Chart: one key, 1,500 pixels, all points. The store answers as its endpoint asks it; DuckDB groups the same points by
pixel into the same columns (extremes and where they lie, sum, count, first, last, times, NaN and infinities), and, for
comparison without a bar, into minimum, maximum, sum and count alone. Both in a file, warm, medians.

Prints a table and, as the last line, JSON; exits with 1 when a bar is missed.

    python benchmarks/store.py [--points 20_000 20_000_000] [--batches 200] [--only ingest,series]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from strobe.store.charts import Ask
from strobe.store.store import Store, open_store
from strobe.wire.batch import Batch, BatchStream, Block, Column, encode_batch

KEYS, ROWS, PIXELS = 20, 1000, 1500
SAME_COLUMNS = (
    "min(step), max(step), min(time), max(time), min(value), max(value), sum(value), count(*), arg_min(value, step),"
    " arg_max(value, step), arg_min(step, value), arg_max(step, value), count(*) FILTER (isnan(value)),"
    " count(*) FILTER (value = 'inf'::DOUBLE), count(*) FILTER (value = '-inf'::DOUBLE)"
)
START_NS = 1_700_000_000_000_000_000


class Rows:
    """Random rows that go on from batch to batch."""

    def __init__(self, keys: int) -> None:
        self._rng = np.random.default_rng(0)
        self._names = [f"key{number}" for number in range(keys)]
        self._step = 0
        self._time = START_NS

    def take(self, rows: int) -> tuple[Any, Any, list[Any]]:
        steps: Any = np.arange(self._step, self._step + rows, dtype="<i8")
        times = self._time + np.cumsum(self._rng.integers(9_000_000, 11_000_000, rows)).astype("<i8")
        self._step, self._time = self._step + rows, int(times[-1])
        return steps, times, [self._rng.standard_normal(rows) for _ in self._names]

    def batch(self, steps: Any, times: Any, values: list[Any], run: str = "r") -> bytes:
        columns = [Column("d", column.tobytes()) for column in values]
        block = Block(self._names, steps.tobytes(), steps.tobytes(), times.tobytes(), b"", columns)
        first = int(steps[0])
        return encode_batch(
            Batch(entity="e", project="p", run=run, writer="w", first=first, until=first + len(steps), blocks=[block])
        )


def take_in(store: Store, body: bytes) -> None:
    for batch in BatchStream(max_bytes=1 << 30).feed(body):
        store.ingest.take(batch, now_ns=time.time_ns())


def open_duckdb(path: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(str(path))
    connection.execute("CREATE TABLE point (key INTEGER, step BIGINT, time BIGINT, value DOUBLE)")
    return connection


def insert(connection: duckdb.DuckDBPyConnection, steps: Any, times: Any, values: list[Any]) -> None:
    keys = len(values)
    rows = {
        "key": np.repeat(np.arange(keys, dtype=np.int32), len(steps)),
        "step": np.tile(steps, keys),
        "time": np.tile(times, keys),
        "value": np.concatenate(values),
    }
    connection.register("rows", rows)
    connection.execute("INSERT INTO point SELECT key, step, time, value FROM rows")
    connection.unregister("rows")


def measure_ingest(directory: Path, batches: int) -> dict[str, Any]:
    """Return points per second of both, taking turns, and the store's bytes per point."""
    store = open_store(f"sqlite:///{directory}/ingest.db", directory / "blobs")
    peer = open_duckdb(directory / "ingest.duckdb")
    rows, turns = Rows(KEYS), 10
    ours, theirs = 0.0, 0.0
    for _ in range(turns):
        arrays = [rows.take(ROWS) for _ in range(max(1, batches // turns))]
        bodies = [rows.batch(*found) for found in arrays]
        ours += _seconds(partial(_each, partial(take_in, store), [(body,) for body in bodies]))
        theirs += _seconds(partial(_each, partial(insert, peer), arrays))
    store.close()
    peer.close()
    stored = turns * max(1, batches // turns) * KEYS * ROWS
    size = sum(file.stat().st_size for file in directory.glob("ingest.db*"))
    return {
        "store_points_per_s": stored / ours,
        "duckdb_points_per_s": stored / theirs,
        "ratio": theirs / ours,
        "bytes_per_point": size / stored,
        "duckdb_bytes_per_point": (directory / "ingest.duckdb").stat().st_size / stored,
    }


def measure_series(directory: Path, points: int, repeat: int) -> dict[str, Any]:
    """Return the seconds of a chart over all points."""
    store = open_store(f"sqlite:///{directory}/series-{points}.db", directory / "blobs")
    peer = open_duckdb(directory / f"series-{points}.duckdb")
    rows, left = Rows(1), points
    while left:
        steps, times, values = rows.take(min(left, 100_000))
        take_in(store, rows.batch(steps, times, values))
        insert(peer, steps, times, values)
        left -= len(steps)
    run_id = store.database.read(lambda cursor: cursor.all("SELECT id FROM run"))[0][0]
    same, plain = (
        f"SELECT step * {PIXELS} // {points} AS pixel, {columns} FROM point WHERE key = 0 GROUP BY pixel ORDER BY pixel"
        for columns in (SAME_COLUMNS, "min(value), max(value), sum(value), count(*)")
    )
    ask = [Ask(run_id, "key0")]
    ours = _median(lambda: store.series.query(ask, pixels=PIXELS), repeat)
    theirs = _median(lambda: peer.execute(same).fetchnumpy(), max(3, repeat // 5))
    least = _median(lambda: peer.execute(plain).fetchnumpy(), max(3, repeat // 5))
    (chart,) = store.series.query(ask, pixels=PIXELS)
    found = peer.execute(same).fetchnumpy()
    assert int(chart.buckets.count.sum()) == points == int(found["count_star()"].sum())
    assert float(chart.buckets.min.min()) == float(found['min("value")'].min())
    store.close()
    peer.close()
    return {"points": points, "store_s": ours, "duckdb_s": theirs, "duckdb_plain_s": least, "ratio": ours / theirs}


def _each(work: Callable[..., None], arguments: Sequence[tuple[Any, ...]]) -> None:
    for given in arguments:
        work(*given)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _median(work: Callable[[], object], repeat: int) -> float:
    work()
    return statistics.median(_seconds(work) for _ in range(repeat))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--points", type=lambda text: int(text.replace("_", "")), nargs="+", default=[20_000, 20_000_000]
    )
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=25)
    parser.add_argument("--only", default="ingest,series")
    args = parser.parse_args()
    result: dict[str, Any] = {}
    bars: list[tuple[str, str, str, bool]] = []
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        if "ingest" in args.only:
            found = result["ingest"] = measure_ingest(directory, args.batches)
            rates = f"{found['store_points_per_s'] / 1e6:.2f} / {found['duckdb_points_per_s'] / 1e6:.2f} M points/s"
            bars.append(("ingest, store / DuckDB", f"{rates} = {found['ratio']:.2f}", ">= 1.5", found["ratio"] >= 1.5))
            size = found["bytes_per_point"]
            bars.append(
                ("bytes per point", f"{size:.1f} (DuckDB {found['duckdb_bytes_per_point']:.1f})", "<= 20", size <= 20)
            )
        if "series" in args.only:
            series = result["series"] = [measure_series(directory, points, args.repeat) for points in args.points]
            for found in series:
                times = (
                    found["store_s"] * 1e3,
                    found["duckdb_s"] * 1e3,
                    1 / found["ratio"],
                    found["duckdb_plain_s"] * 1e3,
                )
                text = "{:.2f} / {:.1f} ms = 1/{:.0f} ({:.0f})".format(*times)
                is_largest = found is series[-1]
                bar = "<= 1/100" if is_largest else ""
                bars.append(
                    (f"chart of {found['points']:,} points", text, bar, not is_largest or found["ratio"] <= 0.01)
                )
            growth = series[-1]["store_s"] / series[0]["store_s"]
            bars.append(
                (
                    f"chart, {series[-1]['points']:,} against {series[0]['points']:,}",
                    f"{growth:.2f} x",
                    "<= 4",
                    growth <= 4,
                )
            )
    for measure, value, bar, is_met in bars:
        print(f"{measure:<44} {value:<48} {bar:<10} {'met' if is_met else 'MISSED'}")
    print(json.dumps(result))
    return 0 if all(is_met for *_, is_met in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
