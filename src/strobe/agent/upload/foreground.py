"""Uploading in the foreground: the same courses as the agent's, for the runs that a person names, until they are there.

What is seen of it is the caller's business; this tells how each run stands at any moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from strobe.agent.upload.cargo import Look
from strobe.agent.upload.cargos import cargo_of
from strobe.agent.upload.course import Course
from strobe.agent.upload.crew import FREIGHT_SIZE, Crew, Job
from strobe.agent.upload.post import Post
from strobe.home import Home, RunDir, RunPath
from strobe.journal.skim import Skim
from strobe.journal.tail import segment_sizes
from strobe.remote.link import Link
from strobe.remote.marker import Marker, remove_marker
from strobe.remote.target import Target

#: a server that nobody answers at is given up on after so long, unless one is watching
PATIENCE_S = 20.0
_LOOK_S = 3.0


class Order(msgspec.Struct, kw_only=True):
    """A run to be uploaded."""

    home: Home
    run_dir: RunDir
    target: Target
    destination: RunPath | None = None
    #: what says that it is to be uploaded, and goes when it is
    markers: list[Marker] = []


class Trip:
    """One run on its way, as a job of the crew."""

    def __init__(self, order: Order, post: Post, freight: Callable[[Job], None], *, watch: bool) -> None:
        self.order = order
        self.is_done = False
        #: what went wrong that has nothing to do with the server
        self.fault = ""
        self._watch = watch
        self._post = post
        self._live_at = float("-inf")
        self._was_live = True
        sizes = segment_sizes(order.run_dir.journal)
        #: as long as it is not its turn, all of its journals are left
        self._waiting_bytes: int | None = sum(sum(found.values()) for found in sizes.values())
        self.course = Course(
            order.run_dir,
            post,
            is_live=self._is_live,
            cargo=cargo_of(order.home, order.run_dir, post.link),
            freight=freight,
            destination=order.destination,
        )

    @property
    def is_live(self) -> bool:
        """Whether more may come, as of the last look."""
        return self._was_live

    @property
    def is_synced(self) -> bool:
        """Whether all there was at the last look is at the server."""
        return self.course.is_caught_up

    @property
    def left_bytes(self) -> int:
        """How much is left to read, as far as is known."""
        return self.course.state.left_bytes if self._waiting_bytes is None else self._waiting_bytes

    @property
    def error(self) -> str:
        return self.fault or self.course.state.error

    def advance(self) -> float | None:
        if self.is_done:
            return None
        wait_s = self.course.advance()
        self._waiting_bytes = None
        if wait_s is None:
            for marker in self.order.markers:
                remove_marker(self.order.home, marker)
        elif self._watch or not self._is_over():
            return wait_s
        self.is_done = True
        return None

    def _is_over(self) -> bool:
        state = self.course.state
        return self.is_synced or state.is_refused or self._post.link.failing_for() > PATIENCE_S

    def _is_live(self) -> bool:
        now = time.monotonic()
        if self._was_live and now - self._live_at > _LOOK_S:
            self._live_at = now
            self._was_live = Skim(self.order.run_dir).state == "running"
        return self._was_live


class Foreground:
    """Brings runs to their servers, several at once."""

    def __init__(self, orders: Iterable[Order], *, watch: bool = False, report: Callable[[str], None]) -> None:
        posts: dict[bytes, Post] = {}
        self.trips: list[Trip] = []
        self._crew, self._freight = Crew(self._note_failed), Crew(self._note_failed, size=FREIGHT_SIZE)
        self._report = report
        for order in orders:
            key = msgspec.json.encode(order.target)
            if key not in posts:
                posts[key] = Post(Link(order.target))
            self.trips.append(Trip(order, posts[key], self._freight.add, watch=watch))
        self._posts: Sequence[Post] = list(posts.values())

    def start(self) -> None:
        for trip in self.trips:
            self._crew.add(trip)

    def is_done(self) -> bool:
        return all(trip.is_done for trip in self.trips)

    def close(self) -> None:
        self._crew.close()
        self._freight.close()
        for post in self._posts:
            post.link.close()

    @property
    def num_sent(self) -> int:
        return sum(post.link.num_sent for post in self._posts)

    def _note_failed(self, job: Job) -> None:
        import traceback

        why = traceback.format_exc().strip().splitlines()[-1]
        if isinstance(job, Look):
            job.give_up(why)
        elif isinstance(job, Trip):
            job.fault, job.is_done = why, True
        self._report(traceback.format_exc())
