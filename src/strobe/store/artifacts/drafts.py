"""Drafts: versions on their way in.

The commit is one transaction: before it nobody sees anything of the version, after it all of it. It happens under a
lock on the collection's row, so that numbers follow each other and the same content twice in a row is one version.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import msgspec

from strobe.artifact import digest as digests
from strobe.artifact.manifest import Manifest
from strobe.artifact.name import check_tag
from strobe.errors import NotInStore, UsageError
from strobe.home import check_name
from strobe.store.artifacts import aliases, collection, entries, lineage, mentions, origins
from strobe.store.artifacts.loading import load
from strobe.store.artifacts.record import Draft, DraftFacts, Missing, Plan, Version
from strobe.store.contents import Content, Contents, Hashes, Incoming
from strobe.store.database import Cursor
from strobe.store.filepath import check_file_path
from strobe.store.packing import keep_all
from strobe.store.purge import purge_drafts

# Made here, once: msgspec crashes when threads are the first to decode a type at the same moment.
_decode_plan = msgspec.json.Decoder(Plan).decode


class Drafts:
    """The drafts of all collections."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._database = contents.database

    def create(
        self, project_id: int, facts: DraftFacts, manifest: Manifest, *, run_id: int | None = None
    ) -> Draft | Version:
        """Begin a version; the draft says which contents have to be sent. A Version: it was sent before.

        The run is the one that logs it.
        """
        entries.check_entries(manifest)
        plan = _check_facts(facts)
        digest = manifest.digest
        now = self._contents.clock()

        def change(cursor: Cursor) -> Draft | Version:
            collection_id = collection.ensure(cursor, project_id, facts.name, facts.type, now)
            if facts.origin is not None and (known := origins.find(cursor, collection_id, facts.origin)) is not None:
                return load(cursor, known)
            token = secrets.token_hex(16)
            row = cursor.one(
                "INSERT INTO artifact_version (token, collection_id, digest, algorithm, size, num_files, description, "
                "metadata, ttl_s, use_as, source, run_id, step, created_ns, updated_ns, plan) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                *(token, collection_id, digest, manifest.algorithm, manifest.size, len(manifest), facts.description),
                *(
                    msgspec.json.encode(facts.metadata).decode(),
                    facts.ttl_s,
                    facts.use_as,
                    facts.source,
                    run_id,
                    facts.step,
                ),
                *(facts.created_ns or now, now, msgspec.json.encode(plan).decode()),
            )
            assert row is not None
            entries.insert(cursor, row[0], manifest)
            cursor.many(
                "INSERT INTO artifact_tag (version_id, name) VALUES (?, ?)",
                [(row[0], tag) for tag in dict.fromkeys(facts.tags)],
            )
            latest = aliases.resolve(cursor, collection_id, "latest")
            entries.reuse(cursor, self._contents, row[0], project_id, latest)
            return _load(cursor, token)

        made = self._database.write(change)
        # Whoever committed it may have been killed before the runs that named it were found.
        return self._linked(made) if isinstance(made, Version) else made

    def get(self, token: str) -> Draft:
        """Return a draft with what it misses now; NotInStore if it is committed, expired or never was."""
        return self._database.read(lambda cursor: _load(cursor, token))

    def expected(self, token: str, path: str) -> tuple[int, Missing]:
        """Return a draft's row id and what the content of the entry at `path` must be."""

        def ask(cursor: Cursor) -> tuple[int, Missing]:
            version_id = _find(cursor, token)
            return version_id, _expected(cursor, version_id, path)

        return self._database.read(ask)

    def put(self, token: str, path: str, incoming: Incoming) -> None:
        """Take the content of the entry at `path`, and of all that have the same."""
        version_id, _ = self.expected(token, path)
        self._contents.keep(incoming, lambda cursor, content: self.take(cursor, version_id, path, content))

    def put_all(self, token: str, new: Sequence[tuple[str, bytes | memoryview]]) -> list[str]:
        """Take the contents of entries at once, by their paths; return for each why it was not taken, or nothing."""

        def ask(cursor: Cursor) -> tuple[int, list[str]]:
            version_id = _find(cursor, token)
            return version_id, [_algorithm(cursor, version_id, path) for path, _ in new]

        version_id, algorithms = self._database.read(ask)
        found = [
            (path, Hashes.of(body, algorithm), body) for (path, body), algorithm in zip(new, algorithms, strict=True)
        ]

        def change(cursor: Cursor) -> list[str]:
            reasons = []
            for path, content, _ in found:
                try:
                    self.take(cursor, version_id, path, content)
                    reasons.append("")
                except (UsageError, NotInStore) as error:  # before it has changed anything
                    reasons.append(str(error))
            return reasons

        return keep_all(self._contents, [(content, body) for _, content, body in found], change)

    def take(
        self,
        cursor: Cursor,
        owner_id: int,
        path: str,
        content: Content,
        policy: str = "",
        mtime_ns: int | None = None,
        over: str | None = None,
    ) -> None:
        """Take what came in for an entry, if it is that (see strobe.store.uploads)."""
        expected = _expected(cursor, owner_id, path)
        digest = content.digest(expected.algorithm)
        if (digest, content.size) != (expected.digest, expected.size):
            raise UsageError(
                f"entry {path!r} is to have {expected.size} bytes with the {expected.algorithm} {expected.digest}; "
                f"{content.size} with {digest} came in"
            )
        entries.fill(cursor, owner_id, expected, content.sha256)
        cursor.run("UPDATE artifact_version SET updated_ns = ? WHERE id = ?", self._contents.clock(), owner_id)

    def project_of_token(self, token: str) -> tuple[str, str]:
        """Return the entity and project of a draft, or of what was one; NotInStore if it never was, or expired."""

        def ask(cursor: Cursor) -> tuple[str, str]:
            row = cursor.one("SELECT id FROM artifact_version WHERE token = ?", token)
            version_id = row[0] if row is not None else origins.find_committed(cursor, token)
            found = self.project_of(cursor, version_id) if version_id is not None else None
            if found is None:
                raise unknown_draft(token)
            return found

        return self._database.read(ask)

    def project_of(self, cursor: Cursor, owner_id: int) -> tuple[str, str] | None:
        """Return the entity and project of the draft with that row id (see strobe.store.uploads)."""
        row = cursor.one(
            "SELECT p.entity, p.name FROM artifact_version v JOIN artifact_collection c ON c.id = v.collection_id "
            "JOIN project p ON p.id = c.project_id WHERE v.id = ?",
            owner_id,
        )
        return (row[0], row[1]) if row is not None else None

    def commit(self, token: str) -> Version:
        """Make a draft a version, or the latest version if that holds the same; UsageError if contents are missing.

        Committing again returns the same.
        """
        return self._linked(self._database.write(lambda cursor: self._commit(cursor, token)))

    def abort(self, token: str) -> None:
        """Give a draft up."""
        sql = "DELETE FROM artifact_version WHERE token = ? AND number IS NULL"
        if not self._database.write(lambda cursor: cursor.run(sql, token)):
            raise unknown_draft(token)

    def expire(self, before_ns: int) -> int:
        """Give up the drafts for which nothing came since `before_ns`; return how many."""
        return purge_drafts(self._database, touched_before_ns=before_ns)

    def _linked(self, version: Version) -> Version:
        """Find the runs that named a version. After its commit: before it, those who settle runs do not see it."""
        self._database.write(lambda cursor: mentions.link_version(cursor, version.id))
        return version

    def _commit(self, cursor: Cursor, token: str) -> Version:
        found = cursor.one("SELECT collection_id FROM artifact_version WHERE token = ?", token)
        if found is None and (known := origins.find_committed(cursor, token)) is not None:
            return load(cursor, known)
        if found is None:
            raise unknown_draft(token)
        collection_id = found[0]
        lock = f"SELECT next_number FROM artifact_collection WHERE id = ?{cursor.dialect.for_update}"
        locked = cursor.one(lock, collection_id)
        row = cursor.one("SELECT id, number, digest, run_id, plan FROM artifact_version WHERE token = ?", token)
        if row is None or locked is None:
            raise unknown_draft(token)
        version_id, number, digest, run_id, plan_text = row
        if number is not None:
            return load(cursor, version_id)
        if missing := entries.find_missing(cursor, version_id):
            some = ", ".join(repr(it.path) for it in missing[:5])
            raise UsageError(f"{len(missing)} contents are missing ({some}, …); send them, then commit again")
        now = self._contents.clock()
        plan = _decode_plan(plan_text)
        latest = aliases.resolve(cursor, collection_id, "latest")
        if latest is not None and _digest(cursor, latest) == digest:
            cursor.run("DELETE FROM artifact_version WHERE id = ?", version_id)
            kept = latest
        else:
            cursor.run(
                "UPDATE artifact_version SET number = ?, updated_ns = ?, plan = '' WHERE id = ?",
                *(locked[0], now, version_id),
            )
            cursor.run("UPDATE artifact_collection SET next_number = ? WHERE id = ?", locked[0] + 1, collection_id)
            kept = version_id
        aliases.point(cursor, collection_id, plan.aliases, kept)
        # The draft's own name is remembered too: who asks a second time, having missed the answer, gets the same one.
        origins.note(cursor, collection_id, [origins.of_draft(token), *origins.of_sender(plan.origin)], kept)
        if run_id is not None:
            lineage.note(cursor, kept, run_id, "logged", None, now)
        return load(cursor, kept)


def _check_facts(facts: DraftFacts) -> Plan:
    for tag in facts.tags:
        check_tag(tag)
    if facts.origin is not None:
        check_name("origin", facts.origin)
    if facts.ttl_s is not None and facts.ttl_s <= 0:
        raise UsageError(f"ttl_s is {facts.ttl_s}; give the seconds that the version is to live, or nothing")
    return Plan(aliases=aliases.check_aliases(facts.aliases), origin=facts.origin)


def _load(cursor: Cursor, token: str) -> Draft:
    version_id = _find(cursor, token)
    row = cursor.one(
        "SELECT p.entity, p.name, c.name, c.type, v.digest FROM artifact_version v "
        "JOIN artifact_collection c ON c.id = v.collection_id JOIN project p ON p.id = c.project_id WHERE v.id = ?",
        version_id,
    )
    assert row is not None
    entity, project, name, kind, digest = row
    missing = entries.find_missing(cursor, version_id)
    return Draft(id=token, entity=entity, project=project, name=name, type=kind, digest=digest, missing=missing)


def _find(cursor: Cursor, token: str) -> int:
    row = cursor.one("SELECT id FROM artifact_version WHERE token = ? AND number IS NULL", token)
    if row is None:
        raise unknown_draft(token)
    return int(row[0])


def _expected(cursor: Cursor, version_id: int, path: str) -> Missing:
    row = cursor.one(
        "SELECT e.digest, e.algorithm, e.size FROM artifact_entry e JOIN artifact_version v ON v.id = e.version_id "
        "WHERE e.version_id = ? AND e.path = ? AND e.ref IS NULL AND v.number IS NULL",
        *(version_id, check_file_path(path)),
    )
    if row is None:
        raise NotInStore(f"no draft has a file at {path!r} here; its manifest decides what it has")
    return Missing(path=path, digest=row[0], algorithm=row[1], size=row[2])


def _algorithm(cursor: Cursor, version_id: int, path: str) -> str:
    """Return by which digest an entry is known; any, if there is no such: `take` says so."""
    try:
        return _expected(cursor, version_id, path).algorithm
    except (UsageError, NotInStore):
        return digests.MD5


def _digest(cursor: Cursor, version_id: int) -> str | None:
    row = cursor.one("SELECT digest FROM artifact_version WHERE id = ?", version_id)
    return row[0] if row is not None else None


def unknown_draft(token: str) -> NotInStore:
    """Return what is raised for a draft that is not there."""
    return NotInStore(f"there is no draft {token[:64]!r}: it is committed, was given up or expired; create it again")
