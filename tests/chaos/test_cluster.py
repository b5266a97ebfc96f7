"""Three servers in front of one PostgreSQL and one S3, one of them killed again and again: the same, exactly once."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from strobe.home import Home
from tests.store.blobs.conftest import s3_endpoint
from tests.store.cluster import postgres_address

from .relay import Relay
from .seeds import announce, seeds
from .serving import Place, Server
from .storm import Storm, agent_environment

__all__ = ["agent_environment", "s3_endpoint"]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("agent_environment")]

FATES = {"server": 3, "agent": 1, "nothing": 1}


@pytest.fixture
def place(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A schema and a prefix that nobody else has."""
    name = f"t{uuid.uuid4().hex}"
    access = {"AWS_ENDPOINT_URL": s3_endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    for variable, text in access.items():
        monkeypatch.setenv(variable, text)
    with psycopg.connect(postgres_address(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    yield Place(f"{postgres_address()}&options=-csearch_path%3D{name}", f"s3://bucket/{name}", access)
    with psycopg.connect(postgres_address(), autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


def weather(home: Home, tmp_path: Path, place: Place, *, seed: int, seconds: float, num_rows: int) -> None:
    announce(seed)
    servers = [Server(place, tmp_path, f"server-{number}") for number in range(3)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(Server.start, servers))  # at once: all of them find an empty database, one makes the tables
    relay = Relay(servers)
    storm = Storm(home, tmp_path, place, servers, lambda: relay.port, seed)
    try:
        storm.train("everything", num_rows=num_rows)
        storm.train_ranks("ranks", num_rows=num_rows, features=["console", "clock"])
        storm.blow(seconds, FATES)
        storm.check_scripts()
        storm.calm()
        assert servers[0].num_kills > 0, "no server was killed: nothing was tested"
    finally:
        storm.close()
        relay.close()
    storm.check_content()
    storm.check_servers()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("seed", seeds(1))
def test_a_short_storm(home: Home, tmp_path: Path, place: Place, seed: int) -> None:
    weather(home, tmp_path, place, seed=seed, seconds=3.0, num_rows=200)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", seeds(31, 32, 33))
def test_a_long_storm(home: Home, tmp_path: Path, place: Place, seed: int) -> None:
    weather(home, tmp_path, place, seed=seed, seconds=40.0, num_rows=3000)
