"""The files of a run on their way: media, saved files, what the program wrote into the run's directory.

What lies under `files/` is sent when it is there and again when it has changed; what was saved with policy "end", or
not announced at all, when the run has ended. Small files go many at a time, big ones in parts.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from itertools import islice, takewhile
from typing import Literal
from urllib.parse import quote

import msgspec

from strobe.agent.upload.bundle import MAX_FILES, Bundler
from strobe.agent.upload.content import SMALL_BYTES, digest, send_parts
from strobe.agent.upload.ledger import Ledger
from strobe.agent.upload.tree import FoundFile, Tree
from strobe.home import RunDir
from strobe.remote.answer import Answer, Ok, Refused
from strobe.remote.link import Link
from strobe.remote.state import SyncState
from strobe.wire.bundle import FileHead

#: a file that changes all the time is sent this often at most, before the end
_AGAIN_S = 15.0
#: refusals of a file, not of the run or of us
_OF_THE_FILE = frozenset({400, 409, 413, 415, 422})
_CHANGED = 412
_NOTHING = "none"

#: of a file in parts: it is there; the server has something else there than we thought; it, or we, were refused for a
#: reason that may pass; it is not what it was any more, or can't be taken
_Outcome = Literal["there", "changed", "again", "gone"]


class _ListedFile(msgspec.Struct):
    path: str
    sha256: str


class _Listed(msgspec.Struct):
    items: list[_ListedFile]


# Made here, once: msgspec crashes when threads are the first to decode a type at the same moment.
_decode_list = msgspec.json.Decoder(_Listed).decode


class RunFiles:
    """Sends the files of a run. `policies` has what the journals said of saved files so far."""

    def __init__(
        self,
        run_dir: RunDir,
        link: Link,
        state: SyncState,
        policies: Mapping[str, str],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run_dir = run_dir
        self._link = link
        self._state = state
        self._policies = policies
        self._clock = clock
        self._ledger: Ledger | None = None
        self._tree = Tree(run_dir.files)
        self._found: deque[FoundFile] = deque()
        self._work: Generator[Answer, None, None] | None = None
        self._out: list[FoundFile] = []
        #: bytes of those that wait, and of those that are being sent; counted, because another thread asks for them
        self._found_bytes = self._out_bytes = 0
        self._bundler = Bundler(link)
        self._sent_at: dict[str, float] = {}
        #: path → sha256 of what the server has there, as far as we know
        self._known: dict[str, str] = {}
        #: files that the server does not take, as they were then
        self._refused: dict[str, tuple[int, int]] = {}

    @property
    def num_left(self) -> int:
        return len(self._found) + len(self._out)

    @property
    def left_bytes(self) -> int:
        return self._found_bytes + self._out_bytes

    def scan(self, *, is_final: bool) -> int:
        if not self._state.run or self._work is not None or self._found:
            return self.num_left  # the server knows the run only once it has something of it
        if self._ledger is None:
            self._ledger = Ledger(self._run_dir.path, f"{self._state.server} {self._state.run}")
        self._found.extend(file for file in self._tree.files() if self._is_due(file, is_final))
        self._found_bytes = sum(file.size for file in self._found)
        return self.num_left

    def advance(self) -> Answer | None:
        while self._work is not None or self._found:
            if self._work is None:
                self._work = self._send_next()
            try:
                return next(self._work)
            except StopIteration:
                self._work, self._out, self._out_bytes = None, [], 0
            except BaseException:
                # A fault of ours: the next round begins with them. The scan would not find them again in directories
                # that have not changed since.
                self._found.extendleft(reversed(self._out))
                self._found_bytes += sum(file.size for file in self._out)
                self._work, self._out, self._out_bytes = None, [], 0
                raise
        return None

    # -- finding -----------------------------------------------------------------------------------------------------

    def _is_due(self, file: FoundFile, is_final: bool) -> bool:
        assert self._ledger is not None
        if self._ledger.has(file.path, file.size, file.mtime_ns):
            return False
        if self._refused.get(file.path) == (file.size, file.mtime_ns):
            return False
        if is_final or file.path.startswith("media/"):
            return True
        if self._policies.get(file.path, "end") == "end":
            return False
        return self._clock() - self._sent_at.get(file.path, float("-inf")) > _AGAIN_S

    # -- sending -----------------------------------------------------------------------------------------------------

    def _send_next(self) -> Generator[Answer, None, None]:
        small = list(takewhile(lambda file: file.size <= SMALL_BYTES, islice(self._found, MAX_FILES)))
        count = self._bundler.num_at_once(small) if small else 1
        files = self._out = [self._found.popleft() for _ in range(count)]
        self._out_bytes = sum(file.size for file in files)
        self._found_bytes -= self._out_bytes
        self._sent_at.update(dict.fromkeys((file.path for file in files), self._clock()))
        run = "/".join(quote(part, safe="") for part in self._state.run.split("/"))
        return self._send_small(run, files) if small else self._send_big(run, files[0])

    def _send_small(self, run: str, files: Sequence[FoundFile]) -> Generator[Answer, None, None]:
        waiting = {file.path: file for file in files}
        digests: dict[str, str] = {}
        while waiting:
            loads = {path: partial(self._load, file, digests) for path, file in waiting.items()}
            words = yield from self._bundler.send(f"/runs/{run}/files", loads)
            if words is None:
                continue  # somebody may have changed what it was refused for
            self._note_sent([waiting[word.path] for word in words if word.status == "stored"], digests)
            for word in words:
                if word.status == "refused":
                    self._refuse(waiting[word.path], word.reason)
                elif word.status == "changed":
                    self._known[word.path] = word.there
            again = {word.path for word in words if word.status in ("changed", "damaged")}
            waiting = {path: file for path, file in waiting.items() if path in again}

    def _load(self, file: FoundFile, digests: dict[str, str]) -> tuple[FileHead, bytes]:
        with open(self._run_dir.files / file.path, "rb", buffering=0) as stream:
            content = stream.read(file.size)  # what comes after that is for the next time
        sha256 = digests[file.path] = hashlib.sha256(content).hexdigest()
        head = FileHead(
            path=file.path,
            size=len(content),
            sha256=sha256,
            policy=self._policy(file),
            mtime_ns=file.mtime_ns if file.mtime_ns >= 0 else None,
            over=self._known.get(file.path, _NOTHING),
        )
        return head, content

    def _send_big(self, run: str, file: FoundFile) -> Generator[Answer, None, None]:
        source = self._run_dir.files / file.path
        try:
            sha256 = yield from digest(source)
            outcome: _Outcome = "again"
            while outcome in ("again", "changed"):
                if outcome == "changed":
                    self._known[file.path] = yield from self._find_known(run, file.path)
                said: dict[str, object] = {"path": file.path, "size": file.size, "sha256": sha256}
                said |= {"policy": self._policy(file), "mtime_ns": file.mtime_ns if file.mtime_ns >= 0 else None}
                # What we say it replaces keeps a request that comes late from undoing a newer one.
                said["over"] = self._known.get(file.path, _NOTHING)
                steps = send_parts(self._link, f"/runs/{run}/uploads", said, source, self._note_left)
                outcome = yield from self._noting(steps, file)
        except FileNotFoundError:
            return
        except (OSError, UnicodeEncodeError) as error:
            self._refuse(file, str(error))
            return
        if outcome == "there":
            self._note_sent([file], {file.path: sha256})

    def _note_left(self, left_bytes: int) -> None:
        self._out_bytes = left_bytes

    def _policy(self, file: FoundFile) -> str:
        return self._policies.get(file.path, "now" if file.path.startswith("media/") else "end")

    def _note_sent(self, files: Sequence[FoundFile], digests: Mapping[str, str]) -> None:
        assert self._ledger is not None
        self._known.update((file.path, digests[file.path]) for file in files)
        self._ledger.add((file.path, file.size, file.mtime_ns) for file in files)
        self._state.num_files = len(self._ledger)

    def _find_known(self, run: str, path: str) -> Generator[Answer, None, str]:
        """Return the sha256 of what the server has there."""
        while True:
            answer = self._link.request("GET", f"/runs/{run}/files?limit=1&prefix={quote(path, safe='')}")
            yield answer
            if isinstance(answer, Ok):
                found = _decode_list(answer.body).items
                return next((one.sha256 for one in found if one.path == path), _NOTHING)

    def _noting(self, steps: Generator[Answer, None, bool], file: FoundFile) -> Generator[Answer, None, _Outcome]:
        """Pass the steps on, and return what came of them. A refusal of this one file must not hold up the others."""
        is_refused = False
        while True:
            try:
                answer = next(steps)
            except StopIteration as end:
                return "there" if end.value else "again" if is_refused else "gone"
            if answer.status == _CHANGED:
                return "changed"
            if isinstance(answer, Refused) and answer.status in _OF_THE_FILE:
                self._refuse(file, answer.why)
                return "gone"
            is_refused = isinstance(answer, Refused)
            yield answer

    def _refuse(self, file: FoundFile, why: str) -> None:
        self._refused[file.path] = (file.size, file.mtime_ns)
        self._state.num_left_out += 1
        self._state.error = f"file {file.path}: {why}"
