"""Servers and clients for tests: real peers on 127.0.0.1, in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from strobe.swarm.dht import DHT, Options
from strobe.swarm.experts import Server, ServerOptions
from strobe.swarm.net import Address

HIDDEN = 32


@contextlib.contextmanager
def swarm(count: int = 2) -> Iterator[list[DHT]]:
    """Peers that know each other."""
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(DHT(options=Options(timeout_s=1.0)))
        others = [stack.enter_context(DHT([first.address], options=Options(timeout_s=1.0))) for _ in range(count - 1)]
        yield [first, *others]


def left_behind(dht: DHT, relay: DHT) -> Address:
    """Return an address that a peer may have had: at a relay that does not shelter it any more, and says so."""
    return replace(relay.address, id=dht.peer_id, relay=relay.peer_id)


def server(dht: DHT, *uids: str, kind: str = "ffn", hidden_dim: int = HIDDEN, **more: Any) -> Server:
    more.setdefault("options", ServerOptions(update_period_s=5.0))
    return Server.create(dht, expert_class=kind, hidden_dim=hidden_dim, uids=uids, **more)
