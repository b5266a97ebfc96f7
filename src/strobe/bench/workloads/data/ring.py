"""How many batches steps take turns on where rows of tables are looked up.

One batch asks for a few megabytes of rows. Of a ring of four, all rows stay in a large last-level cache from one turn
to the next however large the table is, and the score is that of the cache. Here a turn asks for several times what any
such cache holds, or for nearly the whole table if that is less. Indices take 8 bytes where a row takes hundreds, so
that a long ring is cheap. Its length follows from the configuration alone: inputs are the same on every machine.
"""

from __future__ import annotations

#: batches at least
_LEAST = 4
#: rows that a turn asks for
_TURN_BYTES = 2**30
#: after so many lookups per row, 98 % of all rows have been asked for (1 - 1 / e**4); more would touch no others
_LOOKUPS_PER_ROW = 4


def ring_length(*, lookups: float, num_rows: int, row_bytes: int) -> int:
    """Return the batches of a ring, from the lookups of one batch and the rows of all tables together."""
    wanted = min(_TURN_BYTES // row_bytes, _LOOKUPS_PER_ROW * num_rows)
    return max(_LEAST, int(-(-wanted // lookups)))
