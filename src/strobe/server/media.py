"""What users stored, as a browser gets it: which type it is said to be, and whether it may be shown at all.

Types come from the name alone and from a table that is the same on every machine. What a browser would run as a part
of our own pages (scripts, style sheets) is called plain text; everything else comes under a policy that makes it a
page of no origin.
"""

from __future__ import annotations

import mimetypes
from urllib.parse import quote

_BINARY = "application/octet-stream"
_TYPES = mimetypes.MimeTypes()
_MORE = {
    ".avif": "image/avif",
    ".cfg": "text/plain",
    ".flac": "audio/flac",
    ".glb": "model/gltf-binary",
    ".gltf": "model/gltf+json",
    ".ini": "text/plain",
    ".jsonl": "text/plain",
    ".log": "text/plain",
    ".m4a": "audio/mp4",
    ".md": "text/plain",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".parquet": "application/vnd.apache.parquet",
    ".toml": "text/plain",
    ".webm": "video/webm",
    ".webp": "image/webp",
    ".yaml": "text/plain",
    ".yml": "text/plain",
}
#: of which a browser would take code for a page that names them
_RUN = {"text/javascript", "application/javascript", "text/css", "application/x-javascript", "application/wasm"}
_SHOWN = ("image/", "audio/", "video/", "text/")
_SHOWN_TOO = {"application/json", "model/gltf+json", "model/gltf-binary"}


def type_of(path: str) -> str:
    """Return the media type of a file by its name."""
    name = path.rpartition("/")[2].lower()
    kind = _MORE.get(name[name.rfind(".") :]) if "." in name else None
    if kind is None:
        guessed, encoding = _TYPES.guess_type(f"x/{name}", strict=True)
        kind = _BINARY if encoding is not None or guessed is None else guessed
    if kind in _RUN or (kind.startswith("text/") and kind not in ("text/html", "text/plain", "text/csv")):
        kind = "text/plain"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def disposition(path: str, kind: str, *, is_download: bool) -> str:
    """Return the `Content-Disposition`: shown if browsers can show it, else (or if wanted) saved under its name."""
    plain = kind.partition(";")[0]
    is_shown = not is_download and (plain.startswith(_SHOWN) or plain in _SHOWN_TOO)
    name = path.rpartition("/")[2]
    ascii_name = "".join(char if char.isascii() and char.isprintable() and char not in '"\\%' else "_" for char in name)
    how = "inline" if is_shown else "attachment"
    return f"{how}; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='')}"
