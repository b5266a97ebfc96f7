"""Chores: what a server does by itself, each at its own pace, in worker threads.

A chore that fails is logged and counted, and tried again at its next turn: a database that is away for a minute must
not end it. Several servers over one store may all do them; each is safe to be done twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio.to_thread

from strobe.server.log import FIELDS
from strobe.server.services import Services
from strobe.store.upkeep import keep_up

#: a run that should be running and was silent for so long is called crashed
SILENCE_S = 300.0
UPKEEP_S = 3600.0
#: how often runs are looked at for ends and stalls, by one of the servers
WATCH_S = 5.0
_END_S = 10.0


@dataclass(frozen=True, slots=True)
class Chore:
    """Something to be done every so many seconds; it may say that there is more to do at once."""

    name: str
    every_s: float
    work: Callable[[], object]


def own_chores(services: Services) -> list[Chore]:
    """Return what every server does."""
    store = services.store

    def bury() -> None:
        for row in store.runs.bury(silent_for_ns=int(SILENCE_S * 1e9), now_ns=services.clock()):
            services.log.info("run crashed: it was silent", extra={FIELDS: {"run": str(row.path)}})

    chores = [
        Chore("settle", 0.5, store.settler.settle),
        Chore("bury", 15.0, bury),
        Chore("alert-watch", WATCH_S, lambda: store.alerts.watch(turn_ns=int(WATCH_S * 0.8e9))),
        Chore("alert-delivery", 1.0, services.courier.deliver_due),
    ]
    if services.settings.mode == "server":  # a home is its owner's to tidy up
        chores.append(Chore("upkeep", UPKEEP_S, lambda: keep_up(store)))
    return chores


@asynccontextmanager
async def doing(chores: Sequence[Chore], services: Services) -> AsyncIterator[None]:
    """Do the chores for the length of the block; the one that is being done at its end is awaited."""
    tasks = [asyncio.create_task(_keep(chore, services), name=chore.name) for chore in chores]
    try:
        yield
    finally:
        services.stopping.set()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_END_S)
            for task in late:
                task.cancel()


async def _keep(chore: Chore, services: Services) -> None:
    while not services.stopping:
        began = time.monotonic()
        try:
            await anyio.to_thread.run_sync(chore.work)
        except Exception as error:  # whatever happened, the next turn may be better
            services.metrics.errors.add(1, f"chore:{chore.name}")
            services.log.exception("chore failed", extra={FIELDS: {"chore": chore.name, "error": str(error)}})
        await services.stopping.wait(max(0.05, chore.every_s - (time.monotonic() - began)))
