"""From `log()` to whoever watches, with all that lies between as users have it: within a second."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import strobe
from strobe.agent.lifecycle import stop
from strobe.home import Home
from tests.agent.scene import wait_for
from tests.sdk.scripts import environment
from tests.server.live.test_live_http import Client
from tests.server.processes import make_key, running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

NUM_POINTS = 9


@contextmanager
def ui(home: Home) -> Iterator[str]:
    """Serve a home as `strobe ui` does, and tell where."""
    command = [sys.executable, "-m", "strobe", "ui", "--port", "0", "--no-browser"]
    process = subprocess.Popen(command, env=environment(home), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stderr is not None
    try:
        yield next(found.group() for line in process.stderr if (found := re.search(r"http://[\d.:]+", line.decode())))
    finally:
        process.terminate()
        process.communicate(timeout=30)


def delays(client: Client, run: strobe.Run, path: str) -> list[float]:
    """Log points one after the other, and return how long each took to reach a subscriber."""
    run.log({"x": 0.0}, step=0)
    wait_for(lambda: client.http.get(f"/api/v1/runs/{path}").status_code == 200)
    found = []
    with client.watch(f"runs={path}&keys=x") as events:
        next(events)
        for step in range(1, NUM_POINTS + 1):
            logged_at = time.monotonic()
            run.log({"x": float(step)}, step=step)
            next(fields for event, fields, _ in events if event == "series" and step in fields["steps"])
            found.append(time.monotonic() - logged_at)
    return found


def test_through_the_agent_and_a_server(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "served") as server:
        key = make_key(tmp_path / "served")
        settings = {"STROBE_BASE_URL": server.url, "STROBE_API_KEY": key, "STROBE_AGENT": "on"}
        for name, text in settings.items():
            monkeypatch.setenv(name, text)
        try:
            with strobe.init(project="p", id="r") as run:
                found = delays(Client(server.url, key), run, "ada/p/r")
        finally:
            stop(home)
    assert statistics.median(found) < 1.0, found


def test_from_the_journal_by_strobe_ui(home: Home) -> None:
    with ui(home) as url, strobe.init(project="p", id="r") as run:
        found = delays(Client(url, "none-is-needed"), run, "local/p/r")
    assert statistics.median(found) < 1.0, found
