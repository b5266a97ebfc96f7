"""A recorded run, as `strobe.Api` gives it: what it was, what it logged, what may still be edited.

The names are wandb's, so that scripts carry over. Figures come from a replay made when first asked for;
`load(force=True)` looks again. Nothing is written but edits, to a journal of their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strobe.api.facts import RUNNING, Facts
from strobe.api.summary import Summary
from strobe.errors import MissingExtra, UsageError
from strobe.home import Home, RunDir
from strobe.journal.segment import list_segments, parse_name

if TYPE_CHECKING:
    from strobe.api.files import File, Files
    from strobe.api.rows import Row
    from strobe.api.trash import Trashed
    from strobe.artifact import Artifact
    from strobe.journal import Replay
    from strobe.journal.digest import MetricDigest
    from strobe.journal.event import Event
    from strobe.journal.frame import Damage

# What a list of runs does not need is imported where it is used: `strobe run ls` should start at once.


class Run(Facts):
    """One run of a home, for reading."""

    def __init__(self, home: Home, run_dir: RunDir) -> None:
        super().__init__(home, run_dir)
        self._config: dict[str, Any] | None = None
        self._summary: Summary | None = None

    def load(self, force: bool = False) -> dict[str, Any]:
        """Read the run; with `force`, read what was added since and forget edits that were not saved."""
        if force:
            self._skim = None
            if self._replay is not None:
                self._replay.refresh()
            self._config = self._summary = None
            self._edits.clear()
        return {name: getattr(self, name) for name in ("id", "name", "state", "created_at", "tags", "config")}

    # --- what it logged

    @property
    def _rows(self) -> Replay:
        """What knows which rows count: a skim while nothing can be superseded, which spares the replay of figures."""
        attempts = {parse_name(segment)[0] for segment in list_segments(self.run_dir.journal)}
        return self.replay if self._replay is not None or len(attempts) > 1 else self._facts

    @property
    def config(self) -> dict[str, Any]:
        """The config; change it and call `update()` to save the change."""
        if self._config is None:
            self._config = dict(self._facts.config)
        return self._config

    @property
    def summary(self) -> Summary:
        """The summary; `summary.update({...})` saves at once, plain changes with `run.update()`."""
        if self._summary is None:
            self._summary = Summary(self.replay.summary, save=self.update)
        return self._summary

    @property
    def summary_metrics(self) -> dict[str, Any]:
        return dict(self.summary)

    @property
    def metrics(self) -> dict[str, MetricDigest]:
        """Digest per scalar metric: last, min, max, best, count, sparkline."""
        return self.replay.metrics

    @property
    def lastHistoryStep(self) -> int:  # noqa: N802  # wandb's name
        """The highest step in the history; -1 if there is none."""
        step = self.replay.last_step
        return -1 if step is None else step

    def history(
        self,
        samples: int | None = None,
        keys: Sequence[str] | None = None,
        x_axis: str = "_step",
        pandas: bool = True,
        stream: str = "default",
        *,
        attempt: int | None = None,
    ) -> Any:
        """Return all rows (or `samples` of them, evenly): a DataFrame if pandas is there, else a list of dicts.

        With `keys`, rows that have at least one of them; the others are null. `attempt` gives what that attempt logged,
        also what a later one superseded.
        """
        from strobe.api import history as history_forms

        axis = "_timestamp" if stream != "default" and x_axis == "_step" else x_axis
        found = history_forms.read_rows(self._rows, keys=keys, keep=axis, attempt=attempt, stream=stream)
        thinned = history_forms.thin(found, samples=samples, x_axis=axis)
        if pandas and history_forms.has_pandas():
            return history_forms.data_frame(thinned, keys=keys)
        return thinned

    def scan_history(
        self,
        keys: Sequence[str] | None = None,
        page_size: int = 1000,
        min_step: int | None = None,
        max_step: int | None = None,
        *,
        any_key: bool = False,
    ) -> Iterator[Row]:
        """Yield every row from `min_step` up to, not including, `max_step`.

        With `keys`, only rows that have all of them, as in wandb; with `any_key`, those that have one. `page_size`
        means nothing on a local home.
        """
        from strobe.api import history as history_forms
        from strobe.api.rows import between

        found = history_forms.read_rows(self._rows, keys=keys, every=not any_key)
        return between(found, min_step, max_step)

    def to_pandas(self) -> Any:
        """Return the full history as a DataFrame."""
        from strobe.api import history as history_forms

        if not history_forms.has_pandas():
            raise MissingExtra("to_pandas() needs pandas: pip install pandas")
        return self.history()

    @property
    def system_metrics(self) -> dict[str, Any]:
        """The latest system sample."""
        from strobe.api import history as history_forms

        latest: dict[str, Any] = {}
        for row in history_forms.read_rows(self.replay, stream="system"):
            latest.update(row)
        return {key: item for key, item in latest.items() if not key.startswith("_")}

    def console_logs(self, *, raw: bool = False, styles: bool = False) -> str:
        """Return what was printed, as it stood on the screen in the end: a progress bar is one line.

        `styles` keeps colours; `raw` gives the text as it was written, carriage returns and all.
        """
        from strobe.journal.screen import render_streams

        pieces = self._facts.console()
        if raw:
            return "".join(piece.text for piece in pieces)
        lines = render_streams(((piece.stream, piece.text, piece.time_ns) for piece in pieces), styles=styles)
        return "".join(f"{line}\n" for _, _, line in lines)

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """(segment, damage) for everything in the journals that cannot be read."""
        return self.replay.damages

    # --- files and artifacts

    def files(self, names: Sequence[str] | None = None, per_page: int = 50, pattern: str | None = None) -> Files:
        """Return the run's files: all, those named, or those whose name fits the glob `pattern`."""
        from strobe.api.files import Files

        return Files(self.run_dir.files, names, pattern=pattern)

    def file(self, name: str) -> File:
        from strobe.api.files import file_in

        return file_in(self.run_dir.files, name)

    def upload_file(self, path: str, root: str = ".") -> File:
        """Add a file to the run, under its path relative to `root`."""
        from strobe.api.edit import write_edits
        from strobe.api.files import take_in
        from strobe.journal.event import SavedFile

        file = take_in(self.run_dir.files, Path(path), Path(root))
        saved = SavedFile(time_ns=time.time_ns(), path=file.name, policy="now", source=str(path))
        write_edits(self.run_dir, [saved], attempt=self._last_attempt)
        return file

    def logged_artifacts(self, per_page: int = 100) -> list[Artifact]:
        """Return the artifact versions that the run logged and that still exist."""
        from strobe.artifact import store

        return store.logged_by(self._home, self._path)

    def used_artifacts(self, per_page: int = 100) -> list[Artifact]:
        """Return the artifact versions that the run used and that still exist."""
        from strobe.artifact import store

        return store.used_by(self._home, self._path)

    # --- changing

    @property
    def _last_attempt(self) -> int:
        return max((attempt.number for attempt in self.attempts), default=1)

    def update(self) -> None:
        """Save what was changed in name, tags, notes, group, job_type, config and summary."""
        from strobe.api.edit import write_edits
        from strobe.journal import event

        now = time.time_ns()
        stored = self._facts.attributes
        attributes = {key: item for key, item in self._edits.items() if item != (stored.get(key) or type(item)())}
        events: list[Event] = []
        if attributes:
            events.append(event.Attributes(time_ns=now, changes=attributes))
        if self._config is not None and (changes := _changes(self._facts.config, self._config)):
            events.append(event.Config(time_ns=now, changes=changes[0], removed=changes[1]))
        if self._summary is not None and (changes := _changes(self.replay.summary, self._summary)):
            events.append(event.Summary(time_ns=now, changes=changes[0], removed=changes[1]))
        if events:
            write_edits(self.run_dir, events, attempt=self._last_attempt)
        self.load(force=True)

    save = update

    def delete(self, delete_artifacts: bool = False, *, force: bool = False) -> Trashed:
        """Move the run to the trash (`strobe run undo` brings it back). A running one only with `force`."""
        from strobe.api import trash

        if delete_artifacts:
            raise UsageError("artifacts are shared between runs; remove them with Artifact.delete()")
        if self.state == RUNNING and not force:
            raise UsageError(f"run {self._path} is still running; stop it first, or force the removal")
        return trash.put(self._home, self.run_dir)

    def wait_until_finished(self, timeout_s: float | None = None, *, poll_s: float = 0.5) -> None:
        """Return when the run is no longer running; raise TimeoutError after `timeout_s`."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self.load(force=True)
        while self.state == RUNNING:
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"run {self._path} is still running after {timeout_s} s")
            time.sleep(poll_s)
            self.load(force=True)


def _changes(old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], list[str]] | None:
    from strobe.api.diff import same

    changed = {key: item for key, item in new.items() if key not in old or not same(old[key], item)}
    removed = [key for key in old if key not in new]
    return (changed, removed) if changed or removed else None
