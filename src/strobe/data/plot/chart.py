"""A chart: a table, and a spec that says how its columns are drawn. Drawing is the reader's affair.

    {"_type": "chart", "spec": {"kind": "line", "x": column, "y": column, "title": text}, "table": table record}

Kinds are those in KINDS, each with the name that wandb has for it; any other Vega spec is kind "vega" with its
"name", "fields" and "string_fields".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strobe.data.media import Media, MediaFiles
from strobe.data.table import Table

#: kind of chart → the spec that wandb draws it with
KINDS = {
    "line": "wandb/line/v0",
    "line_series": "wandb/lineseries/v0",
    "scatter": "wandb/scatter/v0",
    "bar": "wandb/bar/v0",
    "histogram": "wandb/histogram/v0",
    "confusion_matrix": "wandb/confusion_matrix/v1",
    "area_under_curve": "wandb/area-under-curve/v0",
}
_KIND_OF = {name: kind for kind, name in KINDS.items()}


class CustomChart(Media):
    """A table and how to draw it; made by the functions of `strobe.plot`."""

    _log_type = "chart"

    def __init__(self, table: Table, spec: Mapping[str, Any]) -> None:
        self.table = _check_table(table)
        self.spec = dict(spec)

    @classmethod
    def from_record(cls, record: Mapping[str, Any], table: Table) -> CustomChart:
        return cls(table, record["spec"])

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        table = self.table.record(files, f"{key}_table", step)
        return {"_type": self._log_type, "spec": self.spec, "table": table}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CustomChart):
            return NotImplemented
        return self.spec == other.spec and self.table == other.table

    __hash__ = None  # type: ignore[assignment]  # as its table, it can be no key of a dict

    def __repr__(self) -> str:
        return f"CustomChart({self.spec.get('kind')}, {self.table!r})"


def plot_table(
    vega_spec_name: str,
    data_table: Table,
    fields: Mapping[str, Any],
    string_fields: Mapping[str, Any] | None = None,
    split_table: bool = False,
) -> CustomChart:
    """Return a chart by the name of its Vega spec; `fields` maps the spec's fields to columns of the table."""
    table = _check_table(data_table)
    for field, column in fields.items():
        if isinstance(column, str) and column not in table.columns and field not in ("title",):
            raise ValueError(f"the chart's {field} is column {column!r}, but the table has {table.columns}")
    kind = _KIND_OF.get(vega_spec_name)
    spec: dict[str, Any]
    if kind is not None:
        spec = {"kind": kind, **fields, **(string_fields or {})}
    else:
        spec = {
            "kind": "vega",
            "name": vega_spec_name,
            "fields": {**fields},
            "string_fields": {**(string_fields or {})},
        }
    if split_table:
        spec["split_table"] = True
    return CustomChart(table, spec)


def visualize(id: str, value: Table) -> CustomChart:
    """Return a table to be shown by the panel named `id`."""
    return CustomChart(value, {"kind": "visualize", "name": id})


def _check_table(table: Any) -> Table:
    if not isinstance(table, Table):
        raise TypeError(f"a chart draws a Table, got {type(table).__name__}; make one: Table(columns=…, data=…)")
    return table
