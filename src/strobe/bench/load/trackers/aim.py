"""aim into a repository in the directory.

Not read back: its API found nothing even of runs that were closed, so losses cannot be told from that.
"""

from __future__ import annotations

from typing import Any

NAME = "aim"
DISTRIBUTION = "aim"
MODULE = "aim"
REQUIREMENTS = ("aim==3.29.1",)
MODES = ("offline",)
FEATURES = {"stats": ("on", "off"), "console": ("on", "off")}
REPEATS: tuple[str, ...] = ()
ENVIRONMENT = {"AIM_TELEMETRY_ENABLED": "0"}


class Run:
    def __init__(self, directory: str, features: dict[str, str]) -> None:
        import aim

        extra: dict[str, Any] = {}
        if features.get("stats") == "off":
            extra["system_tracking_interval"] = None
        if features.get("console") == "off":
            extra["capture_terminal_logs"] = False
        self._run = aim.Run(repo=directory, **extra)
        self._step = 0

    def log(self, row: dict[str, Any]) -> None:
        self._run.track(row, step=self._step)
        self._step += 1

    def finish(self) -> None:
        self._run.close()


class Tracker:
    def __init__(self, directory: str, mode: str, features: dict[str, str]) -> None:
        self._directory = directory
        self._features = features

    def setup(self) -> None:
        import aim  # noqa: F401 - the import itself is not timed

    def start(self) -> Run:
        return Run(self._directory, self._features)

    def image(self, pixels: bytes, height: int, width: int) -> Any:
        import aim
        from PIL import Image

        return aim.Image(Image.frombytes("RGB", (width, height), pixels))
