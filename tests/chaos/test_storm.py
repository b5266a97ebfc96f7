"""One server with a SQLite store, many troubles: at the end every logged value is in the store exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.home import Home

from .seeds import announce, seeds
from .serving import Place, Server
from .storm import Storm, agent_environment

__all__ = ["agent_environment"]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("agent_environment")]

FATES = {"agent": 3, "server": 2, "sync": 1, "nothing": 3}


def weather(home: Home, tmp_path: Path, *, seed: int, seconds: float, num_rows: int) -> None:
    announce(seed)
    place = Place(f"sqlite:///{tmp_path}/strobe.db", str(tmp_path / "blobs"))
    server = Server(place, tmp_path)
    server.start()
    storm = Storm(home, tmp_path, place, [server], lambda: server.port, seed)
    try:
        storm.train("everything", num_rows=num_rows)
        storm.train("clock", num_rows=num_rows, features=["clock", "console", "deferred"])
        storm.train_ranks("ranks", num_rows=num_rows, features=["console"])
        crashing = storm.train("crashing", num_rows=100_000, features=["console", "files"])
        storm.wait_for_rows("crashing")
        crashing.kill()
        storm.train("crashing", num_rows=num_rows, features=["console", "files"], resume="must")
        storm.blow(seconds, FATES)
        storm.check_scripts()
        storm.calm()
        assert storm.proxy.num_harmed > 5, "the proxy did no harm: nothing was tested"
    finally:
        storm.close()
    storm.check_content()
    storm.check_servers()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("seed", seeds(1))
def test_a_short_storm(home: Home, tmp_path: Path, seed: int) -> None:
    weather(home, tmp_path, seed=seed, seconds=5.0, num_rows=250)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", seeds(21, 22, 23, 24))
def test_a_long_storm(home: Home, tmp_path: Path, seed: int) -> None:
    weather(home, tmp_path, seed=seed, seconds=40.0, num_rows=3000)
