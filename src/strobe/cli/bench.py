"""`strobe bench`: the suite of proxy workloads, load profiles of trackers, and the swarm's benchmarks.

One module per command; this one only gathers them.
"""

from __future__ import annotations

from strobe.cli import (
    bench_catalog,
    bench_compare,
    bench_history,
    bench_import,
    bench_load,
    bench_peaks,
    bench_publish,
    bench_run,
    bench_swarm,
    bench_table,
)
from strobe.cli.parser import Subparsers, add_group


def register(subparsers: Subparsers) -> None:
    """Add the group `bench`."""
    commands = add_group(
        subparsers,
        "bench",
        summary="proxy workloads, load profiles and swarm benchmarks",
        examples=["strobe bench run", "strobe bench table", "strobe bench load --profile v1-empty"],
    )
    suite = (bench_catalog, bench_run, bench_table, bench_compare, bench_history, bench_publish, bench_import)
    for module in (*suite, bench_peaks, bench_load, bench_swarm):
        module.register(commands)
