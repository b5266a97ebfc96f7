"""Peers that train one small model together: real networks on 127.0.0.1, each peer in a thread of this process."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import nn

from strobe.swarm.collaborative import Looks, Optimizer
from strobe.swarm.dht import DHT, Options

#: soon, so that tests are short; on a loaded machine peers still hear of each other
LOOKS = Looks(least_s=0.05, most_s=0.2, life_s=30.0)


def model_of(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def batch_of(number: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return inputs and what the model should say."""
    x = torch.randn(size, 4, generator=torch.Generator().manual_seed(number))
    return x, x[:, :1] * x[:, 1:2] - x[:, 2:3]


def loss_of(model: nn.Module, number: int, size: int) -> torch.Tensor:
    x, y = batch_of(number, size)
    loss: torch.Tensor = nn.functional.mse_loss(model(x), y)
    return loss


class Peer:
    """A model and its collaborative optimizer."""

    def __init__(self, dht: DHT, *, target: int = 32, seed: int = 0, lr: float = 0.05, **more: Any) -> None:
        self.dht = dht
        self.model = model_of(seed)
        more.setdefault("optimizer", torch.optim.Adam(self.model.parameters(), lr=lr))
        more.setdefault("looks", LOOKS)
        # Generous: nobody waits for it unless somebody does not come, which tests that want it make shorter.
        more.setdefault("matchmaking_s", 30.0)
        more.setdefault("averaging_timeout_s", 60.0)
        more.setdefault("request_timeout_s", 15.0)
        self.optimizer = Optimizer(dht=dht, run_id="run", target_batch_size=target, **more)

    def batch(self, number: int, size: int) -> None:
        """Train on one batch."""
        self.optimizer.zero_grad()
        loss_of(self.model, number, size).backward()
        self.optimizer.step(batch_size=size)

    def wait_for_epoch(self, epoch: int, timeout_s: float = 100.0) -> None:
        """Do no more than take part until the swarm has come to an epoch."""
        wait_until(lambda: self.optimizer.step(batch_size=0) or self.optimizer.local_epoch >= epoch, timeout_s)

    def parameters(self) -> list[torch.Tensor]:
        return [parameter.detach().clone() for parameter in self.model.parameters()]


def wait_until(condition: Callable[[], object], timeout_s: float = 100.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)


@contextlib.contextmanager
def swarm(count: int) -> Iterator[list[DHT]]:
    """Peers of a DHT that know each other, patient enough for a machine with other things to do."""
    options = Options(timeout_s=6.0)
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(DHT(options=options))
        others = [stack.enter_context(DHT([first.address], options=options)) for _ in range(count - 1)]
        yield [first, *others]


@contextlib.contextmanager
def peers(count: int, **more: Any) -> Iterator[list[Peer]]:
    """Peers that have heard of each other."""
    with swarm(count) as dhts, contextlib.ExitStack() as stack:
        made = [Peer(dht, **more) for dht in dhts]
        for peer in made:
            stack.callback(peer.optimizer.shutdown)
        wait_until(lambda: all(peer.optimizer.outlook.num_peers == count for peer in made))
        yield made


def together(*works: Callable[[], Any]) -> list[Any]:
    """Run each in a thread of its own; return what they returned."""
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(work) for work in works]]


def assert_alike(one: Sequence[torch.Tensor], two: Sequence[torch.Tensor], tolerance: float = 1e-6) -> None:
    for first, second in zip(one, two, strict=True):
        torch.testing.assert_close(first, second, rtol=tolerance, atol=tolerance)
