"""What `strobe bench run` is asked for: its options, and the cells and settings that they come to."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strobe.bench.runner.options import Cell, Options
    from strobe.bench.spec import Benchmark, Tier

#: processes per row, and seconds of measuring in each, unless asked otherwise; None: benchmarks that are named
_EFFORT = {"smoke": (3, 1.0), "ci": (2, 1.0), "full": (5, 5.0), None: (3, 1.0)}
#: how long a tier may take in all; further repeats are left out rather
_MINUTES = {"smoke": 3.0, "ci": 16.0}
#: what measuring leaves of that for starting, peaks and writing
_MARGIN = 0.9
#: tiers for which the first of a benchmark's batch sizes has to do
_HURRIED = ("smoke", "ci")


def add_effort(parser: argparse.ArgumentParser) -> None:
    """Let a command choose how benchmarks are measured."""
    effort = parser.add_argument_group("how it is measured")
    effort.add_argument(
        "--batch", action="append", type=int, metavar="N", help="batch size, instead of the declared ones"
    )
    effort.add_argument("--repeats", type=int, metavar="N", help="fresh processes per row (default: 3; ci: 2, full: 5)")
    effort.add_argument("--seconds", type=float, metavar="S", help="of measuring in each (default: 1, full: 5)")
    effort.add_argument(
        "--minutes",
        type=float,
        metavar="M",
        help="begin no second or later repeat that would end after this (default: smoke 3, ci 16, else no limit)",
    )
    effort.add_argument(
        "--threads", type=int, metavar="N", help="per process of a row, which is pinned (default: all CPUs)"
    )
    effort.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    effort.add_argument("--seed", type=int, default=0, metavar="N", help="of weights and inputs (default: 0)")
    effort.add_argument("--timeout", type=float, default=600.0, metavar="S", help="of one process (default: 600)")
    effort.add_argument(
        "--memory-limit", type=float, metavar="GB", help="of one row (default: nine tenths of what is available)"
    )
    effort.add_argument("--node", type=int, default=0, metavar="N", help="which of several nodes this is (default: 0)")
    effort.add_argument(
        "--master", metavar="HOST:PORT", help="where node 0 listens; it takes free ports behind that one, too"
    )


def plan_run(args: argparse.Namespace) -> tuple[list[Cell], Options]:
    """Return what the arguments of `run` ask for."""
    from strobe.bench import registry
    from strobe.bench.machine import usable_cpus
    from strobe.bench.runner.device import refuse_missing
    from strobe.bench.runner.launcher import refuse_launcher
    from strobe.bench.runner.options import Cell, Options
    from strobe.bench.user_file import is_file_name
    from strobe.errors import UsageError

    refuse_launcher(os.environ)
    tier: Tier | None = args.tier or (None if args.benchmark else "smoke")
    found = registry.find(args.benchmark, tier=tier, files=args.file)
    if args.pairs:
        if not any(one.implementation == "Optimized" for one in found):
            raise UsageError("--pairs holds Optimized rows against OOTB ones, and no Optimized one is chosen")
        found = registry.with_partners(found, files=args.file)
    if args.master:
        found = [one for one in found if one.nodes > 1]
    if args.serving:
        found = [one for one in found if one.latency is not None]
    if not found:
        raise UsageError(
            "no benchmark is left to measure; --serving needs a latency limit, --master more than one node"
        )
    require_torch(found)
    if args.master and args.node >= (most := max(one.nodes for one in found)):
        raise UsageError(f"--node {args.node}: no benchmark is left that takes so many; the last node is {most - 1}")
    repeats, seconds = _EFFORT[tier]
    minutes = _positive("--minutes", args.minutes)
    memory_gb = _positive("--memory-limit", args.memory_limit)
    if minutes is None and args.repeats is None:
        minutes = _MINUTES.get(tier or "")
    options = Options(
        repeats=repeats if args.repeats is None else args.repeats,
        seconds=seconds if args.seconds is None else args.seconds,
        threads=usable_cpus() if args.threads is None else args.threads,
        device=args.device,
        seed=args.seed,
        scenario="serving" if args.serving else "throughput",
        timeout_s=args.timeout,
        budget_s=None if minutes is None else 60.0 * _MARGIN * minutes,
        memory_limit_bytes=None if memory_gb is None else round(memory_gb * 1e9),
        node=args.node,
        master=args.master,
        files=tuple(dict.fromkeys([*args.file, *(Path(word) for word in args.benchmark if is_file_name(word))])),
    )
    refuse_missing(options.device, options.python)
    num_sizes = 1 if tier in _HURRIED else None
    return [Cell(one, size) for one in found for size in args.batch or one.batch_sizes[:num_sizes]], options


def require_torch(benchmarks: Sequence[Benchmark]) -> None:
    """Raise MissingExtra for rows of the suite where there is no torch: none of them could be measured."""
    from importlib.util import find_spec

    from strobe.bench.spec import is_builtin
    from strobe.errors import MissingExtra

    if any(map(is_builtin, benchmarks)) and find_spec("torch") is None:
        raise MissingExtra("the suite's benchmarks need torch: pip install 'strobe[bench]'")


def _positive(flag: str, value: float | None) -> float | None:
    from strobe.errors import UsageError

    if value is not None and not 0 < value < math.inf:
        raise UsageError(f"{flag} must be a number above 0, got {value}")
    return value
