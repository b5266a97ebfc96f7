"""The way of a version into the store: manifest, missing contents, commit."""

from __future__ import annotations

import hashlib
import threading

import msgspec
import pytest

from strobe.artifact.manifest import Entry, Manifest
from strobe.errors import NotInStore, UsageError
from strobe.store.artifacts import Artifacts, Draft, DraftFacts, Version
from strobe.store.blobs.directory import DirectoryBlobs
from strobe.store.contents import Contents
from strobe.store.database import Database
from strobe.store.uploads import Uploads
from tests.store.artifacts.conftest import Log, count, manifest_of, send
from tests.store.files.conftest import NewRun

BODIES = {"a.txt": b"alpha", "dir/b.txt": b"beta", "dir/copy": b"alpha"}
FACTS = DraftFacts(name="data", type="dataset", aliases=["best", "latest"], tags=["good"])


def _create(artifacts: Artifacts, project: int, facts: DraftFacts = FACTS) -> Draft:
    draft = artifacts.drafts.create(project, facts, manifest_of(BODIES))
    assert isinstance(draft, Draft)
    return draft


def test_a_version_is_there_only_after_its_commit(artifacts: Artifacts, contents: Contents, project: int) -> None:
    draft = _create(artifacts, project)
    assert [(it.path, it.size) for it in draft.missing] == [("a.txt", 5), ("dir/b.txt", 4)]
    with pytest.raises(UsageError, match="2 contents are missing"):
        artifacts.drafts.commit(draft.id)
    with pytest.raises(NotInStore):
        artifacts.versions.get(project, "data")
    assert artifacts.collections.page(project) == []
    send(artifacts, contents, draft, BODIES)
    assert artifacts.drafts.get(draft.id).missing == []
    version = artifacts.drafts.commit(draft.id)
    assert (version.number, version.aliases, version.tags) == (0, ["latest", "best"], ["good"])
    assert version.digest == manifest_of(BODIES).digest
    assert (version.size, version.num_files) == (14, 3)
    assert artifacts.versions.get(project, "data", "best") == version
    with pytest.raises(NotInStore, match="committed"):
        artifacts.drafts.get(draft.id)


def test_committing_again_is_the_same_version(artifacts: Artifacts, log: Log, contents: Contents, project: int) -> None:
    draft = _create(artifacts, project)
    send(artifacts, contents, draft, BODIES)
    assert artifacts.drafts.commit(draft.id) == artifacts.drafts.commit(draft.id)
    again = _create(artifacts, project, DraftFacts(name="data", type="dataset"))
    first = artifacts.drafts.commit(again.id)
    log({"new": b"1"})
    assert artifacts.drafts.commit(again.id).number == first.number == 0, "though its draft was dropped"


def test_the_same_content_as_the_latest_is_the_same_version(log: Log, project: int, artifacts: Artifacts) -> None:
    first = log(BODIES)
    again = log(BODIES, aliases=["prod"])
    assert again.id == first.id
    assert again.aliases == ["latest", "prod"]
    other = log({"a.txt": b"2"})
    back = log(BODIES)
    assert [first.number, other.number, back.number] == [0, 1, 2]
    assert [version.number for version in artifacts.versions.page(project, "data")] == [2, 1, 0]


def test_a_content_that_the_project_has_is_not_asked_for(
    artifacts: Artifacts, log: Log, project: int, blobs: DirectoryBlobs
) -> None:
    log(BODIES)
    draft = artifacts.drafts.create(project, FACTS, manifest_of({**BODIES, "new": b"gamma"}))
    assert isinstance(draft, Draft)
    assert [it.path for it in draft.missing] == ["new"]
    renamed = artifacts.drafts.create(
        project, DraftFacts(name="model", type="model"), manifest_of({"x": BODIES["a.txt"]})
    )
    assert isinstance(renamed, Draft)
    assert renamed.missing == []
    assert len(list(blobs.list("sha256/"))) == 2


def test_another_projects_content_has_to_be_sent(
    artifacts: Artifacts, log: Log, contents: Contents, other_project: int, blobs: DirectoryBlobs
) -> None:
    log(BODIES)
    draft = _create(artifacts, other_project)
    assert len(draft.missing) == 2
    send(artifacts, contents, draft, BODIES)
    artifacts.drafts.commit(draft.id)
    assert len(list(blobs.list())) == 2, "but it is kept once"


def test_a_wrong_content_is_refused(artifacts: Artifacts, contents: Contents, project: int) -> None:
    draft = _create(artifacts, project)
    for body in (b"alphA", b"alpha!"):
        with contents.incoming() as incoming:
            incoming.write(body)
            with pytest.raises(UsageError, match=r"'a\.txt' is to have 5 bytes"):
                artifacts.drafts.put(draft.id, "a.txt", incoming)
    with contents.incoming() as incoming, pytest.raises(NotInStore, match="no draft has a file at 'nope'"):
        artifacts.drafts.put(draft.id, "nope", incoming)
    assert len(artifacts.drafts.get(draft.id).missing) == 2
    assert list(contents.blobs.list()) == []


def test_a_big_entry_comes_in_parts(artifacts: Artifacts, uploads: Uploads, project: int) -> None:
    body = bytes(range(256)) * 10
    draft = artifacts.drafts.create(project, FACTS, manifest_of({"big": body}))
    assert isinstance(draft, Draft)
    row_id, expected = artifacts.drafts.expected(draft.id, "big")
    upload = uploads.start(
        "draft", row_id, "big", size=expected.size, sha256=hashlib.sha256(body).hexdigest(), algorithm="MD5"
    )
    for number in upload.missing:
        with uploads.part(upload, number) as part:
            part.write(body[number * 1000 : number * 1000 + 1000])
            uploads.put_part(upload.id, part)
    uploads.complete(upload.id)
    version = artifacts.drafts.commit(draft.id)
    assert b"".join(artifacts.versions.read(artifacts.versions.entry(version, "big"))) == body


def test_sending_a_version_again_makes_no_other(log: Log) -> None:
    first = log(BODIES, origin="v0-of-laptop")
    second = log({"a": b"1"}, origin="v1-of-laptop")
    assert [log(BODIES, origin="v0-of-laptop").id, log({"a": b"1"}, origin="v1-of-laptop").id] == [first.id, second.id]


def test_that_holds_for_one_that_became_a_version_that_was_there(log: Log) -> None:
    first = log(BODIES, origin="of-another")
    assert log(BODIES, origin="mine").id == first.id
    log({"a": b"1"})
    assert log(BODIES, origin="mine").id == first.id


def test_commits_at_once_get_numbers_of_their_own(artifacts: Artifacts, contents: Contents, project: int) -> None:
    drafts = []
    for number in range(6):
        bodies = {"x": b"%d" % (number // 2)}  # pairs of the same
        draft = artifacts.drafts.create(project, FACTS, manifest_of(bodies))
        assert isinstance(draft, Draft)
        send(artifacts, contents, draft, bodies)
        drafts.append(draft.id)
    made: list[Version] = []
    threads = [
        threading.Thread(target=lambda token=token: made.append(artifacts.drafts.commit(token))) for token in drafts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 6
    numbers = [version.number for version in artifacts.versions.page(project, "data")]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[-1] == 0
    assert len(set(numbers)) == len(numbers) == numbers[0] + 1
    assert artifacts.versions.get(project, "data").aliases[0] == "latest"


def test_the_type_of_a_name_is_fixed(log: Log) -> None:
    log(BODIES)
    with pytest.raises(UsageError, match="has type 'dataset' already"):
        log(BODIES, type="model")


@pytest.mark.parametrize(
    "facts",
    [
        {"name": "a/b"},
        {"name": ""},
        {"type": ""},
        {"aliases": ["v3"]},
        {"aliases": ["a/b"]},
        {"tags": ["-"]},
        {"ttl_s": 0},
        {"origin": "a/b"},
    ],
)
def test_names_that_can_not_be(log: Log, database: Database, facts: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        log(BODIES, **{"name": "data", "type": "dataset", **facts})
    assert count(database, "artifact_version") == 0


@pytest.mark.parametrize(
    "entry",
    [
        Entry("a", "not base64", size=1),
        Entry("a", "", size=1),
        Entry("a", "XrY7u+Ae7tCTyyK7j1rNww==", size=-1),
        Entry("a", "XrY7u+Ae7tCTyyK7j1rNww==", size=None),
        Entry("a", "XrY7u+Ae7tCTyyK7j1rNww==", size=1.5),  # type: ignore[arg-type]  # as JSON may have it
        Entry("a", 7, size=1),  # type: ignore[arg-type]
        Entry("a", "XrY7u+Ae7tCTyyK7j1rNww==", size=1, algorithm="CRC"),
        Entry("a\\..\\..\\b", "XrY7u+Ae7tCTyyK7j1rNww==", size=1),
        Entry("a", "x", ref=7),  # type: ignore[arg-type]
    ],
)
def test_entries_that_can_not_be(artifacts: Artifacts, project: int, entry: Entry) -> None:
    with pytest.raises(UsageError):
        artifacts.drafts.create(project, FACTS, Manifest({entry.path: entry}))


def test_manifests_come_back_as_they_were(artifacts: Artifacts, log: Log, project: int, contents: Contents) -> None:
    manifest = manifest_of(BODIES)
    manifest.add(Entry("raw", "etag-1", ref="s3://bucket/raw", extra={"versionID": "7", "etag": "x"}))
    manifest.add(Entry("sized", "etag-2", ref="https://x/y", size=10**12))
    draft = artifacts.drafts.create(project, FACTS, manifest)
    assert isinstance(draft, Draft)
    assert [it.path for it in draft.missing] == ["a.txt", "dir/b.txt"], "references are not sent"
    send(artifacts, contents, draft, BODIES)
    version = artifacts.drafts.commit(draft.id)
    found = artifacts.versions.manifest(version)
    assert msgspec.json.decode(found.encode()) == msgspec.json.decode(manifest.encode())
    assert found.digest == manifest.digest == version.digest
    with pytest.raises(UsageError, match="reference to 's3://bucket/raw'"):
        artifacts.versions.read(artifacts.versions.entry(version, "raw"))


def test_giving_up_and_expiring(artifacts: Artifacts, contents: Contents, database: Database, project: int) -> None:
    one = _create(artifacts, project)
    artifacts.drafts.abort(one.id)
    with pytest.raises(NotInStore):
        artifacts.drafts.commit(one.id)
    _create(artifacts, project)
    assert artifacts.drafts.expire(contents.clock() - 10**12) == 0
    assert artifacts.drafts.expire(contents.clock() + 1) == 1
    assert count(database, "artifact_entry") == 0


def test_who_logged_it(log: Log, artifacts: Artifacts, new_run: NewRun) -> None:
    one, two = new_run("one"), new_run("two")
    version = log(BODIES, run_id=one, step=7, use_as="train", created_ns=5)
    assert (version.logged_by, version.step, version.use_as, version.created_ns) == ("me/p/one", 7, "train", 5)
    assert log(BODIES, run_id=two).logged_by == "me/p/one", "the first, though both have logged it"
    assert [(use.run, use.role) for use in artifacts.lineage.runs(version.id)] == [
        ("me/p/one", "logged"),
        ("me/p/two", "logged"),
    ]
