"""Media in artifacts: `add(table, "t")` makes `t.table.json` and the files it needs; `get("t")` reads them back.

The record is the one that `log()` would put into a row, plus the list of its files: a table's cells may speak of images
that only the table's own file names. Bytes, which JSON lacks, are written as {"_bytes": base64}.
"""

from __future__ import annotations

import base64
import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strobe.artifact import staging
from strobe.artifact.manifest import Entry, Manifest
from strobe.artifact.tree import iter_files
from strobe.errors import UsageError

if TYPE_CHECKING:
    from strobe.artifact.contents import Contents

_FILES = "_files"
_BYTES = "_bytes"


def store(contents: Contents, obj: object, name: str, *, overwrite: bool) -> Entry:
    """Record `obj` and add what it wrote; return the entry of the record."""
    from strobe.data import coerce
    from strobe.data.files import DirectoryFiles
    from strobe.data.media import Media

    media = obj if isinstance(obj, Media) else coerce(obj)
    if media is None:
        raise UsageError(f"{type(obj).__name__} can't be added to an artifact; use add_file for files")
    if getattr(media, "log_mode", None) == "INCREMENTAL":
        # An artifact holds the whole table, and the rows still to be logged stay to be logged.
        media = copy.copy(media)
        media.log_mode = "IMMUTABLE"  # type: ignore[attr-defined]  # a Table, then
    place = staging.current()
    directory = place.new_path()
    directory.mkdir()
    try:
        files = DirectoryFiles(directory)
        fields = media.record(files, name, 0)
        # What the side thread improves must be final before it's hashed.
        files.drain()
        written = list(iter_files(directory, enters=lambda path: not path.name.startswith(".")))
        for relative, path in written:
            staged = place.new_path()
            path.replace(staged)
            contents.add_staged(relative, staged, overwrite=True)
        record = place.new_path()
        listed = {**fields, _FILES: [relative for relative, _ in written]}
        record.write_text(json.dumps(listed, default=_wrap_bytes), encoding="utf-8")
        return contents.add_staged(f"{name}.{_suffix(fields)}.json", record, overwrite=overwrite)
    except (TypeError, ValueError) as exc:
        raise UsageError(f"{type(obj).__name__} can't be added to an artifact as {name!r}: {exc}") from exc
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def find_record(manifest: Manifest, name: str) -> Entry | None:
    """Return the entry of the record that was added as `name` (its suffix may be given or not)."""
    if exact := manifest.entries.get(name):
        return exact if name.endswith(".json") else None
    for entry in manifest:
        suffix = entry.path.removeprefix(f"{name}.")
        if suffix != entry.path and suffix.endswith(".json") and suffix.count(".") == 1:
            return entry
    return None


def load(record: bytes, root: Path, manifest: Manifest, fetch: Callable[[Entry], object]) -> Any:
    """Return the object of a record whose files `fetch` brings to `root`; None if it's no record."""
    from strobe.data import load as load_data

    try:
        fields = json.loads(record, object_hook=_unwrap_bytes)
    except ValueError:
        return None
    if not isinstance(fields, dict) or "_type" not in fields:
        return None
    for path in fields.pop(_FILES, []):
        fetch(manifest.entries[path])
    return load_data(fields, root)


def _suffix(fields: dict[str, Any]) -> str:
    kind = str(fields["_type"])
    # wandb's names: a table is "table" in an artifact and "table-file" in a run
    return "table" if kind.endswith("table-file") else kind.replace("/", "-")


def _wrap_bytes(value: object) -> dict[str, str]:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {_BYTES: base64.b64encode(value).decode()}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _unwrap_bytes(fields: dict[str, Any]) -> Any:
    return base64.b64decode(fields[_BYTES]) if fields.keys() == {_BYTES} else fields
