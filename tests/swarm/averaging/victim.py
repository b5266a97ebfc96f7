"""A peer in a process of its own, that takes part in a round until it is killed: its parts go out slowly."""

from __future__ import annotations

import sys

import torch

from strobe.swarm.averaging import DecentralizedAverager
from strobe.swarm.averaging.trade import Trade
from strobe.swarm.dht import DHT

_exchange = Trade._exchange


async def _exchange_and_tell(self: Trade, number: int) -> None:
    await _exchange(self, number)
    print("part", flush=True)  # whoever reads it kills us
    if number >= 2:
        import asyncio

        await asyncio.sleep(3600)


def main() -> None:
    Trade._exchange = _exchange_and_tell  # type: ignore[method-assign]
    length, settings = int(sys.argv[2]), {"prefix": "test", "target_group_size": 4, "part_bytes": 4096}
    with DHT([sys.argv[1]]) as dht:
        averager = DecentralizedAverager([torch.full((length,), 100.0)], dht, matchmaking_s=60.0, **settings)  # type: ignore[arg-type]
        print("ready", flush=True)
        averager.step()


if __name__ == "__main__":
    main()
