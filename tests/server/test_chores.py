"""What a server does by itself: it goes on after a fault, and is done when the server is."""

from __future__ import annotations

import asyncio
import threading

from strobe.server.chores import Chore, doing, own_chores
from tests.server.conftest import Stage
from tests.server.test_ingest import batch_of, send, stage, store_of

__all__ = ["stage"]


def test_a_chore_that_fails_is_counted_and_tried_again(stage: Stage) -> None:
    calls: list[int] = []
    done = threading.Event()

    def work() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise KeyError("first")
        done.set()

    async def live() -> None:
        async with doing([Chore("odd", 0.01, work)], stage.services):
            assert await asyncio.to_thread(done.wait, 5)

    asyncio.run(live())
    assert 'strobe_errors_total{kind="chore:odd"} 1' in stage.services.metrics.text()


def test_what_was_taken_in_is_settled(stage: Stage) -> None:
    send(stage, batch_of([{"loss": 0.5}]))
    chores = {chore.name: chore for chore in own_chores(stage.services)}
    assert chores["settle"].work() == 1
    assert chores["settle"].work() == 0
    fields = [found.name for found in store_of(stage).values.fields("ann", "p")]
    assert "summary.loss" in fields
