"""The page of `strobe run show`, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from strobe.api.rows import flatten
from strobe.cli.grid import lay_out
from strobe.cli.render import Screen, duration_text, number_text, size_text, value_text
from strobe.sdk.report.spark import sparkline

_MAX_ROWS = 30
_SPARK_WIDTH = 12
_METRIC_COLUMNS = ["METRIC", "COURSE", "LAST", "MIN @STEP", "MAX @STEP", "POINTS"]
_NUMBERS = ("LAST", "MIN @STEP", "MAX @STEP", "POINTS")
_MAX_FACT = 160
#: attributes that say how it was recorded, not where and how it ran
_INNER = ("mode", "preempting", "strobe_version", "resumed")


def card_lines(page: dict[str, Any], screen: Screen, *, everything: bool) -> Iterator[str]:
    """Yield the lines of the page; long lists are cut, and say so, unless `everything`."""
    path = f"{page['entity']}/{page['project']}/{page['id']}"
    state = screen.paint_states(page["state"])
    yield f"{screen.style(page['name'], 'bold')}  {path}  {state}"
    yield _when(page)
    for name in ("tags", "group", "job_type", "notes"):
        if page[name]:
            yield f"{name}: {', '.join(page[name]) if isinstance(page[name], list) else page[name]}"
    if page["error"]:
        yield ""
        yield screen.style("error", "red")
        yield from (f"  {line}" for line in str(page["error"]).rstrip().split("\n")[-12:])
    metrics = _metric_rows(page["metrics"])
    yield from _section(screen, "metrics", _METRIC_COLUMNS, metrics, everything)
    others = {key: item for key, item in flatten(page["summary"]).items() if not _is_shown(key, page["metrics"])}
    yield from _section(screen, "summary", ["KEY", "VALUE"], _pairs(others), everything)
    yield from _section(screen, "config", ["KEY", "VALUE"], _pairs(flatten(page["config"])), everything)
    if len(page["attempts"]) > 1:
        yield from _section(
            screen, "attempts", ["ATTEMPT", "STATE", "STARTED", "FROM STEP"], _attempts(page), everything
        )
    facts = {key: item for key, item in flatten(page["metadata"]).items() if everything or _is_telling(key, item)}
    yield from _section(screen, "environment", ["FACT", "VALUE"], _pairs(facts), everything)
    yield ""
    yield from _footer(page, screen)


def _when(page: dict[str, Any]) -> str:
    parts = [f"started {page['created_at'].replace('T', ' ').replace('Z', ' UTC')}"]
    if page["runtime_s"] is not None:
        parts.append(f"{'for' if page['state'] == 'running' else 'took'} {duration_text(page['runtime_s'])}")
    if page["last_step"] is not None:
        parts.append(f"step {page['last_step']}")
    if page["exit_code"]:
        parts.append(f"exit code {page['exit_code']}")
    return ", ".join(parts)


def _section(screen: Screen, title: str, header: list[str], rows: list[list[str]], everything: bool) -> Iterator[str]:
    if not rows:
        return
    shown = rows if everything else rows[:_MAX_ROWS]
    yield ""
    yield screen.style(title, "bold")
    width = None if screen.width is None else screen.width - 2
    grid = lay_out(header, shown, right=_NUMBERS, width=width)
    yield from ("  " + screen.style(line, "dim") for line in grid.head)
    yield from ("  " + line for line in grid.body)
    if len(shown) < len(rows):
        yield f"  … {len(rows) - len(shown)} more; --all shows them"


def _is_shown(key: str, metrics: dict[str, Any]) -> bool:
    """Whether a summary key repeats what the metrics' table has: `loss`, or `loss.min` from define_metric."""
    name, _, mode = key.rpartition(".")
    return key in metrics or (name in metrics and mode in ("min", "max", "mean", "first", "last", "best"))


def _is_telling(key: str, item: Any) -> bool:
    """Whether a fact fits on a line: requirements, diffs and paths are for --all and --json."""
    return key not in _INNER and isinstance(item, (str, int, float)) and 0 < len(str(item)) <= _MAX_FACT


def _metric_rows(metrics: dict[str, dict[str, Any]]) -> list[list[str]]:
    rows = []
    for key, figures in sorted(metrics.items()):
        odd = [f"{figures[name]} {name}" for name in ("nan", "posinf", "neginf") if figures[name]]
        rows.append(
            [
                key,
                sparkline(figures["spark"], _SPARK_WIDTH),
                value_text(figures["last"]),
                _at_step(figures, "min", best=figures["goal"] == "minimize"),
                _at_step(figures, "max", best=figures["goal"] == "maximize"),
                " + ".join([str(figures["count"] - sum(figures[n] for n in ("nan", "posinf", "neginf"))), *odd]),
            ]
        )
    return rows


def _at_step(figures: dict[str, Any], name: str, *, best: bool) -> str:
    if figures[name] is None:
        return ""
    return f"{'best ' if best else ''}{number_text(figures[name])} @{figures[f'{name}_step']}"


def _pairs(mapping: dict[str, Any]) -> list[list[str]]:
    return [[key, value_text(item)] for key, item in mapping.items()]


def _attempts(page: dict[str, Any]) -> list[list[str]]:
    return [
        [str(each["number"]), each["state"], each["started_at"] or "", value_text(each["from_step"] or "")]
        for each in page["attempts"]
    ]


def _footer(page: dict[str, Any], screen: Screen) -> Iterator[str]:
    files = page["files"]
    rejected = f"{page['rejected']} rejected"
    rows = f"{page['rows']} rows, {screen.style(rejected, 'red') if page['rejected'] else rejected}"
    yield f"{rows}, {files['count']} files ({size_text(files['bytes'])})"
    for use in page["artifacts"]:
        verb = "logged" if use["action"] == "log" else "used"
        yield f"{verb} artifact {use['name']}:{use['version']} ({use['type']})"
    for damage in page["damages"]:
        yield screen.style(f"damaged: {damage['segment']} at byte {damage['start']}: {damage['reason']}", "red")
    if page["damages"]:
        yield f"  strobe journal verify {page['directory']}"
    yield f"in {page['directory']}" if page["directory"] else f"at {page['url']}"
    if page["state"] == "running" and page["directory"]:
        yield f"strobe run tail {page['id']}"
