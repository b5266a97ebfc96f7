"""The agent's duty: which runs it uploads, for how long it stays, and how it passes on a request to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from strobe import identity
from strobe.agent.entry import ActiveEntries
from strobe.agent.reaper import Reaper
from strobe.agent.upload.uploader import Uploader
from strobe.agent.watch import Watch
from strobe.home import Home, RunDir
from strobe.journal import event
from strobe.remote.marker import Markers, directory
from strobe.remote.state import SyncState, read_state
from strobe.remote.target import Target
from tests.agent.scene import MakeEntry, QuietLog, events_of, wait_for
from tests.remote.small_server import SmallServer, fails, hangs

from .journal import mark, marker_of, run_dir_of, writer_of


class Agent:
    """The agent's loop, turned by the test."""

    def __init__(self, home: Home, **options: float) -> None:
        self.log = QuietLog()
        self.uploader = Uploader(home, self.log, owner=os.getuid(), **options)  # type: ignore[arg-type]
        active = ActiveEntries(home.active, owner=os.getuid())
        self.watch = Watch(active, [Reaper(active.remove, log=self.log.write), self.uploader], self.log)

    def wait_for(self, what: Callable[[], object], *, timeout_s: float = 15.0) -> None:
        def look() -> object:
            self.watch.poll(time.monotonic())
            return what()

        wait_for(look, timeout_s=timeout_s)


@pytest.fixture
def agent(home: Home) -> Iterator[Agent]:
    agent = Agent(home)
    yield agent
    agent.watch.close()
    assert agent.log.num_errors == 0, agent.log.lines


def state_of(run_dir: RunDir) -> SyncState:
    state = read_state(run_dir.path)
    assert state is not None
    return state


def no_markers(home: Home) -> bool:
    return not Markers(home).scan()


DEAD: dict[str, Any] = {"pid": 2**22 + 1, "pid_started": 1.0}


def test_nothing_is_loaded_while_there_is_nothing_to_upload() -> None:
    code = (
        "import sys, strobe.agent.main as m, strobe; from strobe.home import Home; from pathlib import Path\n"
        "from strobe.agent.upload.uploader import Uploader; from strobe.agent.log import Log\n"
        "Uploader(Home(Path('/nonexistent')), Log(None)).tick(0.0)\n"
        "print('urllib3' in sys.modules, 'ssl' in sys.modules, 'strobe.agent.upload.course' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False"]


def test_a_finished_run_is_uploaded_and_its_marker_goes(home: Home, agent: Agent, server: SmallServer) -> None:
    run_dir = run_dir_of(home)
    mark(home, run_dir, server.url)
    journal = writer_of(run_dir)
    journal.row({"loss": 0.5}, 0)
    journal.close(event.Ended(time_ns=1, state="finished"))
    agent.wait_for(lambda: no_markers(home))
    assert server.values("loss") == [0.5]
    assert state_of(run_dir).is_complete
    agent.wait_for(lambda: not agent.watch.is_busy())


def test_a_run_whose_process_is_gone_is_uploaded_to_its_end(home: Home, agent: Agent, server: SmallServer) -> None:
    run_dir = run_dir_of(home)
    mark(home, run_dir, server.url, **DEAD)
    writer_of(run_dir).row({"loss": 0.5}, 0)
    agent.wait_for(lambda: no_markers(home))
    assert server.values("loss") == [0.5]


def test_a_live_run_is_followed_within_a_second(
    home: Home, agent: Agent, server: SmallServer, make_entry: MakeEntry
) -> None:
    run_dir = run_dir_of(home)
    journal = writer_of(run_dir)
    mark(home, run_dir, server.url)
    make_entry()
    journal.row({"loss": 0.0}, 0)
    agent.wait_for(lambda: server.values("loss") == [0.0])
    delays: list[float] = []
    for step in range(1, 8):
        logged_at = time.monotonic()
        journal.row({"loss": float(step)}, step)
        wait_for(lambda: len(server.values("loss")) == len(delays) + 2)
        delays.append(time.monotonic() - logged_at)
    assert sorted(delays)[len(delays) // 2] < 1.0
    assert not no_markers(home)
    assert agent.uploader.is_busy()


def test_a_crashed_run_carries_the_agents_word_for_it(
    home: Home, agent: Agent, server: SmallServer, make_entry: MakeEntry
) -> None:
    run_dir = run_dir_of(home)
    writer_of(run_dir).row({"loss": 0.5}, 0)
    mark(home, run_dir, server.url, **DEAD)
    make_entry(**DEAD)
    agent.wait_for(lambda: no_markers(home))
    ended = [found for _, found in server.events if isinstance(found, event.Ended)]
    assert [found.state for found in ended] == ["crashed"]


def test_many_runs_share_a_few_threads(home: Home, agent: Agent, server: SmallServer) -> None:
    import threading

    for number in range(20):
        run_dir = run_dir_of(home, f"r{number}")
        mark(home, run_dir, server.url, f"w{number:07d}", **DEAD)
        writer_of(run_dir, f"w{number:07d}").row({"loss": float(number)}, 0)
    agent.wait_for(lambda: len(server.rows) == 20)
    assert sum(thread.name == "strobe-upload" for thread in threading.enumerate()) <= 4
    agent.wait_for(lambda: no_markers(home))
    server.assert_exactly_once()


def test_a_hanging_server_delays_no_poll(home: Home, agent: Agent, server: SmallServer) -> None:
    server.faults = [hangs(3.0) for _ in range(8)]
    for number in range(4):
        run_dir = run_dir_of(home, f"r{number}")
        mark(home, run_dir, server.url, f"w{number:07d}", **DEAD)
        writer_of(run_dir, f"w{number:07d}").row({"loss": 1.0}, 0)
    longest = 0.0
    for _ in range(20):
        began = time.monotonic()
        agent.watch.poll(began)
        longest = max(longest, time.monotonic() - began)
        time.sleep(0.01)
    assert longest < 0.5


def test_runs_of_other_servers_do_not_wait_for_one_that_is_down(
    home: Home, agent: Agent, make_server: Callable[..., SmallServer]
) -> None:
    down, up = make_server(), make_server()
    down.stop_serving()
    for number in range(8):
        run_dir = run_dir_of(home, f"r{number}")
        mark(home, run_dir, (down if number < 6 else up).url, f"w{number:07d}", **DEAD)
        writer_of(run_dir, f"w{number:07d}").row({"loss": 1.0}, 0)
    agent.wait_for(lambda: len(up.rows) == 2)
    assert agent.uploader.is_busy()


def test_the_agent_does_not_wait_for_ever_for_a_server_that_is_gone(home: Home, server: SmallServer) -> None:
    server.stop_serving()
    agent = Agent(home, patience_s=0.3)
    run_dir = run_dir_of(home)
    mark(home, run_dir, server.url, **DEAD)
    writer_of(run_dir).row({"loss": 0.5}, 0)
    agent.wait_for(agent.uploader.is_busy)
    agent.wait_for(lambda: not agent.watch.is_busy())
    agent.watch.close()
    assert not no_markers(home)
    # The next agent, perhaps days later, goes on.
    server.start(server.port)
    later = Agent(home)
    later.wait_for(lambda: no_markers(home))
    later.watch.close()
    assert server.values("loss") == [0.5]


def test_nobody_waits_for_a_server_that_refuses(home: Home, agent: Agent, server: SmallServer) -> None:
    run_dir = run_dir_of(home)
    mark(home, run_dir, server.url, **DEAD)
    writer_of(run_dir).row({"loss": 0.5}, 0)
    server.faults = [lambda handler: False, fails(403)]
    agent.wait_for(lambda: read_state(run_dir.path) is not None and state_of(run_dir).is_refused)
    agent.wait_for(lambda: not agent.watch.is_busy())
    assert any("a fault, 403" in line for line in agent.log.lines)


def test_another_machines_run_is_left_to_it_until_it_is_abandoned(
    home: Home, agent: Agent, server: SmallServer
) -> None:
    run_dir = run_dir_of(home)
    mark(home, run_dir, server.url, host="elsewhere")
    writer_of(run_dir).row({"loss": 0.5}, 0)
    for _ in range(5):
        agent.watch.poll(time.monotonic())
        time.sleep(0.02)
    assert (server.requests, agent.watch.is_busy()) == ([], False)
    long_ago = time.time() - 3600
    for path in (*run_dir.journal.iterdir(), run_dir.journal, run_dir.path):
        os.utime(path, (long_ago, long_ago))
    agent.wait_for(lambda: server.values("loss") == [0.5])


def test_a_marker_that_came_during_the_last_step_stays(home: Home, agent: Agent, server: SmallServer) -> None:
    run_dir = run_dir_of(home)
    mark(home, run_dir, server.url, **DEAD)
    writer_of(run_dir).row({"loss": 0.5}, 0)

    def resume(handler: object) -> bool:
        mark(home, run_dir, server.url, "bbbbbbbb", attempt=2)
        return False

    server.faults = [lambda handler: False, resume]
    agent.wait_for(lambda: len(Markers(home).scan()) == 1)
    journal = writer_of(run_dir, "bbbbbbbb", attempt=2)
    journal.row({"loss": 0.25}, 1)
    agent.wait_for(lambda: server.values("loss") == [0.5, 0.25])
    journal.close(event.Ended(time_ns=1, state="finished"))
    agent.wait_for(lambda: no_markers(home))


def test_a_broken_marker_is_told_once_and_harms_nobody(home: Home, agent: Agent, server: SmallServer) -> None:
    directory(home).mkdir(parents=True)
    (directory(home) / "zzzzzzzz.json").write_text("{")
    run_dir = run_dir_of(home)
    mark(home, run_dir, server.url, **DEAD)
    writer_of(run_dir).row({"loss": 0.5}, 0)
    agent.wait_for(lambda: server.values("loss") == [0.5])
    assert sum("zzzzzzzz" in line for line in agent.log.lines) == 1


# -- stopping --------------------------------------------------------------------------------------------------------


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"], stdout=-1)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()


def test_a_request_to_stop_reaches_the_main_process_once(
    home: Home, agent: Agent, server: SmallServer, make_entry: MakeEntry, sleeper: subprocess.Popen[bytes]
) -> None:
    run_dir = run_dir_of(home)
    journal = writer_of(run_dir)
    it: dict[str, Any] = {"pid": sleeper.pid, "pid_started": identity.process_started(sleeper.pid)}
    mark(home, run_dir, server.url, **it)
    make_entry(**it)
    journal.row({"loss": 0.5}, 0)
    agent.wait_for(lambda: server.values("loss") == [0.5])
    server.stop = ["me/p/r1"]
    journal.row({"loss": 0.4}, 1)
    agent.wait_for(lambda: sleeper.poll() is not None)
    assert sleeper.returncode == -signal.SIGINT
    changes = [found.changes for found in events_of(run_dir) if isinstance(found, event.Attributes)]
    assert changes == [{"stopped_by": server.url}]
    assert state_of(run_dir).stopped == [1]
    agent.watch.poll(time.monotonic())
    assert sum("asks to stop" in line for line in agent.log.lines) == 1


def test_another_process_with_the_same_number_is_left_alone(sleeper: subprocess.Popen[bytes], tmp_path: Path) -> None:
    from strobe.agent.upload.interrupt import interrupt

    run_dir = RunDir(tmp_path / "local" / "p" / "r1")
    assert not interrupt(marker_of(run_dir, "http://host", pid=sleeper.pid, pid_started=1.0))
    assert not interrupt(marker_of(run_dir, "http://host", pid=sleeper.pid, host="elsewhere"))
    assert sleeper.poll() is None


def test_a_home_that_was_moved_is_uploaded_from_where_it_is(home: Home, server: SmallServer, tmp_path: Path) -> None:
    run_dir = run_dir_of(home)
    mark(home, run_dir, server.url, **DEAD)
    writer_of(run_dir).row({"loss": 0.5}, 0)
    moved = Home(home.path.rename(tmp_path / "moved"))
    agent = Agent(moved)
    agent.wait_for(lambda: no_markers(moved))
    agent.watch.close()
    assert server.values("loss") == [0.5]


def test_a_run_that_is_started_again_with_the_right_key_goes_on(
    home: Home, agent: Agent, make_server: Callable[..., SmallServer]
) -> None:
    server = make_server(key="right")
    run_dir = run_dir_of(home)
    mark(home, run_dir, server.url, target=Target(base_url=server.url, api_key="wrong"), **DEAD)
    writer_of(run_dir).row({"loss": 0.5}, 0)
    agent.wait_for(lambda: read_state(run_dir.path) is not None and state_of(run_dir).is_refused)
    right = Target(base_url=server.url, api_key="right")
    mark(home, run_dir, server.url, "bbbbbbbb", attempt=2, target=right, **DEAD)
    agent.wait_for(lambda: server.values("loss") == [0.5])
    agent.wait_for(lambda: no_markers(home))
