"""Many runs: chosen by a filter, put in order, and read only as far as somebody looks.

    order: "+created_at" or "-created_at", and likewise name, state, runtime, config.<key>, summary_metrics.<key>

Runs that lack what they are ordered by come last, whichever way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from strobe.api.run import Run

if TYPE_CHECKING:
    from strobe.api.record import Listing, Record


class Runs(Sequence[Run]):
    """Runs in order. Nothing is read before the first is asked for; then each once."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._runs: list[Run] = []
        self._rest: Iterator[Record] | None = None
        self._is_complete = False

    def _read(self, until: int | None = None) -> list[Run]:
        """Return the runs that are known, with at least the first `until`, or all, among them."""
        if self._rest is None:
            self._rest = iter(self._listing)
        while not self._is_complete and (until is None or len(self._runs) < until):
            record = next(self._rest, None)
            if record is None:
                self._is_complete = True
            else:
                self._runs.append(Run(record))
        return self._runs

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | list[Run]:
        if isinstance(index, int):
            return self._read(index + 1 if index >= 0 else None)[index]
        bounds = (index.start or 0, index.stop, index.step or 1)
        is_ahead = bounds[1] is not None and min(bounds) >= 0
        return self._read(index.stop if is_ahead else None)[index]

    def __iter__(self) -> Iterator[Run]:
        place = 0
        while place < len(self._read(place + 1)):
            yield self._runs[place]
            place += 1

    def __len__(self) -> int:
        if not self._is_complete and (count := self._listing.count()) is not None:
            return count
        return len(self._read())

    def __bool__(self) -> bool:
        return bool(self._read(1))

    def __repr__(self) -> str:
        return f"<Runs {len(self)}>"

    def histories(self, keys: Sequence[str] | None = None, samples: int | None = None, x_axis: str = "_step") -> Any:
        """Return the histories of all runs, each row with its `run_id`: a DataFrame if pandas is there, else dicts."""
        from strobe.api import history

        rows = [
            {"run_id": run.id, **row}
            for run in self
            for row in run.history(keys=keys, samples=samples, x_axis=x_axis, pandas=False)
        ]
        return history.data_frame(rows) if history.has_pandas() else rows
