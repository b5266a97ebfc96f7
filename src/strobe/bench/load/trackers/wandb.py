"""wandb in offline mode. Its `core` switch does nothing any more, so a pair of variants is a free repeat."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

NAME = "wandb"
DISTRIBUTION = "wandb"
MODULE = "wandb"
REQUIREMENTS = ("wandb==0.31.0", "numpy>=2", "pillow>=11")
MODES = ("offline",)
FEATURES = {"stats": ("on", "off"), "console": ("on", "off"), "core": ("true", "false")}
REPEATS = ("core",)
ENVIRONMENT = {"WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false", "WANDB_MODE": "offline"}

# The transaction log is a LevelDB log after a header of 7 bytes: blocks of 32 KiB, records of (checksum, length, type).
_FILE_HEADER, _BLOCK, _RECORD_HEADER = 7, 32768, struct.Struct("<IHB")
_WHOLE, _FIRST, _LAST = 1, 2, 4


class Tracker:
    def __init__(self, directory: str, mode: str, features: dict[str, str]) -> None:
        self._directory = directory
        self._mode: Any = mode  # wandb names each of its modes in its types
        self._features = features

    def setup(self) -> None:
        import wandb  # noqa: F401 - the import itself is not timed

    def before_fork(self) -> None:
        import wandb

        wandb.setup()

    def start(self) -> Any:
        import wandb

        settings: dict[str, Any] = {"silent": True}
        if self._features.get("stats") == "off":
            settings["x_disable_stats"] = True
        if self._features.get("console") == "off":
            settings["console"] = "off"
        return wandb.init(mode=self._mode, dir=self._directory, project="load", settings=wandb.Settings(**settings))

    def table(self, columns: Sequence[str], rows: list[list[Any]]) -> Any:
        import wandb

        return wandb.Table(columns=list(columns), data=rows)

    def image(self, pixels: bytes, height: int, width: int) -> Any:
        import numpy as np
        import wandb

        return wandb.Image(np.frombuffer(pixels, dtype=np.uint8).reshape(height, width, 3))

    def stored(self, key: str) -> list[float]:
        from wandb.proto import wandb_internal_pb2 as proto

        values = []
        for path in Path(self._directory).glob("wandb/*run-*/*.wandb"):
            for blob in _records(path.read_bytes()):
                record = proto.Record()
                record.ParseFromString(blob)
                if record.WhichOneof("record_type") == "history":
                    items = record.history.item
                    values += [json.loads(i.value_json) for i in items if key in (i.key, *i.nested_key)]
        return values


def _records(blob: bytes) -> Iterator[bytes]:
    """Yield the records that are whole."""
    position, parts = _FILE_HEADER, b""
    while True:
        if (room := _BLOCK - position % _BLOCK) < _RECORD_HEADER.size:
            position += room
        if position + _RECORD_HEADER.size > len(blob):
            return
        _, length, kind = _RECORD_HEADER.unpack_from(blob, position)
        position += _RECORD_HEADER.size
        if kind == 0 or position + length > len(blob):
            return
        parts = (b"" if kind in (_WHOLE, _FIRST) else parts) + blob[position : position + length]
        position += length
        if kind in (_WHOLE, _LAST):
            yield parts
