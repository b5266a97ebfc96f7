"""Files and directories that appear whole or not at all.

Everything the artifact store shows to other processes goes through here, so that a kill at any moment leaves
either the old state or the new one. It promises that against processes dying, not against power failing: nothing
is fsynced, and what a power cut damaged is found by digest. It knows nothing of artifacts.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

#: begins the names of half-made things; readers skip them, gc removes them
UNFINISHED = ".new-"


def token() -> str:
    """Return 16 hex digits that no other process will draw (and that leave the user's random state alone)."""
    return os.urandom(8).hex()


def replace_file(path: Path, content: bytes) -> None:
    """Make `path` hold `content`; a reader sees the old bytes or the new ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(UNFINISHED + token())
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def create_directory(path: Path, files: Mapping[str, bytes]) -> bool:
    """Make the directory `path` holding `files`, or return False if somebody else has made it.

    Renaming a directory onto one that is not empty fails on every system, which makes this exclusive and
    complete at once, without locks and without hard links.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(UNFINISHED + token())
    try:
        temporary.mkdir()
        for name, content in files.items():
            (temporary / name).write_bytes(content)
        os.rename(temporary, path)
    except OSError:
        shutil.rmtree(temporary, ignore_errors=True)
        if path.is_dir():
            return False
        raise
    return True
