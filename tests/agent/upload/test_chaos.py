"""Chaos, bounded in time: a real script, agent and server, a proxy that breaks connections, kills at random moments.

At the end every value that was logged is in the server's store exactly once.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from strobe.agent.lifecycle import stop
from strobe.home import Home, RunPath
from strobe.journal import Replay
from strobe.remote.marker import Markers
from strobe.store.store import open_store
from tests.agent.scene import agent_pids, serving_pid, wait_for
from tests.remote.fault_proxy import FaultProxy
from tests.sdk.scripts import environment, execute, start
from tests.server.processes import Running, make_key, running

TRAIN = """
    import sys, time, strobe
    run = strobe.init(project="p", id="r1", settings=strobe.Settings(save_requirements=False, disable_git=True))
    until = time.monotonic() + float(sys.argv[1])
    step = 0
    while time.monotonic() < until:
        run.log({"loss": step / 7, "text": f"t{step}"} if step % 10 == 0 else {"loss": step / 7})
        step += 1
        time.sleep(0.002)
    run.finish()
    print(step)
"""


@pytest.fixture(autouse=True)
def _no_agent_stays(home: Home) -> Iterator[None]:
    yield
    stop(home)
    for pid in agent_pids(home):
        os.kill(pid, signal.SIGKILL)


class Scene:
    """A server that can be killed and started again, behind a proxy that breaks connections."""

    def __init__(self, place: Path, seed: int) -> None:
        self.place = place
        place.mkdir()
        (place / "server").mkdir()
        self.key = make_key(place, "ann")
        self.proxy = FaultProxy(seed)
        self._stack = ExitStack()
        self.server: Running | None = None
        self.start()

    def start(self) -> None:
        self._stack.close()
        self.server = self._stack.enter_context(running(self.place))
        self.proxy.upstream = int(self.server.url.rpartition(":")[2])

    def kill(self) -> None:
        assert self.server is not None
        self.server.process.kill()
        self.server.process.wait()

    def close(self) -> None:
        self._stack.close()
        self.proxy.close()

    def rows(self) -> tuple[list[dict[str, object]], int]:
        """Return the history, merged by step, and how many rows were taken for it."""
        store = open_store(f"sqlite:///{self.place}/server/strobe.db", self.place / "server" / "blobs")
        try:
            run = store.runs.find(RunPath("ann", "p", "r1"))
            rows, _ = store.history.page(run.id, limit=1_000_000)
            return rows, run.num_rows
        finally:
            store.close()


def run_chaos(home: Home, tmp_path: Path, seed: int, seconds: float) -> None:
    rng = random.Random(seed)
    scene = Scene(tmp_path / "serving", seed)
    env = environment(
        home,
        STROBE_AGENT="on",
        STROBE_BASE_URL=scene.proxy.url,
        STROBE_API_KEY=scene.key,
        STROBE_UPLOAD_TIMEOUT_S="2",
        STROBE_FINISH_TIMEOUT="1",
        STROBE_AGENT_IDLE_S="3",
    )
    trainer = start(TRAIN, home, str(seconds), env=env)
    second: subprocess.Popen[bytes] | None = None
    try:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(rng.uniform(0.3, 1.0))
            fate = rng.choice(["agent", "server", "second uploader", "nothing"])
            if fate == "agent" and (pid := serving_pid(home)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                execute("import strobe; strobe.init(project='q', mode='offline').finish()", home, env=env)
            elif fate == "server":
                scene.kill()
                time.sleep(rng.uniform(0.0, 0.5))
                scene.start()
            elif fate == "second uploader" and second is None:
                command = [sys.executable, "-m", "strobe", "sync", "--watch", "--quiet"]
                second = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        out, err = trainer.communicate(timeout=60)
        assert trainer.returncode == 0, err
        scene.proxy.share = 0.0  # peace: everything that waits gets through
        if not serving_pid(home):
            execute("import strobe; strobe.init(project='q', mode='offline').finish()", home, env=env)
        wait_for(lambda: not Markers(home).scan(), timeout_s=60)
    finally:
        trainer.kill()
        if second is not None:
            second.kill()
            second.wait()
        scene.close()
    replay = Replay(home.run_dir(RunPath("local", "p", "r1")))
    replay.refresh()
    logged = [(row["_step"], row["loss"], row.get("text")) for row in replay.rows()]
    assert len(logged) == int(out)
    rows, num_taken = scene.rows()
    assert [(row["_step"], row["loss"], row.get("text")) for row in rows] == logged
    assert num_taken == len(logged)  # a row that was taken twice would merge with itself
    assert sum(count for fate, count in scene.proxy.counts.items() if fate != "pass") > 0


@pytest.mark.slow
def test_a_short_storm(home: Home, tmp_path: Path) -> None:
    run_chaos(home, tmp_path, seed=1, seconds=6.0)


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(10, 16))
def test_long_storms(home: Home, tmp_path: Path, seed: int) -> None:
    run_chaos(home, tmp_path, seed=seed, seconds=25.0)
