"""Runs as the uploader meets them: journals that writers make, and courses that bring them to a server."""

from __future__ import annotations

import os
import time
from typing import Any

import msgspec

from strobe import identity
from strobe.agent.upload.course import Course
from strobe.agent.upload.post import Post
from strobe.home import Home, RunDir, RunPath
from strobe.journal import Header, Writer
from strobe.remote.link import Link
from strobe.remote.marker import Marker
from strobe.remote.note import leave_note
from strobe.remote.target import Target
from tests.remote.small_server import SmallServer


def run_dir_of(home: Home, run_id: str = "r1") -> RunDir:
    return home.run_dir(RunPath("local", "p", run_id))


def writer_of(run_dir: RunDir, writer: str = "aaaaaaaa", *, attempt: int = 1, **options: Any) -> Writer:
    path = run_dir.run_path
    header = Header(entity=path.entity, project=path.project, run=path.id, writer=writer, attempt=attempt, kind="main")
    if "segment_bytes" in options:
        options["check_ns"] = 0  # looks at the size with each row
    return Writer(run_dir.journal, header, fsync="never", **options)


def marker_of(run_dir: RunDir, url: str, writer: str = "aaaaaaaa", **changes: Any) -> Marker:
    pid = os.getpid()
    fields: dict[str, Any] = {
        "run_dir": str(run_dir.path),
        "writer": writer,
        "pid": pid,
        "pid_started": identity.process_started(pid),
        "host": identity.host_id(),
        "boot_id": identity.boot_id(),
        "pid_namespace": identity.pid_namespace(),
        "target": Target(base_url=url),
    }
    return Marker(**(fields | changes))


def mark(home: Home, run_dir: RunDir, url: str, writer: str = "aaaaaaaa", **changes: Any) -> Marker:
    marker = marker_of(run_dir, url, writer, **changes)
    leave_note(home, msgspec.to_builtins(marker))
    return marker


def course_to(server: SmallServer | str, run_dir: RunDir, **options: Any) -> Course:
    url = server if isinstance(server, str) else server.url
    timeout_s = options.pop("timeout_s", 5.0)
    post = options.pop("post", None) or Post(Link(Target(base_url=url, timeout_s=timeout_s), sleep=lambda s: None))
    return Course(run_dir, post, **options)


def drive(course: Course, *, until_done: bool = True, timeout_s: float = 20.0) -> None:
    """Take steps until the run is at the server; real waits, but never longer than a moment."""
    give_up = time.monotonic() + timeout_s
    while (wait_s := course.advance()) is not None:
        if not until_done and course.is_caught_up:
            return
        assert time.monotonic() < give_up, f"not done: {course.state}"
        time.sleep(min(wait_s, 0.005))
