"""Strobe itself, as it comes: system metrics, console capture and agent are on unless a variant says otherwise.

Online, `finish()` waits until the server has everything; with `finish=leave` that is left to the agent, so that what is
measured is the program's own part.
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAME = "strobe"
DISTRIBUTION = "strobe"
MODULE = "strobe"
REQUIREMENTS = ("this-strobe", "numpy>=2", "pillow>=11")
MODES = ("offline", "online")
FEATURES = {"agent": ("on", "off"), "stats": ("on", "off"), "console": ("on", "off"), "finish": ("wait", "leave")}
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
        if features.get("finish") == "leave":
            self._settings["finish_timeout"] = 0

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

    def arrival(self) -> tuple[int, int]:
        from strobe.home import RunDir
        from strobe.journal.skim import Skim
        from strobe.remote.state import read_state

        # A profile may have recorded into several homes below the directory.
        places = [journal.parent for journal in Path(self._directory).rglob("journal")]
        recorded = sum(Skim(RunDir(place)).num_rows for place in places)
        states = [read_state(place) for place in places]
        # The uploader's own word first, so that the server is not asked many times a second.
        known = [state.run for state in states if state is not None and state.is_complete]
        return recorded, sum(map(_rows_at_server, known)) if len(known) == len(places) else 0


def _rows_at_server(run: str) -> int:
    address, key = os.environ["STROBE_BASE_URL"], os.environ["STROBE_API_KEY"]
    request = urllib.request.Request(f"{address}/api/v1/runs/{run}", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return int(json.load(answer)["num_rows"])
