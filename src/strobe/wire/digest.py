"""What the points of a key come to, as a server tells it and a reader hears it."""

from __future__ import annotations

import msgspec


class Digest(msgspec.Struct, frozen=True, kw_only=True):
    """What one key comes to over all of its points that count; of the finite ones, where it is about size."""

    count: int
    min: float | None
    max: float | None
    min_step: int | None
    max_step: int | None
    mean: float | None
    first: float
    last: float
    first_step: int
    last_step: int
    nan: int
    posinf: int
    neginf: int
