"""Histograms: counts of values in bins of equal width, as numpy.histogram counts them.

Lists are counted without numpy (unless the process has it loaded and the list is long); arrays and tensors with it.
Values that no bin can hold are not lost: NaN, +inf and -inf are counted beside the bins.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from strobe.data.array import is_array, to_numpy
from strobe.data.media import Media, MediaFiles

#: below this many values in a list, turning it into an array costs more than counting it here
_FEW = 512
#: a range over which numpy's arithmetic would overflow, in 4-byte and in wider floats
_WIDE = (1e37, 1e307)


class Histogram(Media):
    """How often values occur, from a sequence or from a (counts, edges) pair as numpy.histogram returns it."""

    _log_type = "histogram"
    MAX_LENGTH = 512

    def __init__(self, sequence: Any = None, np_histogram: Any = None, num_bins: int = 64) -> None:
        #: values without a bin
        self.nan = self.posinf = self.neginf = 0
        if np_histogram is not None:
            self.histogram, self.bins = _given(np_histogram)
        elif sequence is None:
            raise ValueError("a Histogram needs values, or np_histogram=(counts, edges)")
        else:
            if not 1 <= num_bins <= self.MAX_LENGTH:
                raise ValueError(f"num_bins must be from 1 to {self.MAX_LENGTH}, got {num_bins}")
            self._count(sequence, num_bins)
        if len(self.histogram) > self.MAX_LENGTH:
            raise ValueError(f"a Histogram has at most {self.MAX_LENGTH} bins, got {len(self.histogram)}")
        if len(self.bins) != len(self.histogram) + 1:
            raise ValueError(f"{len(self.histogram)} counts need {len(self.histogram) + 1} edges, got {len(self.bins)}")

    def _count(self, sequence: Any, num_bins: int) -> None:
        np: Any = sys.modules.get("numpy")
        if is_array(sequence):
            values = to_numpy(sequence, "A histogram of an array").ravel()
        else:
            values = sequence if isinstance(sequence, (list, tuple)) else list(sequence)
            if np is not None and (len(values) > _FEW or not _are_numbers(values)):
                # nested lists, and lists of arrays or tensors, too
                values = np.array([to_numpy(v, "A histogram") if is_array(v) else v for v in values]).ravel()
        if is_array(values):
            self._count_array(values, num_bins)
        else:
            self._count_list(values, num_bins)

    def _count_list(self, values: Sequence[Any], num_bins: int) -> None:
        if not _are_numbers(values):
            odd = next(value for value in values if not isinstance(value, (int, float)))
            raise TypeError(f"a Histogram counts numbers, got {odd!r:.60} of type {type(odd).__name__}")
        floats = [float(value) for value in values]
        finite = sorted(filter(math.isfinite, floats))
        self._note(sum(map(math.isnan, floats)), floats.count(math.inf), floats.count(-math.inf))
        self.bins = _edges(finite[0], finite[-1], num_bins) if finite else _edges(0.0, 1.0, num_bins)
        self.histogram = _count_sorted(finite, self.bins)

    def _count_array(self, values: Any, num_bins: int) -> None:
        import numpy as np

        if values.dtype.kind not in "biuf":
            raise TypeError(f"a Histogram counts numbers, got values of type {values.dtype}")
        if values.dtype.kind != "f" or values.dtype.itemsize < 4:
            values = values.astype(np.float64 if values.dtype.kind in "iu" else np.float32)
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
        if not math.isfinite(low - high):  # NaN shows in both
            self._note(*(int(np.count_nonzero(found(values))) for found in (np.isnan, np.isposinf, np.isneginf)))
            values = values[np.isfinite(values)]
            low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
        self.bins = _edges(low, high, num_bins) if values.size else _edges(0.0, 1.0, num_bins)
        if high - low > _WIDE[values.dtype.itemsize > 4]:
            self.histogram = _count_sorted(sorted(values.tolist()), self.bins)
            return
        try:
            counts, edges = np.histogram(values, bins=num_bins, range=(self.bins[0], self.bins[-1]))
            self.histogram, self.bins = counts.tolist(), edges.tolist()
        except ValueError:  # a range too narrow for that many bins, says numpy
            self.histogram = _count_sorted(sorted(values.tolist()), self.bins)

    def _note(self, nan: int, posinf: int, neginf: int) -> None:
        self.nan, self.posinf, self.neginf = nan, posinf, neginf

    def record(self, files: MediaFiles | None = None, key: str = "", step: int = 0) -> dict[str, Any]:
        record: dict[str, Any] = {"_type": self._log_type, "values": self.histogram, "bins": self.bins}
        for name in ("nan", "posinf", "neginf"):
            if count := getattr(self, name):
                record[name] = count
        return record

    def __eq__(self, other: object) -> bool:
        return self.record() == other.record() if isinstance(other, Histogram) else NotImplemented

    def __hash__(self) -> int:
        return hash((tuple(self.histogram), tuple(self.bins)))

    def __repr__(self) -> str:
        return f"Histogram({sum(self.histogram)} values in {len(self.histogram)} bins)"


def _given(pair: Any) -> tuple[list[Any], list[Any]]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise ValueError(f"np_histogram must be (counts, edges), as numpy.histogram returns it, got {pair!r:.80}")
    counts, edges = (part.tolist() if hasattr(part, "tolist") else list(part) for part in pair)
    return counts, edges


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(issubclass(found, (int, float)) for found in set(map(type, values)))


def _edges(low: float, high: float, num_bins: int) -> list[float]:
    """Return the edges of equal bins over the range; a range of one value is widened by a half on both sides."""
    if low == high:
        low, high = low - 0.5, high + 0.5
    if high - low == math.inf:
        return [low * (1 - i / num_bins) + high * (i / num_bins) for i in range(num_bins)] + [high]
    width = (high - low) / num_bins
    return [low + i * width for i in range(num_bins)] + [high]


def _count_sorted(values: Sequence[float], edges: Sequence[float]) -> list[int]:
    """Count sorted values: a bin holds its lower edge and not its upper one, except the last, which holds both."""
    starts = [bisect_left(values, edge) for edge in edges[:-1]]
    starts[0] = 0
    return [end - start for start, end in zip(starts, [*starts[1:], len(values)], strict=True)]
