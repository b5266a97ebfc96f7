"""Puts series into mlflow: a side of `charts.py`, run by the interpreter of mlflow's own environment.

    python mlflow_points.py VALUES.npy DIRECTORY

VALUES.npy holds a row of values for each run; steps count from 0. They go into mlflow's SQLite tables directly (through
its client that would take minutes). Prints one line of JSON: `runs` by id, `store` and `version`.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import uuid
from pathlib import Path

KEY = "loss"


def main() -> None:
    source, directory = Path(sys.argv[1]), Path(sys.argv[2])
    import mlflow
    import numpy as np

    database = directory / "mlflow.db"
    mlflow.set_tracking_uri(f"sqlite:///{database}")
    experiment = mlflow.create_experiment("charts")
    client = mlflow.MlflowClient()
    template = client.create_run(experiment).info.run_id
    runs = []
    with sqlite3.connect(database) as connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(runs)")]
        found = connection.execute("SELECT * FROM runs WHERE run_uuid = ?", [template]).fetchone()
        marks = ", ".join("?" * len(names))
        for values in np.load(source):
            runs.append(uuid.uuid4().hex)
            row = {**dict(zip(names, found, strict=True)), "run_uuid": runs[-1], "name": runs[-1]}
            connection.execute(f"INSERT INTO runs ({', '.join(names)}) VALUES ({marks})", tuple(row.values()))
            connection.executemany(
                "INSERT INTO metrics (key, value, timestamp, step, is_nan, run_uuid) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (KEY, value, 1_700_000_000_000 + 100 * step, step, False, runs[-1])
                    for step, value in enumerate(values.tolist())
                ],
            )
    print(json.dumps({"runs": runs, "store": f"sqlite:///{database}", "version": mlflow.__version__}))


if __name__ == "__main__":
    main()
