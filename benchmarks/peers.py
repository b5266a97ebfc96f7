"""All trackers there are, under the loads that tell them apart: one Markdown table per profile.

Optional, slow (half an hour: some peers take seconds per call), and installs every peer on first use. The table's
last column holds the command that measures the line again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from strobe.bench.load import catalog, runner, venvs
from strobe.bench.load.variant import Subject
from strobe.bench.records import Record, append_records
from strobe.bench.table import format_samples, markdown

OUTPUT = Path(__file__).parents[1] / ".bench"
PROFILES = "v1-empty,v1-scalars,v1-tables,v1-images,log1,log10,log100,wide,tables,kill,import,memory"
# Smaller than alone, because the slowest peer takes milliseconds per call and seconds per table.
OPTIONS: dict[str, float] = {"calls": 300}


def profile_table(profile: catalog.Profile, records: list[Record]) -> str:
    """Return one line per tracker, one column per metric."""
    names = list(dict.fromkeys(record.subject for record in records))
    header = [profile.name, *(f"{metric.name}" for metric in profile.metrics), "command"]
    lines = []
    for name in names:
        own = [record for record in records if record.subject == name]
        cells = ["–" if record.error else format_samples(record) for record in own]
        lines.append([f"{name} {own[0].subject_version}".strip(), *cells, f"`{own[0].command}`"])
    return markdown(header, lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", default=PROFILES, metavar="NAMES")
    parser.add_argument("--tracker", default=",".join(catalog.trackers()), metavar="NAMES")
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument("--venvs", type=Path, default=venvs.default_directory(), metavar="DIR")
    parser.add_argument("--output", type=Path, default=OUTPUT / "peers.jsonl", metavar="PATH")
    args = parser.parse_args()
    trackers = catalog.find_trackers(args.tracker.split(","))
    for profile in catalog.find_profiles(args.profile.split(",")):
        plan = runner.Plan(
            profiles=[profile],
            subjects=[Subject(tracker) for tracker in trackers],
            repeat=args.repeat,
            options={
                name: min(value, profile.options[name]) for name, value in OPTIONS.items() if name in profile.options
            },
            venvs=args.venvs,
        )
        records = runner.run(plan, lambda text: print(text, file=sys.stderr, flush=True))
        append_records(args.output, records)
        print(profile_table(profile, records), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
