"""What a run's events add up to, in a form where the order of arrival makes no difference.

Every value carries its place in the run's total order (attempt, time, writer, sequence); of two values for one thing
the one with the greater place counts. So batches of several writers may come in any order, and a run ends up the same.
The document is kept as msgpack in the run's row; it knows nothing of rows, series or databases.
"""

from __future__ import annotations

import fnmatch
from typing import Any

import msgspec

from strobe.journal import event as ev
from strobe.journal import value
from strobe.journal.attempt import Attempt, Attempts
from strobe.journal.segment import Header

#: (attempt, order_ns, writer, sequence)
Place = tuple[int, int, str, int]
_DEFINED = ("step_metric", "step_sync", "hidden", "summary", "goal")


class Stamped(msgspec.Struct, array_like=True):
    """A value and the place where it was set; a removed one stays as a mark, so that an older value cannot return."""

    place: Place
    value: Any = None
    is_removed: bool = False


class WriterFacts(msgspec.Struct, array_like=True):
    """One writer: who it is, when it began, how it ended by its own word or by another's."""

    header: Header
    started: ev.Started | None = None
    ended: ev.Ended | None = None
    judged: ev.Ended | None = None


Stamps = dict[str, Stamped]


class Facts(msgspec.Struct):
    """Everything about a run but its rows, console and alerts."""

    attributes: Stamps = {}
    config: Stamps = {}
    #: what the user set by hand
    summary: Stamps = {}
    #: pattern → field of define_metric → value
    metrics: dict[str, Stamps] = {}
    files: Stamps = {}
    #: "action name:version" → the event
    artifacts: Stamps = {}
    writers: dict[str, WriterFacts] = {}
    #: attempt → first step that it gave up on purpose
    rewinds: dict[int, int] = {}
    #: path of the run that this one was forked from, and the last step taken over
    parent: str | None = None
    fork_step: int | None = None

    # --- taking in

    def take(self, header: Header, place: Place, event: ev.Event) -> None:
        """Take in one event; taking it in again changes nothing."""
        if isinstance(event, ev.Started):
            self._take_started(header, place, event)
        elif isinstance(event, ev.Ended):
            self._take_ended(header, event)
        elif isinstance(event, ev.Attributes):
            _set_all(self.attributes, place, event.changes)
        elif isinstance(event, ev.Config):
            _set_all(self.config, place, event.changes, event.removed)
        elif isinstance(event, ev.Summary):
            _set_all(self.summary, place, event.changes, event.removed)
        elif isinstance(event, ev.Metric):
            self._take_definition(place, event)
        elif isinstance(event, ev.SavedFile):
            _set(self.files, event.path, Stamped(place, {"policy": event.policy, "source": event.source}))
        elif isinstance(event, ev.ArtifactUse):
            name = f"{event.action} {event.name}:{event.version}"
            _set(self.artifacts, name, Stamped(place, msgspec.to_builtins(event)))

    def _writer(self, header: Header) -> WriterFacts:
        """Return what is known of the writer that says this; who judged it before could only guess its header."""
        known = self.writers.setdefault(header.writer, WriterFacts(header))
        known.header = header
        return known

    def _take_started(self, header: Header, place: Place, event: ev.Started) -> None:
        # Attributes are kept apart; the process cannot be looked for from here.
        self._writer(header).started = msgspec.structs.replace(event, attributes={}, pid=0)
        if not event.primary:
            return
        _set_all(self.attributes, place, event.attributes)
        if event.from_step is not None:
            self.rewinds[header.attempt] = event.from_step
        if event.forked_from:
            self.parent, self.fork_step = event.forked_from, event.fork_step

    def _take_ended(self, header: Header, event: ev.Ended) -> None:
        if event.writer is None or event.writer == header.writer:
            self._writer(header).ended = event
        else:
            guessed = msgspec.structs.replace(header, writer=event.writer, kind="main")
            self.writers.setdefault(event.writer, WriterFacts(guessed)).judged = event

    def _take_definition(self, place: Place, event: ev.Metric) -> None:
        fields = self.metrics.setdefault(event.name, {})
        for name in _DEFINED:
            given = getattr(event, name)
            if event.overwrite or given not in (None, []):
                _set(fields, name, Stamped(place, given))

    # --- reading

    @property
    def attempts(self) -> list[Attempt]:
        """The run's starts, in order."""
        folded = Attempts()
        for writer in self.writers.values():
            known = folded.writer(writer.header)
            known.started, known.ended = writer.started, writer.ended or writer.judged
        return folded.sorted()

    @property
    def latest_attempt(self) -> int:
        """The number of the last start that is known of; 0 if none is."""
        return max((writer.header.attempt for writer in self.writers.values() if writer.started), default=0)

    @property
    def state(self) -> str:
        """running, finished, failed, crashed, killed or preempted, as far as its writers said."""
        attempts = self.attempts
        state = attempts[-1].state if attempts else "running"
        return "preempted" if state == "crashed" and self.attribute("preempting") else state

    def attribute(self, name: str, default: Any = None) -> Any:
        found = self.attributes.get(name)
        return default if found is None or found.is_removed or found.value is None else found.value

    def definition(self, key: str) -> dict[str, Any]:
        """Return the fields of the `define_metric` that holds for `key`: an exact name, else the longest pattern."""
        if key not in self.metrics:
            matching = [
                name for name in self.metrics if any(mark in name for mark in "*?[") and fnmatch.fnmatchcase(key, name)
            ]
            if not matching:
                return {}
            key = max(matching, key=len)
        return values(self.metrics[key])


def values(stamps: Stamps) -> dict[str, Any]:
    """Return what is set, without marks of what was removed."""
    return {key: found.value for key, found in stamps.items() if not found.is_removed}


def _set(stamps: Stamps, key: str, found: Stamped) -> None:
    known = stamps.get(key)
    if known is None or known.place <= found.place:
        stamps[key] = found


def _set_all(stamps: Stamps, place: Place, changes: dict[str, Any], removed: list[str] | None = None) -> None:
    for key, item in changes.items():
        _set(stamps, key, Stamped(place, item))
    for key in removed or ():
        _set(stamps, key, Stamped(place, None, True))


_decode = msgspec.msgpack.Decoder(Facts, ext_hook=value.decode_extension).decode


def encode_facts(facts: Facts) -> bytes:
    return value.encode_decoded(facts)


def decode_facts(body: bytes) -> Facts:
    return _decode(body)
