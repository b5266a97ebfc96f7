"""Experts that have not said yet what they take and give: who asks about one asks about the others of its peer too.

A question that is under way is everybody's: whoever needs its answer meanwhile waits for the same one, and it goes on
when nobody does.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from strobe.swarm.experts.schema import MAX_DESCRIBED

if TYPE_CHECKING:
    from strobe.swarm.client.stub import ExpertStub


class Strangers:
    """The stubs of one link without a description, as long as somebody uses them. For threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: with the question about each that is under way, or was the last one
        self._stubs: weakref.WeakKeyDictionary[ExpertStub, Future[None] | None] = weakref.WeakKeyDictionary()

    def add(self, stub: ExpertStub) -> None:
        with self._lock:
            self._stubs[stub] = None

    def discard(self, stub: ExpertStub) -> None:
        with self._lock:
            self._stubs.pop(stub, None)

    def asked(self, stub: ExpertStub, ask: Callable[[list[ExpertStub]], Future[None]]) -> Future[None]:
        """Return the question about a stub that is under way; if there is none, ask about it and those near it."""
        with self._lock:
            if (question := self._stubs.get(stub)) is None or question.done():
                group = [stub, *self._near(stub)]
                question = ask(group)
                self._stubs.update(dict.fromkeys(group, question))
            return question

    def _near(self, stub: ExpertStub) -> list[ExpertStub]:
        """Return others of the same peer that nobody asks about, as many as fit into a question about this one."""
        near = [
            other
            for other, question in self._stubs.items()
            if other is not stub and other.place.address == stub.place.address and (question is None or question.done())
        ]
        return near[: MAX_DESCRIBED - 1]
