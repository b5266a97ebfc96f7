"""`strobe bench list` and `strobe bench check`: which benchmarks there are, and whether they are what they were.

Parses, calls strobe.bench, prints; imports no framework.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from strobe.cli.parser import Subparsers, add_command


def register(commands: Subparsers) -> None:
    """Add the commands."""
    listing = add_command(
        commands,
        "list",
        _list,
        summary="list the benchmarks",
        examples=["strobe bench list", "strobe bench list --tier smoke", "strobe bench list dlrm xlm-r/optimized"],
    )
    add_selection(listing)
    check = add_command(
        commands,
        "check",
        _check,
        summary="check that no benchmark changed without a new version",
        detail=(
            "A version seals a benchmark: its specification, the source of its data and, out of the box, of its\n"
            "model. What changed under an unchanged version is named, and the command fails. Seals of a file of\n"
            "your own, or of a module that a package offers, are kept beside it, as NAME.seals.json."
        ),
        examples=["strobe bench check", "strobe bench check --update", "strobe bench check --package mine"],
    )
    check.add_argument("--update", action="store_true", help="seal new benchmarks and raised versions")
    instead = check.add_mutually_exclusive_group()
    instead.add_argument("--file", type=Path, metavar="PATH", help="check a file of your own instead of the suite")
    instead.add_argument("--package", metavar="NAME", help="check what an installed package offers instead")


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Let a command choose benchmarks."""
    parser.add_argument(
        "benchmark",
        nargs="*",
        metavar="BENCHMARK",
        help="a key, its beginning (dlrm, dlrm/ootb), a glob ('*-int8'), or the path of a .py file with benchmarks",
    )
    parser.add_argument("--tier", choices=("smoke", "ci", "full"), help="a tier, with those within it")
    parser.add_argument(
        "--file", action="append", default=[], type=Path, metavar="PATH", help="a file with more benchmarks; repeatable"
    )


def _list(args: argparse.Namespace) -> int:
    from strobe.bench import registry
    from strobe.cli import OK
    from strobe.cli.render import Screen

    screen = Screen(args)
    found = registry.find(args.benchmark, tier=args.tier, files=args.file)
    if args.json:
        names = ("key", "model", "implementation", "mode", "config", "version", "owner", "units", "max_batch", "tier")
        screen.json(
            [
                {
                    **{name: getattr(one, name) for name in names},
                    "batch_sizes": list(one.batch_sizes),
                    "latency": [one.latency.limit_ms, one.latency.percentile] if one.latency else None,
                    "tolerance": one.tolerance,
                    "devices": one.devices,
                    "changes": list(one.changes),
                }
                for one in found
            ]
        )
        return OK
    rows = [
        (
            one.key,
            one.tier,
            " ".join(map(str, one.batch_sizes)),
            one.units,
            f"p{one.latency.percentile:g} {one.latency.limit_ms:g} ms" if one.latency else "",
            str(one.version),
        )
        for one in found
    ]
    header = ("BENCHMARK", "TIER", "BATCH SIZES", "UNITS", "LATENCY", "VERSION")
    screen.table(header, rows, whole=header, spare=("VERSION", "LATENCY", "UNITS"), lead=1)
    return OK


def _check(args: argparse.Namespace) -> int:
    from strobe.bench import registry, seal
    from strobe.bench.table import count_text
    from strobe.cli import FAILURE, OK
    from strobe.cli.render import Screen

    screen = Screen(args)
    if args.package:
        collections: tuple[registry.Collection, ...] = registry.of_package(args.package)
    else:
        collections = (registry.of_file(args.file) if args.file else registry.suite(),)
    broken, unsealed = [], []
    for collection in collections:
        kept = seal.read_seals(collection.seals)
        broken += seal.find_broken(collection.benchmarks, kept)
        new = seal.find_unsealed(collection.benchmarks, kept)
        unsealed += new
        if args.update and new:
            known = {one.key for one in collection.benchmarks}
            seals = {key: one for key, one in kept.items() if key in known}
            seal.write_seals({**seals, **{one.key: seal.make_seal(one) for one in new}}, collection.seals)
    num_checked = sum(len(collection.benchmarks) for collection in collections)
    if args.json:
        screen.json(
            {
                "checked": num_checked,
                "broken": [{"key": one.key, "version": one.version, "changed": one.changed} for one in broken],
                "unsealed": [one.key for one in unsealed],
                "is_updated": args.update,
            }
        )
    else:
        declared = [one for collection in collections for one in collection.benchmarks]
        command = registry.sealing_command(declared[0], [args.file] if args.file else []) if declared else ""
        for one in broken:
            screen.out(f"changed: {one}; raise its version and `{command}`, or take the change back")
        for benchmark in unsealed:
            word = "sealed" if args.update else "no seal"
            screen.out(f"{word}: {benchmark.key} version {benchmark.version}")
        checked = count_text(num_checked, "benchmark")
        num_new = f"{len(unsealed)} {'newly sealed' if args.update else 'without a seal'}"
        screen.note(f"{checked}, {len(broken)} changed, {num_new}")
        if unsealed and not args.update:
            screen.note(f"`{command}` seals them")
    return FAILURE if broken or (unsealed and not args.update) else OK
