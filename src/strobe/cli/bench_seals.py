"""What `strobe bench run` does about benchmarks that changed under their version.

Out of the box a changed benchmark is refused, since its results would compare with nothing under the name of something
else; who wants it measured all the same says so, and its rows are marked. Of other implementations it is a warning.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strobe.bench.records import Record
    from strobe.bench.runner.options import Cell, Options
    from strobe.cli.render import Screen

_FLAG = "--changed"


def add_changed(parser: argparse.ArgumentParser) -> None:
    """Let a command measure what changed under its version."""
    parser.add_argument(
        _FLAG,
        action="store_true",
        help="measure OOTB benchmarks that changed under their version, too; rows are marked #",
    )


def find_changed(args: argparse.Namespace, cells: Sequence[Cell], options: Options, screen: Screen) -> set[str]:
    """Return the keys of what changed under its version; raises UsageError for OOTB unless that is wanted."""
    from strobe.bench import registry, seal
    from strobe.errors import UsageError

    benchmarks = {cell.benchmark.key: cell.benchmark for cell in cells}
    broken = seal.find_broken(benchmarks.values(), registry.kept_seals(options.files))
    refused = [one for one in broken if benchmarks[one.key].implementation == "OOTB"]
    if refused and not args.changed:
        commands = dict.fromkeys(registry.sealing_command(benchmarks[one.key], options.files) for one in refused)
        raise UsageError(
            f"{'; '.join(map(str, refused))}; raise its version and `{'` and `'.join(commands)}`, "
            f"or take the change back, or measure it as it is, in rows that say so: {_FLAG}"
        )
    for one in broken:
        screen.warn(f"changed under its version, so not comparable with earlier results: {one}")
    return {one.key for one in broken}


def mark_changed(records: Sequence[Record], changed: Collection[str]) -> list[Record]:
    """Return the records, those of changed benchmarks marked as such; their command says it, too."""
    import msgspec

    return [
        msgspec.structs.replace(one, is_changed=True, command=f"{one.command} {_FLAG}")
        if one.benchmark in changed
        else one
        for one in records
    ]
