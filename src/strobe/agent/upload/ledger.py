"""Which files are at which server: a line for each, appended when it has arrived.

Apart from the state of the upload because a run may have a hundred thousand images, and the state is written anew each
second. A hint like that one: a lost line costs sending a file again.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

NAME = "sync.files"


class Sent(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was when the server got it."""

    #: the run's address at the server
    place: str
    path: str
    size: int
    mtime_ns: int


_decode = msgspec.json.Decoder(Sent).decode


class Ledger:
    """The files of a run that have arrived at `place`."""

    def __init__(self, run_dir: Path, place: str) -> None:
        self._path = run_dir / NAME
        self._place = place
        self._sent: dict[str, tuple[int, int]] = {}
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError:
            lines = []
        for line in lines:
            try:
                sent = _decode(line)
            except msgspec.MsgspecError:
                continue  # torn by a kill
            if sent.place == place:
                self._sent[sent.path] = (sent.size, sent.mtime_ns)

    def __len__(self) -> int:
        return len(self._sent)

    def has(self, path: str, size: int, mtime_ns: int) -> bool:
        return self._sent.get(path) == (size, mtime_ns)

    def add(self, files: Iterable[tuple[str, int, int]]) -> None:
        """Note that the server has files (path, size, mtime_ns); on a full disk for this process only."""
        lines = bytearray()
        for path, size, mtime_ns in files:
            self._sent[path] = (size, mtime_ns)
            lines += msgspec.json.encode(Sent(self._place, path, size, mtime_ns)) + b"\n"
        with suppress(OSError), open(self._path, "ab", buffering=0) as stream:
            stream.write(lines)
