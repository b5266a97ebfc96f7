"""`strobe demo` as people start it: a page that answers, runs that come in, and an end that leaves nobody behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psutil
import pytest

from strobe.api import Api
from strobe.cli.browser import has_display
from strobe.demo.check import DemoFailed, check
from strobe.demo.home import child_environment, demo_home, prepare
from strobe.errors import UsageError
from strobe.home import Home

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
PATIENCE_S = 60.0


@pytest.fixture
def place(tmp_path: Path) -> Home:
    return Home(tmp_path / "demo")


def environment(tmp: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("STROBE_")}
    return {**kept, "XDG_CACHE_HOME": str(tmp / "cache"), "HOME": str(tmp), **more}


@contextmanager
def demo(home: Home, *options: str, **more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a demo in a session of its own, as a terminal would; yield it and its address, and see that it goes."""
    command = [sys.executable, "-m", "strobe", "demo", "--home", str(home.path), "--port", "0", "--no-browser"]
    process = subprocess.Popen(
        [*command, "--steps", "30", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(home.path.parent, **more),
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def wait_for(condition: Callable[[], Any]) -> Any:
    until = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.1)
    return found


def actors(home: Home) -> list[int]:
    """Return the processes that have to do with a home: trainings, and its agent."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(home.path) in [*process.cmdline(), process.environ().get("STROBE_HOME", "")]:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def is_alive(url: str) -> bool:
    """Tell whether the run that is watched has begun."""
    try:
        with urlopen(f"{url}/api/v1/projects/local/demo/runs?limit=100", timeout=20) as answer:
            return any(run["name"] == "live" and run["state"] == "running" for run in json.load(answer)["items"])
    except OSError:  # the project is not there yet
        return False


@pytest.mark.slow
def test_ctrl_c_ends_everything(place: Home) -> None:
    with demo(place) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        with urlopen(f"{url}/", timeout=20) as page:
            assert page.status == 200
        wait_for(lambda: is_alive(url))
        assert len(actors(place)) >= 2
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        said = process.communicate(timeout=PATIENCE_S)[1]
        assert process.returncode == 0, said
        assert "Traceback" not in said
        wait_for(lambda: actors(place) == [])
    (live,) = [run for run in Api(place).runs("demo") if run.name == "live"]
    assert live.state == "killed"
    assert live.metrics["train/loss"].count > 0
    assert (place.path / "demo.log").read_text() == ""


@pytest.mark.slow
def test_a_demo_that_is_killed_takes_its_trainings_along(place: Home) -> None:
    with demo(place) as (process, url):
        wait_for(lambda: is_alive(url))
        process.kill()
        process.wait()
        # The agent stays until it is idle, as it does for every run; the trainings must not.
        wait_for(lambda: not [pid for pid in actors(place) if "strobe.demo.trainer" in _command(pid)])
    wait_for(lambda: _stop_agent(place))


def _command(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""


def _stop_agent(home: Home) -> bool:
    from strobe.agent.lifecycle import stop

    return stop(home)


@pytest.mark.slow
def test_in_ci_it_looks_for_itself_and_ends(place: Home) -> None:
    with demo(place, CI="true") as (process, url):
        said = process.communicate(timeout=100)[1]
        assert process.returncode == 0, said
        assert "the page answers, 8 runs are over" in said
        wait_for(lambda: actors(place) == [])
    names = [run.name for run in Api(place).runs("demo")]
    # The next one uses what is there, and has a new run to watch.
    with demo(place, "--check") as (process, url):
        said = process.communicate(timeout=100)[1]
        assert process.returncode == 0, said
    assert sorted(run.name for run in Api(place).runs("demo")) == sorted([*names, "live"])
    # A second demo of the same home shows the first one.
    with demo(place) as (first, url), demo(place) as (second, other):
        assert other == url
        assert "on stage already" in second.communicate(timeout=PATIENCE_S)[1]
        assert second.returncode == 0
        assert first.poll() is None
        wait_for(lambda: is_alive(url))
        with pytest.raises(UsageError, match="end the other demo"):
            prepare(place, is_fresh=True)
        first.terminate()
        assert first.wait(PATIENCE_S) == 0
    prepare(place, is_fresh=True)
    assert [entry.name for entry in place.path.iterdir()] == ["made-by-strobe-demo"]


@pytest.mark.slow
def test_a_training_that_fails_is_told(place: Home, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('broken on purpose')")
    with demo(place, "--check", PYTHONPATH=str(tmp_path)) as (process, _):
        said = process.communicate(timeout=PATIENCE_S)[1]
        assert process.returncode == 1
        assert "numpy" in said


def test_fresh_removes_only_what_a_demo_made(tmp_path: Path) -> None:
    mine = Home(tmp_path / "mine")
    mine.path.mkdir()
    (mine.path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="not made by"):
        prepare(mine, is_fresh=True)
    prepare(mine, is_fresh=False)
    with pytest.raises(UsageError, match="not made by"):
        prepare(mine, is_fresh=True)
    assert (mine.path / "thesis.txt").read_text() == "years of work"


def test_a_home_of_its_own(tmp_path: Path) -> None:
    if sys.platform == "linux":
        assert demo_home({"XDG_CACHE_HOME": str(tmp_path)}).path == tmp_path / "strobe" / "demo"
        assert demo_home({"STROBE_HOME": "/elsewhere"}).path == Path.home() / ".cache" / "strobe" / "demo"
    given = {"STROBE_BASE_URL": "https://example.com", "WANDB_MODE": "online", "PATH": "/bin"}
    env = child_environment(Home(tmp_path), given)
    assert env["STROBE_HOME"] == str(tmp_path)
    assert env["STROBE_MODE"] == "offline"
    assert env["PATH"] == "/bin"
    assert not {"STROBE_BASE_URL", "WANDB_MODE"} & env.keys()


def test_the_check_says_what_is_missing() -> None:
    with pytest.raises(DemoFailed, match="refused"):
        check("http://127.0.0.1:9", lambda: "", num_past=1)


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({}, "darwin", True),
        ({}, "win32", True),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "1 2 3 4"}, "linux", False),
        ({"SSH_TTY": "/dev/pts/1"}, "darwin", False),
        ({"CI": "true"}, "darwin", False),
        ({"CI": "false", "DISPLAY": ":0"}, "linux", True),
    ],
)
def test_the_page_is_opened_where_somebody_would_see_it(environ: dict[str, str], platform: str, expected: bool) -> None:
    assert has_display(environ, platform) is expected
