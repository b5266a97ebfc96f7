"""Putting the page together: assets and figures into one HTML file, and the raw records beside it.

What a directory holds already is replaced only if an earlier `publish` wrote it.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path

from strobe._version import __version__
from strobe.bench.publish.figures import collect
from strobe.bench.records import Record, append_records
from strobe.errors import UsageError

_ASSETS = Path(__file__).parent / "assets"
#: in the order in which they need each other
_SCRIPTS = (
    *("dom.js", "reader.js", "choice.js", "plots.js", "results.js"),
    *("comparisons.js", "history.js", "pareto.js", "main.js"),
)
PAGE = "index.html"
RECORDS = "records.jsonl"
#: what every page of ours has, and hardly any other
_MARK = '<script id="figures" type="application/json">'


def publish(records: Sequence[Record], directory: Path, *, title: str = "Benchmarks") -> Path:
    """Write the page and the records into a directory and return the page's path; an earlier one is replaced.

    Raises UsageError if there is a file of another origin in the way.
    """
    directory.mkdir(parents=True, exist_ok=True)
    page = directory / PAGE
    is_ours = page.is_file() and _MARK in page.read_text(encoding="utf-8", errors="replace")
    if not is_ours and (taken := [name for name in (PAGE, RECORDS) if (directory / name).exists()]):
        raise UsageError(
            f"{directory / taken[0]} was not written by `publish` and is left alone; name another directory"
        )
    notes = [f"Raw records: {RECORDS} beside this page."]
    page.write_text(render(records, title=title, notes=notes), encoding="utf-8")
    raw = directory / RECORDS
    raw.unlink(missing_ok=True)
    append_records(raw, records)
    return page


def render(
    records: Sequence[Record],
    *,
    title: str = "Benchmarks",
    notes: Sequence[str] = (),
    runs: Mapping[str, Sequence[str]] | None = None,
    num_results: int | None = None,
) -> str:
    """Return the page; `notes` stand at its foot.

    The rest is for the dashboard around it: `runs` (by a result's id) are what it opens, and by `num_results` it knows
    that there are others by now.
    """
    figures = collect(records)
    for row in (row for system in figures["systems"] for row in system["rows"]):
        row["run"] = (runs or {}).get(row["id"])
    figures["title"] = title
    figures["notes"] = list(notes)
    figures["num_results"] = num_results
    figures["made"] = datetime.now(timezone.utc).isoformat(timespec="seconds")
    figures["strobe"] = __version__
    # A text that holds "</script>" must not end the script it stands in.
    data = json.dumps(figures, separators=(",", ":"), allow_nan=False, ensure_ascii=False).replace("<", "\\u003c")
    parts = {
        "title": html.escape(title),
        "style": (_ASSETS / "page.css").read_text(encoding="utf-8"),
        "script": "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in _SCRIPTS),
        "figures": data,
    }
    page = (_ASSETS / "page.html").read_text(encoding="utf-8")
    for name, text in parts.items():
        page = page.replace(f"{{{{{name}}}}}", text, 1)
    return page
