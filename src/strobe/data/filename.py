"""Turn a metric key into a piece of a file name that every file system takes.

Two keys may give the same piece; the digest of the content that follows it in the name keeps files apart.
"""

from __future__ import annotations

import re

#: bytes, so that piece + step + digest + suffix stay under the 255 that common file systems allow
MAX_PIECE = 120
_UNSAFE = re.compile(r"""[\x00-\x20\x7f<>:"/\\|?*'%#&;$`~\ud800-\udfff]+""")
_RESERVED = frozenset(["con", "prn", "aux", "nul"] + [f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)])


def safe_piece(key: str) -> str:
    """Return `key` with separators and special characters replaced, and cut to a safe length."""
    piece = _UNSAFE.sub("_", key).lstrip(".-")
    encoded = piece.encode()
    if len(encoded) > MAX_PIECE:
        # the end of a key says more than its middle: train/encoder/…/weight
        head = encoded[: MAX_PIECE // 2].decode(errors="ignore")
        piece = f"{head}~{encoded[-MAX_PIECE // 2 + 1 :].decode(errors='ignore')}"
    if piece.split(".", 1)[0].lower() in _RESERVED:
        piece = f"_{piece}"
    return piece or "_"


def safe_suffix(suffix: str) -> str:
    """Return a file name's ending without its first dot, made safe."""
    return _UNSAFE.sub("_", suffix).strip(".")[:32] or "bin"
