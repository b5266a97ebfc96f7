"""Media, tables and charts of a wandb run, as the objects that `log()` takes.

Records of media have the same form in both, so `strobe.data.load` reads them. Tables are JSON in wandb; one with media
in its cells is whole only in the artifact that goes with it, whose files lie on the machine that made them. A chart is
a table, and a panel in the config that says how to draw it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strobe.data.loading import load
from strobe.data.plot.chart import CustomChart, plot_table
from strobe.data.table import Table
from strobe.errors import Error
from strobe.importers.model import Report

_TABLE, _INCREMENT = "table-file", "incremental-table-file"
_CLIENT_ARTIFACT = "wandb-client-artifact://"
#: why a record cannot become an object: no such file, no such content
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, Error)


class MediaReader:
    """Turns records into objects. `scratch` is a directory to lay out the contents of artifacts in."""

    def __init__(self, files: Path, scratch: Path, report: Report) -> None:
        self._files = files
        self._scratch = scratch
        self._report = report
        #: client id of an artifact → path in it → file
        self._contents: dict[str, dict[str, Path]] = {}
        #: key of a table → (key of the chart, the panel's config)
        self._charts: dict[str, tuple[str, dict[str, Any]]] = {}
        #: key → the table that grows under it, and the files whose rows it has
        self._growing: dict[str, Table] = {}
        self._grown: set[str] = set()
        #: paths below the run's files that records have named
        self.named: set[str] = set()

    def note_contents(self, client_id: str, contents: dict[str, Path]) -> None:
        """Remember where the files of an artifact lie."""
        self._contents[client_id] = contents

    def note_panels(self, panels: Any) -> None:
        """Remember the charts that the config defines."""
        for key, panel in panels.items() if isinstance(panels, dict) else ():
            try:
                config = panel["panel_config"]
                query = config["userQuery"]["queryFields"][0]["fields"]
                table = next(part["args"][0]["value"] for part in query if part["name"] == "summaryTable")
            except (KeyError, IndexError, TypeError, StopIteration):
                self._report.left_out["chart of an unknown form"] += 1
                continue
            self._charts[table] = (key, config)

    def row(self, values: dict[str, Any], step: int) -> dict[str, Any]:
        """Return a row whose records are objects."""
        found: dict[str, Any] = {}
        for key, item in values.items():
            value = self._value(item, key, step) if isinstance(item, (dict, list)) else item
            if isinstance(value, Table) and key in self._charts:
                name, config = self._charts[key]
                found[name] = self._chart(value, config)
            else:
                found[key] = value
        return found

    def _value(self, item: Any, key: str, step: int) -> Any:
        if isinstance(item, list):
            return [self._value(part, key, step) for part in item]
        if not isinstance(item, dict):
            return item
        kind = item.get("_type")
        if not isinstance(kind, str):
            return {name: self._value(part, f"{key}.{name}", step) for name, part in item.items()}
        self._note_paths(item)
        try:
            if kind == _INCREMENT:
                return self._grow(item, key)
            return Table(*self._read_table(item), allow_mixed_types=True) if kind == _TABLE else load(item, self._files)
        except _UNREADABLE as error:
            self._report.note(f"{key!r} at step {step}: the {kind} cannot be read and stays a bare record: {error}")
            return item

    def _note_paths(self, record: Mapping[str, Any]) -> None:
        for value in record.values():
            if isinstance(value, str):
                self.named.add(value)
            elif isinstance(value, list):
                self.named.update(part for part in value if isinstance(part, str))
            elif isinstance(value, dict):
                self._note_paths(value)

    def _grow(self, record: Mapping[str, Any], key: str) -> Table:
        """Return the table of a key with the rows that this record adds."""
        columns, rows = self._read_table(record)
        if key not in self._growing or not record.get("increment_num"):
            self._growing[key] = Table(columns, log_mode="INCREMENTAL", allow_mixed_types=True)
        table = self._growing[key]
        if record["path"] not in self._grown:
            self._grown.add(record["path"])
            for row in rows:
                table.add_data(*row)
        return table

    def _read_table(self, record: Mapping[str, Any]) -> tuple[list[Any], list[list[Any]]]:
        """Return columns and rows. wandb's columns may be of mixed kinds; a reader is no place to refuse them."""
        directory, path = self._find_table(record)
        body = json.loads((directory / path).read_bytes())
        return body["columns"], [[self._cell(cell, directory) for cell in row] for row in body["data"]]

    def _find_table(self, record: Mapping[str, Any]) -> tuple[Path, str]:
        """Return the table's file: in its artifact, which has the media of the cells, else in the run's files."""
        address = record.get("artifact_path")
        if isinstance(address, str) and address.startswith(_CLIENT_ARTIFACT):
            client_id, _, path = address.removeprefix(_CLIENT_ARTIFACT).partition("/")
            contents = self._contents.get(client_id, {})
            if path in contents and all(source.is_file() for source in contents.values()):
                return self._lay_out(client_id, contents), path
        path = str(record["path"])
        if ".." in Path(path).parts or os.path.isabs(path):
            raise ValueError(f"the path {path!r} leads out of the run's files")
        return self._files, path

    def _lay_out(self, client_id: str, contents: dict[str, Path]) -> Path:
        """Return a directory in which the artifact's files have their names: in wandb's staging they have none."""
        directory = self._scratch / client_id
        for path, source in contents.items() if not directory.exists() else ():
            place = directory / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(source)
        return directory

    def _cell(self, cell: Any, directory: Path) -> Any:
        if isinstance(cell, dict) and isinstance(cell.get("_type"), str):
            return load(cell, directory)
        return cell

    def _chart(self, table: Table, config: dict[str, Any]) -> CustomChart | Table:
        fields = {name: column for name, column in (config.get("fieldSettings") or {}).items() if column is not None}
        try:
            return plot_table(str(config["panelDefId"]), table, fields, config.get("stringSettings"))
        except _UNREADABLE as error:
            self._report.note(f"a chart stays a table: {error}")
            return table
