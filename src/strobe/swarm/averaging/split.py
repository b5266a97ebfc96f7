"""Who reduces which values of the flattened tensors, and in which parts these travel. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise


def split_shares(length: int, bandwidths: Sequence[float]) -> list[range]:
    """Return the share of each, in proportion to its bandwidth: one after the other, without gaps.

    Everybody computes this alone and must come to the same. So the sums are made one by one: `sum` rounds differently
    from one version of Python to the next.
    """
    sums = list(accumulate(bandwidths))
    bounds = [0, *(round(length * (so_far / sums[-1])) for so_far in sums)]
    return [range(start, stop) for start, stop in pairwise(bounds)]


def split_parts(share: range, part_length: int) -> list[range]:
    """Return a share in parts, all of the same length but the last."""
    return [range(start, min(start + part_length, share.stop)) for start in range(share.start, share.stop, part_length)]
