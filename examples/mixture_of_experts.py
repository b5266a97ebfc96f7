"""Train a mixture of experts over three server processes, one of which is killed on the way: the loss still falls.

The layer in the middle lives in the servers, which learn from its gradients; what is around it lives here. Needs torch.

    python examples/mixture_of_experts.py
    strobe run show latest
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
from collections.abc import Sequence

import torch
from torch import nn

import strobe
from strobe.swarm.client import Patience, RemoteMixtureOfExperts
from strobe.swarm.dht import DHT
from strobe.swarm.telemetry import Telemetry, dht_figures

WIDTH, FEATURES, CLASSES, BATCH = 32, 16, 8, 64


def start_server(row: int, peers: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start a process that serves one row of the grid, in the swarm of these peers."""
    command = [sys.executable, "-m", "strobe", "swarm", "serve", f"ffn.{row}.[0:4]", "--hidden-dim", str(WIDTH)]
    peer_options = [option for peer in peers for option in ("--peer", peer)]
    return subprocess.Popen(
        [*command, "--update-period", "5", "--quiet", *peer_options], stdout=subprocess.PIPE, text=True
    )


def address_of(server: subprocess.Popen[str]) -> str:
    """Return what a server prints first, as soon as it serves."""
    assert server.stdout is not None
    return server.stdout.readline().strip()


def batches(seed: int) -> torch.Tensor:
    return torch.randn(BATCH, FEATURES, generator=torch.Generator().manual_seed(seed))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Train a mixture of experts while servers die.")
    parser.add_argument("--steps", type=int, default=120)
    args = parser.parse_args(argv)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    teacher = nn.Sequential(nn.Linear(FEATURES, 64), nn.Tanh(), nn.Linear(64, CLASSES))
    with contextlib.ExitStack() as stack:
        servers = [start_server(0)]
        stack.callback(servers[0].kill)
        addresses = [address_of(servers[0])]
        servers += [start_server(row, addresses) for row in (1, 2)]
        for server in servers[1:]:
            stack.callback(server.kill)
            addresses.append(address_of(server))
        dht = stack.enter_context(DHT(addresses, client_mode=True))
        experts = RemoteMixtureOfExperts(
            dht,
            in_features=WIDTH,
            grid_size=(3, 4),
            uid_prefix="ffn",
            k_best=4,
            forward=Patience(timeout_s=5.0, after_k_min_s=1.0),
            backward=Patience(timeout_s=5.0, after_k_min_s=1.0),
            allow_zero_outputs=True,
        )
        model = nn.Sequential(nn.Linear(FEATURES, WIDTH), experts, nn.Linear(WIDTH, CLASSES))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        run = stack.enter_context(
            strobe.init(project="mixture-of-experts", config={"steps": args.steps, "width": WIDTH})
        )
        sources = {"experts": experts.stats.read, "dht": dht_figures(dht)}
        stack.enter_context(Telemetry(run, sources, period_s=2.0, commit=False))
        for step in range(args.steps):
            if step == args.steps // 2:
                servers[0].kill()
                servers[0].wait()
            x = batches(step)
            loss = nn.functional.cross_entropy(model(x), teacher(x).argmax(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            alive = sum(server.poll() is None for server in servers)
            run.log({"loss": loss.item(), "servers_alive": alive, "failed_requests": experts.stats.failures})
            if step % 20 == 0 or step == args.steps - 1:
                print(f"step {step:4d}  loss {loss.item():.3f}  servers {alive}  failed {experts.stats.failures}")


if __name__ == "__main__":
    main()
