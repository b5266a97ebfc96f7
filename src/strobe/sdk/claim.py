"""Claiming an attempt: several processes may start at once, each start of a run gets one number.

A claim is a file created exclusively, which holds on network file systems too. Processes of one launch (the ranks of
a job) carry the same launch id and so join one attempt; whoever comes first makes it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from strobe.home import RunDir
from strobe.journal.segment import list_segments, parse_name


def claim_attempt(run_dir: RunDir) -> int:
    """Return an attempt number that nobody else has."""
    number = latest(run_dir) + 1
    while not _create(run_dir, number):
        number += 1
    return number


def join_launch(run_dir: RunDir, launch: str) -> int:
    """Return the attempt that this launch has made already, or make it."""
    known = sorted(numbers(run_dir), reverse=True)
    for number in known:
        if _launch_of(run_dir, number) == launch:
            return number
    # What came since we looked is met on the way up.
    number = max(known, default=0) + 1
    while not _create(run_dir, number, launch) and _launch_of(run_dir, number) != launch:
        number += 1
    return number


def claim_after(run_dir: RunDir, number: int) -> int:
    """Return the attempt that follows `number`; of several that ask at once, one makes it and the others join."""
    _create(run_dir, number + 1)
    return number + 1


def latest(run_dir: RunDir) -> int:
    """Return the highest attempt made so far, 0 if there is none."""
    return max(numbers(run_dir), default=0)


def numbers(run_dir: RunDir) -> list[int]:
    """Return the attempts made so far: those claimed, and those written, whose claim may be lost."""
    found = {parse_name(path)[0] for path in list_segments(run_dir.journal)}
    with suppress(FileNotFoundError):
        found.update(int(name) for name in os.listdir(run_dir.attempts) if name.isdigit())
    return list(found)


def _create(run_dir: RunDir, number: int, launch: str = "") -> bool:
    """Make the file of an attempt; False if it is there already."""
    path = _file(run_dir, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not launch:
        return _create_with(path, b"")
    # Whoever finds the file must find the launch in it, so it gets its name only when it is whole.
    partial = path.with_name(f".{os.getpid()}-{os.urandom(4).hex()}")
    partial.write_text(launch)
    try:
        os.link(partial, path)
    except FileExistsError:
        return False
    except OSError:  # no hard links on this file system
        return _create_with(path, launch.encode())
    finally:
        partial.unlink()
    return True


def _create_with(path: Path, content: bytes) -> bool:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return False
    try:
        os.write(fd, content)
    finally:
        os.close(fd)
    return True


def _file(run_dir: RunDir, number: int) -> Path:
    return run_dir.attempts / f"{number:04d}"


def _launch_of(run_dir: RunDir, number: int) -> str:
    with suppress(OSError):
        return _file(run_dir, number).read_text()
    return ""
