"""The pytest fixture `strobe_bench`: a test measures a function and the result is a record like any other.

    def test_parsing(strobe_bench):
        tree = strobe_bench(parse, TEXT)
        assert tree.size == 42

The function runs in the test's own process, so that its repeats share that process's luck: `strobe bench compare` of
two such sessions needs a history, or a large difference, to be sure. Without any option results go to the home's file,
and each is a run in the end. They are written when the test is over: what a failed one measured is an error, no time.
What cannot be written is a warning: no test fails for it.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Generator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import pytest

if TYPE_CHECKING:
    from strobe.bench.records import Environment, Record

P = ParamSpec("P")
T = TypeVar("T")

#: a record has at most so many samples: each is the median of neighbouring ones
_MAX_SAMPLES = 10
#: of measuring, unless told
_SECONDS = 1.0
#: of how it is measured: records of two versions are not compared
_VERSION = 1
_PROPERTY = "strobe_bench"
#: of a result that could not be written
_UNWRITTEN = "strobe_bench_unwritten"
_MOMENT = "strobe_bench_started_at"
_ENVIRONMENT = pytest.StashKey["Environment"]()
_PROJECT = pytest.StashKey[str]()
_RECORDS = pytest.StashKey[list["Record"]]()
_MEASURER = pytest.StashKey["Measurer"]()
_ERROR = pytest.StashKey[str]()
_STARTED_AT = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("strobe_bench", "measuring with strobe_bench")
    group.addoption(
        "--strobe-bench-records",
        type=Path,
        metavar="PATH",
        help="append results here, and make no runs of them (default: bench/results.jsonl in Strobe's home)",
    )
    group.addoption(
        "--strobe-bench-seconds", type=float, default=_SECONDS, metavar="S", help="of measuring each (default: 1)"
    )
    group.addoption(
        "--strobe-bench-once", action="store_true", help="call each function once, measure and record nothing"
    )


class Measurer:
    """What the fixture is: call it with a function and its arguments."""

    def __init__(self, name: str, path: Path, config: pytest.Config) -> None:
        self._name = name
        self._path = path
        self._config = config
        #: what this test has measured, in order
        self.records: list[Record] = []
        self.is_written = False

    def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Measure a call, and return what the first one returned; it is recorded when the test has passed or failed."""
        if self._config.getoption("--strobe-bench-once"):
            return function(*args, **kwargs)
        self.records.append(self._begin())
        first = function(*args, **kwargs)
        self.records[-1] = self._measure(self.records[-1], lambda index: function(*args, **kwargs))
        return first

    def _begin(self) -> Record:
        from strobe.bench.records import Record, make_id

        place = self._name + (f" #{len(self.records) + 1}" if self.records else "")
        # Projects share a home, and often the names of their tests.
        name = "/".join(filter(None, [_project(self._config), place]))
        file, _, test = name.partition("::")
        return Record(
            id=make_id(),
            benchmark=name,
            model=file,
            mode="wall",
            config=test,
            version=_VERSION,
            subject="pytest",
            metric="wall",
            unit="s",
            better="less",
            environment=_environment(self._config),
            command=self._command(),
        )

    def _command(self) -> str:
        """Return what measures the test again, from any directory: names of tests begin at their root."""
        words = ["pytest", f"{self._path}::{self._name.partition('::')[2]}"]
        if (seconds := self._config.getoption("--strobe-bench-seconds")) != _SECONDS:
            words += ["--strobe-bench-seconds", str(seconds)]
        return shlex.join(words)

    def _measure(self, record: Record, step: Callable[[int], object]) -> Record:
        import msgspec

        from strobe.bench.records import Repeat
        from strobe.bench.runner.conditions import brevity, coldness
        from strobe.bench.runner.loop import Loop

        loop = Loop(step)
        warm = loop.warm_up()
        found = loop.measure(warm, self._config.getoption("--strobe-bench-seconds"))
        repeat = Repeat(
            wall_s=found.wall_s,
            cpu_s=found.cpu_s,
            inner_loops=found.inner_loops,
            warmup_steps=warm.num_steps,
            noisy=(*coldness(warm), *brevity(found)),
        )
        return msgspec.structs.replace(record, samples=tuple(_medians(found.wall_s)), repeats=(repeat,))

    def close(self, error: str | None) -> None:
        """Write what was measured; in a test that failed, that it did. Warns if it cannot."""
        import msgspec

        from strobe.bench.records import append_records

        if error is not None:
            self.records = [msgspec.structs.replace(one, samples=(), repeats=(), error=error) for one in self.records]
        # A call may raise in a test that expects it to, and was not measured.
        self.records = [one for one in self.records if one.samples or one.error]
        if not self.records:
            return
        try:
            append_records(_results(self._config), self.records)
        except OSError as exc:
            _warn(self._config, f"cannot write results to {_results(self._config)}: {exc}", self._name)
            return
        self.is_written = True
        self._config.stash.setdefault(_RECORDS, []).extend(self.records)


@pytest.fixture
def strobe_bench(request: pytest.FixtureRequest) -> Measurer:
    """Measure functions: `strobe_bench(function, *arguments)` returns what the function returns."""
    measurer = Measurer(request.node.nodeid, request.node.path, request.config)
    request.node.stash[_MEASURER] = measurer
    return measurer


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Forget an earlier attempt: plugins that retry flaky tests run the same item again."""
    if _MEASURER in item.stash:
        del item.stash[_MEASURER]
    if _ERROR in item.stash:
        del item.stash[_ERROR]


# The newer form, `wrapper`, would end every session of an older pluggy (before 1.2).
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Write the results of a test once its outcome is known: that of its call, and of what tidies up after it."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    if (measurer := item.stash.get(_MEASURER, None)) is None:
        return
    if call.excinfo is not None and call.excinfo.errisinstance(pytest.skip.Exception):
        measurer.records.clear()  # it has not failed, and says that what it measured is not meant
    elif call.excinfo is not None:  # also where that is expected: no time of such a test means anything
        item.stash.setdefault(_ERROR, call.excinfo.exconly())
    elif report.failed:
        item.stash.setdefault(_ERROR, str(report.longrepr))
    if report.when == "teardown":
        error = item.stash.get(_ERROR, None)
        measurer.close(None if error is None else f"the test failed: {error.partition(chr(10))[0]}")
        # Properties travel with the report, also from the workers of pytest-xdist.
        name = _PROPERTY if measurer.is_written else _UNWRITTEN
        report.user_properties += [(name, _line(record)) for record in measurer.records]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Make the results runs: at the end, since a test must not find a run that it did not start."""
    records = session.config.stash.get(_RECORDS, [])
    if not records or session.config.getoption("--strobe-bench-records"):
        return
    from strobe.bench.tracker import track
    from strobe.errors import Error
    from strobe.home import default_home

    try:
        for record in records:
            track(record, default_home())
    except (OSError, Error) as exc:  # also of settings that no run can have
        _warn(session.config, f"the results are written, but cannot be runs in {default_home()}: {exc}", "")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist when the session began, so that the results of all workers are of one."""
    from strobe.bench import machine

    node.workerinput[_MOMENT] = node.config.stash.setdefault(_STARTED_AT, machine.moment())


def _warn(config: pytest.Config, problem: str, test: str) -> None:
    """Warn in pytest's summary: a warning that is raised, as `-W error` does, would end the session from a hook."""
    from strobe.errors import StrobeWarning

    remedy = "let STROBE_HOME be a directory that can be written, or name a file by --strobe-bench-records"
    found = StrobeWarning(f"strobe_bench: {problem}; {remedy}")
    message = warnings.WarningMessage(found, StrobeWarning, __file__, 0)
    config.hook.pytest_warning_recorded.call_historic(
        kwargs={"warning_message": message, "when": "runtest", "nodeid": test, "location": None}
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    lines = [
        (name, line)
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "teardown"
        for name, line in report.user_properties
        if name in (_PROPERTY, _UNWRITTEN)
    ]
    if not lines:
        return
    terminalreporter.section("strobe_bench")
    for name, line in lines:
        terminalreporter.write_line(f"{line}{' (not recorded)' if name == _UNWRITTEN else ''}")
    if any(name == _PROPERTY for name, _ in lines):
        terminalreporter.write_line(f"recorded in {_results(config)}; compare sessions: strobe bench compare")


def _line(record: Record) -> str:
    from strobe.bench.table import format_samples

    return f"{record.benchmark}: {format_samples(record)}"


def _medians(values: Sequence[float]) -> list[float]:
    """Return medians of up to ten stretches of neighbours: their spread is that between moments, not single calls."""
    from strobe.bench import stats

    count = min(_MAX_SAMPLES, len(values))
    cuts = [index * len(values) // count for index in range(count + 1)]
    return [stats.median(values[start:stop]) for start, stop in pairwise(cuts)]


def _results(config: pytest.Config) -> Path:
    from strobe.bench.records import results_path
    from strobe.home import default_home

    chosen: Path | None = config.getoption("--strobe-bench-records")
    return chosen or results_path(default_home())


def _project(config: pytest.Config) -> str:
    """Return what the project of the tests is called, looked up once per session."""
    from strobe.bench.project import project_name

    if _PROJECT not in config.stash:
        config.stash[_PROJECT] = project_name(config.rootpath)
    return config.stash[_PROJECT]


def _environment(config: pytest.Config) -> Environment:
    """Return the machine and the commit of the tests, looked up once per session."""
    import msgspec

    from strobe.bench import machine

    if _ENVIRONMENT not in config.stash:
        found = machine.describe(source=config.rootpath)
        # Workers of pytest-xdist are told; to everybody else the session is their own.
        told: dict[str, str] = getattr(config, "workerinput", {})
        began = told.get(_MOMENT, found.started_at)
        config.stash[_ENVIRONMENT] = msgspec.structs.replace(found, started_at=began)
    return config.stash[_ENVIRONMENT]
