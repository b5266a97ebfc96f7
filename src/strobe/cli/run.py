"""`strobe run …`: the verbs on runs, each in the file that its kind of work is in."""

from __future__ import annotations

from strobe.cli import run_compare, run_read, run_remove
from strobe.cli.parser import Subparsers, add_group


def register(subparsers: Subparsers) -> None:
    verbs = add_group(
        subparsers,
        "run",
        summary="list, show, compare, follow, export and remove runs",
        examples=["strobe run ls", "strobe run show latest"],
        detail=(
            "RUN is an id, the start of one, a name, `latest`, project/id or entity/project/id.\n"
            "When it could mean several runs, they are listed and the exit code is 2."
        ),
    )
    run_read.register(verbs)
    run_compare.register(verbs)
    run_remove.register(verbs)
