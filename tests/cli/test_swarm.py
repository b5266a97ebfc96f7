"""`strobe swarm` against a real peer in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import strobe
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
    assert process.returncode == OK


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


def test_what_strangers_store_is_printed_whatever_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    from strobe.swarm.dht import DHT, get_dht_time

    with DHT() as dht:
        peer, until = str(dht.address), get_dht_time() + 60
        dht.store("odd", {b"a": 1, "b": (b"c", float("nan"))}, until)
        dht.store("two", "number", until, subkey=1)
        dht.store("two", "text", until, subkey="1")
        dht.store(("x", (1, 2)), "nested", until)
        assert main(["swarm", "get", "odd", "two", '["x", [1, 2]]', "--peer", peer]) == OK
    odd, two, nested = (json.loads(line.partition("\t")[2])["value"] for line in capsys.readouterr().out.splitlines())
    assert odd == {"b'a'": 1, "b": ["Yw==", "NaN"]}
    assert {name: entry["value"] for name, entry in two.items()} == {"1": "number", '"1"': "text"}
    assert nested == "nested"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["store", "k", "1", "--for", "-5"], "more than 0"),
        (["store", "k", "1", "--for", "nan"], "more than 0"),
        (["dht", "--report", "-1"], "no number of seconds above 0"),
        (["dht", "--report", "0"], "no number of seconds above 0"),
        (["dht", "--report", "nan"], "no number of seconds above 0"),
        (["dht", "--port", "99999"], "port 99999 is not between 0"),
    ],
)
def test_numbers_that_cannot_be_are_told(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["swarm", *words]) == USAGE
    assert why in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")
def test_a_dht_node_logs_into_a_run_that_is_finished_when_it_is_told_to_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "strobe", "swarm", "dht", "--project", "nodes", "--home", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("strobe://"), process.communicate()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == OK
    [run] = strobe.Api(tmp_path).runs("nodes")
    assert run.state == "finished"
    assert run.summary["swarm/dht/peers"] == 0


def test_nobody_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    absent = "strobe://" + "a" * 32 + "@127.0.0.1:9"
    assert main(["swarm", "probe", absent]) == FAILURE
    assert "did not answer" in capsys.readouterr().err
    assert main(["swarm", "get", "key", "--peer", absent]) == FAILURE
    assert "none of 1 initial peers answered" in capsys.readouterr().err
    assert main(["swarm", "get", "key"]) == USAGE
    assert "--peer" in capsys.readouterr().err
