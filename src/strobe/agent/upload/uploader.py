"""The agent's duty to upload: finds what is to be uploaded, gives it to the crew, and passes on requests to stop.

The network, threads and urllib3 come in with the first such run. The agent's own thread only lists a directory.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from strobe.agent.log import Log
from strobe.agent.task import WatchedRun
from strobe.home import Home
from strobe.journal import event
from strobe.remote.marker import Marker, Markers, remove_marker

if TYPE_CHECKING:
    from strobe.agent.upload.course import Course
    from strobe.agent.upload.crew import Crew, Job
    from strobe.agent.upload.post import Post
    from strobe.remote.target import Target

#: without a live run the agent waits this long for a server that cannot be reached; the next run's agent goes on
PATIENCE_S = 1800.0
#: a marker of another machine is nobody's business here, until nothing has happened to its run for so long
_FOREIGN_S = 900.0


class Uploader:
    """Uploads the runs that have a marker in `home`."""

    def __init__(
        self,
        home: Home,
        log: Log,
        *,
        owner: int | None = None,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._log = log
        self._patience_s = patience_s
        self._clock = clock
        self._markers = Markers(home, owner=owner)
        self._by_run: dict[str, list[Marker]] = {}
        #: the markers that each upload's latest step began with
        self._considered: dict[str, list[Marker]] = {}
        #: uploads that a thread of the crew has brought to their end
        self._finished: deque[str] = deque()
        self._refused: dict[str, str] = {}
        self._watched: set[str] = set()
        self._posts: dict[bytes, Post] = {}
        self._courses: dict[str, Course] = {}
        self._crew: Crew | None = None
        self._freight: Crew | None = None
        self._told: dict[str, str] = {}

    # -- the agent's tasks: each watched run -------------------------------------------------------------------------

    def poll(self, run: WatchedRun, now: float) -> None:
        path = str(run.run_dir.path)
        self._watched.add(path)
        course = self._courses.get(path)
        if course is not None and course.is_to_stop and run.attempt not in course.state.stopped:
            self._stop(run, course)

    def is_pending(self, run: WatchedRun) -> bool:
        return False  # what is left to upload does not need the run to be watched

    def close(self, run: WatchedRun) -> None:
        self._watched.discard(str(run.run_dir.path))

    # -- the home ----------------------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Look which runs are to be uploaded; call it after the watched runs were polled."""
        while self._finished:
            self._courses.pop(self._finished.popleft(), None)
        by_run: dict[str, list[Marker]] = {}
        for marker in sorted(self._markers.scan(), key=lambda marker: marker.attempt):
            by_run.setdefault(marker.run_dir, []).append(marker)
        self._by_run = by_run
        if self._markers.refused != self._refused:
            self._refused = dict(self._markers.refused)
            for name, reason in self._refused.items():
                self._log.write(f"cannot use the marker {name}: {reason}")
        for path, markers in by_run.items():
            course = self._courses.get(path)
            if course is not None and course.state.is_refused and self._has_changed(course, markers):
                course.abandon()
                course = None
            if course is None and any(map(_is_ours, markers)):
                self._begin(path, markers)
        for path, course in list(self._courses.items()):
            self._tell(path, course.state.error)

    def is_busy(self) -> bool:
        """Tell whether there is an upload to stay for: not one that nobody takes, for long or on principle."""
        return any(
            not course.state.is_refused and course.post.link.failing_for() < self._patience_s
            for course in list(self._courses.values())
        )

    def shut(self) -> None:
        """The agent leaves; the next one goes on from what the servers have."""
        for crew in (self._crew, self._freight):
            if crew is not None:
                crew.close()

    # -- one upload --------------------------------------------------------------------------------------------------

    def _begin(self, path: str, markers: Sequence[Marker]) -> None:
        from strobe.agent.upload.cargos import cargo_of
        from strobe.agent.upload.course import Course
        from strobe.agent.upload.crew import FREIGHT_SIZE, Crew

        if self._crew is None or self._freight is None:
            self._crew = Crew(self._note_failed, done=self._note_done)
            self._freight = Crew(self._note_failed, size=FREIGHT_SIZE)
        run_dir, post = markers[-1].run, self._post(markers[-1].target)
        course = Course(
            run_dir,
            post,
            ended=lambda: self._ended(path),
            is_live=lambda: self._is_live(path),
            cargo=cargo_of(self._home, run_dir, post.link),
            freight=self._freight.add,
        )
        self._courses[path] = course
        self._crew.add(course)

    def _has_changed(self, course: Course, markers: Sequence[Marker]) -> bool:
        """Tell whether a newer start of the run names another server, key or way."""
        return markers[-1].target != course.post.link.target

    def _post(self, target: Target) -> Post:
        key = msgspec.json.encode(target)
        if key not in self._posts:
            from strobe.agent.upload.post import Post
            from strobe.remote.link import Link

            self._posts[key] = Post(Link(target))
        return self._posts[key]

    def _ended(self, path: str) -> list[str]:
        markers = self._considered[path] = self._by_run.get(path, [])
        return [marker.writer for marker in markers if _is_over(marker)]

    def _is_live(self, path: str) -> bool:
        if path in self._watched:
            return True
        settled = set(self._courses[path].state.settled)
        return not all(_is_over(marker) or marker.writer in settled for marker in self._by_run.get(path, ()))

    def _note_failed(self, job: Job) -> None:
        from strobe.agent.upload.cargo import Look

        self._log.exception("uploading")
        if isinstance(job, Look):
            job.give_up("a fault while files were sent; the agent's log has it")

    def _note_done(self, job: Job) -> None:
        for path, course in list(self._courses.items()):
            if course is job:
                # Not those that came since: their writers may have written after the last look.
                for marker in self._considered.pop(path, []):
                    remove_marker(self._home, marker)
                self._finished.append(path)

    def _tell(self, path: str, error: str) -> None:
        if error != self._told.get(path, ""):
            self._told[path] = error
            self._log.write(f"{path}: {error}" if error else f"{path}: the upload goes on")

    # -- stopping ----------------------------------------------------------------------------------------------------

    def _stop(self, run: WatchedRun, course: Course) -> None:
        """Ask the run's main process to stop, once."""
        from strobe.agent.upload.interrupt import interrupt

        course.note_stopped(run.attempt)  # before the signal: never twice, whatever happens now
        markers = [m for m in self._by_run.get(str(run.run_dir.path), ()) if m.attempt == run.attempt and m.primary]
        journal = run.journal("agent")
        if journal is not None:
            reason = {"stopped_by": course.post.link.target.base_url}
            journal.event(event.Attributes(time_ns=time.time_ns(), changes=reason))
        sent = [marker.pid for marker in markers if interrupt(marker)]
        self._log.write(f"{run.run_dir.path}: the server asks to stop it; sent SIGINT to {sent or 'nobody'}")


def _is_ours(marker: Marker) -> bool:
    """Tell whether this machine uploads the marker's run: its own, or one that its machine has abandoned."""
    return marker.is_of_here() or _is_abandoned(marker)


def _is_over(marker: Marker) -> bool:
    """Tell whether nothing more can come from the marker's process."""
    is_alive = marker.is_alive()
    return is_alive is False or (is_alive is None and not marker.is_of_here() and _is_abandoned(marker))


def _is_abandoned(marker: Marker) -> bool:
    run = Path(marker.run_dir)
    try:
        latest = max(path.stat().st_mtime for path in (run, run / "journal", *(run / "journal").iterdir()))
    except OSError:
        return not run.exists()
    return time.time() - latest > _FOREIGN_S
