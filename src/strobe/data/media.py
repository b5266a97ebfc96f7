"""What a logged object is to the rest of Strobe: something that turns itself into a plain record.

`log()` calls `record()` on every `Media` it meets and puts the returned dict into the row; bytes too big for a
row go through `MediaFiles`. This module imports nothing heavy, and knows neither runs nor journals.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Protocol

#: encoded values up to this many bytes stay in the row, bigger ones become files
INLINE_LIMIT = 64 * 1024


class MediaFiles(Protocol):
    """Where media put their bytes. Paths that come back are relative and use `/`."""

    def write(self, kind: str, key: str, step: int, suffix: str, content: bytes | memoryview) -> str:
        """Store `content` and return its path; raises OSError when it cannot be stored."""

    def copy(self, kind: str, key: str, step: int, source: Path) -> str:
        """Store what the file `source` holds now and return its path."""

    def replace(self, path: str, content: bytes | memoryview) -> None:
        """Put `content` in the place of a file written before, all at once."""

    def read(self, path: str) -> bytes:
        """Return what a file written before holds."""

    def later(self, work: Callable[[], None]) -> None:
        """Run `work` on the side thread; whatever it improves must be safe already."""


class Media:
    """Base of everything that can be logged and is more than a plain value."""

    #: the record's `_type`, as wandb names it
    _log_type: ClassVar[str] = ""

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        """Return the msgpack-able record of this object, its bytes stored in `files`."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it is recorded")
