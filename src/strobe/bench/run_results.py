"""Results as the runs of a store carry them: read once, kept in memory as far as a page needs them.

Of a row's newest result, as `newest` of pairing chooses it, the page shows every step; of others the scores are
enough, and a thousand of them fit into a few megabytes. What a run carries is what somebody sent: what is no record, or
is out of all bounds, is left out and counted. Knows the store, not HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from strobe.bench.compare.pairing import Place, machine, rank, row_key
from strobe.bench.records import SCHEMA, Record
from strobe.bench.table import is_row
from strobe.bench.tracker import FILE, JOB_TYPE
from strobe.errors import NotInStore
from strobe.store.files import RunFile
from strobe.store.store import Store
from strobe.store.values import Question

#: the newest so many results are read
MAX_RESULTS = 3_000
_MAX_BYTES = 16 << 20
#: beyond these a score is no measurement, and a page that is to show it, what it costs, or the noise of several that
#: lie so far apart, could not be written
_MIN_VALUE, _MAX_VALUE = 1e-50, 1e50
#: a longer number of threads is none
_MAX_DIGITS = 9
_PAGE = 1_000
# Made here, once: msgspec crashes when threads are the first to decode a type at the same moment.
_decode_record = msgspec.json.Decoder(Record).decode
_QUESTION = Question(filters={"job_type": JOB_TYPE})


@dataclass(frozen=True, slots=True)
class Found:
    """The results of some projects, oldest first."""

    records: list[Record]
    #: id of a result → entity, project and id of its run
    runs: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    #: runs whose record cannot be read
    num_unreadable: int = 0
    #: older results that were not read
    num_older: int = 0
    #: runs that carry a result, as `count` counts them
    num_results: int = 0


@dataclass(frozen=True, slots=True)
class Tally:
    """How many results the runs of a project carry, and when the last of them came."""

    num_results: int
    newest_ns: int


def count(store: Store, project: tuple[str, str], *, now_ns: int) -> Tally:
    """Return how many runs of a project carry a result; without reading any, so whatever is in it."""
    came_ns = [file.uploaded_ns for file in _files(store, project, now_ns)]
    return Tally(len(came_ns), max(came_ns, default=0))


@dataclass(slots=True)
class RunResults:
    """Reads results, and remembers them by the content that they were read from."""

    _known: dict[str, Record | None] = field(default_factory=dict)

    def read(self, store: Store, projects: Sequence[tuple[str, str]], *, now_ns: int) -> Found:
        """Return the results of the runs of these projects."""
        files = [(file, project) for project in projects for file in _files(store, project, now_ns)]
        files.sort(key=lambda one: one[0].uploaded_ns, reverse=True)
        read = {file.sha256: file for file, _ in files[:MAX_RESULTS]}
        places = {file.sha256: project for file, project in files}
        newest: dict[Place, tuple[tuple[bool, str], str]] = {}
        for digest, file in read.items():
            if digest not in self._known:
                self._known[digest] = _decode(store, file)
            if (record := self._known[digest]) is not None:
                row = (machine(record.environment), row_key(record))
                older, newest[row] = sorted((newest.get(row, ((False, ""), "")), (rank(record), digest)))
                self._lighten(older[1])
        for _, digest in newest.values():
            if _lacks_steps(self._known[digest]):  # there was a newer one when it was read
                self._known[digest] = _decode(store, read[digest])
        carried = {digest: record for digest in read if (record := self._known[digest]) is not None}
        self._forget()
        return Found(
            records=sorted(carried.values(), key=lambda record: record.id),
            runs={record.id: (*places[digest], record.id) for digest, record in carried.items()},
            num_unreadable=len(read) - len(carried),
            num_older=max(0, len(files) - MAX_RESULTS),
            num_results=len(files),
        )

    def _lighten(self, digest: str) -> None:
        """Drop the times of single steps, which are nearly all of a record."""
        if (record := self._known.get(digest)) is not None:
            light = tuple(msgspec.structs.replace(repeat, wall_s=(), cpu_s=()) for repeat in record.repeats)
            self._known[digest] = msgspec.structs.replace(record, repeats=light)

    def _forget(self) -> None:
        """Let go of what was read first; a few projects' worth is kept."""
        for digest in list(self._known)[: -2 * MAX_RESULTS]:
            del self._known[digest]


def _files(store: Store, project: tuple[str, str], now_ns: int) -> Iterator[RunFile]:
    after: str | None = None
    while True:
        page = store.values.page(*project, _QUESTION, now_ns=now_ns, limit=_PAGE, after=after)
        for run_id in page.run_ids:
            try:
                yield store.files.get(run_id, FILE)
            except NotInStore:
                continue  # on its way, or a run of somebody's own that only has our job type
        if page.cursor is None:
            return
        after = page.cursor


def _decode(store: Store, file: RunFile) -> Record | None:
    if file.size > _MAX_BYTES:
        return None
    try:
        record = _decode_record(b"".join(store.files.read(file)))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return record if record.schema <= SCHEMA and is_row(record) and _is_sane(record) else None


def _is_sane(record: Record) -> bool:
    """Whether the page can be written with it: one that somebody made up must not take it from all others."""
    times = (time for repeat in record.repeats for time in repeat.wall_s)
    place, limit = record.environment, record.latency
    return (
        all(value == 0 or _MIN_VALUE < value < _MAX_VALUE for values in (record.samples, times) for value in values)
        and (limit is None or 0 < limit.percentile / 100 <= 1)
        and abs(place.memory_bytes) < _MAX_VALUE
        and len(place.software.get("threads", "")) <= _MAX_DIGITS
    )


def _lacks_steps(record: Record | None) -> bool:
    return record is not None and bool(record.repeats) and not any(repeat.wall_s for repeat in record.repeats)
