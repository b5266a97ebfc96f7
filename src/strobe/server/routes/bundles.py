"""Many small files in one request (strobe.wire.bundle): of a run, or the entries of an artifact's draft.

The body is small enough to be held; its files are then hashed, stored and referred to together, so that a file costs
its bytes and a row, and neither a request nor a blob.
"""

from __future__ import annotations

import hashlib

from strobe.errors import UsageError
from strobe.server.endpoint import Call, endpoint
from strobe.server.problem import Problem
from strobe.server.routes.artifact_drafts import DraftPlace, find_draft
from strobe.server.routes.files import RunPlace, find_run
from strobe.store.artifacts.drafts import Drafts
from strobe.store.contents import Content, Hashes
from strobe.store.files import Files, NewFile, check_over, check_place
from strobe.wire import BUNDLE
from strobe.wire.bundle import BundleReceipt, FileHead, FileWord, decode_bundle

_MAX_FILES = 1000


@endpoint(
    "POST",
    "/api/v1/runs/{entity}/{project}/{run}/files",
    path=RunPlace,
    returns=BundleReceipt,
    consumes=BUNDLE,
    access="write",
    tag="files",
    max_bytes=lambda limits: limits.bundle_bytes,
)
async def put_files(call: Call, path: RunPlace) -> BundleReceipt:
    """Put many small files of a run at once; each replaces what is there, or what its `over` says.

    The answer has a word for each, in their order. The same bundle again changes nothing.
    """
    call.refuse_at_home("files")
    run = await find_run(call, path, "write")
    await call.in_thread(call.services.store.quotas.check, run.entity, run.project)
    body = await _read(call)
    words: list[FileWord] = await call.in_thread(_put_all, call.services.store.files, run.id, body)
    return BundleReceipt(files=words)


@endpoint(
    "POST",
    "/api/v1/artifact-drafts/{draft}/files",
    path=DraftPlace,
    returns=BundleReceipt,
    consumes=BUNDLE,
    access="write",
    tag="artifacts",
    max_bytes=lambda limits: limits.bundle_bytes,
)
async def put_draft_files(call: Call, path: DraftPlace) -> BundleReceipt:
    """Send the contents of many small entries at once, and with each of all entries that have the same."""
    draft = await find_draft(call, path.draft)
    body = await _read(call)
    words: list[FileWord] = await call.in_thread(_fill_all, call.services.store.artifacts.drafts, draft.id, body)
    return BundleReceipt(files=words)


async def _read(call: Call) -> bytes:
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != BUNDLE:
        raise Problem(415, detail=f"the body is {kind or 'of no stated type'}; send {BUNDLE}")
    return await call.whole(max_bytes=call.services.settings.limits.bundle_bytes)


def _put_all(files: Files, run_id: int, body: bytes) -> list[FileWord]:
    words: list[FileWord] = []
    new: list[tuple[NewFile, memoryview]] = []
    for head, bytes_ in decode_bundle(body, max_files=_MAX_FILES):
        content = Hashes.of(bytes_)
        word = _judge(head, content)
        words.append(word)
        if word.status == "stored":
            new.append((NewFile(head.path, content, head.policy, head.mtime_ns, head.over), bytes_))
    found = iter(files.put_all(run_id, new))
    return [_changed(word, next(found)) if word.status == "stored" else word for word in words]


def _judge(head: FileHead, content: Content) -> FileWord:
    """Say what becomes of a file as far as it alone tells."""
    try:
        check_place(head.path, head.policy)
        check_over(head.over)
    except UsageError as error:
        return FileWord(path=head.path, status="refused", reason=str(error))
    return _intact(head, content.sha256)


def _intact(head: FileHead, sha256: str) -> FileWord:
    if head.sha256 != sha256:
        reason = f"its bytes have the sha256 {sha256}, not {head.sha256[:80]}; send it again"
        return FileWord(path=head.path, status="damaged", reason=reason)
    return FileWord(path=head.path, status="stored")


def _changed(word: FileWord, there: str | None) -> FileWord:
    if there is None:
        return word
    return FileWord(path=word.path, status="changed", reason=f"{there} is there", there=there)


def _fill_all(drafts: Drafts, token: str, body: bytes) -> list[FileWord]:
    sent = decode_bundle(body, max_files=_MAX_FILES)
    words = [_intact(head, hashlib.sha256(bytes_).hexdigest()) for head, bytes_ in sent]
    intact = [(head.path, bytes_) for (head, bytes_), word in zip(sent, words, strict=True) if word.status == "stored"]
    reasons = iter(drafts.put_all(token, intact))
    return [_refused(word, next(reasons)) if word.status == "stored" else word for word in words]


def _refused(word: FileWord, reason: str) -> FileWord:
    return FileWord(path=word.path, status="refused", reason=reason) if reason else word


ENDPOINTS = [put_files, put_draft_files]
