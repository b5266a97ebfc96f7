"""Reads one `.wandb` file: each record becomes what it says, in the words of `strobe.importers.model`.

Records without a time of their own happened when the one before them did. The end comes last, after the files: with
the exit record's code, or as a crash where a killed process wrote none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from strobe.importers.model import Item, KeptFile, Report, Row, Sample, Start
from strobe.importers.protobuf import Message, WireError
from strobe.importers.wandb import fields, values
from strobe.importers.wandb.artifacts import ArtifactReader
from strobe.importers.wandb.environment import from_files, from_record
from strobe.importers.wandb.frames import read_records
from strobe.importers.wandb.media import MediaReader
from strobe.journal import event as ev
from strobe.sdk.console.lines import Lines

_PROGRESS_RECORDS = 1024
#: what media in the summary are said to be of
_NO_STEP = 0
_LEVELS = ("INFO", "WARN", "ERROR")


class Log:
    """One start of a wandb run, as its file tells it. `scratch` is a directory that may be written to."""

    def __init__(self, path: Path, *, identity: str, imported: dict[str, Any], scratch: Path, report: Report) -> None:
        self._path = path
        self._files = path.parent / "files"
        self._identity = identity
        self._imported = imported
        self._report = report
        self._media = MediaReader(self._files, scratch, report)
        self._artifacts = ArtifactReader(report)
        self._is_started = False
        self._started_ns = self._now_ns = 0
        self._exit: Message | None = None
        self._config: dict[str, Any] = {}
        self._summary: dict[str, Any] = {}
        #: the last logged value of each key, which a summary need not repeat
        self._logged: dict[str, Any] = {}
        self._attributes: dict[str, Any] = {}
        self._printed: list[ev.Console] = []
        self._consoles = {name: self._console(name) for name in ("stdout", "stderr")}
        self._readers: dict[int, Callable[[Message], Iterator[Item]]] = {
            fields.Record.RUN: self._run,
            fields.Record.HISTORY: self._history,
            fields.Record.SUMMARY: self._take_summary,
            fields.Record.CONFIG: self._take_config,
            fields.Record.STATS: self._stats,
            fields.Record.OUTPUT: self._output,
            fields.Record.OUTPUT_RAW: self._output,
            fields.Record.METRIC: self._metric,
            fields.Record.ARTIFACT: self._artifact,
            fields.Record.ALERT: self._alert,
            fields.Record.ENVIRONMENT: self._environment,
            fields.Record.PREEMPTING: self._preempting,
            fields.Record.EXIT: self._take_exit,
            fields.Record.USE_ARTIFACT: partial(self._leave_out, "use of an artifact"),
            fields.Record.TENSORBOARD: partial(self._leave_out, "link to TensorBoard files"),
        }

    def items(self, before: int = 0) -> Iterator[Item]:
        """Yield what happened; `before` is how many bytes of other files were read already."""
        with self._path.open("rb") as stream:
            for number, payload in enumerate(read_records(stream, partial(self._report.lose, self._path))):
                try:
                    yield from self._read(Message(payload))
                except WireError as error:
                    self._report.note(f"{self._path}: a record cannot be understood and was left out: {error}")
                if number % _PROGRESS_RECORDS == 0:
                    self._report.progress(before + stream.tell())
        yield from self._begin()
        yield from self._end()

    def _read(self, record: Message) -> Iterator[Item]:
        for number in record.numbers:
            reader = self._readers.get(number)
            content = record.message(number) if reader is not None else None
            if reader is not None and content is not None:
                if number != fields.Record.RUN:
                    yield from self._begin()
                yield from reader(content)

    # -- the run ---------------------------------------------------------------------------------------------------

    def _begin(self, run: Message | None = None) -> Iterator[Item]:
        """Start, if that was not done; without a run record (it was lost) what the file's name says is all there is."""
        if self._is_started:
            return
        self._is_started = True
        if run is not None:
            self._attributes = run_attributes(run)
            self._started_ns = values.time_ns(run.message(fields.Run.START_TIME))
        if not self._started_ns:
            self._started_ns = int(self._path.stat().st_mtime_ns)
        self._now_ns = self._started_ns
        attributes = {**from_files(self._files), **self._attributes, "imported": self._imported}
        yield Start(self._identity, ev.Started(time_ns=self._started_ns, attributes=attributes))

    def _run(self, run: Message) -> Iterator[Item]:
        if not self._is_started:
            yield from self._begin(run)
            if (config := run.message(fields.Run.CONFIG)) is not None:
                yield from self._take_config(config)
            if run.message(fields.Run.BRANCH_POINT) is not None:
                self._report.note(f"{self._path.name}: the run was forked or rewound from another; that is not kept")
            return
        # Written again when a name changes. The config in it is older than the records of its changes.
        facts = {"tags": [], "notes": None, **run_attributes(run)}  # either may have been emptied
        before = {"tags": [], "notes": None, **self._attributes}
        changes = {key: fact for key, fact in facts.items() if before.get(key) != fact}
        if changes:
            self._attributes.update(changes)
            yield ev.Attributes(time_ns=self._now_ns, changes=changes)

    def _environment(self, record: Message) -> Iterator[Item]:
        if facts := from_record(record):
            yield ev.Attributes(time_ns=self._now_ns, changes=facts)

    def _preempting(self, record: Message) -> Iterator[Item]:
        yield ev.Attributes(time_ns=self._now_ns, changes={"preempting": True})

    def _alert(self, record: Message) -> Iterator[Item]:
        level = record.text(fields.Alert.LEVEL).upper()
        yield ev.Alert(
            time_ns=self._now_ns,
            title=record.text(fields.Alert.TITLE),
            text=record.text(fields.Alert.TEXT),
            level=level if level in _LEVELS else "INFO",
        )

    # -- config, summary, definitions --------------------------------------------------------------------------------

    def _take_config(self, record: Message) -> Iterator[Item]:
        touched = values.apply(self._config, record)
        if "_wandb" in touched:
            own = self._config.get("_wandb")
            self._media.note_panels(own.get("visualize", {}) if isinstance(own, dict) else {})
        names = sorted(touched - values.OWN_KEYS)
        if names:
            changes = {name: self._config[name] for name in names if name in self._config}
            removed = [name for name in names if name not in self._config]
            yield ev.Config(time_ns=self._now_ns, changes=changes, removed=removed)

    def _take_summary(self, record: Message) -> Iterator[Item]:
        values.apply(self._summary, record)
        return iter(())

    def _metric(self, record: Message) -> Iterator[Item]:
        options, summary, control = (
            record.message(number) for number in (fields.Metric.OPTIONS, fields.Metric.SUMMARY, fields.Metric.CONTROL)
        )
        name = record.text(fields.Metric.GLOB) or record.text(fields.Metric.NAME)
        if not name:
            return
        goal = record.integer(fields.Metric.GOAL)
        modes = [mode for number, mode in fields.Metric.SUMMARIES if summary is not None and summary.integer(number)]
        yield ev.Metric(
            time_ns=self._now_ns,
            name=name,
            step_metric=record.text(fields.Metric.STEP_METRIC) or None,
            step_sync=bool(options.integer(fields.Metric.STEP_SYNC)) or None if options else None,
            hidden=bool(options.integer(fields.Metric.HIDDEN)) or None if options else None,
            summary=modes,
            goal=fields.Metric.GOALS[goal] if 0 <= goal < len(fields.Metric.GOALS) else None,
            overwrite=bool(control is not None and control.integer(fields.Metric.OVERWRITE)),
        )

    # -- rows and samples --------------------------------------------------------------------------------------------

    def _history(self, record: Message) -> Iterator[Item]:
        logged = values.nested(record.messages(fields.History.ITEM))
        step = record.message(fields.History.STEP)
        number = logged.get("_step", 0) if step is None else step.integer(fields.History.STEP_NUMBER)
        if not isinstance(number, int) or not -(2**63) <= number < 2**63:
            raise WireError(f"a row has the step {number!r}")
        self._now_ns = values.seconds_ns(logged.get("_timestamp")) or self._now_ns
        row = {key: item for key, item in logged.items() if key not in values.OWN_KEYS}
        self._logged.update(row)
        yield Row(number, self._now_ns, self._media.row(row, number))

    def _stats(self, record: Message) -> Iterator[Item]:
        at_ns = values.time_ns(record.message(fields.Stats.TIME)) or self._now_ns
        self._now_ns = max(self._now_ns, at_ns)
        sample = values.nested(record.messages(fields.Stats.ITEM))
        yield Sample(at_ns, {f"system.{name}": item for name, item in sample.items()})

    # -- output ------------------------------------------------------------------------------------------------------

    def _console(self, stream: str) -> Lines:
        def emit(text: str) -> None:
            self._printed.append(ev.Console(time_ns=self._now_ns, stream=stream, text=text))

        return Lines(emit, clock=lambda: self._now_ns / 1e9)

    def _output(self, record: Message) -> Iterator[Item]:
        at_ns = values.time_ns(record.message(fields.Output.TIME))
        self._now_ns = max(self._now_ns, at_ns)
        is_stdout = record.integer(fields.Output.STREAM) == fields.Output.STDOUT
        self._consoles["stdout" if is_stdout else "stderr"].write(record.text(fields.Output.TEXT))
        yield from self._take_printed()

    def _take_printed(self) -> Iterator[Item]:
        yield from self._printed
        self._printed.clear()

    # -- files, artifacts, the end -----------------------------------------------------------------------------------

    def _artifact(self, record: Message) -> Iterator[Item]:
        self._media.note_contents(record.text(fields.Artifact.CLIENT_ID), self._artifacts.contents(record))
        if (logged := self._artifacts.read(record, self._now_ns)) is not None:
            yield logged

    def _leave_out(self, what: str, record: Message) -> Iterator[Item]:
        self._report.left_out[what] += 1
        return iter(())

    def _take_exit(self, record: Message) -> Iterator[Item]:
        self._exit = record
        return iter(())

    def _end(self) -> Iterator[Item]:
        for console in self._consoles.values():
            console.flush()
        yield from self._take_printed()
        summary = {
            key: item
            for key, item in self._summary.items()
            if key not in values.OWN_KEYS and not (key in self._logged and _is_same(self._logged[key], item))
        }
        if summary:
            yield ev.Summary(time_ns=self._now_ns, changes=self._media.row(summary, _NO_STEP))
        yield from self._kept_files()
        if self._exit is None:
            yield ev.Ended(time_ns=self._now_ns, state="crashed", error="the file has no end: the process was killed")
            return
        code = self._exit.integer(fields.Exit.CODE)
        runtime_ns = values.seconds_ns(self._exit.integer(fields.Exit.RUNTIME))
        ended_ns = max(self._now_ns, self._started_ns + runtime_ns)
        yield ev.Ended(time_ns=ended_ns, state="failed" if code else "finished", exit_code=code)

    def _kept_files(self) -> Iterator[Item]:
        """Yield the files of the run, but not those that came with the rows that name them."""
        for directory, _, names in sorted(os.walk(self._files)):
            for name in sorted(names):
                path = (Path(directory) / name).relative_to(self._files).as_posix()
                if path not in self._media.named:
                    yield KeptFile(self._now_ns, self._files, path)


def run_attributes(run: Message) -> dict[str, Any]:
    """Return what a run record says of the run, without what is not said."""
    git = run.message(fields.Run.GIT)
    facts = {
        "name": run.text(fields.Run.NAME),
        "group": run.text(fields.Run.GROUP),
        "job_type": run.text(fields.Run.JOB_TYPE),
        "tags": run.texts(fields.Run.TAGS),
        "notes": run.text(fields.Run.NOTES),
        "sweep_id": run.text(fields.Run.SWEEP),
        "host": run.text(fields.Run.HOST),
        "git_commit": git.text(fields.Git.COMMIT) if git else "",
        "git_remote": git.text(fields.Git.REMOTE) if git else "",
    }
    return {name: fact for name, fact in facts.items() if fact}


def _is_same(logged: Any, item: Any) -> bool:
    """Tell whether two values are equal, a NaN being equal to itself."""
    return bool(logged == item) or repr(logged) == repr(item)
