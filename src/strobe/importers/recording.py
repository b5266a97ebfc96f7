"""Writes a foreign run into the home, as the SDK would have: the same writer, values, media, files and artifacts.

It is written beside the runs and moved among them when it is whole, so that a kill leaves no half of a run, and
whoever watches the home sees it at once. A writer's id comes from the identity of its start, so importing again finds
what is there; a start that is new (a run resumed since) becomes a further attempt.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from strobe._version import __version__
from strobe.api import trash
from strobe.artifact import Artifact, context
from strobe.artifact.atomic import token
from strobe.artifact.manifest import Entry
from strobe.data.files import DirectoryFiles
from strobe.errors import ArtifactError, NotImportable, UsageError
from strobe.home import Home, RunDir, RunPath
from strobe.importers.model import ForeignRun, Item, KeptFile, LoggedArtifact, Report, Row, Sample, Start
from strobe.importers.presence import is_same, writer_id, writers
from strobe.journal import event as ev
from strobe.journal.segment import Header
from strobe.journal.skim import Skim
from strobe.journal.value import with_bigints
from strobe.journal.writer import Writer, put_in_parts
from strobe.sdk.artifacts import Artifacts
from strobe.sdk.claim import claim_after, latest
from strobe.sdk.clean import clean
from strobe.sdk.files import Files
from strobe.sdk.value import Preparer, Unusual, encode_row

#: where runs are written until they are whole, beside `runs/` of the home
_STAGING = "importing"
#: what a killed import has left there goes when it is older than this
_STALE_S = 24 * 3600
#: what the fast way into a row raises for values that it does not take
_REFUSED = (Unusual, TypeError, ValueError, OverflowError, RecursionError)


@dataclass(slots=True)
class Outcome:
    """What became of a run."""

    #: imported, extended (by further attempts), present (was imported before) or empty (nothing was ever logged)
    status: str
    run_dir: RunDir
    rows: int = 0
    samples: int = 0
    files: int = 0
    artifacts: int = 0


def record(home: Home, run: ForeignRun, report: Report, *, redact: bool = True, replace: bool = False) -> Outcome:
    """Write what of `run` is not in the home yet; with `replace` all of it, and the run that was there to the trash.

    Raises NotImportable if another run has its place.
    """
    if home.run_dir(run.path).exists() and not is_same(home, run):
        raise NotImportable(f"another run has the name {run.path} in {home.path}; say --project or --entity")
    _sweep(home.path / _STAGING)
    staging = Home(home.path / _STAGING / token())
    recording = _Recording(home, staging, run.path, report, redact=redact, replace=replace)
    # What artifacts are made of lies in this home, too, until they are stored.
    belonging = context.Context(home, recording.log_artifact)
    context.enter(belonging)
    try:
        for item in run.items(report):
            recording.take(item)
        return recording.finish()
    finally:
        context.leave(belonging)
        shutil.rmtree(staging.path, ignore_errors=True)
        with suppress(OSError):  # another import is at work
            staging.path.parent.rmdir()


class _Recording:
    """The pen. To the SDK's parts that keep files and artifacts it is the run's recorder."""

    def __init__(
        self, home: Home, staging: Home, path: RunPath, report: Report, *, redact: bool, replace: bool
    ) -> None:
        self.home = home
        self.path = path
        self.run_dir = staging.run_dir(path)
        self._report = report
        self._redact = redact
        self._final = home.run_dir(path)
        self._is_new = replace or not self._final.exists()
        self._known = set() if replace else writers(self._final)
        self._attempt = 0 if replace else latest(self._final)
        self._outcome = Outcome("empty", self._final)
        self._writer: Writer | None = None
        self._system: Writer | None = None
        self._identity = ""
        self._now_ns = 0
        self._last_step = 0
        self._files = Files(self)
        self._artifacts = Artifacts(self)
        self._media = DirectoryFiles(self.run_dir.files)
        self._preparer = Preparer(self._media)

    # -- what happened -------------------------------------------------------------------------------------------------

    def take(self, item: Item) -> None:
        """Record one item; those of a start that is there already are passed over."""
        if isinstance(item, Start):
            self._start(item)
        elif self._writer is None:
            return
        elif isinstance(item, Row):
            self._put_row(self._writer, item.values, item.step, item.time_ns)
            self._now_ns, self._last_step = item.time_ns, item.step
            self._outcome.rows += 1
        elif isinstance(item, Sample):
            system = self._system_writer(self._writer.header)
            self._put_row(system, item.values, self._outcome.samples, item.time_ns)
            self._outcome.samples += 1
        elif isinstance(item, KeptFile):
            self._now_ns = item.time_ns
            self._keep(item)
        elif isinstance(item, LoggedArtifact):
            self._now_ns = item.time_ns
            self._log_artifact(item)
        elif isinstance(item, ev.Ended):
            self._end(item)
        elif isinstance(item, ev.Summary):
            changes = self._plain(item.changes, self._last_step)
            self._put(msgspec.structs.replace(item, changes=changes))
        else:
            self._put(item)

    def event(self, event: ev.Event) -> None:
        """Take an event of the SDK's parts: it happened when the item did that led to it."""
        self._put(msgspec.structs.replace(event, time_ns=self._now_ns))

    def warn(self, message: str) -> None:
        self._report.note(message)

    def _put(self, event: ev.Event) -> None:
        assert self._writer is not None, "no item comes before the first start"
        try:
            event = clean(event) if self._redact else event
            self._writer.event(event)
        except OverflowError:
            self._writer.event(with_bigints(event))
        except RecursionError:
            self._report.note(f"a {type(event).__name__.lower()} is nested too deep and was left out")

    def _start(self, start: Start) -> None:
        self._identity = start.identity
        if writer_id(self.path, start.identity, "main") in self._known:
            self._writer = None
            if self._outcome.status == "empty":
                self._outcome.status = "present"
            return
        if not self._is_new:
            self._check_order(start.started)
        self._attempt = claim_after(self.run_dir, self._attempt)
        self._writer = self._new_writer("main", start.started.time_ns)
        self._now_ns = start.started.time_ns
        self._outcome.status = "imported" if self._is_new else "extended"
        self._put(start.started)

    def _check_order(self, started: ev.Started) -> None:
        """Raise if a later start is there already: attempts are numbered in the order of time."""
        if any((attempt.started_ns or 0) > started.time_ns for attempt in Skim(self._final).attempts):
            raise NotImportable(
                f"{self.path} is there with a later start already; `strobe run rm {self.path}`, "
                "then import all its directories at once"
            )

    def _put_row(self, writer: Writer, values: dict[str, Any], step: int, at_ns: int) -> None:
        try:
            writer.row_at(values, step, at_ns)
        except _REFUSED:
            plain = self._plain(values, step)
            put_in_parts(lambda part, at_step: writer.row_at(part, at_step, at_ns), plain, step)

    def _plain(self, values: dict[str, Any], step: int) -> dict[str, Any]:
        """Return values that can be stored, media in files; what cannot be is noted."""
        prepared = self._preparer.prepare(values, step)
        for key, fault in prepared.faults.items():
            self._report.note(f"{key!r} at step {step} cannot be stored: {fault}")
        return prepared.values

    def _keep(self, kept: KeptFile) -> None:
        saved = self._files.save(kept.base / kept.path, base_path=kept.base, policy="now", glob=False)
        self._outcome.files += len(saved)

    def _log_artifact(self, logged: LoggedArtifact) -> None:
        try:
            draft = Artifact(logged.name, logged.type, description=logged.description, metadata=logged.metadata)
            for path, source in logged.files.items():
                draft.add_file(source, path)
            for path, (address, digest, size) in logged.references.items():
                draft.manifest.add(Entry(path, digest, ref=address, size=size))
            self.log_artifact(draft, aliases=logged.aliases, tags=logged.tags)
        except (ArtifactError, UsageError, OSError) as error:
            self._report.note(f"artifact {logged.name!r} was not brought over: {error}")
        else:
            self._outcome.artifacts += 1

    def log_artifact(self, draft: Artifact, **options: Any) -> None:
        """Log a draft and wait until it is stored."""
        self._artifacts.log_artifact(draft, **options).wait()

    def _end(self, ended: ev.Ended) -> None:
        self._drain()
        if self._system is not None:
            self._system.close()
        if self._writer is not None:
            self._writer.close(clean(ended) if self._redact else ended)
            self._check_written(self._writer)
        self._writer = self._system = None

    def _drain(self) -> None:
        self._files.finish()
        self._artifacts.drain()
        self._media.drain()

    # -- where it goes -------------------------------------------------------------------------------------------------

    def finish(self) -> Outcome:
        """Move what was written to its place."""
        if self._outcome.status == "imported":
            self._final.path.parent.mkdir(parents=True, exist_ok=True)
            if self._final.exists():
                trash.put(self.home, self._final)
            os.rename(self.run_dir.path, self._final.path)
        elif self._outcome.status == "extended":
            # Journals last: whoever reads a row finds its files.
            for part in (self.run_dir.files, self.run_dir.attempts, self.run_dir.journal):
                _move_into(part, self._final.path / part.name)
        return self._outcome

    def _system_writer(self, main: Header) -> Writer:
        if self._system is None:
            self._system = self._new_writer("system", main.created_ns)
        return self._system

    def _new_writer(self, kind: str, created_ns: int) -> Writer:
        header = Header(
            entity=self.path.entity,
            project=self.path.project,
            run=self.path.id,
            writer=writer_id(self.path, self._identity, kind),
            attempt=self._attempt,
            kind=kind,
            created_ns=created_ns,
            strobe=__version__,
        )
        return Writer(self.run_dir.journal, header, fsync="agent", warn=self._raise_fault, encode=encode_row)

    def _raise_fault(self, message: str) -> None:
        # A training goes on without its journal; an import that cannot write has nothing else to do.
        raise OSError(message)

    def _check_written(self, writer: Writer) -> None:
        if writer.rejected:
            raise OSError(f"{writer.rejected} records of {self.path} could not be written to {self.home.path}")


def _sweep(directory: Path) -> None:
    with suppress(FileNotFoundError):
        for left in directory.iterdir():
            if time.time() - left.stat().st_mtime > _STALE_S:
                shutil.rmtree(left, ignore_errors=True)


def _move_into(source: Path, target: Path) -> None:
    """Move the files below `source` to the same places below `target`."""
    for directory, _, names in os.walk(source):
        place = target / Path(directory).relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            os.replace(Path(directory) / name, place / name)
