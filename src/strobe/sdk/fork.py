"""The one place that hears of a fork. Components subscribe; in the child each is told to begin anew.

The child's copy of a lock may be held by a thread that does not exist there, so nothing here takes one.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class ForkAware(Protocol):
    """Something that must not go on in a forked child as if nothing had happened."""

    def after_fork(self) -> None:
        """Called in the child, before any user code runs there."""


_subscribers: WeakSet[ForkAware] = WeakSet()
_registered = False


def subscribe(component: ForkAware) -> None:
    """Have `component.after_fork()` called in every child forked from now on."""
    global _registered
    _subscribers.add(component)
    if not _registered and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_tell)
        _registered = True


def _tell() -> None:
    for component in list(_subscribers):
        component.after_fork()
