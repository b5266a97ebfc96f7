"""`strobe import wandb|tensorboard`: bring runs of other trackers into the home."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strobe.cli.parser import Subparsers, add_command, add_group
from strobe.cli.render import Screen, size_text
from strobe.cli.target import settings_of
from strobe.errors import Error
from strobe.home import Home
from strobe.terminal import Terminal

if TYPE_CHECKING:
    from strobe.importers import ForeignRun, Refusals
    from strobe.settings import Resolved

_DRAW_S = 0.2
_LINE_S = 5.0
#: places in damaged files that are said one by one
_MAX_SHOWN = 10
_DETAIL = (
    "PATH is {path}. What was imported before\n"
    "is left alone; --replace imports it again and moves the run that was there to the trash.\n"
    "Exit codes: 0 everything readable is there, 1 nothing, 3 some of it could not be brought over."
)
Find = Callable[[list[Path], Namespace, "Resolved", "Refusals"], "list[ForeignRun]"]


def register(subparsers: Subparsers) -> None:
    verbs = add_group(
        subparsers,
        "import",
        summary="bring runs of wandb and TensorBoard into the home",
        examples=["strobe import wandb wandb/", "strobe import tensorboard runs/ --project digits"],
    )
    _add(
        verbs,
        "wandb",
        _find_wandb,
        summary="import runs from .wandb files; no wandb is needed",
        examples=["strobe import wandb wandb/", "strobe import wandb wandb/offline-run-20260102_030405-3kf0x2ab"],
        detail=_DETAIL.format(path="a .wandb file, a run's directory, or any directory above"),
        project="their project here (default: the one they had)",
    )
    _add(
        verbs,
        "tensorboard",
        _find_tensorboard,
        summary="import runs from TensorBoard's event files; no TensorBoard is needed",
        examples=["strobe import tensorboard runs/ --project digits", "strobe import tensorboard logs --dry-run"],
        detail=_DETAIL.format(path="an event file, a directory of them, or any directory above"),
        project="their project here (default: tensorboard)",
    )


def _add(
    verbs: Subparsers, name: str, find: Find, *, summary: str, examples: list[str], detail: str, project: str
) -> None:
    command = add_command(
        verbs, name, lambda args: _import(args, find), summary=summary, examples=examples, detail=detail
    )
    command.add_argument("paths", metavar="PATH", nargs="+", help="what to import")
    command.add_argument("--project", help=project)
    command.add_argument("--entity", help="whose the runs are (default: local)")
    command.add_argument("--dry-run", action="store_true", help="say what would be imported, write nothing")
    command.add_argument("--replace", action="store_true", help="import again what is there already")


def _find_wandb(paths: list[Path], args: Namespace, settings: Resolved, refused: Refusals) -> list[ForeignRun]:
    from strobe.importers.wandb import find_runs

    return [*find_runs(paths, refused, entity=args.entity or settings.entity, project=args.project)]


def _find_tensorboard(paths: list[Path], args: Namespace, settings: Resolved, refused: Refusals) -> list[ForeignRun]:
    from strobe.importers.tensorboard import find_runs

    project = args.project or settings.project
    return [*find_runs(paths, refused, entity=args.entity or settings.entity, project=project)]


def _import(args: Namespace, find: Find) -> int:
    screen, settings = Screen(args), settings_of(args)
    refused: Refusals = {}
    runs = find([Path(path) for path in args.paths], args, settings, refused)
    progress = _Progress(runs, screen, is_silent=args.quiet or args.json)
    facts = [_import_one(run, args, settings, progress) for run in runs]
    progress.clear()
    facts += [_fact(None, [path], "failed", error=reason) for path, reason in refused.items()]
    if args.json:
        screen.json({**_counts(facts), "dry_run": args.dry_run, "runs": facts})
    else:
        for fact in facts:
            _show(fact, screen)
        if any(fact["status"] in ("imported", "extended") for fact in facts):
            screen.note("`strobe ui` shows them, `strobe sync --all` uploads them")
    return _exit_code(facts)


def _import_one(run: ForeignRun, args: Namespace, settings: Resolved, progress: _Progress) -> dict[str, Any]:
    from strobe.importers import Report, has_changed, is_present, record

    home, report = Home(settings.home), Report(progress=progress.advance)
    try:
        is_there = is_present(home, run)
        if is_there and not args.replace:
            return _fact(run, run.sources, "changed" if has_changed(home, run) else "present")
        if args.dry_run:
            return _fact(run, run.sources, "new" if not is_there else "replaceable")
        outcome = record(home, run, report, redact=settings.redact, replace=args.replace)
    except (Error, OSError) as error:
        if args.verbose:
            raise
        return _fact(run, run.sources, "failed", error=str(error))
    finally:
        progress.finish(run)
    losses = [
        {"file": str(path), "start": loss.start, "end": loss.end, "reason": loss.reason, "torn": loss.is_torn}
        for path, loss in report.losses
    ]
    return _fact(
        run,
        run.sources,
        outcome.status,
        directory=str(outcome.run_dir.path),
        rows=outcome.rows,
        samples=outcome.samples,
        files=outcome.files,
        artifacts=outcome.artifacts,
        losses=losses,
        left_out=dict(report.left_out),
        notes=report.notes,
    )


def _fact(run: ForeignRun | None, sources: list[Path], status: str, **more: Any) -> dict[str, Any]:
    """Return what `--json` says of a run, all keys there."""
    named = {"run": None if run is None else str(run.path), "name": None if run is None else run.name}
    counts = dict.fromkeys(("rows", "samples", "files", "artifacts"), 0)
    rest: dict[str, Any] = {"directory": None, "losses": [], "left_out": {}, "notes": [], "error": None}
    return {**named, "status": status, "sources": [str(path) for path in sources], **counts, **rest, **more}


def _counts(facts: list[dict[str, Any]]) -> dict[str, int]:
    states = [fact["status"] for fact in facts]
    return {
        "imported": states.count("imported") + states.count("extended"),
        "present": states.count("present") + states.count("changed"),
        "failed": states.count("failed"),
    }


def _exit_code(facts: list[dict[str, Any]]) -> int:
    failed = [fact for fact in facts if fact["status"] == "failed"]
    if facts and len(failed) == len(facts):
        return 1
    is_damaged = any(not loss["torn"] for fact in facts for loss in fact["losses"])
    return 3 if failed or is_damaged else 0


# -- what is seen ----------------------------------------------------------------------------------------------------

_WORDS = {"new": "would import", "replaceable": "would replace", "failed": "not imported"}


def _show(fact: dict[str, Any], screen: Screen) -> None:
    status = fact["status"]
    parts = [f"{_WORDS.get(status, status):<13}", *(text for text in (fact["run"], fact["name"]) if text)]
    if status == "failed":
        screen.out("  ".join([*parts, str(fact["error"])]))
        return
    counts = [_counted(fact[kind], kind) for kind in ("rows", "samples", "files", "artifacts") if fact[kind]]
    screen.out("  ".join([*parts, ", ".join(counts) or fact["sources"][0]]))
    if status == "changed":
        screen.note(f"{fact['run']}: its files have changed since it was imported; --replace imports it again")
    for loss in fact["losses"][:_MAX_SHOWN]:
        lost = f"{loss['end'] - loss['start']:,} bytes at {loss['start']:,}"
        screen.warn(f"{loss['file']}: {lost} could not be read: {loss['reason']}")
    if (more := len(fact["losses"]) - _MAX_SHOWN) > 0:
        screen.warn(f"{fact['run']}: and {more:,} more places; --json lists them")
    for kind, count in fact["left_out"].items():
        screen.note(f"{fact['run']}: left out: {count:,} × {kind}")
    for note in fact["notes"]:
        screen.warn(f"{fact['run']}: {note}")


def _counted(count: int, kind: str) -> str:
    return f"{count:,} {kind if count != 1 else kind.removesuffix('s')}"


class _Progress:
    """A line that is drawn over on a terminal, and said now and then elsewhere."""

    def __init__(self, runs: list[ForeignRun], screen: Screen, *, is_silent: bool) -> None:
        self._sizes = {id(run): sum(path.stat().st_size for path in run.sources) for run in runs}
        self._total = sum(self._sizes.values())
        self._before = self._num_done = 0
        self._screen = screen
        self._is_silent = is_silent
        self._terminal = Terminal(sys.stderr)
        self._is_drawn = False
        self._began = self._shown_at = time.monotonic()

    def advance(self, done: int) -> None:
        """Show how far the present run was read."""
        now = time.monotonic()
        is_live = self._terminal.is_interactive
        if self._is_silent or now - self._shown_at < (_DRAW_S if is_live else _LINE_S):
            return
        self._shown_at = now
        read = self._before + done
        rate = read / max(now - self._began, 0.1)
        line = f"{self._num_done} of {len(self._sizes)} runs, {size_text(read)} of {size_text(self._total)}"
        line += f", {size_text(rate)}/s"
        if is_live:
            self._is_drawn = True
            self._terminal.write(f"\r\x1b[K{line[: self._terminal.width - 1]}")
        else:
            self._screen.note(line)

    def finish(self, run: ForeignRun) -> None:
        self._num_done += 1
        self._before += self._sizes[id(run)]

    def clear(self) -> None:
        if self._is_drawn:
            self._terminal.write("\r\x1b[K")
