"""Times mlflow's search of runs: the other side of `runs_table.py`, run by the interpreter of mlflow's own environment.

    python mlflow_search.py RUNS.jsonl DIRECTORY REPEATS

Each line of RUNS.jsonl is {"config": {...}, "summary": {...}} of one run. The runs are put into mlflow's SQLite tables
directly (through its client that would take minutes), the search goes through `MlflowClient`, as a user's does. The
database is told to ANALYZE its tables first, which no user does: without it the same search takes twenty times as long,
and the comparison should not rest on that.

Prints one line of JSON: `times_s`, `matches` of the first page (a check that both sides found the same), `version`.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
import uuid
from pathlib import Path
from typing import Any

FILTER = "params.optimizer = 'adam' and metrics.accuracy > 0.5"
ORDER = ["metrics.loss ASC"]
PAGE = 50


def fill(database: Path, template: str, runs: list[dict[str, Any]]) -> None:
    """Copy the run `template` once per run, with its parameters and metrics."""
    with sqlite3.connect(database) as connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(runs)")]
        found = connection.execute("SELECT * FROM runs WHERE run_uuid = ?", [template]).fetchone()
        row = dict(zip(names, found, strict=True))
        ids = [uuid.uuid4().hex for _ in runs]
        _insert(
            connection,
            "runs",
            [{**row, "run_uuid": run_id, "name": run["name"]} for run_id, run in zip(ids, runs, strict=True)],
        )
        _insert(
            connection,
            "params",
            [
                {"key": key, "value": str(value), "run_uuid": run_id}
                for run_id, run in zip(ids, runs, strict=True)
                for key, value in run["config"].items()
            ],
        )
        for table in ("metrics", "latest_metrics"):
            _insert(
                connection,
                table,
                [
                    {"key": key, "value": value, "timestamp": 1, "step": 0, "is_nan": False, "run_uuid": run_id}
                    for run_id, run in zip(ids, runs, strict=True)
                    for key, value in run["summary"].items()
                ],
            )
        connection.execute("ANALYZE")


def _insert(connection: sqlite3.Connection, table: str, rows: list[dict[str, Any]]) -> None:
    names = list(rows[0])
    marks = ", ".join("?" * len(names))
    connection.executemany(
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", [tuple(row.values()) for row in rows]
    )


def main() -> None:
    source, directory, repeats = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    import mlflow

    database = directory / "mlflow.db"
    mlflow.set_tracking_uri(f"sqlite:///{database}")
    experiment = mlflow.create_experiment("bench")
    client = mlflow.MlflowClient()
    template = client.create_run(experiment).info.run_id
    fill(database, template, [json.loads(line) for line in source.read_text().splitlines()])
    client.delete_run(template)
    times = []
    for _ in range(repeats + 1):
        begun = time.perf_counter()
        found = client.search_runs([experiment], filter_string=FILTER, order_by=ORDER, max_results=PAGE)
        times.append(time.perf_counter() - begun)
    matches = [run.info.run_name for run in found]
    print(json.dumps({"times_s": times[1:], "matches": matches, "version": mlflow.__version__}))


if __name__ == "__main__":
    main()
