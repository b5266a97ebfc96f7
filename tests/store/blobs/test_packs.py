"""Contents that share a blob are read from a directory and from an object store alike."""

from __future__ import annotations

from pathlib import Path

from strobe.store.blobs import Blobs
from strobe.store.contents import Contents, Hashes
from strobe.store.packing import keep_all
from strobe.store.schema import migrate
from strobe.store.sqlite import SqliteDatabase


def test_contents_of_a_pack(blobs: Blobs, tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "strobe.db")
    migrate(database)
    contents = Contents(database, blobs)
    bodies = [b"alpha", b"", b"gamma" * 1000]
    keep_all(contents, [(Hashes.of(body), body) for body in bodies], lambda cursor: None)
    assert len(list(blobs.list("packs/"))) == 1
    for body in bodies:
        assert b"".join(contents.read(Hashes.of(body).sha256)) == body
        assert b"".join(contents.read(Hashes.of(body).sha256, 2, 7)) == body[2:7]
    database.close()
