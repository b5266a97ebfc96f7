"""A table that is logged again and again as it grows: each log writes a file with the new rows only.

    {"_type": "incremental-table-file", "path", "size", "increment_num": i, "previous": path of the one before or None,
     "nrows": rows up to and with this one, "increment_rows": rows in this one, "ncols", "log_mode": "INCREMENTAL"}

The file of an increment holds `previous` too, so a reader follows it back to the first and joins the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any
from weakref import WeakKeyDictionary

from strobe.data import tablefile
from strobe.data.column import join_kinds
from strobe.data.media import MediaFiles
from strobe.data.tablefile import ColumnName

#: returns the stored form of the rows from a number on
Pack = Callable[[int], dict[str, Any]]


class Increments:
    """How far a table has been written, for each run (its files) and key it was logged under."""

    def __init__(self) -> None:
        self._chains: WeakKeyDictionary[MediaFiles, dict[str, _Chain]] = WeakKeyDictionary()

    def record(
        self, num_rows: int, pack: Pack, mixed: Collection[ColumnName], files: MediaFiles, key: str, step: int
    ) -> dict[str, Any]:
        """Write the rows not yet written and return the record of the whole; with none, the last record again.

        Columns in `mixed` may hold another kind than before.
        """
        chain = self._chains.setdefault(files, {}).setdefault(key, _Chain())
        if chain.last is not None and num_rows == chain.num_rows:
            return chain.last
        if num_rows < chain.num_rows:
            raise ValueError(
                f"{chain.num_rows} rows of this INCREMENTAL table were logged and it has {num_rows} now;"
                " rows may only be added, use log_mode='MUTABLE' for other changes"
            )
        body = pack(chain.num_rows)
        chain.join_types(body, mixed)
        return chain.extend(body, files, key, step)

    def __getstate__(self) -> dict[str, Any]:
        return {}  # a copy starts its own chain: it knows nothing of the files this one wrote

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]  # the state is that of a new one


class _Chain:
    """The increments of one table under one key."""

    def __init__(self) -> None:
        self.num_rows = 0
        self.last: dict[str, Any] | None = None
        self._types: list[str] = []

    def extend(self, body: dict[str, Any], files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        """Write one more increment and return its record."""
        previous = self.last["path"] if self.last else None
        index = self.last["increment_num"] + 1 if self.last else 0
        body.update(previous=previous, increment_num=index)
        path, size = tablefile.write(body, files, key, step)
        num_rows = self.num_rows + body["nrows"]
        self.last = {
            "_type": "incremental-table-file",
            "path": path,
            "size": size,
            "increment_num": index,
            "previous": previous,
            "nrows": num_rows,
            "increment_rows": body["nrows"],
            "ncols": body["ncols"],
            "log_mode": "INCREMENTAL",
        }
        self.num_rows = num_rows
        return self.last

    def join_types(self, body: dict[str, Any], mixed: Collection[ColumnName]) -> None:
        """Take note of the kinds that the columns hold by now; raises TypeError where they do not go together."""
        joined = []
        for name, before, now in zip(body["columns"], self._types or body["types"], body["types"], strict=True):
            kind = "any" if name in mixed else join_kinds((before, now))
            if kind is None:
                raise TypeError(
                    f"table column {name!r}: the rows from {self.num_rows} on hold {now}, those logged before {before};"
                    " make them alike, or pass allow_mixed_types=True"
                )
            joined.append(kind)
        self._types = joined
