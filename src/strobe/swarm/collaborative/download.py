"""The taking side of a state download: tries donors until one has given everything, and believes none of them.

A donor that dies, refuses, lies or stalls is left for the next; one that is busy is asked again when it said to, if the
others do not help either.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from strobe.errors import Error
from strobe.swarm.collaborative.donor import PartRequest, methods_of
from strobe.swarm.collaborative.state import Assembly, Offer, Snapshot, StateMismatch, parse_offer
from strobe.swarm.net.address import Address
from strobe.swarm.net.network import Contact, Network, NetworkError, PeerBusy, PeerUnreachable

#: parts that are on their way at a time
_AHEAD: Final = 2
_log = logging.getLogger("strobe.swarm.collaborative")


class StateUnavailable(Error):
    """No peer has given its state."""


@dataclass(frozen=True, slots=True)
class Source:
    """Somebody who offers a state, and the mark that it reports under."""

    mark: str
    address: Address
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is asked for: a state that `check` accepts (or raises StateMismatch), of such an epoch at least."""

    least_epoch: int
    check: Callable[[Offer], None]
    timeout_s: float = 300.0
    #: for one part; a donor that takes longer is given up
    request_timeout_s: float = 15.0


async def download(
    network: Network, sources: Sequence[Source], terms: Terms, failed: Callable[[Source], None]
) -> Snapshot:
    """Return the state of the first that gives it; StateUnavailable if nobody does. `failed` hears who did not."""
    deadline = time.monotonic() + terms.timeout_s
    due = dict.fromkeys(sources, 0.0)
    last = "nobody offers one"
    while due:
        source = min(due, key=lambda source: due[source])
        wait_s = max(due[source] - time.monotonic(), 0.0)
        left_s = deadline - time.monotonic() - wait_s
        if left_s <= 0:
            break
        await asyncio.sleep(wait_s)
        try:
            return await asyncio.wait_for(_download_from(network, source, terms), left_s)
        except asyncio.TimeoutError:
            last = f"{source.address}: it is not complete yet"
        except PeerBusy as exc:
            last = f"{source.address}: {exc}"
            # Not all at once again: those who were refused together come back apart.
            due[source] = time.monotonic() + exc.retry_after_s * random.uniform(0.5, 1.5)
        except Error as exc:  # of the network, or because of what it sent
            last = f"{source.address}: {exc}"
            _log.warning("no state from %s", last)
            del due[source]
            failed(source)
    raise StateUnavailable(f"none of {len(sources)} peers gave its state within {terms.timeout_s:g} s; last, {last}")


async def _download_from(network: Network, source: Source, terms: Terms) -> Snapshot:
    offer_method, part_method, done_method = methods_of(source.word)
    contact, payload = await _first_answer(network, source.address, offer_method, terms.request_timeout_s)
    offer = parse_offer(payload)
    if offer.epoch < terms.least_epoch:
        raise StateMismatch(f"it is of epoch {offer.epoch}, at least {terms.least_epoch} was promised")
    terms.check(offer)
    assembly = await asyncio.to_thread(Assembly, offer)

    async def fetch(number: int) -> None:
        request = msgspec.json.encode(PartRequest(offer.token, number))
        payload = await network.call(contact, part_method, request, timeout_s=terms.request_timeout_s)
        await asyncio.to_thread(assembly.fill, number, payload)

    numbers = range(len(assembly.parts))
    for first in numbers[::_AHEAD]:
        await _all(*map(fetch, numbers[first : first + _AHEAD]))
    try:
        await network.call(
            contact, done_method, msgspec.json.encode(PartRequest(offer.token)), timeout_s=terms.request_timeout_s
        )
    except NetworkError as exc:  # everything is here; the donor notices by itself after a while
        _log.info("%s was not told that the download is over: %s", source.address, exc)
    return assembly.snapshot()


async def _all(*works: Coroutine[Any, Any, None]) -> None:
    """Wait for all; when one fails, the others are given up."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _first_answer(network: Network, address: Address, method: str, timeout_s: float) -> tuple[Contact, bytes]:
    """Return which of a peer's hosts answers, and what."""
    contacts = address.contacts
    for contact in contacts[:-1]:
        try:
            return contact, bytes(await network.call(contact, method, b"", timeout_s=timeout_s / len(contacts)))
        except PeerUnreachable:
            continue
    return contacts[-1], bytes(await network.call(contacts[-1], method, b"", timeout_s=timeout_s / len(contacts)))
