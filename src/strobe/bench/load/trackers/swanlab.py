"""swanlab in offline mode: its files only, no cloud and no board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

NAME = "swanlab"
DISTRIBUTION = "swanlab"
MODULE = "swanlab"
REQUIREMENTS = ("swanlab==0.10.3", "numpy>=2", "pillow>=11")
MODES = ("offline",)
FEATURES: dict[str, tuple[str, ...]] = {}
REPEATS: tuple[str, ...] = ()
ENVIRONMENT = {"SWANLAB_MODE": "offline"}


class Run:
    def __init__(self, directory: str) -> None:
        import swanlab

        self._run = swanlab.init(project="load", log_dir=directory, mode="offline")
        self.log = self._run.log

    def finish(self) -> None:
        self._run.finish()


class Tracker:
    def __init__(self, directory: str, mode: str, features: dict[str, str]) -> None:
        self._directory = directory

    def setup(self) -> None:
        import swanlab  # noqa: F401 - the import itself is not timed

    def start(self) -> Run:
        return Run(self._directory)

    def image(self, pixels: bytes, height: int, width: int) -> Any:
        import numpy as np
        import swanlab

        return swanlab.Image(np.frombuffer(pixels, dtype=np.uint8).reshape(height, width, 3))

    def stored(self, key: str) -> list[float]:
        from swanlab.proto.swanlab.record.v1.record_pb2 import Record
        from swanlab.sdk.internal.core_python.store import DataStoreReader

        values = []
        for path in Path(self._directory).rglob("*.swanlab"):
            if not path.stat().st_size:  # killed before its first flush
                continue
            reader = DataStoreReader()
            reader.open(path)
            for blob in reader:
                record = Record()
                record.ParseFromString(blob)
                if record.HasField("scalar") and record.scalar.key == key:
                    values.append(record.scalar.value.number)
        return values
