"""The files of a run on their way: media, saved files, what the program wrote into the run's directory.

What lies under `files/` is sent when it is there and again when it has changed; what was saved with policy "end", or
not announced at all, when the run has ended. Small files go whole, big ones in parts.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, urlencode

import msgspec

from strobe.agent.upload.content import OCTETS, SMALL_BYTES, digest, send_parts
from strobe.agent.upload.ledger import Ledger
from strobe.artifact.atomic import UNFINISHED
from strobe.data.files import PARTIAL
from strobe.home import RunDir
from strobe.remote.answer import Answer, Ok, Refused
from strobe.remote.link import Link
from strobe.remote.state import SyncState

#: a file that changes all the time is sent this often at most, before the end
_AGAIN_S = 15.0
#: refusals of a file, not of the run or of us
_OF_THE_FILE = frozenset({400, 409, 413, 415, 422})
_CHANGED = 412
_NOTHING = "none"


class _ListedFile(msgspec.Struct):
    path: str
    sha256: str


class _Listed(msgspec.Struct):
    items: list[_ListedFile]


class _File:
    """A file as found: what it is called and how it looked."""

    __slots__ = ("mtime_ns", "path", "size")

    def __init__(self, path: str, status: os.stat_result) -> None:
        self.path = path
        self.size = status.st_size
        self.mtime_ns = status.st_mtime_ns


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
        self._directories: dict[str, tuple[int, list[str]]] = {}
        self._found: deque[_File] = deque()
        self._work: Generator[Answer, None, None] | None = None
        self._sent_at: dict[str, float] = {}
        #: path → sha256 of what the server has there, as far as we know
        self._known: dict[str, str] = {}
        #: files that the server does not take, as they were then
        self._refused: dict[str, tuple[int, int]] = {}

    @property
    def num_left(self) -> int:
        return len(self._found) + (self._work is not None)

    def scan(self, *, is_final: bool) -> int:
        if not self._state.run or self._work is not None or self._found:
            return self.num_left  # the server knows the run only once it has something of it
        if self._ledger is None:
            self._ledger = Ledger(self._run_dir.path, f"{self._state.server} {self._state.run}")
        self._found.extend(file for file in self._files() if self._is_due(file, is_final))
        return self.num_left

    def advance(self) -> Answer | None:
        while self._work is not None or self._found:
            if self._work is None:
                self._work = self._send(self._found.popleft())
            try:
                return next(self._work)
            except StopIteration:
                self._work = None
        return None

    # -- finding -----------------------------------------------------------------------------------------------------

    def _is_due(self, file: _File, is_final: bool) -> bool:
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

    def _files(self) -> Iterator[_File]:
        root = self._run_dir.files
        waiting = [""]
        while waiting:
            directory = waiting.pop()
            try:
                changed_ns = os.stat(root / directory).st_mtime_ns
                known = self._directories.get(directory)
                # Media appear and are replaced by renaming, so a directory that has not changed has nothing new.
                is_quiet = known is not None and known[0] == changed_ns and directory.startswith("media")
                is_fresh = abs(time.time_ns() - changed_ns) < 2_000_000_000
                if known is not None and is_quiet:
                    waiting += known[1]
                    continue
                found, below = self._list(root, directory)
            except OSError:  # it, or something in it, has gone: the next scan sees what is left
                continue
            waiting += below
            if not is_fresh:  # within the clock's grain more may come without a sign
                self._directories[directory] = (changed_ns, below)
            yield from found

    def _list(self, root: Path, directory: str) -> tuple[list[_File], list[str]]:
        found, below = [], []
        with os.scandir(root / directory) as entries:
            for entry in entries:
                path = f"{directory}/{entry.name}" if directory else entry.name
                if entry.name.startswith(UNFINISHED) or path == PARTIAL:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append(path)
                elif entry.is_file():
                    found.append(_File(path, entry.stat()))
        return found, below

    # -- sending -----------------------------------------------------------------------------------------------------

    def _send(self, file: _File) -> Generator[Answer, None, None]:
        source = self._run_dir.files / file.path
        self._sent_at[file.path] = self._clock()
        policy = self._policies.get(file.path, "now" if file.path.startswith("media/") else "end")
        try:
            run = "/".join(quote(part, safe="") for part in self._state.run.split("/"))
            content = source.read_bytes() if file.size <= SMALL_BYTES else b""
            sha256 = hashlib.sha256(content).hexdigest() if content else (yield from digest(source))
            is_there: bool | None = None
            while is_there is None:
                # What we say it replaces keeps a request that comes late from undoing a newer one.
                said: dict[str, object] = {"policy": policy, "mtime_ns": file.mtime_ns}
                said["over"] = self._known.get(file.path, _NOTHING)
                if file.size <= SMALL_BYTES:
                    address = f"/runs/{run}/files/{quote(file.path, safe='/')}?{urlencode(said)}"
                    steps = self._send_whole(address, content)
                else:
                    said |= {"path": file.path, "size": file.size, "sha256": sha256}
                    steps = send_parts(self._link, f"/runs/{run}/uploads", said, source)
                is_there = yield from self._noting(steps, file)
                if is_there is None:
                    self._known[file.path] = yield from self._find_known(run, file.path)
        except FileNotFoundError:
            return
        except (OSError, UnicodeEncodeError) as error:
            self._refuse(file, str(error))
            return
        if is_there and self._ledger is not None:
            self._known[file.path] = sha256
            self._ledger.add(file.path, file.size, file.mtime_ns)
            self._state.num_files = len(self._ledger)

    def _send_whole(self, address: str, content: bytes) -> Generator[Answer, None, bool]:
        while True:
            answer = self._link.request("PUT", address, content, OCTETS)
            yield answer
            if isinstance(answer, Ok):
                return True
            if isinstance(answer, Refused):
                return False

    def _find_known(self, run: str, path: str) -> Generator[Answer, None, str]:
        """Return the sha256 of what the server has there."""
        while True:
            answer = self._link.request("GET", f"/runs/{run}/files?limit=1&prefix={quote(path, safe='')}")
            yield answer
            if isinstance(answer, Ok):
                found = msgspec.json.decode(answer.body, type=_Listed).items
                return next((one.sha256 for one in found if one.path == path), _NOTHING)

    def _noting(self, steps: Generator[Answer, None, bool], file: _File) -> Generator[Answer, None, bool | None]:
        """Pass the steps on; None if the server has something else there than we thought.

        A refusal of this one file must not hold up the others.
        """
        while True:
            try:
                answer = next(steps)
            except StopIteration as end:
                return bool(end.value)
            if answer.status == _CHANGED:
                return None
            if isinstance(answer, Refused) and answer.status in _OF_THE_FILE:
                self._refuse(file, answer.why)
                return False
            yield answer

    def _refuse(self, file: _File, why: str) -> None:
        self._refused[file.path] = (file.size, file.mtime_ns)
        self._state.num_left_out += 1
        self._state.error = f"file {file.path}: {why}"
