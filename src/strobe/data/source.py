"""Content that comes as a file or as bytes already in their final form: what audio, video, 3-D and others share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from strobe.data.media import MediaFiles


class Source:
    """The bytes of a media file, held in memory or lying in a file of the user's until the object is logged."""

    __slots__ = ("content", "path", "suffix")

    def __init__(self, suffix: str, *, content: bytes | None = None, path: Path | None = None) -> None:
        self.suffix = suffix
        self.content = content
        self.path = path

    @classmethod
    def from_path(cls, path: str | os.PathLike[str], what: str, suffixes: tuple[str, ...] = ()) -> Source:
        """Return the file at `path`, or raise saying that there is none or that its type is not one of `suffixes`."""
        found = Path(path)
        name = found.name.lower()
        # the longest first: "pts.json" is not "json"
        suffix = next((s for s in sorted(suffixes, key=len, reverse=True) if name.endswith(f".{s}")), None)
        if suffixes and suffix is None:
            raise ValueError(
                f"{what} cannot be a {found.suffix or 'file without suffix'}: {found};"
                f" give one of {', '.join(suffixes)}"
            )
        if not found.is_file():
            raise FileNotFoundError(f"{what}: there is no file {found}")
        return cls(suffix or found.suffix[1:], path=found)

    def store(self, files: MediaFiles, kind: str, key: str, step: int) -> dict[str, Any]:
        """Store the bytes and return the record's "path" and "size"."""
        if self.path is not None:
            path = files.copy(kind, key, step, self.path)
            return {"path": path, "size": self.path.stat().st_size}
        content = self.content or b""
        return {"path": files.write(kind, key, step, self.suffix, content), "size": len(content)}

    def read(self) -> bytes:
        """Return the bytes, wherever they are."""
        return self.path.read_bytes() if self.path is not None else self.content or b""


def read_stream(stream: Any) -> bytes:
    """Return all that an open text or binary file holds, from its start if it can be rewound."""
    if callable(getattr(stream, "seek", None)):
        stream.seek(0)
    content = stream.read()
    return content.encode() if isinstance(content, str) else bytes(content)


def is_stream(value: object) -> bool:
    return callable(getattr(value, "read", None))
