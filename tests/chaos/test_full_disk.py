"""A server whose disk is full for a while: it says so, everybody waits, and afterwards everything is there."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from strobe.home import Home

from .seeds import announce, seeds
from .serving import Place, Server
from .storm import Storm, agent_environment

__all__ = ["agent_environment"]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("agent_environment")]

_DISK_BYTES = 96 << 20


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk, which only root can make."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "tmpfs", str(path)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs root, to mount a small disk")
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


def fill(disk: Path, *, left_bytes: int) -> Path:
    """Take all the room there is but a little, and return the file that has it."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as stream:
        try:
            while stream.write(b"x" * (64 << 10)):
                continue
        except OSError:
            stream.truncate(max(0, stream.tell() - left_bytes))
    return ballast


def wait_for_refusal(server: Server, known: int, timeout_s: float = 60.0) -> None:
    """Wait until the server has said once more that it has no room."""
    until = time.monotonic() + timeout_s
    while server.num_answers(507) <= known:
        assert time.monotonic() < until, f"no 507 after {timeout_s} s: {server.tail()}"
        time.sleep(0.1)


def restart_agents(storm: Storm) -> None:
    """Let agents ask that were not told yet to come back in a minute."""
    storm.kill_agents()
    storm.ensure_agents()


def weather(home: Home, disk: Path, tmp_path: Path, *, seed: int, num_times: int, is_patient: bool) -> None:
    announce(seed)
    place = Place(f"sqlite:///{disk}/strobe.db", str(disk / "blobs"))
    server = Server(place, tmp_path)
    server.start()
    storm = Storm(home, tmp_path, place, [server], lambda: server.port, seed)
    storm.proxy.calm()  # the disk is trouble enough
    try:
        storm.train("everything", num_rows=200 * num_times)
        storm.wait_for_rows("everything")
        for number in range(num_times):
            known = server.num_answers(507)
            ballast = fill(disk, left_bytes=storm.rng.randrange(0, 200_000) if number else 0)
            storm.train(f"late-{number}", num_rows=100, features=["console", "files"])
            restart_agents(storm)
            wait_for_refusal(server, known)
            time.sleep(storm.rng.random())
            ballast.unlink()
        if not is_patient:
            restart_agents(storm)
        storm.check_scripts()
        storm.calm(timeout_s=150)
    finally:
        storm.close()
    storm.check_content()
    assert server.num_answers(500) == 0, server.tail()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("seed", seeds(1))
def test_a_disk_that_is_full_for_a_moment(home: Home, disk: Path, tmp_path: Path, seed: int) -> None:
    weather(home, disk, tmp_path, seed=seed, num_times=1, is_patient=False)


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", seeds(41, 42))
def test_a_disk_that_is_full_for_long(home: Home, disk: Path, tmp_path: Path, seed: int) -> None:
    weather(home, disk, tmp_path, seed=seed, num_times=6, is_patient=True)
