"""Artifacts on both databases, with their contents in a directory."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping

import pytest

from strobe.artifact.manifest import Entry, Manifest
from strobe.store.artifacts import Artifacts, Draft, DraftFacts, Version
from strobe.store.contents import Contents
from strobe.store.database import Cursor, Database
from strobe.store.files import Files
from strobe.store.projects import Projects
from strobe.store.uploads import Uploads
from tests.store.files.conftest import blobs, contents, files, new_run

__all__ = ["blobs", "contents", "files", "new_run"]

Log = Callable[..., Version]


@pytest.fixture
def artifacts(contents: Contents) -> Artifacts:
    return Artifacts(contents)


@pytest.fixture
def uploads(contents: Contents, files: Files, artifacts: Artifacts) -> Uploads:
    return Uploads(contents, {"run": files, "draft": artifacts.drafts}, part_bytes=1000)


@pytest.fixture
def project(database: Database) -> int:
    return Projects(database).ensure("me", "p", now_ns=1).id


@pytest.fixture
def other_project(database: Database) -> int:
    return Projects(database).ensure("me", "other", now_ns=1).id


def manifest_of(bodies: Mapping[str, bytes]) -> Manifest:
    manifest = Manifest()
    for path, body in bodies.items():
        digest = base64.b64encode(hashlib.md5(body).digest()).decode()
        manifest.add(Entry(path, digest, size=len(body)))
    return manifest


def send(artifacts: Artifacts, contents: Contents, draft: Draft, bodies: Mapping[str, bytes]) -> None:
    """Send what the draft misses."""
    for missing in draft.missing:
        with contents.incoming() as incoming:
            incoming.write(bodies[missing.path])
            artifacts.drafts.put(draft.id, missing.path, incoming)


@pytest.fixture
def log(artifacts: Artifacts, contents: Contents, project: int) -> Log:
    """Return a function that brings a version in, as a sender does."""
    return bringing(artifacts, contents, project)


def bringing(artifacts: Artifacts, contents: Contents, project: int) -> Log:
    """Return a function that brings versions into a project."""

    def bring(
        bodies: Mapping[str, bytes],
        name: str = "data",
        type: str = "dataset",
        *,
        project_id: int = project,
        run_id: int | None = None,
        **facts: object,
    ) -> Version:
        wanted = DraftFacts(name=name, type=type, **facts)  # type: ignore[arg-type]  # the test's own business
        draft = artifacts.drafts.create(project_id, wanted, manifest_of(bodies), run_id=run_id)
        if isinstance(draft, Version):
            return draft
        send(artifacts, contents, draft, bodies)
        return artifacts.drafts.commit(draft.id)

    return bring


def count(database: Database, table: str) -> int:
    def ask(cursor: Cursor) -> int:
        row = cursor.one(f"SELECT count(*) FROM {table}")
        assert row is not None
        return int(row[0])

    return database.read(ask)
