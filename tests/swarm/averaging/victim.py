"""A peer in a process of its own that is to be killed in the middle of a round: it says when that is, and waits."""

from __future__ import annotations

import asyncio
import sys

import torch

from strobe.swarm.averaging import DecentralizedAverager
from strobe.swarm.averaging.trade import Trade
from strobe.swarm.dht import DHT

_exchange = Trade._exchange


async def _exchange_and_tell(self: Trade, number: int) -> None:
    await _exchange(self, number)
    print("part", flush=True)  # whoever reads it kills us
    if number >= 2:  # of sixteen
        await asyncio.sleep(3600)


def main() -> None:
    Trade._exchange = _exchange_and_tell  # type: ignore[method-assign]
    values = torch.full((int(sys.argv[2]),), 100.0)
    with DHT([sys.argv[1]]) as dht:
        averager = DecentralizedAverager(
            [values], dht, prefix="test", target_group_size=4, part_bytes=4096, matchmaking_s=60.0
        )
        print("ready", flush=True)
        averager.step()


if __name__ == "__main__":
    main()
