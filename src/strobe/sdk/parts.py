"""What a run does besides logging rows, each thing done by a part of its own.

Parts are made on first use: a script that never saves a file never loads the code for it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cached_property
from time import time_ns
from typing import TYPE_CHECKING, Any

from strobe.artifact import context
from strobe.data.files import DirectoryFiles
from strobe.environment.redact import redact
from strobe.errors import UsageError
from strobe.journal import event as ev
from strobe.journal.event import Metric
from strobe.sdk import metric
from strobe.sdk.config.config import Config
from strobe.sdk.console.capture import ConsoleCapture
from strobe.sdk.outside import is_from_outside
from strobe.sdk.summary import Summary

if TYPE_CHECKING:
    from pathlib import Path

    from strobe.artifact import Artifact
    from strobe.home import RunDir
    from strobe.journal.replay import Replay
    from strobe.sdk.artifacts import Artifacts
    from strobe.sdk.files import Files
    from strobe.sdk.notebook import NotebookView
    from strobe.sdk.recorder import Recorder
    from strobe.sdk.resume import Plan
    from strobe.sdk.value import Preparer
    from strobe.sdk.watch import Watch
    from strobe.settings import Resolved

#: the end block may read the journal for this long, or this part of the run's time, whichever is more
_END_BLOCK_S = 1.0
_END_BLOCK_SHARE = 0.02
#: titles of alerts remembered for `wait_duration`; ever new ones must not grow without end
_MAX_ALERTED = 1000


class RunParts:
    """Methods of `Run` that a part carries out."""

    _recorder: Recorder
    _settings: Resolved
    _attributes: dict[str, Any]
    _began_ns: int
    _plan: Plan
    _step: int
    _ended: bool
    _rejected: int
    _preparer: Preparer
    log: Callable[..., None]
    _set: Callable[..., None]
    _on_finish: list[Callable[[Any], None]]
    _report_faults: Callable[..., None]

    def _init_parts(self, config: dict[str, Any]) -> None:
        self._media_files = DirectoryFiles(self._recorder.run_dir.files)
        self._config = Config(
            self._recorder.event,
            config,
            allow_val_change=self._settings.allow_val_change or self._plan.resumed,
        )
        self._console: ConsoleCapture | None = None
        self._alerted: dict[str, float] = {}
        # Drafts made from now on belong to this run: `artifact.save()` logs them to it.
        self._artifact_context = context.Context(self._recorder.home, self.log_artifact)
        context.enter(self._artifact_context)

    @property
    def config(self) -> Config:
        return self._config

    @property
    def config_static(self) -> dict[str, Any]:
        return self._config.as_dict()

    @cached_property
    def summary(self) -> Summary:
        """One value per key; see `define_metric`."""
        from strobe.sdk.own_summary import OwnSummary

        own = OwnSummary(self._recorder)
        return Summary(own.read, own.record, self._plain_summary)

    def _plain_summary(self, key: str, value: Any) -> Any:
        row = self._preparer.prepare({key: value}, self._step)
        if isinstance(fault := row.faults.get(key), OSError):
            self._report_faults(row.faults, {})
            raise fault
        if row.faults:
            raise TypeError(str(row.faults[key])) from row.faults[key]
        if key in row.pending:
            from strobe.sdk.pending import resolve_all

            return self._preparer.fit(resolve_all(row.pending[key]), key, self._step)
        return row.values[key]

    # -- metrics, models, alerts -------------------------------------------------------------------------------------

    def define_metric(
        self,
        name: str,
        step_metric: str | Metric | None = None,
        step_sync: bool | None = None,
        hidden: bool | None = None,
        summary: str | None = None,
        goal: str | None = None,
        overwrite: bool | None = None,
    ) -> Metric:
        """Say what `name` (or all that match a pattern such as `val/*`) is plotted over and summarized by.

        `summary` is a comma-separated list of min, max, mean, first, last, best, copy, none.
        """
        defined = metric.define(name, step_metric, step_sync, hidden, summary, goal, overwrite)
        self._recorder.event(defined)
        return defined

    @cached_property
    def _watch(self) -> Watch:
        from strobe.sdk.watch import Watch

        return Watch(lambda row: self.log(row, commit=False))

    def watch(
        self,
        models: Any,
        criterion: Any = None,
        log: str | None = "gradients",
        log_freq: int = 1000,
        idx: int | None = None,
        log_graph: bool = False,
    ) -> None:
        """Log histograms of a torch model's gradients, parameters or both ("all") every `log_freq` steps."""
        self._recorder.check_open()
        self._watch.watch(models, criterion, log=log, log_freq=log_freq, idx=idx, log_graph=log_graph)

    def unwatch(self, models: Any = None) -> None:
        """Stop watching these models, or all."""
        if "_watch" in self.__dict__:
            self._watch.unwatch(models)

    def alert(self, title: str, text: str = "", level: Any = None, wait_duration: Any = None) -> None:
        """Record a message for a person; the same title is recorded once per `wait_duration` (seconds or timedelta)."""
        word = str(getattr(level, "value", level) or "INFO").upper()
        if word not in {"INFO", "WARN", "ERROR"}:
            raise UsageError(f"alert(level={level!r}): use INFO, WARN or ERROR")
        title, text = str(title), str(text)
        wait_s = wait_duration.total_seconds() if hasattr(wait_duration, "total_seconds") else float(wait_duration or 0)
        now = time.monotonic()
        if title in self._alerted and now - self._alerted[title] < wait_s:
            return
        self._recorder.event(ev.Alert(time_ns=time_ns(), title=title, text=text, level=word))
        if len(self._alerted) >= _MAX_ALERTED:
            self._alerted.clear()
        self._alerted[title] = now
        self._recorder.terminal.log(f"alert {word}: {title}{': ' if text else ''}{text}")

    def mark_preempting(self) -> None:
        """Say that this process is about to be stopped to make room; if it dies now, it was preempted, not crashed."""
        self._set(preempting=True)
        self._recorder.writer.sync()

    def _label(
        self, code: str | None = None, repo: str | None = None, code_version: str | None = None, **more: Any
    ) -> None:
        """Note which framework runs inside; called by Hugging Face's Trainer and others."""
        given = {"code": code, "repo": repo, "code_version": code_version, **more}
        labels = {key: str(value) for key, value in given.items() if value is not None}
        self._set(labels={**self._attributes.get("labels", {}), **labels})

    def status(self) -> RunStatus:
        """Return what is recorded so far and what is not."""
        writer = self._recorder.writer
        return RunStatus(writer.rows, writer.rejected + self._rejected, str(self._recorder.run_dir.path))

    # -- files and artifacts -----------------------------------------------------------------------------------------

    @cached_property
    def _files(self) -> Files:
        from strobe.sdk.files import Files

        return Files(self._recorder, artifacts=lambda: self._artifacts, ignored=self._settings.ignore_globs)

    @cached_property
    def _artifacts(self) -> Artifacts:
        from strobe.sdk.artifacts import Artifacts

        return Artifacts(self._recorder, group=self._settings.run_group, step=lambda: self._step)

    def save(self, glob_str: Any, base_path: Any = None, policy: str = "live", glob: bool = True) -> list[str]:
        """Keep files with the run: copied now and, with policy "live" or "end", again at finish."""
        self._recorder.check_open()
        return self._files.save(glob_str, base_path, policy=policy, glob=glob)

    def restore(self, name: str, run_path: str | None = None, replace: bool = False, root: Any = None) -> Any:
        """Bring back a file that this or another run saved."""
        return self._files.restore(name, run_path, replace=replace, root=root)

    def log_code(
        self, root: str | None = ".", name: str | None = None, include_fn: Any = None, exclude_fn: Any = None
    ) -> Artifact | None:
        """Keep the source code under `root` as an artifact of type "code"."""
        self._recorder.check_open()
        if self._settings.disable_code:
            self._recorder.warn("log_code() keeps no code: disable_code is set")
            return None
        options = {key: fn for key, fn in (("include_fn", include_fn), ("exclude_fn", exclude_fn)) if fn is not None}
        return self._files.log_code(root, name, **options)

    def log_artifact(
        self,
        artifact_or_path: Any,
        name: str | None = None,
        type: str | None = None,
        aliases: list[str] | None = None,
        tags: list[str] | None = None,
    ) -> Artifact:
        """Record an artifact (or the file or directory at a path) as an output of this run."""
        self._recorder.check_open()
        return self._artifacts.log_artifact(artifact_or_path, name=name, type=type, aliases=aliases, tags=tags)

    def use_artifact(
        self,
        artifact_or_name: Any,
        type: str | None = None,
        aliases: list[str] | None = None,
        use_as: str | None = None,
    ) -> Artifact:
        """Declare an artifact as an input of this run and return it."""
        self._recorder.check_open()
        return self._artifacts.use_artifact(artifact_or_name, type=type, aliases=aliases, use_as=use_as)

    def log_model(self, path: Any, name: str | None = None, aliases: list[str] | None = None) -> Artifact:
        """Record a model file or directory as an artifact of type "model"."""
        self._recorder.check_open()
        return self._artifacts.log_model(path, name=name, aliases=aliases)

    def use_model(self, name: str) -> Path | str:
        """Declare a model as an input and return the path of its file or directory."""
        self._recorder.check_open()
        return self._artifacts.use_model(name)

    def link_artifact(self, artifact: Any, target_path: str, aliases: list[str] | None = None) -> Any:
        """Give an artifact version a second name in another collection."""
        self._recorder.check_open()
        return self._artifacts.link_artifact(artifact, target_path, aliases=aliases)

    def link_model(
        self, path: Any, registered_model_name: str, name: str | None = None, aliases: list[str] | None = None
    ) -> Any:
        """Record a model and link it to `registered_model_name`."""
        self._recorder.check_open()
        return self._artifacts.link_model(path, registered_model_name, name=name, aliases=aliases)

    def upsert_artifact(self, artifact_or_path: Any, **options: Any) -> Artifact:
        """Add to an artifact that several processes write; `finish_artifact` completes it."""
        self._recorder.check_open()
        return self._artifacts.upsert_artifact(artifact_or_path, **options)

    def finish_artifact(self, artifact_or_path: Any, **options: Any) -> Artifact:
        """Complete an artifact begun with `upsert_artifact`."""
        self._recorder.check_open()
        return self._artifacts.finish_artifact(artifact_or_path, **options)

    # -- console, start and end --------------------------------------------------------------------------------------

    def _start_console(self) -> None:
        if self._settings.console == "off":
            return
        self._console = ConsoleCapture(self._record_console, mode=self._settings.console)
        self._console.start()

    def _record_console(self, stream: str, text: str) -> None:
        # Straight to the writer: what a forked child prints must not make it a writer of the run.
        shown = redact(text) if self._settings.redact else text
        self._recorder.writer.event(ev.Console(time_ns=time_ns(), stream=stream, text=shown))

    def write_logs(self, text: str) -> None:
        """Add text to the run's console without printing it."""
        self._recorder.event(ev.Console(time_ns=time_ns(), stream="stdout", text=str(text)))

    def _after_fork_parts(self) -> None:
        if self._console is not None:
            self._console.after_fork()

    def _finish_parts(self, timeout_s: float) -> None:
        until = time.monotonic() + timeout_s

        def left_s() -> float:
            return max(0.0, until - time.monotonic())

        self._guard("to stop watching", self.unwatch)
        self._guard("to record the config", self._config.persist)
        if "_files" in self.__dict__:
            self._guard("to keep files", lambda: self._files.finish(left_s()))
        if "_artifacts" in self.__dict__:
            self._guard("to store artifacts", lambda: self._artifacts.drain(left_s()))
        context.leave(self._artifact_context)
        if not self._media_files.drain(left_s()):
            self._recorder.warn("some images were not recompressed in time; they are stored whole, only larger")
        if self._console is not None:
            self._guard("to stop recording the console", self._console.stop)

    def _guard(self, what: str, call: Callable[[], object]) -> None:
        """Do a part of the end; whatever is wrong with it must not keep the rest from being done."""
        try:
            call()
        except Exception as error:  # the SDK's outermost guard: finish() never stops a program
            if is_from_outside(error):
                raise
            self._recorder.warn(f"could not do all {what}: {error!r}")

    def _show_end(self, ended: ev.Ended, quiet: bool | None) -> None:
        terminal = self._recorder.terminal
        if terminal.silent or terminal.quiet or quiet:
            return
        if not self._recorder.writer.rows and not self._plan.resumed:
            terminal.log(f"{self._attributes['name']} {ended.state}, no rows were logged")
            return
        from strobe.sdk.report.text import end_block

        replay = self._replay()
        if replay.is_partial:
            replay.assume_end(self._recorder.writer.header, ended)
        url = getattr(self, "url", None)
        terminal.write(end_block(replay, terminal=terminal, url=url, baseline=self._baseline()))

    def _replay(self, run_dir: RunDir | None = None) -> Replay:
        from strobe.journal.replay import Replay

        elapsed_s = (time.perf_counter_ns() - self._began_ns) / 1e9
        until = time.monotonic() + max(_END_BLOCK_S, _END_BLOCK_SHARE * elapsed_s)
        replay = Replay(run_dir or self._recorder.run_dir)
        replay.refresh(keep_going=lambda: time.monotonic() < until)
        return replay

    def _baseline(self) -> Replay | None:
        """Return the run that the end of this one is compared with."""
        name = self._settings.baseline
        if not name:
            return None
        from strobe.api import Api
        from strobe.errors import Error

        try:
            return self._replay(Api(self._recorder.home.path).run(name).run_dir)
        except Error as exc:
            self._recorder.warn(f"no comparison with the baseline {name!r}: {exc}")
            return None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from strobe.sdk.report.text import mimebundle

        return mimebundle(self._replay(), url=getattr(self, "url", None))

    @cached_property
    def _notebook_view(self) -> NotebookView:
        from strobe.sdk.notebook import NotebookView

        view = NotebookView(self._recorder, url=getattr(self, "url", None))
        self._on_finish.append(lambda run: view.end())
        return view

    def _ipython_display_(self) -> None:
        """Show the run at the end of a cell; while it runs, what is shown follows it."""
        self._notebook_view.show(self._repr_mimebundle_(), is_live=not self._ended)

    def to_html(self, height: int = 420, hidden: bool = False) -> str:
        """Return the run as an HTML fragment."""
        return self._repr_mimebundle_()["text/html"]

    def display(self, height: int = 420, hidden: bool = False) -> bool:
        """Show the run in a notebook; False where there is none."""
        shell = sys.modules.get("IPython")
        if shell is None or shell.get_ipython() is None:
            return False
        from IPython.display import display

        display(self)
        return True


class RunStatus:
    """What of a run is recorded."""

    def __init__(self, rows: int, rejected: int, directory: str) -> None:
        self.rows = rows
        self.rejected = rejected
        self.directory = directory

    def __repr__(self) -> str:
        return f"RunStatus(rows={self.rows}, rejected={self.rejected}, directory={self.directory!r})"
