"""mlflow into a local SQLite store, synchronously, as it logs by default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NAME = "mlflow"
DISTRIBUTION = "mlflow"
MODULE = "mlflow"
REQUIREMENTS = ("mlflow==3.17.2",)
MODES = ("offline",)
FEATURES: dict[str, tuple[str, ...]] = {}
REPEATS: tuple[str, ...] = ()
ENVIRONMENT = {"MLFLOW_DISABLE_TELEMETRY": "true", "GIT_PYTHON_REFRESH": "quiet"}


class _Table(dict[str, list[Any]]):
    """What log() tells apart from a number: columns by name."""


class Run:
    def __init__(self) -> None:
        import mlflow

        self._mlflow = mlflow
        self._run = mlflow.start_run()
        self._step = 0

    def log(self, row: dict[str, Any]) -> None:
        step = self._step
        self._step = step + 1
        scalars = {}
        for key, value in row.items():
            if isinstance(value, (int, float)):
                scalars[key] = value
            elif isinstance(value, _Table):
                self._mlflow.log_table(dict(value), f"{key}-{step}.json")
            else:
                self._mlflow.log_image(value, key=key, step=step)
        if scalars:
            self._mlflow.log_metrics(scalars, step=step)

    def finish(self) -> None:
        self._mlflow.end_run()


class Tracker:
    def __init__(self, directory: str, mode: str, features: dict[str, str]) -> None:
        self._directory = directory

    def setup(self) -> None:
        import mlflow

        mlflow.set_tracking_uri(f"sqlite:///{self._directory}/mlflow.db")

    def start(self) -> Run:
        return Run()

    def table(self, columns: Sequence[str], rows: list[list[Any]]) -> Any:
        return _Table(zip(columns, map(list, zip(*rows, strict=True)), strict=True))

    def image(self, pixels: bytes, height: int, width: int) -> Any:
        import numpy as np

        return np.frombuffer(pixels, dtype=np.uint8).reshape(height, width, 3)

    def stored(self, key: str) -> list[float]:
        import mlflow

        client = mlflow.MlflowClient()
        runs = mlflow.search_runs(search_all_experiments=True, output_format="list")
        return [m.value for run in runs for m in client.get_metric_history(run.info.run_id, key)]
