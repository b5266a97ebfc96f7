"""Strobe itself, as it comes: system metrics, console capture and agent are on unless a variant says otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NAME = "strobe"
DISTRIBUTION = "strobe"
MODULE = "strobe"
REQUIREMENTS = ("this-strobe", "numpy>=2", "pillow>=11")
MODES = ("offline",)
FEATURES = {"agent": ("on", "off"), "stats": ("on", "off"), "console": ("on", "off")}
REPEATS: tuple[str, ...] = ()
ENVIRONMENT: dict[str, str] = {}

_PROJECT = "load"


class Tracker:
    def __init__(self, directory: str, mode: str, features: dict[str, str]) -> None:
        self._directory = directory
        self._mode = mode
        self._settings: dict[str, Any] = {"silent": True}
        for name in ("agent", "stats"):
            if features.get(name) == "off":
                self._settings[name] = False
        if features.get("console") == "off":
            self._settings["console"] = "off"

    def setup(self) -> None:
        import strobe  # noqa: F401 - the import itself is not timed

    def before_fork(self) -> None:
        import strobe

        strobe.setup()

    def start(self) -> Any:
        import strobe

        return strobe.init(_PROJECT, mode=self._mode, dir=self._directory, settings=self._settings)

    def table(self, columns: Sequence[str], rows: list[list[Any]]) -> Any:
        import strobe

        return strobe.Table(columns=list(columns), data=rows)

    def image(self, pixels: bytes, height: int, width: int) -> Any:
        import numpy as np

        import strobe

        return strobe.Image(np.frombuffer(pixels, dtype=np.uint8).reshape(height, width, 3))

    def stored(self, key: str) -> list[float]:
        import strobe

        runs = strobe.Api(self._directory).runs(_PROJECT)
        return [row[key] for run in runs for row in run.scan_history(keys=[key])]
