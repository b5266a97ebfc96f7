"""`strobe swarm serve` and `status` as real processes: experts of a file, checkpoints, a run, and the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import strobe
from strobe.cli import FAILURE, OK, USAGE, main

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]

MODULE = """
import torch
from torch import nn
from strobe.swarm.experts import register_expert

@register_expert("scale", torch.zeros)
class Scale(nn.Module):
    def __init__(self, hidden_dim):
        super().__init__()
        self.factor = nn.Parameter(torch.full((hidden_dim,), 2.0))

    def forward(self, x):
        return x * self.factor
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")
def test_a_server_of_ones_own_experts_serves_logs_saves_and_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    from strobe.swarm.client import get_experts
    from strobe.swarm.dht import DHT

    (tmp_path / "mine.py").write_text(MODULE)
    command = [sys.executable, "-m", "strobe", "swarm", "serve", "mine.[0:2].[0:3]", "--num-experts", "4"]
    command += ["--class", "scale", "--module", str(tmp_path / "mine.py"), "--hidden-dim", "8", "--report", "0.2"]
    command += ["--checkpoints", str(tmp_path / "experts"), "--learning-rate", "0.5", "--project", "servers"]
    command += ["--home", str(tmp_path / "home"), "--json", "--optimizer", "sgd"]
    factors = []
    for number, stop in enumerate((signal.SIGTERM, signal.SIGINT)):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stderr is not None
        told = ""
        while not told.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, process.communicate()
            told += line
        started = json.loads(told)
        uid = sorted(started["experts"])[0]
        assert len(started["experts"]) == 4
        with DHT([started["address"]]) as dht:
            [expert] = get_experts(dht, [uid])
            assert expert is not None
            output = expert(torch.ones(1, 8))
            factors.append(output.detach())
            output.sum().backward()
            assert main(["swarm", "status", started["address"], "--json"]) == OK
            status = json.loads(capsys.readouterr().out)
            assert (status["experts"], status["steps"], status["samples"]) == (4, number + 1, 2)
            assert main(["swarm", "status", started["address"]]) == OK
            assert "4 experts" in capsys.readouterr().out
            while "samples/s" not in process.stderr.readline():
                pass
            process.send_signal(stop)
            process.communicate(timeout=30)
        assert process.returncode == OK
    assert torch.equal(factors[0], torch.full((1, 8), 2.0))
    assert torch.equal(factors[1], torch.full((1, 8), 1.5))  # what it learned before it was stopped
    runs = list(strobe.Api(tmp_path / "home").runs("servers"))
    assert len(runs) == 2
    for number, run in enumerate(runs):
        assert run.state == "finished"
        _check_figures(run, num_steps=number + 1)


def _check_figures(run: Any, num_steps: int) -> None:
    """Check that a server which answered two requests, of one row each, has told so in its run."""
    rows = list(run.scan_history())
    last = {key: value for row in rows for key, value in row.items() if key.startswith("swarm/")}
    figures = {name: last[f"swarm/server/{name}"] for name in ("samples", "requests", "steps", "experts", "peers")}
    assert figures == {"samples": 2, "requests": 2, "steps": num_steps, "experts": 4, "peers": 1}
    assert (last["swarm/server/queue_requests"], last["swarm/server/queue_samples"]) == (0, 0)
    assert 0 < last["swarm/server/latency_p50_ms"] <= last["swarm/server/latency_p99_ms"]
    assert max(row.get("swarm/server/samples_per_s", 0) for row in rows) > 0
    assert last["swarm/dht/peers"] == 1
    assert last["swarm/dht/records"] > 0


def test_what_cannot_be_served_or_asked_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    from strobe.swarm.dht import DHT

    assert main(["swarm", "serve", "ffn"]) == USAGE
    assert "ffn" in capsys.readouterr().err
    assert main(["swarm", "serve", "ffn.0", "--class", "unheard"]) == USAGE
    assert "unheard" in capsys.readouterr().err
    for option, value, told in (
        ("--learning-rate", "nan", "learning rate is nan"),
        ("--hidden-dim", "-3", "hidden_dim is -3"),
        ("--device", "foo", "device 'foo'"),
        ("--max-waiting", "0", "max_waiting is 0"),
        ("--report", "-1", "'-1' is no time to wait"),
        ("--report", "often", "'often' is no time to wait"),
    ):
        assert main(["swarm", "serve", "ffn.0", option, value]) == USAGE
        assert told in capsys.readouterr().err
    with DHT() as dht:
        assert main(["swarm", "status", str(dht.address)]) == FAILURE
        assert "serves no experts" in capsys.readouterr().err


def test_a_server_is_asked_at_the_host_where_it_is_heard(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from strobe.swarm.dht import DHT
    from strobe.swarm.experts import Server

    with DHT() as dht, Server.create(dht, expert_class="nop", hidden_dim=4, uids=["nop.0"]):
        address = replace(dht.address, hosts=("127.0.0.99", *dht.address.hosts))  # nobody listens at the first one
        assert main(["swarm", "status", str(address)]) == OK
        assert "1 experts: nop.0" in capsys.readouterr().out
        monkeypatch.setattr("strobe.cli.swarm_serve._ASK_S", 0.5)
        nowhere = replace(dht.address, hosts=("127.0.0.98", "127.0.0.99"))
        assert main(["swarm", "status", str(nowhere)]) == FAILURE
