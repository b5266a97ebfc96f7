"""tensorboardX: event files, one scalar at a time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

NAME = "tensorboardX"
DISTRIBUTION = "tensorboardX"
MODULE = "tensorboardX"
REQUIREMENTS = ("tensorboardX==2.6.5", "pillow>=11")
MODES = ("offline",)
FEATURES: dict[str, tuple[str, ...]] = {}
REPEATS: tuple[str, ...] = ()
ENVIRONMENT: dict[str, str] = {}


class Run:
    def __init__(self, directory: str) -> None:
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(logdir=f"{directory}/{os.getpid()}-{os.urandom(4).hex()}")
        self._step = 0

    def log(self, row: dict[str, Any]) -> None:
        step = self._step
        self._step = step + 1
        for key, value in row.items():
            if isinstance(value, (int, float)):
                self._writer.add_scalar(key, value, step)
            else:
                self._writer.add_image(key, value, step, dataformats="HWC")

    def finish(self) -> None:
        self._writer.close()


class Tracker:
    def __init__(self, directory: str, mode: str, features: dict[str, str]) -> None:
        self._directory = directory

    def setup(self) -> None:
        import tensorboardX  # noqa: F401 - the import itself is not timed

    def start(self) -> Run:
        return Run(self._directory)

    def image(self, pixels: bytes, height: int, width: int) -> Any:
        import numpy as np

        return np.frombuffer(pixels, dtype=np.uint8).reshape(height, width, 3)

    def stored(self, key: str) -> list[float]:
        from tensorboardX.proto.event_pb2 import Event

        values = []
        for path in Path(self._directory).glob("*/events.*"):
            blob, position = path.read_bytes(), 0
            # A record is its length (8), a checksum (4), the event, a checksum (4); a kill cuts the last one short.
            while position + 12 <= len(blob):
                length = int.from_bytes(blob[position : position + 8], "little")
                body = blob[position + 12 : position + 12 + length]
                if position + 16 + length > len(blob):
                    break
                event = Event()
                event.ParseFromString(body)
                values += [value.simple_value for value in event.summary.value if value.tag == key]
                position += 16 + length
        return values
