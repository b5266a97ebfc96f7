"""Lockstep: the work on many series, each written as if it were alone, with the calls to the store shared.

The one idea: a task is a generator that yields an `Exchange` (pages to write, pages it needs) and is resumed with the
pages. All tasks advance together, so a hundred series cost as many calls as one. Must not know what the tasks do.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from strobe.store.series.page import Page, PageRange, PageStore

Result = TypeVar("Result")
Pages: TypeAlias = Mapping[tuple[int, int], Page]  # by (level, number)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a task asks of the store: `put` is written, then `fetch` is read. All of one series."""

    series: int
    fetch: Sequence[PageRange] = ()
    put: Sequence[Page] = ()


Task: TypeAlias = Generator[Exchange, Pages, Result]


class _Progress(Generic[Result]):
    """A task and the exchange it waits for; `waits_for` is None once it has its result."""

    result: Result

    def __init__(self, task: Task[Result]) -> None:
        self._task = task
        self.waits_for: Exchange | None = None
        self._advance(None)

    def resume(self, pages: Pages) -> None:
        self._advance(pages)

    def _advance(self, pages: Pages | None) -> None:
        try:
            self.waits_for = next(self._task) if pages is None else self._task.send(pages)
        except StopIteration as stop:
            self.waits_for, self.result = None, stop.value


def run_together(store: PageStore, tasks: Iterable[Task[Result]]) -> list[Result]:
    """Run the tasks to their ends and return their results in order. No two that write may be of one series."""
    running = [_Progress(task) for task in tasks]
    while waiting := [(task, task.waits_for) for task in running if task.waits_for is not None]:
        if put := [page for _, exchange in waiting for page in exchange.put]:
            store.put(put)
        pages: dict[int, dict[tuple[int, int], Page]] = {exchange.series: {} for _, exchange in waiting}
        if fetch := [pages_wanted for _, exchange in waiting for pages_wanted in exchange.fetch]:
            for page in store.fetch(fetch):
                pages[page.series][page.level, page.number] = page
        for task, exchange in waiting:
            task.resume(pages[exchange.series])
    return [task.result for task in running]
