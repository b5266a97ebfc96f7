"""What the statistics of `strobe bench compare` and `history` promise, proven by simulation.

Benchmarks of known speed run on a simulated machine with realistic noise, go through the very functions that real
results go through, and the verdicts are counted. `run` returns one line per promise; `strobe bench compare --self-test`
prints them, and the tests run them smaller.
"""

from strobe.bench.selftest.promises import Promise, run

__all__ = ["Promise", "run"]
