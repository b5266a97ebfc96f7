"""One big file's content to the server: in parts, of which only the missing ones are sent (small ones: `bundle`).

Generators: each step is one request (or a stretch of hashing), its answer is yielded, and after an answer that may pass
the next step tries the same again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import msgspec

from strobe.remote.answer import Answer, Ok, Refused
from strobe.remote.link import Link

#: files up to this size are sent with others in one request, without asking whether their content is known
SMALL_BYTES = 256 << 10
_READ = 64 << 10
_HASHED_AT_ONCE = 64 << 20
_OCTETS = {"Content-Type": "application/octet-stream"}

#: is told, again and again, how many bytes are left to be sent
NoteLeft = Callable[[int], None]


class UploadStatus(msgspec.Struct, kw_only=True):
    """What the server has of a content."""

    state: str
    id: str | None = None
    part_bytes: int = 0
    num_parts: int = 0
    parts: list[int] = []


# Made here, once: msgspec crashes when threads are the first to decode a type at the same moment.
_decode_status = msgspec.json.Decoder(UploadStatus).decode


class FilePart:
    """A stretch of a file as the body of a request."""

    def __init__(self, path: Path, start: int, size: int, note_left: NoteLeft, *, after: int) -> None:
        self._path = path
        self._start = start
        self._size = size
        self._note_left = note_left
        #: bytes that are to be sent after this stretch
        self._after = after

    def __len__(self) -> int:
        return self._size

    def slices(self) -> Iterator[bytes]:
        with open(self._path, "rb", buffering=0) as stream:
            stream.seek(self._start)
            left = self._size
            while left and (piece := stream.read(min(left, _READ))):
                left -= len(piece)
                self._note_left(left + self._after)
                yield piece
        if left:
            raise OSError(f"{self._path} has become shorter while it was sent")


def digest(path: Path) -> Generator[Answer, None, str]:
    """Return the file's sha256, pausing now and then. Raises OSError."""
    found = hashlib.sha256()
    with open(path, "rb", buffering=0) as stream:
        hashed = 0
        while piece := stream.read(1 << 20):
            found.update(piece)
            hashed += len(piece)
            if hashed >= _HASHED_AT_ONCE:
                hashed = 0
                yield Ok(0)
    return found.hexdigest()


def send_parts(
    link: Link, start: str, announcement: dict[str, object], path: Path, note_left: NoteLeft
) -> Generator[Answer, None, bool]:
    """Send a content in parts to the upload that `start` begins; return whether it is there."""
    while True:
        answer = link.post(start, announcement)
        yield answer
        if isinstance(answer, Refused):
            return False
        if not isinstance(answer, Ok):
            continue
        status = _decode_status(answer.body)
        if status.state == "there":
            return True
        over = announcement.get("over")
        is_complete = yield from _send_missing(link, status, path, f"?over={over}" if over else "", note_left)
        if is_complete is not None:
            return is_complete


def _send_missing(
    link: Link, status: UploadStatus, path: Path, query: str, note_left: NoteLeft
) -> Generator[Answer, None, bool | None]:
    """Send what is missing and complete the upload; None to begin anew, because the server has forgotten it."""
    size = os.stat(path).st_size
    starts = {number: number * status.part_bytes for number in range(status.num_parts) if number not in status.parts}
    sizes = {number: max(0, min(status.part_bytes, size - start)) for number, start in starts.items()}
    after = sum(sizes.values())
    for number, start in starts.items():
        after -= sizes[number]
        part = FilePart(path, start, sizes[number], note_left, after=after)
        answer = yield from _until_settled(link, "PUT", f"/uploads/{status.id}/parts/{number}", part)
        if answer.status == 404:
            return None
        if isinstance(answer, Refused):
            return False
    answer = yield from _until_settled(link, "POST", f"/uploads/{status.id}/complete{query}", b"")
    if answer.status == 404:  # somebody has completed it, or it has expired: asking again tells
        return None
    if answer.status == 409:  # the parts are another content than was announced: the file has changed meanwhile
        yield link.request("DELETE", f"/uploads/{status.id}")
    return isinstance(answer, Ok)


def _until_settled(link: Link, method: str, path: str, body: FilePart | bytes) -> Generator[Answer, None, Ok | Refused]:
    while True:
        answer = link.request(method, path, body, _OCTETS if body else None)
        if isinstance(answer, Ok) or (isinstance(answer, Refused) and answer.status in (404, 409)):
            yield Ok(answer.status)  # a step forward, whatever the caller makes of it
            return answer
        yield answer
        if isinstance(answer, Refused):
            return answer
