"""Comparing two sets of results without fooling oneself.

    pairs = pair(read_records(old), read_records(new))       # same benchmark, version, batch, machine
    rule = Rule(num_occasions=2)                             # half of alpha now, half for measuring again
    found = compare(pairs, history=History(earlier), rule=rule)    # faster, slower, same, inconclusive
    found = confirm(found, measure)                          # undecided rows again, both sides in turns

Pure functions over `Record`s; `measure` is the only thing that takes time. What the statistics promise is proven by
simulation in `strobe.bench.selftest`. Names are loaded when they are asked for: which rows belong together (`pairing`)
is needed where results are kept and listed, also without numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strobe.bench.compare.comparison import Comparison, Geomean, compare
    from strobe.bench.compare.confirmation import Measure, Side, confirm
    from strobe.bench.compare.noise import Floor, History
    from strobe.bench.compare.pairing import LeftOut, Pair, Pairs, environment_diff, pair, pair_implementations
    from strobe.bench.compare.verdict import Row, Rule, Verdict

_PLACES = {
    "comparison": ("Comparison", "Geomean", "compare"),
    "confirmation": ("Measure", "Side", "confirm"),
    "noise": ("Floor", "History"),
    "pairing": ("LeftOut", "Pair", "Pairs", "environment_diff", "pair", "pair_implementations"),
    "verdict": ("Row", "Rule", "Verdict"),
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "Comparison",
    "Floor",
    "Geomean",
    "History",
    "LeftOut",
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


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
