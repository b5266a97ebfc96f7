"""Backup and restore: a store as a directory that either database can be made from again.

    backup.json       what it is: versions, when, rows of each table
    tables/NAME       the rows of a table, one msgpack array after the other
    blobs/            contents of files and artifacts, as a directory store has them

All rows are of one moment, while others go on writing. Blobs come after them: what the rows refer to is there, because
gc leaves alone what somebody referred to within a day; what is there already is not copied again, so the next backup to
the same place is quick. Restoring goes into an empty store only, in one transaction; so a SQLite store moves to
PostgreSQL by a backup and a restore.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from strobe._version import __version__
from strobe.errors import NotInStore, StoreVersion, UsageError
from strobe.store.blobs import Blobs, open_blobs
from strobe.store.contents import Contents
from strobe.store.database import Cursor, Row, marks
from strobe.store.place import PACKS
from strobe.store.schema import MIGRATIONS, VERSION

_FORMAT = 1
_AT_ONCE = 500
_MAX_ROW_BYTES = 1 << 30
#: what keys of finished blobs begin with
_KEPT = ("sha256/", PACKS, "parts/")


class Manifest(msgspec.Struct, kw_only=True):
    """`backup.json`."""

    format: int
    schema: int
    strobe: str
    taken_ns: int
    #: rows of each table
    tables: dict[str, int]
    #: whether the contents of files and artifacts are in it
    has_blobs: bool


def tables() -> list[str]:
    """Return the names of all tables, in an order that satisfies their references."""
    return [name for script in MIGRATIONS for name in re.findall(r"CREATE TABLE (\w+)", script)]


def write_backup(contents: Contents, target: Path, *, with_blobs: bool = True) -> Manifest:
    """Write the store to a directory: new, or of an earlier backup of it, which is replaced when all is written."""
    manifest_path = target / "backup.json"
    if target.exists() and any(target.iterdir()) and not manifest_path.exists():
        raise UsageError(f"{target} is not empty and holds no backup; name a new directory")
    fresh = target / "tables.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True, mode=0o700)  # as secret as the store itself
    counts = contents.database.read(lambda cursor: {name: _dump(cursor, name, fresh / name) for name in tables()})
    if with_blobs:
        _copy_blobs(contents.blobs, open_blobs(target / "blobs"))
    shutil.rmtree(target / "tables", ignore_errors=True)
    os.replace(fresh, target / "tables")
    manifest = Manifest(
        format=_FORMAT,
        schema=VERSION,
        strobe=__version__,
        taken_ns=time.time_ns(),
        tables=counts,
        has_blobs=with_blobs,
    )
    unfinished = target / "backup.json.new"
    unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2))
    os.replace(unfinished, manifest_path)
    return manifest


def restore_backup(source: Path, contents: Contents) -> Manifest:
    """Fill an empty store from a backup."""
    manifest = read_manifest(source)

    def change(cursor: Cursor) -> None:
        for name in manifest.tables:
            if cursor.one(f"SELECT 1 FROM {name} LIMIT 1") is not None:
                raise UsageError(f"the store has rows in {name!r}; a backup is restored into a new, empty store only")
        for name, count in manifest.tables.items():
            found = _load(cursor, name, source / "tables" / name)
            if found != count:
                raise UsageError(f"the backup has {found} rows of {name!r} where its list says {count}; it is damaged")
        if cursor.dialect.name == "postgres":
            restart_identities(cursor, list(manifest.tables))

    if manifest.has_blobs:
        # Before the rows: a kill in between leaves bytes that gc finds, never a row without bytes.
        _copy_blobs(open_blobs(source / "blobs"), contents.blobs)
    contents.database.write(change)
    return manifest


def read_manifest(source: Path) -> Manifest:
    """Return what a backup says of itself, or raise if this Strobe cannot restore it."""
    try:
        manifest = msgspec.json.decode((source / "backup.json").read_bytes(), type=Manifest)
    except FileNotFoundError as error:
        raise UsageError(f"{source} holds no complete backup: there is no backup.json") from error
    except msgspec.MsgspecError as error:
        raise UsageError(f"{source / 'backup.json'} cannot be read: {error}") from error
    if (manifest.format, manifest.schema) != (_FORMAT, VERSION):
        raise StoreVersion(
            f"the backup was made by Strobe {manifest.strobe} (schema {manifest.schema}), this one has schema"
            f" {VERSION}; restore it with that version, then upgrade"
        )
    unknown = manifest.tables.keys() - set(tables())
    if unknown:
        raise UsageError(f"the backup names tables that there are not: {', '.join(sorted(unknown))}")
    return manifest


def _dump(cursor: Cursor, name: str, path: Path) -> int:
    encode = msgspec.msgpack.Encoder().encode
    count = 0
    with open(path, "wb") as stream:
        for row in cursor.stream(f"SELECT * FROM {name}"):
            body = encode(row)
            stream.write(len(body).to_bytes(4, "little") + body)
            count += 1
        stream.flush()
        os.fsync(stream.fileno())
    return count


def _load(cursor: Cursor, name: str, path: Path) -> int:
    count = 0
    waiting: list[Row] = []
    for row in _rows(path):
        waiting.append(row)
        if len(waiting) >= _AT_ONCE:
            count += _insert(cursor, name, waiting)
    return count + _insert(cursor, name, waiting)


def _insert(cursor: Cursor, name: str, waiting: list[Row]) -> int:
    count = len(waiting)
    if waiting:
        cursor.many(f"INSERT INTO {name} VALUES ({marks(len(waiting[0]))})", waiting)
        waiting.clear()
    return count


def _rows(path: Path) -> Iterator[Row]:
    decode: Callable[[bytes], Row] = msgspec.msgpack.Decoder(tuple).decode
    with open(path, "rb") as stream:
        while head := stream.read(4):
            size = int.from_bytes(head, "little")
            body = stream.read(min(size, _MAX_ROW_BYTES))
            if len(head) < 4 or len(body) < size:
                raise UsageError(f"{path} ends in the middle of a row; the backup is damaged")
            try:
                yield decode(body)
            except msgspec.MsgspecError as error:
                raise UsageError(f"{path} holds something that is no row: {error}; the backup is damaged") from error


def restart_identities(cursor: Cursor, names: list[str]) -> None:
    """Let new rows be numbered after those that were restored."""
    numbered = cursor.all(
        "SELECT table_name FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND column_name = 'id' AND is_identity = 'YES'"
    )
    for (name,) in numbered:
        if name in names:
            cursor.one(
                f"SELECT setval(pg_get_serial_sequence(?, 'id'), (SELECT coalesce(max(id), 1) FROM {name}))", name
            )


def _copy_blobs(source: Blobs, target: Blobs) -> None:
    """Copy the blobs that the target lacks; one that gc takes away meanwhile is one that no row refers to."""
    for prefix in _KEPT:
        known = {blob.key: blob.size for blob in target.list(prefix)}
        for blob in source.list(prefix):
            if known.get(blob.key) != blob.size:
                with suppress(NotInStore):
                    target.put(blob.key, source.read(blob.key), size=blob.size)
