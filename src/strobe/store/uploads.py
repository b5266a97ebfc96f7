"""Big files in parts, so that a broken connection costs a part and not the file.

Nothing of an upload is in a process: any server goes on with what another began, and a sender that has forgotten
everything starts the same upload again and hears which parts are there. Parts are blobs of their own until `complete`
has checked them and made them one content. What an upload becomes is decided by its taker: the files of a run, or the
draft of an artifact.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Protocol

from strobe.errors import NotInStore, StoreBusy, UsageError
from strobe.store.contents import Content, Contents, check_sha256
from strobe.store.database import Cursor, Row
from strobe.store.upload import Kind, Part, Upload

PART_BYTES = 16 << 20
#: more parts than this make larger parts
_MAX_PARTS = 100_000
_MAX_SIZE = 6 * 10**12
#: who joins parts gives a sign of life this often; after three times as long without one, another may try
_SIGN_OF_LIFE_NS = 10 * 10**9

_COLUMNS = "id, kind, owner_id, path, size, sha256, part_bytes, algorithm, mtime_ns, policy, joining_ns"


class Taker(Protocol):
    """What an upload becomes a part of."""

    def take(
        self,
        cursor: Cursor,
        owner_id: int,
        path: str,
        content: Content,
        policy: str,
        mtime_ns: int | None,
        over: str | None = None,
    ) -> None:
        """Refer to the content of a complete upload, or raise if it can't be taken (any more)."""

    def project_of(self, cursor: Cursor, owner_id: int) -> tuple[str, str] | None:
        """Return the entity and project that the owner belongs to, None if it is gone."""


class Uploads:
    """All uploads in parts of a store."""

    def __init__(self, contents: Contents, takers: Mapping[Kind, Taker], *, part_bytes: int = PART_BYTES) -> None:
        self._contents = contents
        self._database = contents.database
        self._takers = takers
        self._part_bytes = part_bytes

    def start(
        self,
        kind: Kind,
        owner_id: int,
        path: str,
        *,
        size: int,
        sha256: str,
        algorithm: str = "MD5",
        policy: str = "now",
        mtime_ns: int | None = None,
    ) -> Upload:
        """Begin an upload, or go on with the same one that was begun before.

        The caller has checked the path and asked whether the content is there already (`Files.put_known`).
        """
        check_sha256(sha256)
        if not 0 <= size <= _MAX_SIZE:
            raise UsageError(f"a file of {size} bytes can't be uploaded; it may have 0 to {_MAX_SIZE}")
        part_bytes = max(self._part_bytes, -(-size // _MAX_PARTS))

        def change(cursor: Cursor) -> Upload:
            row = cursor.one(
                "INSERT INTO upload (id, kind, owner_id, path, size, sha256, part_bytes, algorithm, mtime_ns, "
                "policy, touched_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (kind, owner_id, path, sha256, size) "
                f"DO UPDATE SET touched_ns = excluded.touched_ns, mtime_ns = excluded.mtime_ns RETURNING {_COLUMNS}",
                *(secrets.token_hex(16), kind, owner_id, path, size, sha256, part_bytes, algorithm, mtime_ns),
                policy,
                self._contents.clock(),
            )
            assert row is not None
            return _upload(cursor, row)

        return self._database.write(change)

    def get(self, upload_id: str) -> Upload:
        """Return an upload; NotInStore if it is complete, was given up or never was."""
        return self._database.read(lambda cursor: _find(cursor, upload_id))

    def project_of(self, upload: Upload) -> tuple[str, str]:
        """Return the entity and project that an upload belongs to; NotInStore if what it was for is gone."""
        taker = self._takers[upload.kind]
        found = self._database.read(lambda cursor: taker.project_of(cursor, upload.owner_id))
        if found is None:
            raise NotInStore(f"what the upload of {upload.path!r} was for is gone; abort it")
        return found

    def part(self, upload: Upload, number: int) -> Part:
        """Return a place for a part that comes in piece by piece; `put_part` keeps it."""
        size = upload.part_size(number)
        return Part(self._contents.blobs.draft(), number, size)

    def put_part(self, upload_id: str, part: Part) -> None:
        """Keep a part. The same one again changes nothing, another content replaces what was sent before."""
        sha256 = part.finish()
        known = self._database.read(
            lambda cursor: cursor.one(
                "SELECT sha256 FROM upload_part WHERE upload_id = ? AND number = ?", upload_id, part.number
            )
        )
        if known is not None and known[0] == sha256:
            return
        key = f"parts/{upload_id[:2]}/{upload_id}/{part.number}-{secrets.token_hex(8)}"
        part.place(key)

        def change(cursor: Cursor) -> None:
            sql = "UPDATE upload SET touched_ns = ? WHERE id = ?"
            if not cursor.run(sql, self._contents.clock(), upload_id):
                raise unknown_upload(upload_id)
            # The blob of a part that is replaced stays until gc finds it: somebody may be joining it right now.
            cursor.run(
                "INSERT INTO upload_part (upload_id, number, key, sha256) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (upload_id, number) DO UPDATE SET key = excluded.key, sha256 = excluded.sha256",
                *(upload_id, part.number, key, sha256),
            )

        try:
            self._database.write(change)
        except StoreBusy:
            raise  # nobody knows whether it was committed; if not, gc finds the bytes
        except BaseException:
            self._contents.blobs.delete([key])
            raise

    def complete(self, upload_id: str, *, over: str | None = None) -> Upload:
        """Make the parts one content and hand it to its taker (see `Files.put` for `over`); return what it was.

        A part that is missing, or bytes that are not what was announced: UsageError, and nothing has changed. While
        another call is at it: StoreBusy.
        """
        upload = self._database.write(lambda cursor: self._claim(cursor, upload_id))
        try:
            keys = self._join(upload, over)
        except BaseException:
            self._sign(upload_id, 0)
            raise
        self._contents.blobs.delete(keys)
        return upload

    def abort(self, upload_id: str) -> None:
        """Give an upload up."""
        self._contents.blobs.delete(self._database.write(lambda cursor: _remove(cursor, upload_id)))

    def expire(self, before_ns: int) -> int:
        """Give up the uploads to which nothing came since `before_ns`; return how many."""
        sql = "SELECT id FROM upload WHERE touched_ns < ? AND joining_ns < ?"
        rows = self._database.read(lambda cursor: cursor.all(sql, before_ns, before_ns))
        for (upload_id,) in rows:
            self.abort(upload_id)
        return len(rows)

    def _claim(self, cursor: Cursor, upload_id: str) -> Upload:
        row = cursor.one(f"SELECT {_COLUMNS} FROM upload WHERE id = ?{cursor.dialect.for_update}", upload_id)
        if row is None:
            raise unknown_upload(upload_id)
        upload, now = _upload(cursor, row), self._contents.clock()
        if upload.missing:
            some = ", ".join(map(str, upload.missing[:10]))
            raise UsageError(
                f"{len(upload.missing)} of {upload.num_parts} parts are missing ({some}, …); send them first"
            )
        if now - row[-1] < 3 * _SIGN_OF_LIFE_NS:
            raise StoreBusy(f"the parts of {upload.path!r} are being put together right now; ask again later")
        cursor.run("UPDATE upload SET joining_ns = ? WHERE id = ?", now, upload_id)
        return upload

    def _join(self, upload: Upload, over: str | None) -> list[str]:
        sql = "SELECT key FROM upload_part WHERE upload_id = ? ORDER BY number"
        keys = [row[0] for row in self._database.read(lambda cursor: cursor.all(sql, upload.id))]

        def change(cursor: Cursor, content: Content) -> list[str]:
            removed = _remove(cursor, upload.id)
            taker = self._takers[upload.kind]
            taker.take(cursor, upload.owner_id, upload.path, content, upload.policy, upload.mtime_ns, over)
            return removed

        expected = Content(upload.sha256, "", upload.size)
        return self._contents.join(keys, expected, self._signs_of_life(upload.id), change, upload.algorithm)

    def _signs_of_life(self, upload_id: str) -> Callable[[], None]:
        last = self._contents.clock()

        def sign() -> None:
            nonlocal last
            now = self._contents.clock()
            if now - last > _SIGN_OF_LIFE_NS:
                last = now
                self._sign(upload_id, now)

        return sign

    def _sign(self, upload_id: str, now_ns: int) -> None:
        self._database.write(
            lambda cursor: cursor.run("UPDATE upload SET joining_ns = ? WHERE id = ?", now_ns, upload_id)
        )


def _find(cursor: Cursor, upload_id: str) -> Upload:
    row = cursor.one(f"SELECT {_COLUMNS} FROM upload WHERE id = ?", upload_id)
    if row is None:
        raise unknown_upload(upload_id)
    return _upload(cursor, row)


def _upload(cursor: Cursor, row: Row) -> Upload:
    upload_id, kind, owner_id, path, size, sha256, part_bytes, algorithm, mtime_ns, policy, _ = row
    numbers = cursor.all("SELECT number FROM upload_part WHERE upload_id = ? ORDER BY number", upload_id)
    return Upload(
        id=upload_id,
        kind=kind,
        owner_id=owner_id,
        path=path,
        size=size,
        sha256=sha256,
        part_bytes=part_bytes,
        algorithm=algorithm,
        mtime_ns=mtime_ns,
        policy=policy,
        parts=[number for (number,) in numbers],
    )


def _remove(cursor: Cursor, upload_id: str) -> list[str]:
    """Take the upload's rows away, and return the keys of its parts, to be deleted once that is committed."""
    keys = [row[0] for row in cursor.all("SELECT key FROM upload_part WHERE upload_id = ?", upload_id)]
    if not cursor.run("DELETE FROM upload WHERE id = ?", upload_id):
        raise unknown_upload(upload_id)
    return keys


def unknown_upload(upload_id: str) -> NotInStore:
    """Return what is raised for an upload that is not there."""
    return NotInStore(f"there is no upload {upload_id[:64]!r}: it is complete, was given up or expired; start it again")
