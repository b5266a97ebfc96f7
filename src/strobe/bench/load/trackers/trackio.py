"""trackio into its local SQLite store, without its dashboard or a Space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NAME = "trackio"
DISTRIBUTION = "trackio"
MODULE = "trackio"
REQUIREMENTS = ("trackio==0.43.0",)
MODES = ("offline",)
FEATURES = {"stats": ("on", "off")}
REPEATS: tuple[str, ...] = ()
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "GRADIO_ANALYTICS_ENABLED": "False"}

_PROJECT = "load"


class Tracker:
    def __init__(self, directory: str, mode: str, features: dict[str, str]) -> None:
        self._directory = directory
        self._features = features

    def setup(self) -> None:
        import os

        os.environ["TRACKIO_DIR"] = self._directory  # read when trackio is imported
        import trackio  # noqa: F401 - the import itself is not timed

    def start(self) -> Any:
        import trackio

        extra: dict[str, Any] = {}
        if self._features.get("stats") == "off":
            extra = {"auto_log_cpu": False, "auto_log_gpu": False}
        return trackio.init(project=_PROJECT, embed=False, **extra)

    def table(self, columns: Sequence[str], rows: list[list[Any]]) -> Any:
        import trackio

        return trackio.Table(columns=list(columns), data=rows)

    def image(self, pixels: bytes, height: int, width: int) -> Any:
        import numpy as np
        import trackio

        return trackio.Image(np.frombuffer(pixels, dtype=np.uint8).reshape(height, width, 3))

    def stored(self, key: str) -> list[float]:
        import importlib
        from pathlib import Path

        # Which directory a process reads is fixed at import; the kill profile reads many.
        utils = importlib.import_module("trackio.utils")
        storage = importlib.import_module("trackio.sqlite_storage")
        for module in (utils, storage):
            module.TRACKIO_DIR = Path(self._directory)  # type: ignore[attr-defined]
        store = storage.SQLiteStorage
        rows = [row for run in store.get_runs(_PROJECT) for row in store.get_logs(_PROJECT, run)]
        return [row[key] for row in rows if key in row]
