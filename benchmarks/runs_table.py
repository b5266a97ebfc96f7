"""The runs table as a project grows: filter + sort by a summary key, first page of 50 runs with their documents.

Runs have 12 config and 8 summary values and some attributes. The question is "optimizer is adam and accuracy is above a
half, the lowest loss first", which a third of all runs fit; it is asked at 1,000, 10,000 and 100,000 runs in SQLite, in
turns, so that a slow moment of the machine falls on all sizes. `--mlflow` also asks mlflow's own search (in an
environment of its own, SQLite, the same runs) the same at 10,000 runs. Medians are compared.

The bars: 100,000 runs take at most 3 × the time of 1,000, and mlflow at least 20 × the time of Strobe at 10,000.

Prints a table for people; the last line is JSON: `ms` by number of runs, `ratio_100k_1k`, `mlflow_ms`, `mlflow_ratio`,
and `others_ms`, the same for questions without a bar: a rare value, a pattern, deep pages, groups, counts.

    python benchmarks/runs_table.py [--mlflow] [--sizes 1000,10000,100000]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from strobe.bench.load import catalog, venvs
from strobe.journal import value
from strobe.store.database import Cursor, Database
from strobe.store.schema import migrate
from strobe.store.sqlite import SqliteDatabase
from strobe.store.state import Facts, Stamped, encode_facts
from strobe.store.values import Question, Values, document

FILTER = {"config.optimizer": "adam", "summary.accuracy": {"$gt": 0.5}}
SORT = "+summary.loss"
PAGE = 50
_BATCH = 1000
_NOW_NS = 1_800_000_000_000_000_000


def make_runs(count: int) -> Iterator[dict[str, Any]]:
    """Yield runs, the first ones the same for every count."""
    chance = random.Random(7)
    for number in range(count):
        config = {
            "lr": 10 ** chance.uniform(-5, -1),
            "optimizer": chance.choice(["adam", "adam", "sgd", "lion"]),
            "seed": number,
            "model": {"name": f"net-{number % 17}", "layers": chance.randrange(2, 48), "width": 64 << number % 5},
            **{f"option_{index}": chance.randrange(100) for index in range(6)},
        }
        loss = chance.lognormvariate(0, 1)
        summary = {
            "loss": loss,
            "accuracy": max(0.0, min(1.0, 0.9 - 0.2 * loss + chance.gauss(0, 0.1))),
            **{f"metric_{index}": chance.random() for index in range(6)},
        }
        yield {"name": f"run-{number}", "config": config, "summary": summary}


def build(database: Database, count: int) -> None:
    """Write the runs with their documents and their index."""
    migrate(database)
    values = Values(database)
    runs = list(make_runs(count))

    def write(cursor: Cursor, first: int) -> None:
        if first == 0:
            cursor.run("INSERT INTO project (entity, name, created_ns) VALUES ('team', 'bench', 0)")
        row = cursor.one("SELECT id FROM project")
        assert row is not None
        for number, run in enumerate(runs[first : first + _BATCH], start=first):
            attributes = {"name": run["name"], "tags": ["bench", f"day-{number % 30}"], "host": f"node-{number % 64}"}
            found = document(
                run=f"{number:08x}",
                entity="team",
                attributes=attributes,
                config=run["config"],
                summary=run["summary"],
            )
            created_ns = 1_700_000_000_000_000_000 + number * 1_000_000_000
            inserted = cursor.one(
                "INSERT INTO run (project_id, name, state, created_ns, started_ns, ended_ns, heartbeat_ns, changed_ns,"
                " facts, settled) VALUES (?, ?, 'finished', ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                row[0],
                f"{number:08x}",
                created_ns,
                created_ns,
                created_ns + number % 1000 * 1_000_000_000,
                created_ns,
                created_ns,
                encode_facts(Facts(attributes=_stamped(attributes), config=_stamped(run["config"]))),
                value.encode(found),
            )
            assert inserted is not None
            values.replace(cursor, row[0], inserted[0], {}, found)

    for first in range(0, count, _BATCH):
        database.write(lambda cursor, first=first: write(cursor, first))  # type: ignore[misc]


def _stamped(values: dict[str, Any]) -> dict[str, Stamped]:
    return {key: Stamped((1, 0, "w", 0), item) for key, item in values.items()}


def first_page(database: Database, **question: Any) -> list[str]:
    """Return the names of the first page of runs."""
    values = Values(database)
    asked = Question(**{"filters": FILTER, "sort": SORT, **question})
    page = values.page("team", "bench", asked, now_ns=_NOW_NS, limit=PAGE)
    return [str(item.document["display_name"]) for item in values.items(page.run_ids)]


def others(database: Database) -> dict[str, Callable[[], object]]:
    """Return further questions by name."""
    values = Values(database)

    def tenth_page() -> None:
        after = None
        for _ in range(10):
            page = values.page("team", "bench", Question(sort=SORT), now_ns=_NOW_NS, limit=PAGE, after=after)
            after = page.cursor

    return {
        "newest": lambda: first_page(database, filters=None, sort="-created_ns"),
        "one seed": lambda: first_page(database, filters={"config.seed": 500}),
        "rare tag": lambda: first_page(database, filters={"tags": "day-3", "config.seed": {"$lt": 5000}}),
        "pattern": lambda: first_page(database, filters={"display_name": {"$regex": "7$"}}),
        "longest": lambda: first_page(database, sort="-runtime"),
        "ten pages": tenth_page,
        "count": lambda: values.page(
            "team", "bench", Question(filters=FILTER, sort=SORT), now_ns=_NOW_NS, limit=PAGE, count=True
        ),
        "groups": lambda: values.groups(
            "team", "bench", Question(), by=["config.optimizer"], metrics=["summary.loss"], now_ns=_NOW_NS
        ),
        "fields": lambda: values.fields("team", "bench"),
    }


def timed(ask: Callable[[], object]) -> float:
    begun = time.perf_counter()
    ask()
    return (time.perf_counter() - begun) * 1e3


def measure_mlflow(runs: int, repeats: int, expected: list[str]) -> tuple[float, str]:
    """Return the median of mlflow's search in ms, and its version."""
    (tracker,) = catalog.find_trackers(["mlflow"])
    python = venvs.ensure(tracker, venvs.default_directory(), lambda text: print(text, file=sys.stderr))
    with tempfile.TemporaryDirectory(prefix="strobe-mlflow-") as directory:
        source = Path(directory) / "runs.jsonl"
        lines = [json.dumps({**run, "config": _flat(run["config"])}) for run in make_runs(runs)]
        source.write_text("\n".join(lines), encoding="utf-8")
        script = Path(__file__).with_name("mlflow_search.py")
        done = subprocess.run(
            [str(python), str(script), str(source), directory, str(repeats)],
            capture_output=True,
            text=True,
            cwd=directory,
        )
    if done.returncode:
        raise SystemExit(f"mlflow's side failed:\n{done.stderr[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    if answer["matches"] != expected:
        raise SystemExit("mlflow and Strobe found different runs; the comparison would mean nothing")
    return statistics.median(answer["times_s"]) * 1e3, str(answer["version"])


def _flat(config: dict[str, Any]) -> dict[str, Any]:
    model = {f"model.{key}": item for key, item in config["model"].items()}
    return {**{key: item for key, item in config.items() if key != "model"}, **model}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of runs (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=30, help="questions per size (default: %(default)s)")
    parser.add_argument("--mlflow", action="store_true", help="also measure mlflow's search")
    args = parser.parse_args()
    sizes = [int(size) for size in args.sizes.split(",")]
    with tempfile.TemporaryDirectory(prefix="strobe-runs-table-") as directory:
        stores: dict[int, Database] = {}
        for size in sizes:
            begun = time.perf_counter()
            stores[size] = SqliteDatabase(Path(directory) / f"{size}.db")
            build(stores[size], size)
            megabytes = (Path(directory) / f"{size}.db").stat().st_size / 1e6
            print(f"{size:>7} runs written in {time.perf_counter() - begun:.1f} s, {megabytes:.0f} MB", flush=True)
        times: dict[int, list[float]] = {size: [] for size in sizes}
        for number in range(args.repeat + 1):
            for size, store in stores.items():
                taken = timed(lambda store=store: first_page(store))  # type: ignore[misc]
                if number:  # the first one fills caches
                    times[size].append(taken)
        ms = {size: round(statistics.median(found), 3) for size, found in times.items()}
        more = {
            size: {name: round(statistics.median(timed(ask) for _ in range(5)), 2) for name, ask in found.items()}
            for size, found in ((size, others(store)) for size, store in stores.items())
        }
        result: dict[str, Any] = {"ms": ms, "others_ms": more}
        print(f"\n{'question':<24}" + "".join(f"{size:>12,}" for size in sizes) + "   ms")
        print(f"{'filter + sort, page 1':<24}" + "".join(f"{ms[size]:>12.2f}" for size in sizes))
        for name in more[sizes[0]]:
            print(f"{name:<24}" + "".join(f"{more[size][name]:>12.2f}" for size in sizes))
        if 1000 in ms and 100_000 in ms:
            result["ratio_100k_1k"] = round(ms[100_000] / ms[1000], 2)
            print(f"\n100,000 : 1,000 runs = {result['ratio_100k_1k']} (bar: at most 3)")
        if args.mlflow and 10_000 in stores:
            expected = first_page(stores[10_000])
            result["mlflow_ms"], version = measure_mlflow(10_000, max(3, args.repeat // 5), expected)
            result["mlflow_ratio"] = round(result["mlflow_ms"] / ms[10_000], 1)
            print(f"mlflow {version} at 10,000 runs: {result['mlflow_ms']:.1f} ms,", end=" ")
            print(f"{result['mlflow_ratio']} × Strobe (bar: at least 20)")
        for store in stores.values():
            store.close()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
