"""`strobe swarm` against a real peer in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from strobe.cli import FAILURE, OK, USAGE, main

pytestmark = pytest.mark.slow


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "strobe", "swarm", "dht", "--identity", str(tmp_path / "key"), "--report", "0.2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert address.startswith("strobe://"), process.communicate()
    yield address
    assert process.stderr is not None
    assert any("peers known" in line for line in process.stderr), "it ended before it said how it is"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130


def test_a_record_goes_in_and_comes_out(peer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["swarm", "store", "key", '{"lr": [1, 2.5]}', "--peer", peer]) == OK
    assert main(["swarm", "store", "dictionary", "7", "--subkey", "mine", "--peer", peer]) == OK
    assert main(["swarm", "store", "key", "older", "--for", "5", "--peer", peer]) == FAILURE
    capsys.readouterr()
    assert main(["swarm", "get", "key", "dictionary", "absent", "--json", "--peer", peer]) == FAILURE
    plain, dictionary, absent = json.loads(capsys.readouterr().out)
    assert plain["value"] == {"lr": [1, 2.5]}
    assert dictionary["value"]["mine"]["value"] == 7
    assert absent is None
    assert main(["swarm", "probe", peer, "--json"]) == OK
    found = json.loads(capsys.readouterr().out)
    assert abs(found["skew_s"]) < 1
    assert found["seen_at"].startswith("127.0.0.1:")


def test_one_who_only_asks_is_told_from_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    from strobe.swarm.dht import DHT

    with DHT(client_mode=True) as asker:
        assert main(["swarm", "probe", str(asker.address)]) == FAILURE
        assert "is there, but it only asks: it holds no records" in capsys.readouterr().err


def test_nobody_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    absent = "strobe://" + "a" * 32 + "@127.0.0.1:9"
    assert main(["swarm", "probe", absent]) == FAILURE
    assert "did not answer" in capsys.readouterr().err
    assert main(["swarm", "get", "key", "--peer", absent]) == FAILURE
    assert "none of 1 initial peers answered" in capsys.readouterr().err
    assert main(["swarm", "get", "key"]) == USAGE
    assert "--peer" in capsys.readouterr().err
