"""A replay: what all journals of a run add up to, as of the last `refresh()`.

State, config, summary and digests are folded as records are read and held; rows are read again from the files when
somebody asks for them, so that a replay of a long run stays small.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Iterator
from typing import Any

from strobe.home import Home, RunDir, RunPath
from strobe.journal import event as ev
from strobe.journal.attempt import Attempt, Attempts
from strobe.journal.digest import MetricDigest
from strobe.journal.entry import Noted, Row
from strobe.journal.frame import Damage
from strobe.journal.goal import goal_of
from strobe.journal.history import HISTORY_KINDS, Clips, DigestBook, NumberedRow, iter_scalars, merge_rows, order
from strobe.journal.reader import JournalReader
from strobe.journal.segment import Header


class Replay:
    """Everything known about one run. `refresh()` reads what was appended since, also by other processes."""

    def __init__(self, run_dir: RunDir, *, before: int | None = None) -> None:
        self.run_dir = run_dir
        #: this attempt and later ones are left out: what the run was when it began
        self._before = math.inf if before is None else before
        self.path: RunPath = run_dir.run_path
        self.attributes: dict[str, Any] = {}
        self.config: dict[str, Any] = {}
        self.definitions: dict[str, ev.Metric] = {}
        self.files: dict[str, ev.SavedFile] = {}
        self.artifacts: list[ev.ArtifactUse] = []
        self.alerts: list[ev.Alert] = []
        #: whether the last refresh stopped early because its caller had no more time
        self.is_partial = False
        self._reader = JournalReader(run_dir.journal)
        self._attempts = Attempts()
        self._clips = Clips()
        self._book = DigestBook()
        self._explicit: dict[str, tuple[int, Any]] = {}
        self._removed: dict[str, int] = {}
        self._parent: Replay | None = None
        self._fork_step = -1
        self._metrics: dict[str, MetricDigest] | None = None
        self._exact: dict[tuple[int, str, float], MetricDigest] = {}

    # -- reading -----------------------------------------------------------------------------------------------------

    def refresh(self, *, keep_going: Callable[[], bool] | None = None) -> bool:
        """Read what was appended since; return whether there was anything. Stops early when `keep_going` says no."""
        events: list[tuple[tuple[int, int, str, int], Header, ev.Event]] = []
        changed = False
        self.is_partial = False
        for count, (header, entry) in enumerate(self._reader.poll()):
            if header.attempt >= self._before:
                continue
            changed = True
            if isinstance(entry, Noted):
                place = (header.attempt, entry.order_ns, header.writer, entry.sequence)
                events.append((place, header, entry.event))
            else:
                self._take_row(header, entry)
            if keep_going is not None and count % 1024 == 1023 and not keep_going():
                self.is_partial = True
                break
        for (_, order_ns, _, _), header, event in sorted(events, key=lambda item: item[0]):
            self._take_event(header, event, order_ns)
        if changed:
            self._metrics = None
        return changed

    def assume_end(self, header: Header, ended: ev.Ended) -> None:
        """Take an end for granted that a partial refresh did not get to read."""
        self._take_event(header, ended, ended.time_ns)

    def _take_row(self, header: Header, row: Row) -> None:
        if header.kind not in HISTORY_KINDS:
            return
        self._clips.note_row(header, row)
        self._book.add(header, row)

    def _take_event(self, header: Header, event: ev.Event, order_ns: int) -> None:
        if isinstance(event, ev.Started):
            self._attempts.note_started(header, event)
            if event.primary:
                self.attributes.update(event.attributes)
                self._clips.note_from_step(header.attempt, event.from_step)
                if event.forked_from:
                    self._take_parent(event)
        elif isinstance(event, ev.Ended):
            self._attempts.note_ended(header, event)
        elif isinstance(event, ev.Attributes):
            self.attributes.update(event.changes)
        elif isinstance(event, ev.Config):
            self.config.update(event.changes)
            for key in event.removed:
                self.config.pop(key, None)
        elif isinstance(event, ev.Summary):
            self._take_summary(event, order_ns)
        elif isinstance(event, ev.Metric):
            self._take_definition(event)
        elif isinstance(event, ev.SavedFile):
            self.files[event.path] = event
        elif isinstance(event, ev.ArtifactUse):
            self.artifacts.append(event)
        elif isinstance(event, ev.Alert):
            self.alerts.append(event)

    def _take_summary(self, event: ev.Summary, order_ns: int) -> None:
        for key, item in event.changes.items():
            self._explicit[key] = (order_ns, item)
            self._removed.pop(key, None)
        for key in event.removed:
            self._explicit.pop(key, None)
            self._removed[key] = order_ns

    def _take_definition(self, event: ev.Metric) -> None:
        earlier = self.definitions.get(event.name)
        if earlier is not None and not event.overwrite:
            import msgspec

            given = {
                name: item
                for name in ("step_metric", "step_sync", "hidden", "summary", "goal")
                if (item := getattr(event, name)) not in (None, [])
            }
            event = msgspec.structs.replace(earlier, time_ns=event.time_ns, **given)
        self.definitions[event.name] = event

    def _take_parent(self, event: ev.Started) -> None:
        home = Home(self.run_dir.path.parents[3])
        parent = Replay(home.run_dir(RunPath.parse(event.forked_from or "")))
        parent.refresh()
        self._parent, self._fork_step = parent, event.fork_step if event.fork_step is not None else -1
        self.definitions = {**parent.definitions, **self.definitions}

    @property
    def _inherited_until(self) -> int:
        """The last step taken over from the parent: that of the fork, or an earlier one that it was rewound to."""
        return int(min(self._fork_step, self._clips.rewound_to() - 1))

    # -- state -------------------------------------------------------------------------------------------------------

    @property
    def attempts(self) -> list[Attempt]:
        return self._attempts.sorted()

    @property
    def state(self) -> str:
        """running, finished, failed, crashed, killed or preempted, as the latest attempt stands."""
        latest = self._attempts.latest
        state = latest.state if latest else "running"
        return "preempted" if state == "crashed" and self.attributes.get("preempting") else state

    @property
    def started_ns(self) -> int:
        return min((a.started_ns for a in self._attempts.by_number.values() if a.started_ns), default=0)

    @property
    def ended_ns(self) -> int | None:
        latest = self._attempts.latest
        return latest.ended_ns if latest else None

    @property
    def _last_end(self) -> ev.Ended | None:
        latest = self._attempts.latest
        return latest.end if latest else None

    @property
    def exit_code(self) -> int | None:
        return self._last_end.exit_code if self._last_end else None

    @property
    def error(self) -> str | None:
        return self._last_end.error if self._last_end else None

    @property
    def share(self) -> float | None:
        """Strobe's own part of the run's time, as the writer sampled it."""
        return self._last_end.share if self._last_end else None

    @property
    def rejected(self) -> int:
        return sum(attempt.rejected for attempt in self._attempts.by_number.values())

    @property
    def num_rows(self) -> int:
        return self._book.num_rows

    @property
    def last_step(self) -> int | None:
        """The highest step in the history, or None."""
        steps = [digest.last_step for digest in self.metrics.values() if digest.last_step is not None]
        for attempt, by_key in self._book.object_steps.items():
            for key, (lowest, highest) in by_key.items():
                clip = self._clips.clip(attempt, key)
                if lowest < clip:
                    steps.append(int(min(highest, clip - 1)))
        if self._parent is not None and (inherited := self._parent.last_step) is not None:
            steps.append(min(inherited, self._inherited_until))
        return max(steps, default=None)

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """(segment, damage) for everything in the journals that cannot be read."""
        return self._reader.damages

    @property
    def journal(self) -> JournalReader:
        return self._reader

    # -- metrics and summary -----------------------------------------------------------------------------------------

    def definition(self, key: str) -> ev.Metric | None:
        """Return the `define_metric` that holds for `key`: an exact name, else the most specific pattern."""
        found = self.definitions.get(key)
        if found is not None:
            return found
        matching = [
            metric
            for name, metric in self.definitions.items()
            if any(mark in name for mark in "*?[") and fnmatch.fnmatchcase(key, name)
        ]
        # The one that spells out most of the key.
        return max(matching, key=lambda metric: len(metric.name), default=None)

    @property
    def metrics(self) -> dict[str, MetricDigest]:
        """Digest per scalar metric (nested values under dotted names), without superseded tails."""
        if self._metrics is None:
            self._metrics = self._fold_metrics()
        return self._metrics

    def _fold_metrics(self) -> dict[str, MetricDigest]:
        folded: dict[str, MetricDigest] = dict(self._parent_metrics())
        overlapping: set[str] = set()
        for number in sorted(self._book.by_attempt):
            for key, digest in self._clipped(number).items():
                earlier = folded.get(key)
                if earlier is None:
                    folded[key] = digest
                elif digest.count:
                    if earlier.count and (digest.first_step or 0) <= (earlier.last_step or 0):
                        overlapping.add(key)
                    folded[key] = earlier.merge(digest)
        if overlapping:
            folded.update(self._digest_merged(overlapping))
        for key, digest in folded.items():
            metric = self.definition(key)
            digest.goal = goal_of(key, metric.goal, metric.summary) if metric else goal_of(key, None, ())
        return {key: digest for key, digest in folded.items() if digest.count}

    def _digest_merged(self, keys: set[str]) -> dict[str, MetricDigest]:
        """Digest metrics whose attempts overlap (a later one went back below its own start) from the merged history."""
        points: dict[str, list[tuple[int, float | int, int]]] = {key: [] for key in keys}
        for row in self.rows():
            for top, item in row.items():
                for key, number in iter_scalars(top, item):
                    if key in points:
                        points[key].append((row["_step"], number, 0))
        return {key: MetricDigest.of(found) for key, found in points.items()}

    def _clipped(self, attempt: int) -> dict[str, MetricDigest]:
        clipped: dict[str, MetricDigest] = {}
        inexact: dict[str, float] = {}
        logged = self._book.last_values
        for key, digest in self._book.by_attempt[attempt].items():
            clip = self._clips.clip(attempt, _top_level(key, logged))
            reaches = digest.last_step is not None and digest.last_step >= clip
            if not digest.disordered and not reaches:
                clipped[key] = digest.closed()
            elif clip < math.inf and (attempt, key, clip) in self._exact and not digest.disordered:
                clipped[key] = self._exact[attempt, key, clip]
            else:
                inexact[key] = clip
        if inexact:
            clipped.update(self._recompute(attempt, inexact))
        return clipped

    def _recompute(self, attempt: int, clips: dict[str, float]) -> dict[str, MetricDigest]:
        points: dict[str, dict[int, tuple[tuple[int, str, int], float | int]]] = {key: {} for key in clips}
        for header, row in self._iter_rows():
            if header.attempt != attempt:
                continue
            place = (row.order_ns, header.writer, row.sequence)
            for top, item in row.items():
                for key, number in iter_scalars(top, item):
                    known = points.get(key)
                    if (
                        known is not None
                        and row.step < clips[key]
                        and (row.step not in known or known[row.step][0] <= place)
                    ):
                        known[row.step] = (place, number)
        for key, known in points.items():
            ordered = ((step, number, place[0]) for step, (place, number) in sorted(known.items()))
            self._exact[attempt, key, clips[key]] = MetricDigest.of(ordered)
        return {key: self._exact[attempt, key, clips[key]] for key in clips}

    def _parent_metrics(self) -> dict[str, MetricDigest]:
        if self._parent is None:
            return {}
        points: dict[str, list[tuple[int, float | int, int]]] = {}
        for row in self._parent.rows():
            if row["_step"] <= self._inherited_until:
                for top, item in row.items():
                    if not top.startswith("_"):
                        for key, number in iter_scalars(top, item):
                            points.setdefault(key, []).append((row["_step"], number, int(row["_timestamp"] * 1e9)))
        return {key: MetricDigest.of(found) for key, found in points.items()}

    @property
    def summary(self) -> dict[str, Any]:
        """The last value of every key (or what `define_metric` asks for), with what the user set by hand on top."""
        result: dict[str, Any] = {}
        last_values = self._last_values()
        for key, (time_ns, item) in last_values.items():
            if self._removed.get(key, -1) < time_ns:
                computed = self._summarize(key, item)
                if computed is not None or item is None:
                    result[key] = computed
        for key, (time_ns, item) in self._explicit.items():
            logged = last_values.get(key)
            if logged is None or logged[0] <= time_ns or key not in result:
                result[key] = item
        return result

    def _last_values(self) -> dict[str, tuple[int, Any]]:
        """Return (time, value) of the last value of each key, without what a rewind gave up."""
        logged = self._book.last_values
        found = {key: (place[1], item) for key, (place, item) in logged.items()}
        gone = {key for key, (place, _) in logged.items() if self._clips.rewound_to(place[0]) < math.inf}
        for key in gone:
            del found[key]
        for row in (self._parent_rows(None) or {}).values():
            time_ns = int(row["_timestamp"] * 1e9)
            own = {key: (time_ns, item) for key, item in row.items() if key in gone or key not in logged}
            found.update((key, value) for key, value in own.items() if not key.startswith("_"))
        if gone:
            found.update(self._last_by_step(gone))
        return found

    def _last_by_step(self, keys: set[str]) -> dict[str, tuple[int, Any]]:
        """Return (time, value) at the highest step of each key that counts: how a history that was cut off ends."""
        latest: dict[str, tuple[tuple[int, tuple[int, int, str, int]], int, Any]] = {}
        for header, row in self._iter_rows():
            for key, item in row.items():
                if key in keys and row.step < self._clips.clip(header.attempt, key):
                    place = (row.step, order((header, row)))
                    if key not in latest or latest[key][0] <= place:
                        latest[key] = (place, row.order_ns, item)
        return {key: (time_ns, item) for key, (_, time_ns, item) in latest.items()}

    def _summarize(self, key: str, item: Any) -> Any:
        metric = self.definition(key)
        modes = metric.summary if metric else []
        digest = self.metrics.get(key) if modes else None
        if not modes or modes == ["copy"] or digest is None:
            return None if modes == ["none"] else item
        if "none" in modes:
            return None
        values = {"min": digest.min, "max": digest.max, "mean": digest.mean, "first": digest.first}
        values |= {"last": digest.last, "best": digest.best, "copy": digest.last}
        return {mode: values[mode] for mode in modes}

    # -- rows --------------------------------------------------------------------------------------------------------

    def rows(self, keys: list[str] | None = None, attempt: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the history merged by step, ascending; with `attempt`, what that attempt logged, superseded or not."""
        wanted = None if keys is None else set(keys)
        found: list[NumberedRow] = []
        for header, row in self._iter_rows():
            if attempt is not None and header.attempt != attempt:
                continue
            if wanted is None:
                found.append((header, row))
            elif not wanted.isdisjoint(row.keys):
                found.append((header, row.only(wanted)))
        clip = None if attempt is not None or self._clips.is_empty else self._clips.clip
        base = self._parent_rows(wanted) if attempt is None else None
        for merged in merge_rows(found, clip, base=base, origin_ns=self.started_ns):
            if wanted is None or not wanted.isdisjoint(merged):
                yield merged

    def _parent_rows(self, wanted: set[str] | None) -> dict[int, dict[str, Any]] | None:
        if self._parent is None:
            return None
        keys = None if wanted is None else list(wanted)
        return {row["_step"]: row for row in self._parent.rows(keys) if row["_step"] <= self._inherited_until}

    def system_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the system samples in the order of time."""
        reader = JournalReader(self.run_dir.journal)
        found = [
            (row.time_ns, dict(row.items()))
            for header, row in reader.poll()
            if header.kind == "system" and isinstance(row, Row)
        ]
        for time_ns, sample in sorted(found, key=lambda pair: pair[0]):
            yield {"_timestamp": time_ns / 1e9, "_runtime": (time_ns - self.started_ns) / 1e9, **sample}

    def console(self) -> Iterator[ev.Console]:
        """Yield what the processes wrote, in the order of time."""
        reader = JournalReader(self.run_dir.journal)
        found = [e.event for _, e in reader.poll() if isinstance(e, Noted) and isinstance(e.event, ev.Console)]
        yield from sorted(found, key=lambda event: event.time_ns)

    def _iter_rows(self) -> Iterator[NumberedRow]:
        for header, entry in JournalReader(self.run_dir.journal).poll():
            if isinstance(entry, Row) and header.kind in HISTORY_KINDS and header.attempt < self._before:
                yield header, entry


def _top_level(key: str, known: dict[str, Any]) -> str:
    """Return the logged key that a (perhaps dotted) metric came from."""
    name = key
    while name not in known and "." in name:
        name = name.rpartition(".")[0]
    return name if name in known else key
