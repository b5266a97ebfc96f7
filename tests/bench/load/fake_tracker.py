"""A tracker of one file, as anybody may add one: keeps rows in memory and takes no time to speak of."""

from __future__ import annotations

from typing import Any

NAME = "fake"
DISTRIBUTION = ""
MODULE = "json"
REQUIREMENTS: tuple[str, ...] = ()
MODES = ("offline",)
FEATURES = {"colour": ("red", "blue"), "core": ("true", "false")}
REPEATS = ("core",)
ENVIRONMENT = {"FAKE_TRACKER": "yes"}


class Run:
    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.log = self.rows.append

    def finish(self) -> None:
        pass


class Tracker:
    def __init__(self, directory: str, mode: str, features: dict[str, str]) -> None:
        self.features = features

    def setup(self) -> None:
        if self.features.get("colour") == "blue":
            raise RuntimeError("blue does not start")

    def start(self) -> Run:
        return Run()
