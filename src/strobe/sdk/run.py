"""`Run`: what `init()` returns and a training script talks to.

The class itself logs and ends; names and tags are in attributes.py, everything else is done by parts that the run
owns (config, summary, files, artifacts, console, watch) and passes calls on to (parts.py).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from operator import index
from time import time_ns
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from strobe.errors import RunFinished, StepOrder, UsageError
from strobe.journal import event as ev
from strobe.journal.writer import put_in_parts
from strobe.sdk import fork
from strobe.sdk.attributes import RunAttributes
from strobe.sdk.parts import RunParts
from strobe.sdk.value import Preparer, Unusual, describe_faults, is_encodable

if TYPE_CHECKING:
    from strobe.sdk.deferred import Deferred, WaitingRow
    from strobe.sdk.hooks import ExitWatch
    from strobe.sdk.recorder import Recorder
    from strobe.sdk.resume import Plan

#: what the fast way usually raises for values that it does not take
_OF_VALUES = (Unusual, TypeError, ValueError, ArithmeticError, RuntimeError, MemoryError)


class Run(RunAttributes, RunParts):
    """One training, evaluation or benchmark, from `init()` to `finish()`."""

    def __init__(self, recorder: Recorder, plan: Plan, attributes: dict[str, Any], config: dict[str, Any]) -> None:
        self._recorder = recorder
        self._plan = plan
        self._attributes = attributes
        self._settings = recorder.settings
        self._step = plan.starting_step
        self._strict = recorder.settings.strict_steps
        self._ending = self._ended = False
        self._began_ns = time.perf_counter_ns()
        self._careful_ns = 0
        self._rejected = 0
        self._deferred: Deferred | None = None
        self._watch_exit: ExitWatch | None = None
        self._on_finish: list[Callable[[Run], None]] = []
        self._bind_writer()
        self._init_parts(config)
        self._preparer = Preparer(self._media_files, note_big=self._note_big)
        fork.subscribe(self)

    def _bind_writer(self) -> None:
        writer = self._recorder.writer
        self._lock = writer.lock
        self._put_row: Callable[[Mapping[str, Any], int], int] = writer.put_row

    # -- logging -----------------------------------------------------------------------------------------------------

    def log(
        self, data: Mapping[str, Any], step: int | None = None, commit: bool | None = None, sync: bool | None = None
    ) -> None:
        """Record a row. When this returns, the row survives a `kill -9`.

        Without `step` rows count up by themselves. Any step in any order is taken: rows of one step merge, later
        values win. `commit=False` (and an explicit step without `commit=True`) leaves the step open for the next call.
        Raises TypeError for values that cannot be stored, after the rest of the row was recorded.
        """
        if type(data) is not dict:
            data = _to_dict(data)
        try:
            with self._lock:
                if step is None:
                    step = self._step
                    if commit is not False:
                        self._step = step + 1
                else:
                    step = self._take_step(step, commit)
                self._put_row(data, step)
        except UsageError:  # the run has finished, or the step cannot be
            raise
        except Exception as error:  # the outermost guard: whatever it was, the careful way looks at each value
            if step is None or not isinstance(step, int):
                raise
            if not isinstance(error, _OF_VALUES) and is_encodable(data):
                raise  # no fault of a value: a signal handler of the user's raised it in the middle of the call
            self._log_carefully(data, step)

    def _take_step(self, step: Any, commit: bool | None) -> int:
        try:
            number = index(step)
        except TypeError:
            if not isinstance(step, float) and not hasattr(step, "item"):
                raise UsageError(f"log(step={step!r}): a step is a whole number, not {type(step).__name__}") from None
            if not float(step).is_integer():
                raise UsageError(f"log(step={step!r}): a step is a whole number") from None
            number = int(step)
        if not -(2**63) <= number < 2**63:
            raise UsageError(f"log(step={number}): a step has at most 64 bits")
        if self._strict and number < self._step:
            raise StepOrder(f"log(step={number}) after step {self._step}, and strict_steps is on; nothing was recorded")
        self._step = number + 1 if commit else number
        return number

    def _log_carefully(self, data: Mapping[str, Any], step: int) -> None:
        """Record a row that the fast way refused: media, arrays, pending values, big ones, wrong ones."""
        began = time.perf_counter_ns()
        row = self._preparer.prepare(data, step)
        if row.values or not data:
            with self._lock:
                logged_ns = time_ns()
                parts = put_in_parts(self._put_row, row.values, step)
            for sequence, values in parts:
                if pending := {key: row.pending[key] for key in row.pending if key in values}:
                    self._defer(sequence, step, logged_ns, pending)
        self._careful_ns += time.perf_counter_ns() - began
        if row.faults:
            self._report_faults(row.faults, row.values)

    def _report_faults(self, faults: dict[str, Exception], kept: dict[str, Any]) -> None:
        ours = {key: error for key, error in faults.items() if isinstance(error, OSError)}
        if ours:
            self._rejected += len(ours)
            self._recorder.terminal.warn_once(
                f"media:{self.id}",
                f"cannot store {', '.join(sorted(ours))}: {next(iter(ours.values()))}; training goes on, such values "
                "are rejected and counted until writing works again",
            )
        theirs = {key: error for key, error in faults.items() if key not in ours}
        if theirs:
            raise TypeError(describe_faults(theirs, kept)) from next(iter(theirs.values()))

    def _defer(self, sequence: int, step: int, logged_ns: int, pending: dict[str, Any]) -> None:
        from strobe.sdk.deferred import Deferred, WaitingRow

        with self._lock:
            if self._deferred is None:
                self._deferred = Deferred(self._fill)
        self._deferred.add(WaitingRow(sequence, step, logged_ns, pending))

    def _fill(self, row: WaitingRow, resolved: dict[str, Any], faults: dict[str, Exception]) -> None:
        values = {}
        for key, value in resolved.items():
            try:
                values[key] = self._preparer.fit(value, key, row.step)
            except (TypeError, ValueError, RuntimeError, OSError) as error:
                faults[key] = error
        if values:
            self._recorder.writer.fill(row.sequence, row.step, row.time_ns, values)
        if faults:
            key, fault = next(iter(faults.items()))
            reason = str(fault).partition("\n")[0][:300] or type(fault).__name__
            with self._lock:
                self._rejected += len(faults)
            self._recorder.terminal.warn_once(
                f"deferred:{self.id}",
                f"the value of {key!r} at step {row.step} cannot be had: {reason}; such values are counted as rejected",
            )

    def _note_big(self, key: str, size: int) -> None:
        if size > 4 << 20:
            self._recorder.terminal.warn_once(
                f"big:{self.id}",
                f"{key!r} is {size / 1e6:.0f} MB in one row; it goes to files/. Log summaries or use an Artifact",
            )

    # -- processes ---------------------------------------------------------------------------------------------------

    def after_fork(self) -> None:
        """In a forked child: nothing of the parent's goes on; the first row makes the child a writer of its own."""
        self._recorder.after_fork()
        self._lock = self._recorder.lock
        self._rejected = 0
        if not self._ended:
            self._put_row = self._put_first_row_of_child
        if self._deferred is not None:
            self._deferred.after_fork()
        self._after_fork_parts()

    def _put_first_row_of_child(self, data: Mapping[str, Any], step: int) -> int:
        self._recorder.branch()
        self._bind_writer()
        return self._put_row(data, step)

    def __reduce__(self) -> tuple[Any, ...]:
        from strobe.sdk.attach import attach_to

        # A run sent to another process arrives as a handle: it joins the run as one more writer when it logs.
        return attach_to, (str(self._recorder.home.path), str(self._recorder.path), self._recorder.attempt)

    # -- the end -----------------------------------------------------------------------------------------------------

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        if kind is not None and error is not None:
            self._finish_with_exception(kind, error, trace)
        else:
            self.finish()
        return False

    def _finish_with_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        from strobe.sdk.hooks import describe_exception

        code, text, interrupted = describe_exception(kind, error, trace)
        self._finish(code, text, "killed" if interrupted else None)

    def finish(self, exit_code: int | None = None, quiet: bool | None = None) -> None:
        """End the run. A second call does nothing."""
        self._finish(int(exit_code or 0), None, None, quiet=quiet)

    def _finish_at_exit(self) -> None:
        watch = self._watch_exit
        if watch is None:
            self._finish(0, None, None)
        else:
            self._finish(watch.exit_code or 0, watch.error, "killed" if watch.was_interrupted else None)

    def _finish(self, code: int, error: str | None, state: str | None, *, quiet: bool | None = None) -> None:
        with self._lock:
            if self._ended or self._ending:
                return
            self._ending = True
        if not self._recorder.is_stale:  # else a forked child that never recorded anything
            self._close(code, error, state, quiet=quiet)
        self._ended = True
        self._put_row = self._refuse_row

    def _close(self, code: int, error: str | None, state: str | None, *, quiet: bool | None) -> None:
        until = time.monotonic() + self._settings.finish_timeout
        try:
            self._guard("to end the run's parts", self._settle)
        finally:  # whatever happens there, a Ctrl-C too, the end gets into the journal
            ended = self._record_end(code, error, state)
        if self._recorder.pid == os.getpid() and self._recorder.kind != "fork":
            self._guard("to sum up the run", lambda: self._show_end(ended, quiet))
            if self._recorder.is_uploaded:
                self._guard("to wait for the upload", lambda: self._hand_over(until - time.monotonic()))

    def _hand_over(self, timeout_s: float) -> None:
        from strobe.sdk.handover import hand_over

        hand_over(self._recorder, max(0.0, timeout_s))

    def _settle(self) -> None:
        # Values first, then files and pictures, all within one deadline.
        until = time.monotonic() + self._settings.finish_timeout
        missing = self._deferred.close(self._settings.finish_timeout) if self._deferred else 0
        if missing:
            self._rejected += missing
            self._recorder.warn(
                f"{missing} logged values were not computed within finish_timeout "
                f"({self._settings.finish_timeout:g} s) and are missing; the rest of their rows is recorded"
            )
        self._finish_parts(max(0.0, until - time.monotonic()))

    def _record_end(self, code: int, error: str | None, state: str | None) -> ev.Ended:
        self._ended = True
        self._put_row = self._refuse_row
        self._recorder.writer.check()  # what is recorded late is not rejected
        ended = ev.Ended(
            time_ns=time_ns(),
            state=state or ("finished" if code == 0 else "failed"),
            exit_code=code,
            error=error,
            rejected=self._recorder.writer.rejected + self._rejected,
            share=self._own_share(),
        )
        self._recorder.close(ended)
        if self._watch_exit is not None:
            self._watch_exit.remove()
        for call in self._on_finish:
            call(self)
        return ended

    def _own_share(self) -> float | None:
        writer = self._recorder.writer
        elapsed = time.perf_counter_ns() - self._began_ns
        typical = writer.sampled_ns / writer.num_sampled if writer.num_sampled else 4_000
        return min(1.0, (typical * writer.rows + self._careful_ns) / elapsed) if elapsed else None

    def _refuse_row(self, data: Mapping[str, Any], step: int) -> int:
        self._step = step
        raise RunFinished(f"run {self.id} has finished, it takes no more rows; call strobe.init() for a new one")


def _to_dict(data: Any) -> dict[str, Any]:
    if isinstance(data, Mapping):
        return dict(data)
    raise TypeError(f"log() needs a dict of names and values, got {type(data).__name__}")
