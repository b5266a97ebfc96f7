"""What Strobe promises about its cost, measured against wandb and the jsonl floor in one run: `make bench`.

Prints a table (measure, value, peer, ratio, bar), writes `.bench/`, and exits with 1 when a bar is missed. Times are
compared only within the run, interleaved. `--only log1,kill` measures a part. About 7 minutes on 2 cores.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from strobe.bench.load import catalog, runner, venvs
from strobe.bench.load.bars import Bar, judge, verdict_table
from strobe.bench.load.variant import Subject
from strobe.bench.records import Record, append_records

OUTPUT = Path(__file__).parents[1] / ".bench"
MB = 1e6


@dataclass(frozen=True, slots=True)
class Measurement:
    """One profile: who runs it, how often, how large."""

    profile: str
    trackers: tuple[str, ...]
    repeat: int
    options: dict[str, float] = field(default_factory=dict)
    #: features that Strobe runs with
    features: dict[str, str] = field(default_factory=dict)


ALL = ("strobe", "jsonl", "wandb")
MEASUREMENTS = (
    Measurement("log1", ALL, 5),
    Measurement("log10", ALL, 5),
    Measurement("log100", ALL, 5),
    Measurement("spin", ("strobe", "jsonl"), 5, {"limit_s": 4}),
    Measurement("init_finish", ("strobe", "wandb"), 5),
    Measurement("import", ("strobe", "wandb"), 3, {"starts": 5}),
    Measurement("v1-scalars", ("strobe", "wandb"), 3),
    Measurement("tables", ("strobe", "wandb"), 2),
    Measurement("wide", ("strobe", "jsonl"), 5),
    Measurement("size", ("strobe",), 1),
    # An agent per killed program would be 200 of them; rows are safe with or without one.
    Measurement("kill", ("strobe",), 1, {"kills": 200}, {"agent": "off"}),
    Measurement("memory", ("strobe", "wandb"), 3),
    Measurement("million", ("strobe", "jsonl"), 1),
    Measurement("helpers", ("strobe",), 1),
)

# Against the floor by the least disturbed repetition; against wandb by the median, because its cost varies of itself:
# its own helper thread wants the lock too.
_CPU = "thread CPU per log(), without building the row"
BARS = (
    Bar(measure=f"{_CPU}, 1 scalar", profile="log1", metric="cpu", at_most=0.9, peer="jsonl", summary="best"),
    Bar(measure=f"{_CPU}, 10 scalars", profile="log10", metric="cpu", at_most=0.6, peer="jsonl", summary="best"),
    Bar(measure=f"{_CPU}, 100 scalars", profile="log100", metric="cpu", at_most=0.4, peer="jsonl", summary="best"),
    Bar(measure=f"{_CPU}, 1 scalar", profile="log1", metric="cpu", at_most=1 / 40, peer="wandb"),
    Bar(measure=f"{_CPU}, 10 scalars", profile="log10", metric="cpu", at_most=1 / 40, peer="wandb"),
    Bar(measure=f"{_CPU}, 100 scalars", profile="log100", metric="cpu", at_most=1 / 40, peer="wandb"),
    Bar(measure="spin: mean wall per log()", profile="spin", metric="mean", at_most=1 / 30, peer="jsonl"),
    Bar(measure="init() + finish()", profile="init_finish", metric="total", at_most=1 / 40, peer="wandb"),
    Bar(measure="import, over bare python", profile="import", metric="wall", at_most=1 / 10, peer="wandb"),
    Bar(measure="import: numpy, torch, server loaded", profile="import", metric="heavy", at_most=0),
    Bar(measure="v1-scalars, 10 processes", profile="v1-scalars", metric="time_load", at_most=1 / 10, peer="wandb"),
    Bar(measure="10 big tables incl. finish", profile="tables", metric="wall", at_most=1 / 40, peer="wandb"),
    Bar(measure="10 big tables, caller blocked", profile="tables", metric="blocked", at_most=1 / 50, peer="wandb"),
    Bar(measure="10,000 keys per call, CPU", profile="wide", metric="cpu", at_most=1.0, peer="jsonl", summary="best"),
    # Half of the 268, 515 and 3,088 bytes that wandb was seen to write.
    Bar(measure="bytes per row, 1 scalar", profile="size", metric="row1", at_most=134),
    Bar(measure="bytes per row, 10 scalars", profile="size", metric="row10", at_most=257),
    Bar(measure="bytes per row, 100 scalars", profile="size", metric="row100", at_most=1544),
    Bar(measure="acknowledged rows lost in 200 kills", profile="kill", metric="lost", at_most=0),
    Bar(measure="anonymous memory over a bare interpreter", profile="memory", metric="anonymous", at_most=15 * MB),
    # "None", to the resolution of the allocator: less than a byte per call.
    Bar(measure="memory growth over 1 M calls", profile="million", metric="growth", at_most=1 * MB),
    Bar(measure="rows of 1 M not readable", profile="million", metric="missing", at_most=0),
    Bar(measure="agent: resident memory", profile="helpers", metric="resident", at_most=45 * MB),
    Bar(measure="agent: CPU at 10 rows/s", profile="helpers", metric="cpu", at_most=0.01),
)


def measure(measurement: Measurement, directory: Path) -> list[Record]:
    """Run one measurement for all its trackers."""
    trackers = catalog.find_trackers(list(measurement.trackers))
    plan = runner.Plan(
        profiles=catalog.find_profiles([measurement.profile]),
        subjects=[Subject(one, measurement.features if one.name == "strobe" else {}) for one in trackers],
        repeat=measurement.repeat,
        options=measurement.options,
        venvs=directory,
    )
    return runner.run(plan, lambda text: print(text, file=sys.stderr, flush=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PROFILES", help="comma-separated profiles (default: all)")
    parser.add_argument("--venvs", type=Path, default=venvs.default_directory(), metavar="DIR")
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    args = parser.parse_args()
    chosen = {one.profile for one in MEASUREMENTS} if args.only is None else set(args.only.split(","))
    records = [r for one in MEASUREMENTS if one.profile in chosen for r in measure(one, args.venvs)]
    verdicts = [judge(bar, records) for bar in BARS if bar.profile in chosen]
    stamp = time.strftime("%Y%m%d-%H%M%S")
    args.output.mkdir(parents=True, exist_ok=True)
    append_records(args.output / f"{stamp}.jsonl", records)
    summary = [{**msgspec.to_builtins(one), "is_reached": one.is_reached} for one in verdicts]
    (args.output / f"{stamp}.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(summary, indent=2) if args.json else verdict_table(verdicts))
    print(f"\nraw samples: {args.output / f'{stamp}.jsonl'}", file=sys.stderr)
    return 0 if verdicts and all(one.is_reached for one in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
