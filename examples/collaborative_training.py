"""Train one model with processes that come and go: two begin, a third joins late, one of the first is killed.

Each has data of its own, and all take the same steps: whenever they have gone through 256 samples together they average
their gradients. The first one logs with Strobe. Needs torch.

    python examples/collaborative_training.py
    strobe run show latest
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import NamedTuple

import torch
from torch import nn

import strobe
from strobe.swarm.collaborative import Optimizer
from strobe.swarm.dht import DHT
from strobe.swarm.telemetry import Telemetry, dht_figures

FEATURES, BATCH, TARGET = 8, 32, 256


class News(NamedTuple):
    epoch: int
    loss: float
    num_peers: int


class Result(NamedTuple):
    joined_at: int
    parameters: list[float]


def make_batch(generator: torch.Generator, size: int = BATCH) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(size, FEATURES, generator=generator)
    return x, torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]


def train(number: int, initial_peers: Sequence[str], pipe: Connection) -> None:
    """Take part until the parent says in which epoch to end. The first says how it goes; all say what they have."""
    torch.set_num_threads(1)
    torch.manual_seed(0)  # all begin with the same parameters
    model = nn.Sequential(nn.Linear(FEATURES, 32), nn.Tanh(), nn.Linear(32, 1))
    data = torch.Generator().manual_seed(number + 1)
    x_test, y_test = make_batch(torch.Generator().manual_seed(0), 512)
    with contextlib.ExitStack() as stack:
        dht = stack.enter_context(DHT(initial_peers))
        optimizer = stack.enter_context(
            Optimizer(
                dht=dht,
                run_id="example",
                optimizer=torch.optim.Adam(model.parameters(), lr=0.05),
                target_batch_size=TARGET,
                batch_size_per_step=BATCH,
                matchmaking_s=3.0,
                request_timeout_s=2.0,
            )
        )
        pipe.send(str(dht.address))
        last_epoch = pipe.recv()
        optimizer.load_state_from_peers()  # nothing to load for those who are there from the beginning
        joined_at = known = optimizer.local_epoch
        run = None
        if number == 0:
            run = stack.enter_context(strobe.init(project="collaborative-training", config={"target": TARGET}))
            sources = {"optimizer": optimizer.figures, "dht": dht_figures(dht)}
            stack.enter_context(Telemetry(run, sources, period_s=1.0, commit=False))
        while optimizer.local_epoch < last_epoch:
            x, y = make_batch(data)
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            time.sleep(0.02)  # as if the model were larger
            if run is not None and optimizer.local_epoch > known:
                known = optimizer.local_epoch
                with torch.no_grad():
                    loss = nn.functional.mse_loss(model(x_test), y_test).item()
                run.log({"epoch": known, "loss": loss})
                pipe.send(News(known, loss, optimizer.outlook.num_peers))
            if pipe.poll():
                last_epoch = pipe.recv()
        pipe.send(Result(joined_at, nn.utils.parameters_to_vector(model.parameters()).tolist()))
        pipe.recv()  # others may be behind, and want our state


class Peer:
    """A process that trains."""

    def __init__(self, number: int, initial_peers: Sequence[str] = ()) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=train, args=(number, initial_peers, there), daemon=True)
        self.process.start()
        there.close()  # so that the pipe ends with the process

    def ready(self) -> str:
        """Return its address, as soon as it has one, and let it train."""
        address: str = self.pipe.recv()
        self.pipe.send(sys.maxsize)
        return address

    def follow(self, is_over: Callable[[News], bool]) -> News:
        """Print how it goes until it has come that far."""
        while True:
            news: News = self.pipe.recv()
            if news.epoch % 5 == 0:
                print(f"epoch {news.epoch:3d}  loss {news.loss:.3f}  peers {news.num_peers}", flush=True)
            if is_over(news):
                return news

    def result(self) -> Result:
        """Return what it has in the end."""
        while not isinstance(said := self.pipe.recv(), Result):
            continue
        return said

    def end(self) -> None:
        self.pipe.send(None)
        self.process.join()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Train one model with processes that come and go.")
    parser.add_argument("--epochs", type=int, default=20, help="how many before, between and after what happens")
    epochs = parser.parse_args(argv).epochs
    first = Peer(0)
    address = first.pipe.recv()
    doomed = Peer(1, [address])
    doomed.ready()
    first.pipe.send(sys.maxsize)
    first.follow(lambda news: news.epoch >= epochs)
    late = Peer(2, [address])
    late.ready()
    joined = first.follow(lambda news: news.num_peers == 3)
    killed = first.follow(lambda news: news.epoch >= joined.epoch + epochs)
    doomed.process.kill()
    for peer in (first, late):
        peer.pipe.send(killed.epoch + epochs)
    last = first.follow(lambda news: news.epoch >= killed.epoch + epochs)
    mine, theirs = first.result(), late.result()
    difference = max(abs(one - two) for one, two in zip(mine.parameters, theirs.parameters, strict=True))
    print(f"loss {last.loss:.3f}; one came in epoch {theirs.joined_at}, one was killed after epoch {killed.epoch}")
    print(f"greatest difference between parameters of the two that are left: {difference:.1e}")
    for peer in (first, late):
        peer.end()


if __name__ == "__main__":
    main()
