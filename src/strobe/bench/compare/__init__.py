"""Comparing two sets of results without fooling oneself.

    pairs = pair(read_records(old), read_records(new))       # same benchmark, version, batch, machine
    found = compare(pairs, history=History(earlier))         # faster, slower, same, inconclusive
    found = confirm(found, measure)                          # undecided rows again, both sides in turns

Pure functions over `Record`s; `measure` is the only thing that takes time. What the statistics promise is proven by
simulation in `strobe.bench.selftest`.
"""

from strobe.errors import MissingExtra

try:
    import numpy  # noqa: F401, ICN001 - only to say what is missing before it is missed
except ModuleNotFoundError as exc:
    raise MissingExtra("comparing benchmark results needs numpy: pip install 'strobe[bench]'") from exc

from strobe.bench.compare.comparison import Comparison, Geomean, compare
from strobe.bench.compare.confirm import Measure, Side, confirm
from strobe.bench.compare.noise import Floor, History
from strobe.bench.compare.pairing import Pair, Pairs, environment_diff, pair, pair_implementations
from strobe.bench.compare.verdict import Row, Rule, Verdict

__all__ = [
    "Comparison",
    "Floor",
    "Geomean",
    "History",
    "Measure",
    "Pair",
    "Pairs",
    "Row",
    "Rule",
    "Side",
    "Verdict",
    "compare",
    "confirm",
    "environment_diff",
    "pair",
    "pair_implementations",
]
