"""A storm: scripts train, agents and servers are killed, the network lies; then calm, and everything must be there.

Who dies when is drawn from a seed. Threads and processes keep their own time, so a seed replays the same kinds of
trouble in the same order, not the same microsecond.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from strobe._version import __version__
from strobe.agent import launch
from strobe.agent.lifecycle import stop
from strobe.home import Home, RunPath
from strobe.remote.marker import Markers
from strobe.remote.state import read_state
from tests.agent.scene import agent_pids
from tests.sdk.scripts import environment

from .content import content_of_journals, content_of_store, explain
from .proxy import ChaosProxy
from .script import Script, offline_log_s, other_host
from .serving import Place, Server

USER = "ann"
FINISH_TIMEOUT_S = 2.0
_ENSURE = (
    "import sys; from pathlib import Path; from strobe.agent import launch; from strobe.home import Home; "
    "from strobe._version import __version__; launch.ensure(Home(Path(sys.argv[1])), version=__version__)"
)
#: a busy machine delays everything; what it must not be is a wait for the network
_SLACK_S = 8.0


class Storm:
    """The stage: a home, servers, and a proxy between them."""

    def __init__(
        self,
        home: Home,
        directory: Path,
        place: Place,
        servers: Sequence[Server],
        upstream: Callable[[], int],
        seed: int,
    ) -> None:
        self.home = home
        self.servers = servers
        self.rng = random.Random(seed)
        self.proxy = ChaosProxy(upstream, seed)
        self.scripts: list[Script] = []
        self.num_agent_kills = 0
        self._place = place
        self._directory = directory
        self._syncs: list[subprocess.Popen[bytes]] = []
        self._has_other_host = False
        self.env = environment(
            home,
            STROBE_AGENT="on",
            STROBE_BASE_URL=self.proxy.url,
            STROBE_API_KEY=place.make_key(USER),
            STROBE_UPLOAD_TIMEOUT_S="1.5",
            STROBE_FINISH_TIMEOUT=str(FINISH_TIMEOUT_S),
            STROBE_AGENT_IDLE_S="5",
        )
        home.path.mkdir(parents=True, exist_ok=True)

    # -- who plays ---------------------------------------------------------------------------------------------------

    def train(self, run_id: str, **job: Any) -> Script:
        script = Script(self.home, self.env, run_id, seed=self.rng.getrandbits(30), **job)
        self.scripts.append(script)
        return script

    def train_ranks(self, run_id: str, **job: Any) -> None:
        """Train with two ranks, the second on another host where that can be had: then the home has two agents."""
        self._has_other_host = bool(other_host())
        for rank in range(2):
            env = {**self.env, "RANK": str(rank), "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": run_id}
            env["STROBE_RANKS"] = "all"
            prefix = other_host() if rank else ()
            script = Script(self.home, env, run_id, prefix, seed=self.rng.getrandbits(30), **job)
            self.scripts.append(script)

    def wait_for_rows(self, run_id: str, timeout_s: float = 60.0) -> None:
        """Wait until a run has begun to log."""
        run_dir = self.home.run_dir(RunPath("local", "p", run_id))
        until = time.monotonic() + timeout_s
        while not run_dir.journal.exists() or sum(path.stat().st_size for path in run_dir.journal.iterdir()) < 4000:
            assert time.monotonic() < until, f"{run_id} has logged nothing after {timeout_s} s: {self.explain()}"
            time.sleep(0.05)

    # -- what befalls them -------------------------------------------------------------------------------------------

    def blow(self, seconds: float, fates: dict[str, int]) -> None:
        """Let it storm for so long, until all scripts have ended, and somewhat longer if the proxy did little harm."""
        until = time.monotonic() + seconds
        while (
            time.monotonic() < until
            or not all(script.is_over for script in self.scripts)
            or (self.proxy.num_harmed <= 5 and time.monotonic() < until + 60)
        ):
            assert time.monotonic() < until + 120, f"scripts do not end: {self.explain()}"
            time.sleep(self.rng.uniform(0.2, 0.8))
            fate = self.rng.choices(list(fates), list(fates.values()))[0]
            if fate == "agent":
                self._kill_agent()
            elif fate == "server":
                self._kill_server()
            elif fate == "sync" and len(self._syncs) < 2:
                command = [sys.executable, "-m", "strobe", "sync", "--quiet"] + ["--watch"] * self.rng.randrange(2)
                quiet = subprocess.DEVNULL
                self._syncs.append(subprocess.Popen(command, env=self.env, stdout=quiet, stderr=quiet))

    def _kill_agent(self) -> None:
        pids = agent_pids(self.home)
        if pids:
            with suppress(ProcessLookupError):
                os.kill(self.rng.choice(pids), signal.SIGKILL)
                self.num_agent_kills += 1
        time.sleep(self.rng.uniform(0.0, 0.5))
        self.ensure_agents()

    def kill_agents(self) -> None:
        for pid in agent_pids(self.home):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _kill_server(self) -> None:
        server = self.servers[0]
        server.kill()
        time.sleep(self.rng.uniform(0.0, 1.0))
        server.start()

    def ensure_agents(self) -> None:
        """Start the agents that are missing, as the next run that somebody starts would."""
        launch.ensure(self.home, version=__version__)
        if self._has_other_host:
            command = [*other_host(), sys.executable, "-c", _ENSURE, str(self.home.path)]
            subprocess.run(command, env=self.env, timeout=60, check=True)

    # -- afterwards --------------------------------------------------------------------------------------------------

    def calm(self, timeout_s: float = 90.0) -> None:
        """End all trouble and wait until everything is uploaded."""
        self.proxy.calm()
        for server in self.servers:
            if not server.is_up:
                server.start()
        arrived, until = self._arrived(), time.monotonic() + timeout_s
        while Markers(self.home).scan() or self.proxy.num_held:
            if (now := self._arrived()) != arrived:  # a busy machine may be slow, as long as it gets on
                arrived, until = now, time.monotonic() + timeout_s
            assert time.monotonic() < until, f"nothing more is uploaded in {timeout_s} s of calm: {self.explain()}"
            self.ensure_agents()
            time.sleep(0.5)

    def _arrived(self) -> list[object]:
        """Return what the server is known to have."""
        states = [read_state(run_dir.path) for run_dir in self.home.iter_runs()]
        return [(state.writers, state.artifacts, state.num_files, state.settled) for state in states if state]

    def check_scripts(self) -> None:
        """See that no script noticed anything."""
        usual_s = offline_log_s(self._directory.parent / "offline")
        for script in self.scripts:
            if script.is_killed:
                continue
            noticed = script.noticed(timeout_s=60)
            assert noticed.log_s < 5 * usual_s + 0.001, f"log() took {noticed.log_s} s, offline {usual_s} s"
            assert noticed.longest_s < _SLACK_S, f"log() once took {noticed.longest_s} s"
            assert noticed.finish_s < FINISH_TIMEOUT_S + _SLACK_S, f"finish() took {noticed.finish_s} s"

    def check_content(self) -> None:
        """See that the store has exactly what the journals have."""
        store = self._place.open()
        try:
            told = []
            for run_dir in self.home.iter_runs():
                path = run_dir.run_path
                found = content_of_store(store, RunPath(USER, path.project, path.id))
                if difference := explain(found, content_of_journals(self.home, run_dir)):
                    told.append(f"{path} in the store is not what was logged:\n{difference}")
            assert not told, "\n".join([*told, self.explain()])
        finally:
            store.close()

    def check_servers(self) -> None:
        """See that nothing happened at a server that it did not expect."""
        faults = [fault for server in self.servers for fault in server.faults()]
        assert not faults, "\n".join(faults)

    def close(self) -> None:
        for script in self.scripts:
            script.kill()
        for sync in self._syncs:
            sync.kill()
            sync.wait()
        stop(self.home)
        self.kill_agents()
        self.proxy.close()
        for server in self.servers:
            server.kill()

    def explain(self) -> str:
        """Return what is known about everybody, for the one who has to find out."""
        told = [f"proxy: {dict(self.proxy.counts)}, {self.proxy.num_held} held", *self.proxy.story[-15:]]
        told += [
            f"marker: {marker.run_dir} {marker.writer} alive={marker.is_alive()}"
            for marker in Markers(self.home).scan()
        ]
        told += [f"{run_dir.run_path}: {read_state(run_dir.path)}" for run_dir in self.home.iter_runs()]
        told += [f"{path.name}: {path.read_text(errors='replace')[-1500:]}" for path in self.home.agent.glob("*.log")]
        told += [f"{server.log.name}: {server.tail()}" for server in self.servers]
        return "\n".join(told)


@pytest.fixture
def agent_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What agents inherit that the test itself starts."""
    monkeypatch.setenv("STROBE_AGENT_IDLE_S", "5")
