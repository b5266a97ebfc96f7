"""Files of runs on both databases, with their contents in a directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from strobe.store.blobs.directory import DirectoryBlobs
from strobe.store.contents import Contents
from strobe.store.database import Cursor, Database
from strobe.store.files import Files
from strobe.store.uploads import Uploads

NewRun = Callable[..., int]


@pytest.fixture
def blobs(tmp_path: Path) -> DirectoryBlobs:
    return DirectoryBlobs(tmp_path / "blobs")


@pytest.fixture
def contents(database: Database, blobs: DirectoryBlobs) -> Contents:
    return Contents(database, blobs)


@pytest.fixture
def files(contents: Contents) -> Files:
    return Files(contents)


@pytest.fixture
def uploads(contents: Contents, files: Files) -> Uploads:
    return Uploads(contents, {"run": files}, part_bytes=1000)


@pytest.fixture
def new_run(database: Database) -> NewRun:
    """Return a function that makes a run and returns its row's id."""

    def make(name: str = "r1", project: str = "p", entity: str = "me") -> int:
        def change(cursor: Cursor) -> int:
            cursor.run(
                "INSERT INTO project (entity, name, created_ns) VALUES (?, ?, 0) ON CONFLICT (entity, name) DO NOTHING",
                *(entity, project),
            )
            found = cursor.one("SELECT id FROM project WHERE entity = ? AND name = ?", entity, project)
            assert found is not None
            row = cursor.one(
                "INSERT INTO run (project_id, name, created_ns, heartbeat_ns, changed_ns, facts) "
                "VALUES (?, ?, 0, 0, 0, ?) RETURNING id",
                *(found[0], name, b""),
            )
            assert row is not None
            return int(row[0])

        return database.write(change)

    return make


def bring(files: Files, run_id: int, path: str, body: bytes, *, over: str | None = None) -> str:
    """Put a file and return its sha256."""
    with files.contents.incoming() as incoming:
        incoming.write(body)
        return files.put(run_id, path, incoming, over=over).sha256
