"""What a metric came to, as a field of runs: `min(train/loss)` is the least of its finite values. Pure."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, get_args

from strobe.errors import UsageError
from strobe.store.series import Buckets
from strobe.store.values.leaf import MAX_PATH, storable

Statistic = Literal["min", "max", "mean", "first", "last"]

#: the part of a run's document that has them
SECTION = "figures"
_CALL = re.compile(rf"({'|'.join(get_args(Statistic))})\((.+)\)", re.DOTALL)


class Figure(NamedTuple):
    """A statistic of one logged key."""

    statistic: Statistic
    key: str

    def __str__(self) -> str:
        return f"{self.statistic}({self.key})"

    @property
    def path(self) -> str:
        """Its name in the index."""
        return storable(f"{SECTION}.{self}")

    def of(self, bucket: Buckets) -> float | None:
        """Return it of all points of the key; None if it has none."""
        finite = int(bucket.count[0] - bucket.nan[0] - bucket.posinf[0] - bucket.neginf[0])
        if self.statistic == "first":
            return float(bucket.first[0])
        if self.statistic == "last":
            return float(bucket.last[0])
        if not finite:
            return None
        if self.statistic == "mean":
            return float(bucket.sum[0]) / finite
        return float(bucket.min[0] if self.statistic == "min" else bucket.max[0])


def parse_figure(name: str) -> Figure | None:
    """Return the figure that a field's name is; None if it is another field."""
    found = _CALL.fullmatch(name)
    if found is None:
        return None
    figure = Figure(found[1], found[2])  # type: ignore[arg-type]
    if len(figure.path) > MAX_PATH:
        raise UsageError(f"runs cannot be ordered by {name[:40]}…: its name has more than {MAX_PATH} characters")
    return figure
