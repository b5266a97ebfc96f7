"""Latency: percentiles of step times, and whether a limit is kept as far as so many steps can tell.

The rule is the one of MLPerf's early stopping: a limit at percentile p is *met* when a system that keeps it for only a
share p of its steps would show so few late ones in at most 1 % of such measurements, *missed* when it would show so
many that seldom, and *undecided* until there are enough steps for either. It takes steps as independent of each other.
Of steps that were timed several at a time only bounds are known: at least one is late if their mean is, and of those
that are late each took longer than the limit. What holds for both bounds is decided. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from strobe.bench.records import Latency, LatencyStatus, Repeat
from strobe.bench.spec import Latency as Limit

CONFIDENCE = 0.99


def percentile(samples: Sequence[float], share: float) -> float:
    """Return the smallest sample that at least `share` of all do not exceed: never between two, never too early."""
    if not samples:
        raise ValueError("no samples")
    if not 0.0 < share <= 1.0:
        raise ValueError(f"a percentile lies above 0 and up to 1, got {share}")
    # 0.95 * 20 is 19.000000000000004 or so: a rank must not rise by a rounding error.
    rank = math.ceil(share * len(samples) - 1e-9)
    return sorted(samples)[max(rank, 1) - 1]


def decide(n: int, num_over: int, share: float) -> LatencyStatus:
    """Decide whether `num_over` late steps of `n` prove that at least `share` of the steps come in time."""
    if not 0 <= num_over <= n:
        raise ValueError(f"{num_over} of {n} steps cannot be late")
    if not 0.0 < share < 1.0:
        raise ValueError(f"the share of steps within the limit lies between 0 and 1, got {share}")
    if at_most(num_over, n, 1.0 - share) <= 1.0 - CONFIDENCE:
        return "met"
    if at_least(num_over, n, 1.0 - share) <= 1.0 - CONFIDENCE:
        return "missed"
    return "undecided"


def steps_needed(num_over: int, share: float) -> int:
    """Return how many steps are needed to call the limit met when `num_over` of them are late."""
    low, high = num_over, num_over + 1
    while at_most(num_over, high, 1.0 - share) > 1.0 - CONFIDENCE:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if at_most(num_over, middle, 1.0 - share) > 1.0 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return high


def most_over(n: int, share: float) -> int | None:
    """Return how many of `n` steps may be late with the limit met; None when even 0 are too many to tell."""
    if steps_needed(0, share) > n:
        return None
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if at_most(middle, n, 1.0 - share) <= 1.0 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return low


def judge(wall_s: Sequence[float], limit: Limit) -> Latency:
    """Describe step times in seconds and judge them by a benchmark's limit; raises ValueError if there are none."""
    return judge_repeats([Repeat(wall_s=tuple(wall_s), cpu_s=())], limit)


def judge_repeats(repeats: Sequence[Repeat], limit: Limit) -> Latency:
    """Judge the steps of all repeats together; raises ValueError if there are none."""
    # (milliseconds of a step, steps that were timed together)
    samples = [(1e3 * wall_s, repeat.inner_loops) for repeat in repeats for wall_s in repeat.wall_s]
    n = sum(loops for _, loops in samples)
    least = sum(mean_ms > limit.limit_ms for mean_ms, _ in samples)
    most = sum(_most_late(mean_ms, loops, limit.limit_ms) for mean_ms, loops in samples)
    p50, p90, p95, p99 = (percentile([mean_ms for mean_ms, _ in samples], share) for share in (0.50, 0.90, 0.95, 0.99))
    return Latency(
        limit_ms=limit.limit_ms,
        percentile=limit.percentile,
        status=_decide_between(n, least, most, limit.percentile / 100),
        n=n,
        num_over=least,
        p50_ms=p50,
        p90_ms=p90,
        p95_ms=p95,
        p99_ms=p99,
    )


def _most_late(mean_ms: float, loops: int, limit_ms: float) -> int:
    """Return how many of the steps of a sample can each have been longer than the limit, with all in its time."""
    return max(mean_ms > limit_ms, min(loops, math.ceil(loops * mean_ms / limit_ms) - 1))


def _decide_between(n: int, least: int, most: int, share: float) -> LatencyStatus:
    """Decide where only bounds are known of how many steps were late: few enough at most, or too many at least."""
    if decide(n, most, share) == "met":
        return "met"
    return "missed" if decide(n, least, share) == "missed" else "undecided"


def at_most(k: int, n: int, chance: float) -> float:
    """Return the probability of at most `k` hits in `n` independent tries."""
    if k >= n:
        return 1.0
    # The shorter tail is summed: a million steps with few late ones cost few terms.
    return _sum(range(k + 1), n, chance) if k <= n * chance else 1.0 - _sum(range(k + 1, n + 1), n, chance)


def at_least(k: int, n: int, chance: float) -> float:
    """Return the probability of at least `k` hits in `n` independent tries."""
    if k <= 0:
        return 1.0
    return _sum(range(k, n + 1), n, chance) if k > n * chance else 1.0 - _sum(range(k), n, chance)


def _sum(hits: range, n: int, chance: float) -> float:
    """Sum binomial probabilities, from the likeliest outwards until they no longer count."""
    yes, no = math.log(chance), math.log1p(-chance)
    middle = n * chance
    ordered = hits if hits and abs(hits[0] - middle) < abs(hits[-1] - middle) else reversed(hits)
    total = 0.0
    for k in ordered:
        log_ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        term = math.exp(log_ways + k * yes + (n - k) * no)
        total += term
        if term <= 1e-18 * total:
            break
    return total
