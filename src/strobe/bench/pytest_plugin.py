"""The pytest fixture `strobe_bench`: a test measures a function and the result is a record like any other.

    def test_parsing(strobe_bench):
        tree = strobe_bench(parse, TEXT)
        assert tree.size == 42

The function runs in the test's own process, so that its repeats share that process's luck: `strobe bench compare` of
two such sessions needs a history, or a large difference, to be sure. Without any option results go to the home's file,
and each is a run in the end.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import pytest

if TYPE_CHECKING:
    from strobe.bench.records import Environment, Record

P = ParamSpec("P")
T = TypeVar("T")

#: a record has at most so many samples: each is the median of neighbouring ones
_MAX_SAMPLES = 10
#: of how it is measured: records of two versions are not compared
_VERSION = 1
_PROPERTY = "strobe_bench"
_ENVIRONMENT = pytest.StashKey["Environment"]()
_RECORDS = pytest.StashKey[list["Record"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("strobe_bench", "measuring with strobe_bench")
    group.addoption(
        "--strobe-bench-records",
        type=Path,
        metavar="PATH",
        help="append results here, and make no runs of them (default: bench/results.jsonl in Strobe's home)",
    )
    group.addoption(
        "--strobe-bench-seconds", type=float, default=1.0, metavar="S", help="of measuring each (default: 1)"
    )
    group.addoption(
        "--strobe-bench-once", action="store_true", help="call each function once, measure and record nothing"
    )


class Measurer:
    """What the fixture is: call it with a function and its arguments."""

    def __init__(self, name: str, config: pytest.Config) -> None:
        self._name = name
        self._config = config
        #: what has been recorded by this test, in order
        self.records: list[Record] = []

    def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Measure a call, record it, and return what the first one returned."""
        first = function(*args, **kwargs)
        if not self._config.getoption("--strobe-bench-once"):
            record = self._measure(lambda index: function(*args, **kwargs))
            self.records.append(record)
            self._config.stash.setdefault(_RECORDS, []).append(record)
        return first

    def _measure(self, step: Callable[[int], object]) -> Record:
        from strobe.bench.records import Record, Repeat, append_records, make_id
        from strobe.bench.runner.conditions import brevity
        from strobe.bench.runner.loop import Loop

        loop = Loop(step)
        warm = loop.warm_up()
        found = loop.measure(warm, self._config.getoption("--strobe-bench-seconds"))
        name = self._name + (f" #{len(self.records) + 1}" if self.records else "")
        file, _, test = name.partition("::")
        record = Record(
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
            samples=tuple(_medians(found.wall_s)),
            repeats=(
                Repeat(
                    wall_s=found.wall_s,
                    cpu_s=found.cpu_s,
                    inner_loops=found.inner_loops,
                    warmup_steps=warm.num_steps,
                    noisy=(*(("never stable during warm-up",) if warm.is_stable is False else ()), *brevity(found)),
                ),
            ),
            environment=_environment(self._config),
            command=shlex.join(["pytest", self._name]),
        )
        append_records(_results(self._config), [record])
        return record


@pytest.fixture
def strobe_bench(request: pytest.FixtureRequest) -> Iterator[Measurer]:
    """Measure functions: `strobe_bench(function, *arguments)` returns what the function returns."""
    measurer = Measurer(request.node.nodeid, request.config)
    yield measurer
    # Properties travel with the report, also from the workers of pytest-xdist.
    request.node.user_properties += [(_PROPERTY, _line(record)) for record in measurer.records]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Make the results runs: at the end, since a test must not find a run that it did not start."""
    records = session.config.stash.get(_RECORDS, [])
    if not records or session.config.getoption("--strobe-bench-records"):
        return
    from strobe.bench.tracker import track
    from strobe.home import default_home

    for record in records:
        track(record, default_home())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    lines = [
        line
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "teardown"
        for name, line in report.user_properties
        if name == _PROPERTY
    ]
    if lines:
        terminalreporter.section("strobe_bench")
        for line in lines:
            terminalreporter.write_line(str(line))
        terminalreporter.write_line(f"recorded in {_results(config)}; compare sessions: strobe bench compare")


def _line(record: Record) -> str:
    from strobe.bench.load.report import format_samples

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


def _environment(config: pytest.Config) -> Environment:
    """Return the machine and the commit of the tests, looked up once per session."""
    from strobe.bench import machine

    if _ENVIRONMENT not in config.stash:
        config.stash[_ENVIRONMENT] = machine.describe(source=config.rootpath)
    return config.stash[_ENVIRONMENT]
