"""The fields that filters, orders and groups can name, and where each lies: in the run's row, or in the index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from strobe.errors import UsageError
from strobe.store.values.figure import SECTION, parse_figure
from strobe.store.values.leaf import path_name

ColumnKind = Literal["text", "integer", "number"]


@dataclass(frozen=True, slots=True)
class Column:
    """A field of the run's row `r`, as SQL; {iso} stands for the dialect's text of `created_ns`."""

    name: str
    sql: str
    kind: ColumnKind
    #: attributes of `Scope` that are the SQL's parameters
    parameters: tuple[str, ...] = ()
    #: whether equality can be looked up
    is_indexed: bool = False


@dataclass(frozen=True, slots=True)
class Indexed:
    """A path of the index. If the project has none of that name, `otherwise` is meant."""

    path: str
    otherwise: str | None = None


Field = Column | Indexed

_RUNTIME = (
    "CAST(COALESCE(r.ended_ns, CASE WHEN r.state = 'running' THEN CAST(? AS BIGINT) END) - r.created_ns"
    " AS DOUBLE PRECISION) / 1000000000.0"
)
_COLUMNS = {
    column.name: column
    for column in (
        Column("id", "r.name", "text", is_indexed=True),
        Column("state", "r.state", "text", is_indexed=True),
        Column("entity", "CAST(? AS TEXT)", "text", ("entity",)),
        Column("project", "CAST(? AS TEXT)", "text", ("project",)),
        Column("created_ns", "r.created_ns", "integer"),
        Column("created_at", "{iso}", "text"),
        Column("started_ns", "NULLIF(r.started_ns, 0)", "integer"),
        Column("ended_ns", "r.ended_ns", "integer"),
        Column("heartbeat_ns", "r.heartbeat_ns", "integer"),
        Column("changed_ns", "r.changed_ns", "integer"),
        Column("num_rows", "r.num_rows", "integer"),
        #: the path of the run that it was forked from, as it was told
        Column("parent", "r.parent", "text", is_indexed=True),
        Column("runtime", _RUNTIME, "number", ("now_ns",)),
    )
}
_ATTRIBUTES = ("display_name", "notes", "tags", "group", "job_type", "username", "host")
_SECTIONS = ("config", "summary", "metadata")
#: other names of the same, most of them wandb's
_ALIASES = {
    "name": "display_name",
    "displayName": "display_name",
    "jobType": "job_type",
    "createdAt": "created_at",
    "user": "username",
    "summary_metrics": "summary",
    "summaryMetrics": "summary",
}
#: columns in the order in which they are offered
NAMES = (*_COLUMNS, *_ATTRIBUTES)


def find_field(name: str) -> Field:
    """Return where a field lies; raise UsageError if runs have none of that name."""
    section, key = split_field(name)
    if section in _COLUMNS:
        return _COLUMNS[section]
    if not key:
        return Indexed(section)
    path = path_name(f"{section}.{key}")
    # wandb's server keeps config as {"lr": {"value": 0.1}}, and filters are written for that.
    plain = path_name(f"{section}.{key.removesuffix('.value')}")
    return Indexed(path, plain if plain != path else None)


def split_field(name: str) -> tuple[str, str]:
    """Return a field's name and "", or one of config, summary, metadata and figures and the key in it."""
    if (figure := parse_figure(check_text("field", name))) is not None:
        return SECTION, str(figure)
    section, dot, key = name.partition(".")
    section = _ALIASES.get(section, section)
    if (section in _COLUMNS or section in _ATTRIBUTES) and not dot:
        return section, ""
    if section in _SECTIONS and key:
        return section, key
    raise UsageError(
        f"runs have no field {name[:80]!r}; there are {', '.join(NAMES)}, config.<key>, summary.<key>, metadata.<key>,"
        " min(<metric>), max(<metric>), mean(<metric>), first(<metric>), last(<metric>)"
    )


def check_text(what: str, text: Any) -> str:
    """Return the text if a database can take it."""
    if not isinstance(text, str):
        raise UsageError(f"a {what} is a text, got {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} {text[:40]!r} is not Unicode: it holds half of a character") from error
    return text
