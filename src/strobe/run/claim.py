"""Claiming an attempt: several processes may start at once, each start of a run gets one number.

A claim is a file created exclusively, which holds on network file systems too. Processes of one launch (the ranks of
a job) carry the same launch id and so join one attempt; whoever comes first makes it.
"""

from __future__ import annotations

import os
from pathlib import Path

from strobe.home import RunDir


def claim_attempt(run_dir: RunDir, *, launch: str = "") -> int:
    """Return a new attempt number, or that of the attempt which this launch has made already."""
    run_dir.attempts.mkdir(parents=True, exist_ok=True)
    number = max(numbers(run_dir), default=0)
    if launch and number and _launch_of(run_dir.attempts / f"{number:04d}") == launch:
        return number
    while True:
        number += 1
        path = run_dir.attempts / f"{number:04d}"
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:
            if launch and _launch_of(path) == launch:
                return number
            continue
        try:
            os.write(fd, launch.encode())
        finally:
            os.close(fd)
        return number


def join_attempt(run_dir: RunDir) -> int:
    """Return the latest attempt, or the first if nobody has started yet."""
    return max(numbers(run_dir), default=0) or claim_attempt(run_dir, launch="shared")


def numbers(run_dir: RunDir) -> list[int]:
    """Return the attempts made so far."""
    try:
        return [int(entry.name) for entry in os.scandir(run_dir.attempts) if entry.name.isdigit()]
    except FileNotFoundError:
        return []


def _launch_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
