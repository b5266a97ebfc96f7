"""A home with three recorded runs, and the program called in-process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from strobe.cli import main
from strobe.home import Home, RunDir, RunPath
from strobe.journal import Header, Writer, event

SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND


class Result:
    """What a command returned and printed."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Strobe = Callable[..., Result]


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever runs the tests must not decide how wide or coloured the output is (pytest-xdist sets COLUMNS)."""
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def strobe(home: Home, capfd: pytest.CaptureFixture[str]) -> Strobe:
    """Return a function that runs a command on the home: `strobe("run", "ls")`."""

    def call(*words: str) -> Result:
        capfd.readouterr()
        code = main(list(words))
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return call


def record(
    home: Home,
    run_id: str,
    *,
    project: str = "mnist",
    state: str | None = "finished",
    started_ns: int = START,
    rows: int = 5,
    config: dict[str, Any] | None = None,
    **attributes: Any,
) -> RunDir:
    """Record a run through the journal."""
    run_dir = home.run_dir(RunPath("local", project, run_id))
    header = Header(entity="local", project=project, run=run_id, writer="aaaa0001", created_ns=started_ns)
    writer = Writer(run_dir.journal, header)
    writer.event(event.Started(time_ns=started_ns, attributes={"name": f"name-{run_id}", **attributes}))
    writer.event(event.Config(time_ns=started_ns, changes=config or {"lr": 0.1}))
    for step in range(rows):
        writer.row({"loss": 1.0 / (step + 1), "nested": {"a": step}}, step)
    writer.event(event.Console(time_ns=started_ns + SECOND, stream="stdout", text="hello\n"))
    if state is not None:
        writer.event(event.Ended(time_ns=started_ns + 90 * SECOND, state=state, exit_code=0))
        writer.close()
    return run_dir


@pytest.fixture
def three(home: Home) -> Home:
    """Three runs: aa1 and ab2 in mnist, cc3 (the latest, failed) in cifar."""
    record(home, "aa1", config={"lr": 0.1, "opt": {"name": "adam"}}, tags=["good"], host="h1")
    record(home, "ab2", config={"lr": 0.2, "opt": {"name": "adam"}}, started_ns=START + SECOND, host="h2")
    record(home, "cc3", project="cifar", state="failed", started_ns=START + 2 * SECOND)
    return home
