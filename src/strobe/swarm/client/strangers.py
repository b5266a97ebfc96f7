"""Experts that have not said yet what they take and give: who asks about one asks about the others of its peer too."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING

from strobe.swarm.experts.schema import MAX_DESCRIBED

if TYPE_CHECKING:
    from strobe.swarm.client.stub import ExpertStub


class Strangers:
    """The stubs of one link without a description, as long as somebody uses them. For threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stubs: weakref.WeakSet[ExpertStub] = weakref.WeakSet()

    def add(self, stub: ExpertStub) -> None:
        with self._lock:
            self._stubs.add(stub)

    def discard(self, stub: ExpertStub) -> None:
        with self._lock:
            self._stubs.discard(stub)

    def near(self, stub: ExpertStub) -> list[ExpertStub]:
        """Return others of the same peer, as many as fit into a request about this one."""
        with self._lock:
            others = [other for other in self._stubs if other.place.address == stub.place.address]
        return [other for other in others if other is not stub and not other.has_info][: MAX_DESCRIBED - 1]
