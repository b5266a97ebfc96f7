"""The artifacts that a run logged, on their way: the manifest first, then the contents that the project does not have.

A version carries its own id as its origin, so that sending it again, by whomever, makes no second one.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from strobe.agent.upload.bundle import Bundler
from strobe.agent.upload.content import SMALL_BYTES, digest, send_parts
from strobe.artifact.collection import Collection
from strobe.artifact.name import LATEST
from strobe.artifact.objects import Objects
from strobe.artifact.record import Version, load_metadata
from strobe.errors import ArtifactError
from strobe.home import Home, RunDir
from strobe.journal.event import ArtifactUse
from strobe.remote.answer import Answer, Ok, Refused
from strobe.remote.link import Link
from strobe.remote.state import SyncState
from strobe.wire.bundle import FileHead

_OF_THE_ARTIFACT = frozenset({400, 409, 413, 415, 422})


class _Missing(msgspec.Struct, kw_only=True):
    path: str
    digest: str
    algorithm: str
    size: int


class _Draft(msgspec.Struct, kw_only=True):
    id: str
    missing: list[_Missing] = []


class _DraftAnswer(msgspec.Struct, kw_only=True):
    state: str
    draft: _Draft | None = None


# Made here, once: msgspec crashes when threads are the first to decode a type at the same moment.
_decode_draft = msgspec.json.Decoder(_DraftAnswer).decode


class RunArtifacts:
    """Sends the versions that a run logged. `logged` grows as the journals tell of them."""

    def __init__(
        self, home: Home, run_dir: RunDir, link: Link, state: SyncState, logged: Sequence[ArtifactUse]
    ) -> None:
        self._home = home
        self._run_dir = run_dir
        self._link = link
        self._state = state
        self._logged = logged
        self._num_seen = -1
        self._found: deque[tuple[Collection, Version]] = deque()
        self._work: Generator[Answer, None, None] | None = None
        #: bytes of the versions that wait, and of what the server lacks of the one that is being sent
        self._found_bytes = self._out_bytes = 0
        self._refused: set[str] = set()
        self._bundler = Bundler(link)

    @property
    def num_left(self) -> int:
        return len(self._found) + (self._work is not None)

    @property
    def left_bytes(self) -> int:
        return self._found_bytes + self._out_bytes

    def scan(self, *, is_final: bool) -> int:
        if not self._state.run or self.num_left:
            return self.num_left
        # The store is looked through at the start, when the journals tell of something new, and at the end.
        if is_final or self._num_seen != len(self._logged):
            self._num_seen = len(self._logged)
            done = {*self._state.artifacts, *self._refused}
            found = [pair for pair in self._versions() if _name(*pair) not in done]
            self._found.extend(sorted(found, key=lambda pair: pair[1].created_ns))
            self._found_bytes = sum(version.size for _, version in self._found)
        return self.num_left

    def advance(self) -> Answer | None:
        while self._work is not None or self._found:
            if self._work is None:
                collection, version = self._found.popleft()
                self._found_bytes, self._out_bytes = self._found_bytes - version.size, version.size
                self._work = self._send(collection, version)
            try:
                return next(self._work)
            except StopIteration:
                self._work, self._out_bytes = None, 0
        return None

    def _versions(self) -> Iterator[tuple[Collection, Version]]:
        path = self._run_dir.run_path
        root = self._home.artifacts / "collections" / path.entity / path.project
        try:
            names = sorted(place.name for place in root.iterdir() if place.is_dir())
        except FileNotFoundError:
            return
        for name in names:
            collection = Collection(self._home, path.entity, path.project, name)
            for number in collection.numbers() if collection.exists() else ():
                try:
                    version = collection.version(number)
                except ArtifactError:
                    continue  # damaged or deleted meanwhile; `strobe doctor` tells
                if version.logged_by == str(path) and version.source is None:
                    yield collection, version

    # -- sending -----------------------------------------------------------------------------------------------------

    def _send(self, collection: Collection, version: Version) -> Generator[Answer, None, None]:
        name = _name(collection, version)
        steps = self._steps(collection, version)
        try:
            while True:
                try:
                    answer = next(steps)
                except StopIteration as end:
                    if end.value:
                        self._state.artifacts = [*self._state.artifacts, name]
                    return
                if isinstance(answer, Refused) and answer.status in _OF_THE_ARTIFACT:
                    self._refuse(name, answer.why)
                    return
                yield answer
        except (OSError, ArtifactError) as error:
            self._refuse(name, str(error))

    def _steps(self, collection: Collection, version: Version) -> Generator[Answer, None, bool]:
        entity, project, _ = self._state.run.split("/", 2)
        address = f"/artifacts/{quote(entity, safe='')}/{quote(project, safe='')}/drafts"
        announced = self._announcement(collection, version)
        while True:
            answer = self._link.request("POST", address, announced, {"Content-Type": "application/json"})
            yield answer
            if isinstance(answer, Refused):
                return False
            if not isinstance(answer, Ok):
                continue
            made = _decode_draft(answer.body)
            if made.state == "committed" or made.draft is None:
                return True
            if not (yield from self._send_contents(made.draft.id, made.draft.missing)):
                return False
            # Creating it again commits it, or tells what is still missing.

    def _announcement(self, collection: Collection, version: Version) -> bytes:
        edits = collection.edits(version.number) or version
        aliases = [alias for alias in collection.aliases_of(version.number) if alias != LATEST]
        fields: dict[str, Any] = {
            "name": collection.name,
            "type": collection.type,
            "manifest": msgspec.Raw(collection.manifest(version.number).encode()),
            "algorithm": version.algorithm,
            "digest": version.digest,
            "run": self._state.run.split("/", 2)[2],
            "aliases": aliases,
            "tags": edits.tags,
            "description": edits.description or "",
            "metadata": load_metadata(edits.metadata),
            "ttl_s": None if edits.ttl_s is None else max(0, int(edits.ttl_s)),
            "use_as": version.use_as,
            "step": version.step if version.step is not None and version.step >= 0 else None,
            "created_ns": version.created_ns,
            "origin": version.id,
            "commit": True,
        }
        return msgspec.json.encode(fields)

    def _send_contents(self, draft: str, missing: Sequence[_Missing]) -> Generator[Answer, None, bool]:
        self._note_left(sum(it.size for it in missing))
        small = [it for it in missing if it.size <= SMALL_BYTES]
        while small:
            count = self._bundler.num_at_once(small)
            loads = {it.path: partial(_load, self._source(it), it) for it in small[:count]}
            words = yield from self._bundler.send(f"/artifact-drafts/{draft}/files", loads)
            if words is None:
                return False
            if refused := next((word for word in words if word.status == "refused"), None):
                yield Refused(refused.reason, 422)
                return False
            self._note_left(self._out_bytes - sum(it.size for it in small[:count]))
            small = small[count:]
        for it in missing:
            if it.size > SMALL_BYTES:
                sha256 = yield from digest(self._source(it))
                said: dict[str, object] = {"path": it.path, "sha256": sha256}
                address = f"/artifact-drafts/{draft}/uploads"
                after = self._out_bytes - it.size
                note_left = partial(self._note_left, after=after)
                if not (yield from send_parts(self._link, address, said, self._source(it), note_left)):
                    return False
                self._note_left(after)
        return True

    def _note_left(self, left_bytes: int, *, after: int = 0) -> None:
        self._out_bytes = left_bytes + after

    def _source(self, it: _Missing) -> Path:
        return Objects(self._home.artifacts / "objects").path(it.digest, it.algorithm)

    def _refuse(self, name: str, why: str) -> None:
        self._refused.add(name)
        self._state.num_left_out += 1
        self._state.error = f"artifact {name}: {why}"


def _load(source: Path, it: _Missing) -> tuple[FileHead, bytes]:
    try:
        content = source.read_bytes()
    except FileNotFoundError as error:  # unlike a file of a run, it must be there
        raise OSError(f"the content of {it.path!r} is not in the home any more: {source}") from error
    return FileHead(path=it.path, size=len(content), sha256=hashlib.sha256(content).hexdigest()), content


def _name(collection: Collection, version: Version) -> str:
    return f"{collection.name}:v{version.number}"
