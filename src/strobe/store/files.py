"""The files of runs: media, saved files, big values. A file is a path, a content, and when and why it came.

Contents are shared (strobe.store.contents). What a sender need not send again is only what its own project has:
otherwise knowing a digest would be enough to get another project's file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import msgspec

from strobe.errors import NotInStore, StoreChanged, UsageError
from strobe.store.contents import Content, Contents, Incoming, check_sha256
from strobe.store.database import Cursor, Row, in_parts, marks
from strobe.store.filepath import LAST, check_file_path
from strobe.store.packing import keep_all
from strobe.store.references import is_in_project

#: when the SDK was to keep a file: whenever it changed, at once, or at the end of the run
Policy = Literal["live", "now", "end"]

#: that a file is to take the place of none
NOTHING = "none"

_COLUMNS = "f.path, f.size, f.sha256, b.md5, f.mtime_ns, f.policy, f.uploaded_ns"
_SELECT = f"SELECT {_COLUMNS} FROM run_file f JOIN blob b ON b.sha256 = f.sha256"


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a run."""

    path: str
    size: int
    sha256: str
    #: in base64, as wandb gives it
    md5: str
    #: of the file where it came from
    mtime_ns: int | None
    policy: str
    uploaded_ns: int


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that is to be put; `over` as in `Files.put`."""

    path: str
    content: Content
    policy: str = "now"
    mtime_ns: int | None = None
    over: str | None = None

    def stored(self, now_ns: int) -> RunFile:
        it = self.content
        return RunFile(
            path=self.path,
            size=it.size,
            sha256=it.sha256,
            md5=it.md5,
            mtime_ns=self.mtime_ns,
            policy=self.policy,
            uploaded_ns=now_ns,
        )


class Files:
    """The files of all runs."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self._database = contents.database

    def put(
        self,
        run_id: int,
        path: str,
        incoming: Incoming,
        *,
        policy: Policy = "now",
        mtime_ns: int | None = None,
        over: str | None = None,
    ) -> RunFile:
        """Make what came in the content of a file; it replaces what was there.

        With `over` it replaces that content (its sha256) or `NOTHING` only, else it is a StoreChanged: a request that
        comes late, after its sender has given it up and sent something newer, must not bring the old back.
        """
        check_place(path, policy)
        return self.contents.keep(
            incoming,
            lambda cursor, it: self._add(cursor, run_id, NewFile(path, it, policy, mtime_ns, over)),
        )

    def put_all(self, run_id: int, new: Sequence[tuple[NewFile, bytes | memoryview]]) -> Sequence[str | None]:
        """Put many small files at once, whose places were checked.

        Returns for each None, or, as it was not put, what is there instead of what it was to replace.
        """
        files = [it for it, _ in new]
        kept = keep_all(
            self.contents,
            [(it.content, body) for it, body in new],
            lambda cursor: self._add_all(cursor, run_id, files),
        )
        return [there for _, there in kept]

    def put_known(
        self,
        run_id: int,
        path: str,
        sha256: str,
        size: int,
        *,
        policy: Policy = "now",
        mtime_ns: int | None = None,
        over: str | None = None,
    ) -> RunFile | None:
        """Make a content that the run's project has the content of a file; None if it has no such: it must be sent."""
        check_place(path, policy)
        check_sha256(sha256)

        def change(cursor: Cursor) -> RunFile | None:
            project = cursor.one("SELECT project_id FROM run WHERE id = ?", run_id)
            if project is None or not is_in_project(cursor, project[0], sha256):
                return None
            if not self.contents.hold(cursor, [sha256]):
                return None
            row = cursor.one("SELECT md5, size FROM blob WHERE sha256 = ?", sha256)
            if row is None or row[1] != size:
                return None
            return self._add(cursor, run_id, NewFile(path, Content(sha256, *row), policy, mtime_ns, over))

        return self._database.write(change)

    def get(self, run_id: int, path: str) -> RunFile:
        """Return a file; NotInStore if the run has none there."""
        sql = f"{_SELECT} WHERE f.run_id = ? AND f.path = ?"
        row = self._database.read(lambda cursor: cursor.one(sql, run_id, path))
        if row is None:
            raise NotInStore(f"the run has no file {path!r}")
        return _file(row)

    def list(self, run_id: int, *, prefix: str = "", after: str = "", limit: int = 1000) -> list[RunFile]:
        """Return the files whose path begins with `prefix` and sorts after `after`, by their paths."""
        sql = f"{_SELECT} WHERE f.run_id = ? AND f.path >= ? AND f.path < ? AND f.path > ? ORDER BY f.path LIMIT ?"
        rows = self._database.read(lambda cursor: cursor.all(sql, run_id, prefix, prefix + LAST, after, limit))
        return [_file(row) for row in rows]

    def delete(self, run_id: int, path: str) -> None:
        """Delete a file; NotInStore if the run has none there. Its content goes with gc, if nobody else has it."""

        def change(cursor: Cursor) -> int:
            self._note(cursor, run_id)
            return cursor.run("DELETE FROM run_file WHERE run_id = ? AND path = ?", run_id, path)

        if not self._database.write(change):
            raise NotInStore(f"the run has no file {path!r}")

    def read(self, file: RunFile, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield a file's bytes from `start` up to but without `stop`."""
        return self.contents.read(file.sha256, start, stop)

    def take(
        self,
        cursor: Cursor,
        run_id: int,
        path: str,
        content: Content,
        policy: str,
        mtime_ns: int | None,
        over: str | None = None,
    ) -> None:
        """Take what an upload in parts brought (see strobe.store.uploads)."""
        self._add(cursor, run_id, NewFile(path, content, policy, mtime_ns, over))

    def project_of(self, cursor: Cursor, owner_id: int) -> tuple[str, str] | None:
        """Return the entity and project of a run that is there (see strobe.store.uploads)."""
        row = cursor.one(
            "SELECT p.entity, p.name FROM run r JOIN project p ON p.id = r.project_id "
            "WHERE r.id = ? AND r.deleted_ns IS NULL",
            owner_id,
        )
        return (row[0], row[1]) if row is not None else None

    def _add(self, cursor: Cursor, run_id: int, new: NewFile) -> RunFile:
        ((file, there),) = self._add_all(cursor, run_id, [new])
        if there is not None:
            raise StoreChanged(f"{new.path!r} is {there}, not {new.over}; look at what is there, and say it as `over`")
        return file

    def _add_all(self, cursor: Cursor, run_id: int, new: Sequence[NewFile]) -> Sequence[tuple[RunFile, str | None]]:
        """Refer to contents that are held; with each file what is there instead, if that was not to be replaced."""
        now = self.contents.clock()
        if not self._note(cursor, run_id):  # which locks the run, too
            raise NotInStore("the run is not there any more")
        there: dict[str, str] = {}
        for some in in_parts([it.path for it in new if it.over is not None]):
            sql = f"SELECT path, sha256 FROM run_file WHERE run_id = ? AND path IN ({marks(len(some))})"
            there.update((path, sha256) for path, sha256 in cursor.all(sql, run_id, *some))
        found = []
        for it in new:
            known = there.get(it.path, NOTHING)
            is_changed = it.over is not None and known not in (it.over, it.content.sha256)
            found.append((it.stored(now), known if is_changed else None))
            if not is_changed:
                there[it.path] = it.content.sha256
        cursor.many(
            "INSERT INTO run_file (run_id, path, sha256, size, mtime_ns, policy, uploaded_ns) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, path) DO UPDATE SET sha256 = excluded.sha256, "
            "size = excluded.size, mtime_ns = excluded.mtime_ns, policy = excluded.policy, "
            "uploaded_ns = excluded.uploaded_ns",
            [
                (run_id, file.path, file.sha256, file.size, file.mtime_ns, file.policy, now)
                for file, changed in found
                if changed is None
            ],
        )
        return found

    def _note(self, cursor: Cursor, run_id: int) -> int:
        """Let whoever watches the run know that it has changed."""
        sql = "UPDATE run SET version = version + 1, changed_ns = ? WHERE id = ?"
        return cursor.run(sql, self.contents.clock(), run_id)


def check_place(path: str, policy: str) -> None:
    """Raise UsageError if a run can have no file there, or the policy is none."""
    check_file_path(path)
    if policy not in get_args(Policy):
        raise UsageError(f"policy {policy!r}: it can be {', '.join(get_args(Policy))}")


def check_over(over: str | None) -> None:
    """Raise UsageError if this is nothing that a file could replace."""
    if over is not None and over != NOTHING:
        check_sha256(over)


def _file(row: Row) -> RunFile:
    path, size, sha256, md5, mtime_ns, policy, uploaded_ns = row
    return RunFile(
        path=path, size=size, sha256=sha256, md5=md5, mtime_ns=mtime_ns, policy=policy, uploaded_ns=uploaded_ns
    )
