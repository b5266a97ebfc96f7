"""A recorded run, as `strobe.Api` gives it: what it was, what it logged, what may still be edited.

The names are wandb's, so that scripts carry over. Figures are read when first asked for; `load(force=True)` looks
again. Where the run lies, in a home or on a server, is its record's affair.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strobe.api.facts import RUNNING, Facts
from strobe.api.summary import Summary
from strobe.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strobe.api.files import File, Files
    from strobe.api.record import Record
    from strobe.api.rows import Row
    from strobe.artifact import Artifact
    from strobe.journal.digest import MetricDigest
    from strobe.journal.event import Event
    from strobe.journal.frame import Damage

# What a list of runs does not need is imported where it is used: `strobe run ls` should start at once.


class Run(Facts):
    """One run, for reading."""

    def __init__(self, record: Record) -> None:
        super().__init__(record)
        self._config: dict[str, Any] | None = None
        self._summary: Summary | None = None

    def load(self, force: bool = False) -> dict[str, Any]:
        """Read the run; with `force`, read what was added since and forget edits that were not saved."""
        if force:
            self._record.refresh()
            self._config = self._summary = None
            self._edits.clear()
        return {name: getattr(self, name) for name in ("id", "name", "state", "created_at", "tags", "config")}

    # --- what it logged

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
    def metrics(self) -> Mapping[str, MetricDigest]:
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
        found = history_forms.read_rows(self._record, keys=keys, keep=axis, attempt=attempt, stream=stream)
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

        With `keys`, only rows that have all of them, as in wandb; with `any_key`, those that have one. `page_size` is
        how many a server is asked for at once.
        """
        from strobe.api import history as history_forms
        from strobe.api.rows import between

        last = None if max_step is None else max_step - 1
        found = history_forms.read_rows(
            self._record, keys=keys, every=not any_key, first=min_step, last=last, page_size=page_size
        )
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
        for row in history_forms.read_rows(self._record, stream="system"):
            latest.update(row)
        return {key: item for key, item in latest.items() if not key.startswith("_")}

    def to_html(self) -> str:
        """Return the run as an HTML fragment: charts of its most telling metrics, and where it stands."""
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Show the run at the end of a notebook's cell."""
        from strobe.api.picture import page, picture

        definition = getattr(self.replay, "definition", None)  # a server's runs come without what the user hid
        known = {} if definition is None else {"definition": definition}
        drawn, text = picture(f"{self.name}: {self.state}", self.metrics, **known), repr(self)
        return {"text/plain": text, "text/html": page(drawn, text, url=self.url), "image/svg+xml": drawn}

    def console_logs(self, *, raw: bool = False, styles: bool = False) -> str:
        """Return what was printed, as it stood on the screen in the end: a progress bar is one line.

        `styles` keeps colours; `raw` gives the text as it was written, carriage returns and all.
        """
        return self._record.console(raw=raw, styles=styles)

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """(segment, damage) for everything in the journals that cannot be read."""
        return self.replay.damages

    # --- files and artifacts

    def files(self, names: Sequence[str] | None = None, per_page: int = 50, pattern: str | None = None) -> Files:
        """Return the run's files: all, those named, or those whose name fits the glob `pattern`."""
        from strobe.api.files import Files

        return Files(lambda: self._record.files(names), pattern=pattern)

    def file(self, name: str) -> File:
        return self._record.file(name)

    def upload_file(self, path: str, root: str = ".") -> File:
        """Add a file to the run, under its path relative to `root`."""
        source = Path(path)
        if not source.is_file():
            raise UsageError(f"{source} is not a file")
        try:
            name = source.resolve().relative_to(Path(root).resolve()).as_posix()
        except ValueError as exc:
            raise UsageError(f"{source} does not lie under {root}; give its directory as root") from exc
        return self._record.add_file(source, name)

    def logged_artifacts(self, per_page: int = 100) -> list[Artifact]:
        """Return the artifact versions that the run logged and that still exist."""
        return self._record.logged_artifacts()

    def used_artifacts(self, per_page: int = 100) -> list[Artifact]:
        """Return the artifact versions that the run used and that still exist."""
        return self._record.used_artifacts()

    # --- changing

    def update(self) -> None:
        """Save what was changed in name, tags, notes, group, job_type, config and summary."""
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
            self._record.write(events)
        self.load(force=True)

    save = update

    def delete(self, delete_artifacts: bool = False, *, force: bool = False) -> None:
        """Take the run away; `restore()` brings it back. A running one only with `force`."""
        if delete_artifacts:
            raise UsageError("artifacts are shared between runs; remove them with Artifact.delete()")
        if self.state == RUNNING and not force:
            raise UsageError(f"run {self._path} is still running; stop it first, or force the removal")
        self._record.delete()

    def restore(self) -> None:
        """Undo `delete()`."""
        self._record.restore()

    def stop(self) -> None:
        """Ask the run's process to stop, as Ctrl-C would; a server passes that on, a home cannot."""
        self._record.stop()

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
