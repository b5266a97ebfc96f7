"""`strobe run ls`, `show` and `tail`: looking at runs."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from typing import Any

from strobe.api.jsonable import jsonable
from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen, duration_text, time_text, value_text, write_csv
from strobe.cli.target import add_host, api_of, reader_of

_DEFAULT_LIMIT = 20
_FIGURES = ("last", "last_step", "min", "min_step", "max", "max_step", "mean", "best", "best_step", "count", "nan")
STATES = ("running", "finished", "failed", "crashed", "killed", "preempted")


def register(verbs: Subparsers) -> None:
    ls = add_command(
        verbs,
        "ls",
        _ls,
        summary="list runs, the newest first",
        examples=[
            "strobe run ls --project mnist --state running",
            "strobe run ls --sort summary.loss --show config.lr",
        ],
        detail=(
            "FIELD is id, name, state, created_at, runtime, project, group, job_type, config.KEY or summary.KEY.\n"
            "Without --limit the table shows the first 20 and says how many there are; --json and --csv give all."
        ),
    )
    ls.add_argument("-p", "--project", metavar="PROJECT", help="only this project, or entity/project")
    ls.add_argument("-s", "--state", action="append", choices=STATES, help="only runs in this state; may be repeated")
    ls.add_argument("-t", "--tag", action="append", metavar="TAG", help="only runs with this tag; may be repeated")
    ls.add_argument("-n", "--limit", type=int, metavar="N", help="show at most N; 0 for all")
    ls.add_argument("--sort", metavar="FIELD", help="put in rising order of FIELD (default: by creation, newest first)")
    ls.add_argument("--reverse", action="store_true", help="turn the order round")
    ls.add_argument("--show", action="append", metavar="FIELD", default=[], help="one more column; may be repeated")
    ls.add_argument("--csv", action="store_true", help="print CSV")
    add_host(ls)

    register_show(verbs, "strobe run show")

    tail = add_command(
        verbs,
        "tail",
        _tail,
        summary="follow the rows and the console of a run as they come",
        examples=["strobe run tail latest", "strobe run tail 3kf0 -n 100 --once"],
        detail="Ends when the run has ended, or with Ctrl-C. With --json, one JSON object per line.",
    )
    tail.add_argument("run", metavar="RUN", nargs="?", default="latest", help="the run (default: latest)")
    tail.add_argument("-n", "--lines", type=int, default=10, metavar="N", help="begin with the last N (-1: all)")
    tail.add_argument("-k", "--key", action="append", metavar="KEY", help="only this metric; may be repeated")
    tail.add_argument("--once", action="store_true", help="print what is there and end")
    tail.add_argument("--no-console", action="store_true", help="rows only")


def register_show(commands: Subparsers, typed: str) -> None:
    """Add `show`, which is typed often enough to stand beside its group, too."""
    show = add_command(
        commands,
        "show",
        _show,
        summary="show one run: state, config, metrics with their course, files",
        examples=[f"{typed} latest", f"{typed} mnist/3kf0 --json", f"{typed} latest --csv"],
    )
    show.add_argument("run", metavar="RUN", nargs="?", default="latest", help="the run (default: latest)")
    show.add_argument("-a", "--all", action="store_true", help="all metrics and config keys, however many")
    show.add_argument("--csv", action="store_true", help="print the metrics' figures as CSV")
    add_host(show)


def _ls(args: Namespace) -> int:
    from strobe.api.card import LISTED, list_item
    from strobe.api.field import lookup

    screen = Screen(args)
    filters: dict[str, Any] = {}
    if args.state:
        filters["state"] = {"$in": args.state}
    if args.tag:
        filters["$and"] = [{"tags": tag} for tag in args.tag]
    found = reader_of(args).runs(args.project, filters=filters, order=_order(args.sort, args.reverse))
    limit = args.limit if args.limit is not None else 0 if args.json or args.csv else _DEFAULT_LIMIT
    shown = found[:limit] if limit > 0 else found[:]
    extra = {run.id: [lookup(run, field) for field in args.show] for run in shown}
    if args.json:
        screen.json([{**list_item(run), **dict(zip(args.show, extra[run.id], strict=True))} for run in shown])
    elif args.csv:
        cells = [[_csv_cell(list_item(run)[name]) for name in LISTED] + extra[run.id] for run in shown]
        write_csv([*LISTED, *args.show], [[value_or_blank(cell) for cell in row] for row in cells])
    elif not found:
        screen.note("no runs" + (" match" if filters or args.project else " yet; `strobe demo --no-ui` makes one"))
    else:
        header = ["ID", "NAME", "PROJECT", "STATE", "CREATED", "TIME", "STEP", "TAGS", *args.show]
        rows = [_ls_row(run) + [value_or_blank(cell) for cell in extra[run.id]] for run in shown]
        screen.table(header, rows, right=("TIME", "STEP", *args.show), whole=("ID", "STATE"))
        if len(shown) < len(found):
            screen.note(f"showing {len(shown)} of {len(found)}; --limit 0 shows all")
    return 0


def _order(sort: str | None, reverse: bool) -> str:
    if sort is None:
        return "+created_at" if reverse else "-created_at"
    descending = sort.startswith("-") != reverse
    return ("-" if descending else "+") + sort.lstrip("+-")


def _ls_row(run: Any) -> list[str]:
    step = run.last_step
    return [
        run.id,
        run.name,
        run.project,
        run.state,
        time_text(run.created_ns),
        duration_text(run.runtime_s),
        "" if step is None else str(step),
        ",".join(run.tags),
    ]


def _csv_cell(value: Any) -> Any:
    return ",".join(value) if isinstance(value, list) else value


def value_or_blank(value: Any) -> str:
    from strobe.api.filter import ABSENT

    return "" if value is None or value is ABSENT else value_text(value)


def _figures(found: dict[str, Any]) -> list[str]:
    return [value_or_blank(found[name]) for name in _FIGURES]


def _show(args: Namespace) -> int:
    from strobe.api.card import card
    from strobe.cli.card import card_lines

    screen = Screen(args)
    run = reader_of(args).run(args.run)
    page = card(run)
    if args.json:
        screen.json(page)
    elif args.csv:
        write_csv(["metric", *_FIGURES], [[key, *_figures(found)] for key, found in page["metrics"].items()])
    else:
        for line in card_lines(page, screen, everything=args.all):
            screen.out(line)
    return 0


def _tail(args: Namespace) -> int:
    from strobe.api.follow import follow

    screen = Screen(args)
    run = api_of(args).run(args.run)
    screen.note(f"{run.name} ({'/'.join(run.path)}), {run.state}")
    for happening in follow(run.run_dir, last=args.lines, once=args.once):
        if args.no_console and happening.kind == "console":
            continue
        if args.key and happening.kind == "row" and happening.values.keys().isdisjoint(args.key):
            continue
        if args.json:
            fields = {
                name: getattr(happening, name) for name in ("time_ns", "kind", "writer", "step", "values", "text")
            }
            print(json.dumps(jsonable(fields), ensure_ascii=False, allow_nan=False))
        else:
            _print_happening(screen, happening, args.key)
        sys.stdout.flush()
    return 0


def _print_happening(screen: Screen, happening: Any, keys: list[str] | None) -> None:
    values = {key: item for key, item in happening.values.items() if not keys or key in keys}
    clock = time_text(happening.time_ns)[11:]
    if happening.kind == "row":
        shown = "  ".join(f"{key}={value_text(item)}" for key, item in values.items())
        screen.out(f"{screen.style(clock, 'dim')}  step {happening.step}  {shown}")
    elif happening.kind == "console":
        from strobe.journal.screen import render

        for line in render([happening.text]):
            screen.out(f"{screen.style(clock, 'dim')}  | {line}")
    else:
        what = "  ".join(str(item) for item in happening.values.values())
        screen.out(f"{screen.style(clock, 'dim')}  {happening.kind}  {what}  {happening.text}".rstrip())
