"""Series as pages with a pyramid above them: a chart costs what the screen shows, not what was logged.

A *series* is the scalar points of one (run, key, attempt): sorted by step, at most one point per step. It is kept as
pages:

    level 0      up to 4,096 raw points a page; only the last page may be partial
    level k >= 1 256 buckets a page, written when complete; a bucket stands for 16 points at level 1, 64 at level 2, ...

so page `n` of level `k + 1` stands for pages `4n .. 4n + 3` of level `k` (page `n` of level 1 for raw page `n`), and
the number of points alone tells which pages exist. What lies past the last complete page of a level is answered from
the finer levels. Appending never rewrites a complete page; a late point rewrites pages from the one it falls in.

    fold(store, batches, rank)         merge new points of any order into their series
    query(store, lines, pixels)        at most `pixels` buckets per line, over exactly the points in its window
    digest(store, lines)               one bucket per line: count, extremes, sum, first, last, NaN and inf
    read_points(store, line)           raw points in step order, page by page
    join(store, x_line, y_line, ...)   one key over another

A `Line` is what is shown as one curve: attempts (`Part`: a series, where it was superseded, its points not yet
folded) within a `Window` of steps and times. `PageStore` is all that a database implements. All functions take many
series at once and make few calls. Nothing here knows SQL, runs or keys; transactions are the caller's: a fold is
right when its calls are one transaction, a query when it sees one snapshot.
"""

from __future__ import annotations

from strobe.store.series.bucket import Buckets
from strobe.store.series.column import PageCorrupt
from strobe.store.series.fold import fold
from strobe.store.series.join import Joined, join
from strobe.store.series.line import Line, Part
from strobe.store.series.page import EVERYTHING, Directory, Page, PageRange, PageStore, Window
from strobe.store.series.point import BOOL, FLOAT, INT, Points
from strobe.store.series.query import Axis, digest, query
from strobe.store.series.read import read_points

__all__ = [
    "BOOL",
    "EVERYTHING",
    "FLOAT",
    "INT",
    "Axis",
    "Buckets",
    "Directory",
    "Joined",
    "Line",
    "Page",
    "PageCorrupt",
    "PageRange",
    "PageStore",
    "Part",
    "Points",
    "Window",
    "digest",
    "fold",
    "join",
    "query",
    "read_points",
]
