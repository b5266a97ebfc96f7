"""Online runs: a real script, a real agent, a small real server. Nothing is lost or doubled, and nothing is noticed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from strobe.agent.lifecycle import stop
from strobe.home import Home
from strobe.journal import event
from strobe.remote.marker import Markers
from tests.agent.scene import agent_pids, serving_pid, wait_for
from tests.remote.conftest import make_server, server
from tests.remote.small_server import SmallServer, fails

from .scripts import environment, execute, only_replay, start

__all__ = ["make_server", "server"]

pytestmark = pytest.mark.slow

LOG = """
    import sys, time, strobe
    run = strobe.init(project="p", id="r1", settings=strobe.Settings(save_requirements=False, disable_git=True))
    for step in range(int(sys.argv[1])):
        run.log({"loss": step / 7})
        time.sleep(float(sys.argv[2]))
    began = time.monotonic()
    run.finish()
    print(time.monotonic() - began)
"""


@pytest.fixture(autouse=True)
def _no_agent_stays(home: Home) -> Iterator[None]:
    yield
    stop(home)
    for pid in agent_pids(home):
        os.kill(pid, signal.SIGKILL)


def online(home: Home, server: SmallServer, **more: str) -> dict[str, str]:
    given = {"STROBE_AGENT": "on", "STROBE_SILENT": "false", "STROBE_BASE_URL": server.url}
    return environment(home, **{**given, "STROBE_FINISH_TIMEOUT": "20", **more})


def ends_of(server: SmallServer) -> list[str]:
    return [found.state for _, found in server.events if isinstance(found, event.Ended)]


def test_a_run_is_at_the_server_when_finish_returns(home: Home, server: SmallServer) -> None:
    done = execute(LOG, home, "200", "0.002", env=online(home, server))
    assert done.returncode == 0, done.stderr
    assert server.values("loss") == [step / 7 for step in range(200)]
    assert ends_of(server) == ["finished"]
    server.assert_exactly_once()
    assert done.stderr.count(f"{server.url}/local/p/runs/r1") == 2  # at the start and at the end
    assert "WARNING" not in done.stderr
    assert float(done.stdout) < 10
    wait_for(lambda: not Markers(home).scan())


def test_a_server_that_is_down_costs_a_bounded_wait_and_nothing_else(home: Home, server: SmallServer) -> None:
    server.stop_serving()
    done = execute(LOG, home, "50", "0", env=online(home, server, STROBE_FINISH_TIMEOUT="2"))
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 5
    assert "the agent goes on in the background" in done.stderr
    server.start(server.port)
    wait_for(lambda: not Markers(home).scan(), timeout_s=60)
    assert server.values("loss") == [step / 7 for step in range(50)]
    server.assert_exactly_once()


def test_an_exit_code_is_the_programs_own(home: Home, server: SmallServer) -> None:
    script = """
        import strobe, sys
        strobe.init(project="p", id="r1").log({"loss": 1.0})
        sys.exit(7)
    """
    done = execute(script, home, env=online(home, server))
    assert done.returncode == 7
    assert ends_of(server) == ["failed"]


def test_an_agent_that_is_killed_again_and_again(home: Home, server: SmallServer) -> None:
    process = start(LOG, home, "400", "0.01", env=online(home, server))
    for _ in range(4):
        pid = wait_for(lambda: serving_pid(home) or process.poll() is not None)
        if process.poll() is not None:
            break
        time.sleep(0.6)
        os.kill(pid, signal.SIGKILL)
        # A user who starts another run starts another agent.
        execute("import strobe; strobe.init(project='p', mode='offline').finish()", home, env=online(home, server))
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    wait_for(lambda: not Markers(home).scan(), timeout_s=30)
    assert server.values("loss") == [step / 7 for step in range(400)]
    server.assert_exactly_once()


def test_a_script_that_is_killed_is_uploaded_as_crashed(home: Home, server: SmallServer) -> None:
    process = start(LOG, home, "100000", "0.005", env=online(home, server))
    wait_for(lambda: len(server.values("loss")) > 20)
    process.kill()
    process.communicate()
    wait_for(lambda: ends_of(server) == ["crashed"])
    wait_for(lambda: not Markers(home).scan())
    assert server.values("loss") == [row["loss"] for row in only_replay(home).rows()]
    server.assert_exactly_once()


def test_stop_from_the_server_ends_the_run_as_killed(home: Home, server: SmallServer) -> None:
    process = start(LOG, home, "100000", "0.01", env=online(home, server))
    wait_for(lambda: len(server.values("loss")) > 5)
    server.stop = ["me/p/r1"]
    _, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT, err
    assert ends_of(server) == ["killed"]
    wait_for(lambda: not Markers(home).scan())
    assert only_replay(home).attributes["stopped_by"] == server.url
    server.assert_exactly_once()


def test_a_key_that_is_refused_is_said_at_once(home: Home, server: SmallServer) -> None:
    server.key = "another"
    done = execute(LOG, home, "10", "0", env=online(home, server, WANDB_API_KEY="wrong"))
    assert done.returncode == 0
    assert float(done.stdout) < 10
    assert "not uploaded: HTTP 401: this key is not known here" in done.stderr
    assert "strobe sync" in done.stderr


def test_a_busy_server_that_asks_for_patience_gets_it(home: Home, server: SmallServer) -> None:
    server.faults = [lambda handler: False, *[fails(429, Retry_After="1") for _ in range(3)]]
    done = execute(LOG, home, "20", "0", env=online(home, server))
    assert done.returncode == 0
    assert server.values("loss") == [step / 7 for step in range(20)]
    server.assert_exactly_once()


def test_ranks_and_forks_of_an_online_run_arrive_too(home: Home, server: SmallServer) -> None:
    script = """
        import os, strobe
        run = strobe.init(project="p", id="r1")
        run.log({"loss": 1.0}, step=0)
        pid = os.fork()
        if not pid:
            run.log({"child": 2.0}, step=1)
            run.finish()
            os._exit(0)
        os.waitpid(pid, 0)
        run.finish()
    """
    done = execute(script, home, env=online(home, server))
    assert done.returncode == 0, done.stderr
    wait_for(lambda: not Markers(home).scan())
    assert (server.values("loss"), server.values("child")) == ([1.0], [2.0])
