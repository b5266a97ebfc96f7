"""Whether strangers can reach this peer: asks relays to call it back from where it has never sent anything to.

A relay calls by datagrams and by a connection, from a port and with an identity that are made for this one call, and
only at the host where it sees the asker: nobody can point it at somebody else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from strobe.swarm.net.flow import TokenBucket
from strobe.swarm.net.network import Caller, Contact, Network, NetworkError, Payload, PeerBusy, PeerRefused
from strobe.swarm.net.ports import numeric
from strobe.swarm.net.relay import protocol as rp

_KNOCK_S = 4.0
_ASK_S = 8.0
#: too long for datagrams, so that it takes a connection as well
_KNOCK = bytes(40_000)
_KNOCKS_PER_S = 2.0
_MAX_KNOCKS = 8


class DialBacks:
    """Calls others back. `stranger` makes a network of its own at a free port, of the family that a host has."""

    def __init__(self, stranger: Callable[[str], Awaitable[Network]]) -> None:
        self._stranger = stranger
        self._bucket = TokenBucket(_KNOCKS_PER_S, _MAX_KNOCKS, time.monotonic())
        self._num_knocks = 0

    async def on_dial_back(self, caller: Caller, payload: Payload) -> bytes:
        """Answer whether the caller can be called."""
        request = rp.decode(rp.DialBack, payload)
        if caller.contact.relay is not None:
            raise PeerRefused("this peer sees you through a relay, and cannot tell")
        if self._num_knocks >= _MAX_KNOCKS or not self._bucket.take(time.monotonic()):
            raise PeerBusy("too many want to be called back", 1.0)
        self._num_knocks += 1
        try:
            found = await self._answers(Contact(caller.id, caller.contact.host, request.port))
        finally:
            self._num_knocks -= 1
        return rp.encode(rp.DialledBack(found, caller.contact.host))

    async def _answers(self, contact: Contact) -> bool:
        network = await self._stranger(contact.host)
        try:
            await network.call(contact, "relay.knock", _KNOCK, timeout_s=_KNOCK_S, max_reply=0)
        except PeerRefused:
            return True  # there is no such method; what counts is that it said so
        except NetworkError:
            return False
        finally:
            await network.close()
        return True


class Asks(Protocol):
    """How a network calls others."""

    async def ask(self, contact: Contact, method: str, payload: bytes, timeout_s: float) -> Payload: ...


async def seen_host(network: Asks, relays: Sequence[Contact], port: int, *, own_hosts: Sequence[str]) -> str | None:
    """Return the host at which strangers reach our port, as one of the relays has tried; None if none could.

    A relay may name whom it likes, and others would call there. So what it names has to be a host of ours, or another
    relay has to see us there too, unless no other sees us by the same version of IP.
    """
    request = rp.encode(rp.DialBack(port))

    async def ask(relay: Contact) -> tuple[str, bool] | None:
        try:
            answer = await network.ask(relay, rp.DIAL_BACK, request, _ASK_S)
            verdict = rp.decode(rp.DialledBack, answer)
        except NetworkError:
            return None
        host = numeric(verdict.host)
        return None if host is None else (host, verdict.is_reachable)

    verdicts = [verdict for verdict in await asyncio.gather(*map(ask, relays)) if verdict is not None]
    for place, (host, is_reachable) in enumerate(verdicts):
        others = [other for other, _ in verdicts[:place] + verdicts[place + 1 :] if (":" in other) == (":" in host)]
        if is_reachable and (host in own_hosts or host in others or not others):
            return host
    return None
