"""Lockstep: the work on many series, each written as if it were alone, with the calls to the store shared.

The one idea: a task is a generator that yields an `Exchange` (pages to write, pages it needs) and is resumed with the
pages. Tasks that run together are one task whose exchanges are theirs put together, so a hundred series cost as many
calls as one. Must not know what the tasks do.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from strobe.store.series.column import REMEDY, PageCorrupt
from strobe.store.series.page import Page, PageRange, PageStore

Result = TypeVar("Result")


class Pages(dict[tuple[int, int, int], Page]):
    """Pages by (series, level, number); one that the directory promises and the store lacks is a corrupt series."""

    def __missing__(self, key: tuple[int, int, int]) -> Page:
        series, level, number = key
        raise PageCorrupt(f"series {series} lacks page {number} of level {level}; {REMEDY}")


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a task asks of the store: `put` is written, then `fetch` is read. The answer may hold other pages too."""

    fetch: Sequence[PageRange] = ()
    put: Sequence[Page] = ()


Task: TypeAlias = Generator[Exchange, Pages, Result]


class _Progress(Generic[Result]):
    """A task and the exchange it waits for; `waits_for` is None once it has its result."""

    waits_for: Exchange | None
    result: Result

    def __init__(self, task: Task[Result]) -> None:
        self._task = task
        self.resume(None)

    def resume(self, pages: Pages | None) -> None:
        try:
            self.waits_for = next(self._task) if pages is None else self._task.send(pages)
        except StopIteration as stop:
            self.waits_for, self.result = None, stop.value


def together(tasks: Iterable[Task[Result]]) -> Task[list[Result]]:
    """Run the tasks side by side and return their results in order. No two that write may be of one series."""
    running = [_Progress(task) for task in tasks]
    while waiting := [(task, task.waits_for) for task in running if task.waits_for is not None]:
        pages = yield Exchange(
            fetch=[wanted for _, exchange in waiting for wanted in exchange.fetch],
            put=[page for _, exchange in waiting for page in exchange.put],
        )
        for task, _ in waiting:
            task.resume(pages)
    return [task.result for task in running]


def run(store: PageStore, task: Task[Result]) -> Result:
    """Run a task to its end, with a store to answer it."""
    progress = _Progress(task)
    while (exchange := progress.waits_for) is not None:
        if exchange.put:
            store.put(exchange.put)
        found = store.fetch(exchange.fetch) if exchange.fetch else ()
        progress.resume(Pages({(page.series, page.level, page.number): page for page in found}))
    return progress.result
