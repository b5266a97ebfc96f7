"""The event loop that peers run on: uvloop where it is installed (a fifth less CPU per call), else asyncio's own.

Of asyncio's the one that watches sockets, also on Windows, where it is not the usual one: that one stops reading
datagrams when the system reports that one of ours was undeliverable, against which there is only `undelivered`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

try:  # here and not where it is used: who starts a peer waits for the peer, not for modules
    import uvloop
except ImportError:  # not installed, or Windows
    _new_loop: Any = asyncio.SelectorEventLoop
else:
    _new_loop = uvloop.new_event_loop

T = TypeVar("T")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop of the quickest kind there is."""
    loop: asyncio.AbstractEventLoop = _new_loop()
    return loop


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on such a loop, and close the loop."""
    loop = new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(work)
    finally:
        asyncio.set_event_loop(None)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
