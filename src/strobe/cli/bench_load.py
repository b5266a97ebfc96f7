"""`strobe bench load`: measures experiment trackers under the load profiles.

Parses, calls strobe.bench, prints; measures nothing itself.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from strobe.cli.bench_keep import add_keeping, keep, upload
from strobe.cli.parser import Subparsers, add_command

if TYPE_CHECKING:
    from strobe.bench.load.job import Server
    from strobe.bench.load.runner import Plan
    from strobe.bench.records import Record
    from strobe.cli.render import Screen


def register(commands: Subparsers) -> None:
    """Add `load` to the commands of `bench`."""
    load = add_command(
        commands,
        "load",
        _load,
        summary="measure experiment trackers under the same loads",
        detail=(
            "Each tracker runs in a virtual environment of its own, made on first use. Repetitions are\n"
            "interleaved, each in a fresh process; tables show medians. Times are appended to --csv; results\n"
            "are kept in the home, each also as a run of project bench. See docs/benchmarks.md."
        ),
        examples=[
            "strobe bench load --profile all --tracker strobe,wandb --repeat 5",
            "strobe bench load --profile v1-empty --tracker strobe --variant agent=on --variant agent=off",
            "strobe bench load --profile v1-scalars --tracker strobe --mode online",
        ],
    )
    load.add_argument("--list", action="store_true", help="print the profiles and trackers there are, and stop")
    load.add_argument(
        "--profile",
        default="all",
        metavar="NAMES",
        help="comma-separated names, or a path ending in .py; `all` is the four v1 profiles (default: all)",
    )
    load.add_argument(
        "--tracker",
        default="strobe,wandb",
        metavar="NAMES",
        help="comma-separated names, or a path ending in .py (default: strobe,wandb)",
    )
    load.add_argument("--mode", default="offline", choices=("offline", "online"), help="default: offline")
    load.add_argument(
        "--server",
        metavar="URL",
        help="online: send to this server, with the key that `strobe login` keeps (default: one started for this)",
    )
    load.add_argument(
        "--variant",
        action="append",
        default=[],
        metavar="FEATURES",
        help="features to switch, such as stats=off,console=off; repeatable, all variants are measured",
    )
    load.add_argument("--repeat", type=int, default=5, metavar="N", help="repetitions of each (default: 5)")
    load.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="a size of a profile, such as calls=500 (see --list); the v1 profiles are comparable only without",
    )
    load.add_argument("--baseline", metavar="NAME", help="compare with this tracker (default: wandb, else the last)")
    load.add_argument("--csv", default="results.csv", metavar="PATH", help="append times here (default: results.csv)")
    add_keeping(load, "--records")
    load.add_argument("--test-name", default="", metavar="TEXT", help="the test_name column of the CSV")
    load.add_argument(
        "--venvs", metavar="DIR", help="where environments are kept (default: $STROBE_BENCH_VENVS, else the cache)"
    )
    load.add_argument(
        "--directory", metavar="DIR", help="where workers write: the file system under test (default: temporary)"
    )
    load.add_argument(
        "--timeout", type=float, default=600.0, metavar="S", help="limit of one repetition (default: 600)"
    )


def _load(args: argparse.Namespace) -> int:
    from strobe.cli import OK, code_for
    from strobe.cli.render import Screen

    screen = Screen(args)
    if args.list:
        _print_catalog(args, screen)
        return OK
    from pathlib import Path

    from strobe.bench.load import results, runner

    plan = _plan(args)
    records = runner.run(plan, screen.note)
    results.append(Path(args.csv), records, test_name=args.test_name)
    kept = keep(args, records)
    _print_report(args, plan, records, screen)
    upload(args, kept, screen)
    return code_for(sum(bool(record.error) for record in records), len(records))


def _plan(args: argparse.Namespace) -> Plan:
    from pathlib import Path

    from strobe.bench.load import catalog, runner, variant, venvs

    trackers = catalog.find_trackers(_names(args.tracker))
    return runner.Plan(
        profiles=catalog.find_profiles(_names(args.profile)),
        subjects=variant.subjects(trackers, [variant.parse_variant(text) for text in args.variant]),
        mode=args.mode,
        repeat=args.repeat,
        options=_options(args.option),
        venvs=Path(args.venvs) if args.venvs else venvs.default_directory(),
        directory=Path(args.directory) if args.directory else None,
        timeout_s=args.timeout,
        server=_server(args),
    )


def _server(args: argparse.Namespace) -> Server | None:
    from strobe.bench.load.job import Server
    from strobe.cli.target import settings_of
    from strobe.errors import UsageError
    from strobe.remote.target import Target, target_of, with_key

    if args.server is None:
        return None
    if args.mode != "online":
        raise UsageError(f"--server {args.server} is for --mode online; offline nothing is sent")
    target = target_of(settings_of(args).replace(base_url=args.server)) or Target(base_url=args.server)
    if (key := with_key(target).api_key) is None:
        raise UsageError(f"no key for {args.server}; `strobe login --host {args.server}`, or set STROBE_API_KEY")
    return Server(target.base_url, key)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _options(texts: list[str]) -> dict[str, float]:
    from strobe.errors import UsageError

    options = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            options[name] = float(value)
        except ValueError as exc:
            raise UsageError(f"--option {text!r} is not of the form name=number") from exc
    return options


def _print_report(args: argparse.Namespace, plan: Plan, records: list[Record], screen: Screen) -> None:
    from strobe.bench.load import report

    if args.json:
        import msgspec

        screen.json(msgspec.to_builtins(records))
        return
    titles = {(p.name, m.name): m.title for p in plan.profiles for m in plan.metrics(p)}
    screen.out(report.improvement_table(records, lambda *key: titles[key], args.baseline))
    for text in report.unstable(records):
        screen.note(f"unstable: {text}")
    for subject in plan.subjects:
        if subject.label.endswith("(a repeat)"):
            screen.note(f"{subject.label}: this switch changes nothing in the tracker any more")


def _print_catalog(args: argparse.Namespace, screen: Screen) -> None:
    from strobe.bench.load import catalog

    profiles, trackers = catalog.profiles().values(), catalog.trackers().values()
    if args.json:
        screen.json(
            {
                "profiles": [
                    {"name": p.name, "summary": p.summary, "options": p.options, "metrics": [m.name for m in p.metrics]}
                    for p in profiles
                ],
                "trackers": [
                    {"name": t.name, "requirements": t.requirements, "modes": t.modes, "features": t.features}
                    for t in trackers
                ],
            }
        )
        return
    options = [" ".join(f"{name}={value:g}" for name, value in p.options.items()) for p in profiles]
    screen.table(
        ("PROFILE", "WHAT", "OPTIONS"),
        [(p.name, p.summary, text) for p, text in zip(profiles, options, strict=True)],
    )
    screen.out()
    screen.table(
        ("TRACKER", "INSTALLS", "FEATURES"),
        [
            (t.name, " ".join(t.requirements), " ".join(f"{n}={'|'.join(v)}" for n, v in t.features.items()))
            for t in trackers
        ],
    )
