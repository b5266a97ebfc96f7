"""Paths of files in a run: relative, in one form, and harmless on every system that may download them. No disk."""

from __future__ import annotations

import re

from strobe.errors import UsageError

#: sorts after every path that goes on where a prefix ends
LAST = "\U0010ffff"

_MAX_BYTES = 1024
_MAX_PART_BYTES = 255
_SEPARATORS = re.compile(r"[/\\]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DRIVE = re.compile(r"[A-Za-z]:")


def check_file_path(path: str) -> str:
    """Return `path` if a run can have a file there, else raise UsageError saying why.

    A backslash may be in a name, but what lies between two of them must be a name too, because elsewhere it separates
    directories.
    """
    try:
        encoded = path.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"file path {path!r} is no valid text; rename the file") from error
    if not path or len(encoded) > _MAX_BYTES:
        raise UsageError(f"file path has {len(encoded)} bytes, it must have 1 to {_MAX_BYTES}: {path[:80]!r}")
    if _CONTROL.search(path):
        raise UsageError(f"file path {path!r} has a control character in it; rename the file")
    if path.startswith("\\") or _DRIVE.match(path):
        raise UsageError(f"file path {path!r} is absolute on some systems; give it relative to the run's files")
    for part in _SEPARATORS.split(path):
        if part == "..":
            raise UsageError(f"file path {path!r} climbs with '..'; give it relative to the run's files")
        if part in ("", "."):
            raise UsageError(f"file path {path!r} must be relative, with single '/' between names and no '.'")
        if len(part.encode()) > _MAX_PART_BYTES:
            raise UsageError(f"file path has a name of more than {_MAX_PART_BYTES} bytes: {part[:80]!r}")
    return path
