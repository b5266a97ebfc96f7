"""The taking side of a state download: tries donors until one has given everything, and believes none of them.

A donor that dies, refuses, lies or is too slow is left for the next: each has its share of the time, and loses it as
soon as it is seen that this will not do. One that is busy is asked again when it said to, if the others do not help.
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
from strobe.swarm.collaborative.report import MOST_EPOCHS_AHEAD
from strobe.swarm.collaborative.state import MAX_OFFER_BYTES, Assembly, Offer, Snapshot, StateMismatch, parse_offer
from strobe.swarm.net.address import Address
from strobe.swarm.net.hosts import forget, heard_at
from strobe.swarm.net.network import Contact, Network, NetworkError, PeerBusy

#: parts that are on their way at a time
_AHEAD: Final = 2
#: for the donor to hear that we are done; one that has died costs so much more
_GOODBYE_S: Final = 1.0
_log = logging.getLogger("strobe.swarm.collaborative")


class StateUnavailable(Error):
    """No peer has given its state."""


class DonorTooSlow(Error):
    """At this pace the state is not here in time."""


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
    #: gets what has come, in a thread; it too may raise StateMismatch, and the next donor is tried
    take: Callable[[Snapshot], None]
    timeout_s: float = 300.0
    #: for one part; a donor that takes longer is given up, and for so long its pace does not matter
    request_timeout_s: float = 15.0


async def download(
    network: Network, sources: Sequence[Source], terms: Terms, failed: Callable[[Source], None]
) -> Snapshot:
    """Take the state of the first that gives it, and return it; StateUnavailable if nobody does.

    `failed` hears who did not, except of those who only were busy.
    """
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
        share_s = left_s / len(due)
        try:
            snapshot = await asyncio.wait_for(_download_from(network, source, terms, share_s), share_s)
            await asyncio.to_thread(terms.take, snapshot)
        except PeerBusy as exc:
            last = f"{source.address}: {exc}"
            # Not all at once again: those who were refused together come back apart.
            due[source] = time.monotonic() + exc.retry_after_s * random.uniform(0.5, 1.5)
        except (Error, asyncio.TimeoutError) as exc:  # of the network, or because of what it sent, and how fast
            last = f"{source.address}: {str(exc) or f'nothing whole within {share_s:g} s'}"
            _log.warning("no state from %s", last)
            del due[source]
            forget(network, source.address)
            failed(source)
        else:
            return snapshot
    raise StateUnavailable(f"none of {len(sources)} peers gave its state within {terms.timeout_s:g} s; last, {last}")


async def _download_from(network: Network, source: Source, terms: Terms, share_s: float) -> Snapshot:
    offer_method, part_method, done_method = methods_of(source.word)
    timeout_s = terms.request_timeout_s
    contact = await heard_at(network, source.address, timeout_s=timeout_s)
    offer = parse_offer(await network.call(contact, offer_method, b"", timeout_s=timeout_s, max_reply=MAX_OFFER_BYTES))
    try:
        return await _fetch_all(network, contact, part_method, offer, terms, share_s)
    finally:
        # Also if it was no good: until it hears of it the donor keeps others out.
        try:
            goodbye = msgspec.json.encode(PartRequest(offer.token))
            await network.call(contact, done_method, goodbye, timeout_s=min(_GOODBYE_S, timeout_s), max_reply=0)
        except NetworkError as exc:  # it notices by itself after a while
            _log.info("%s was not told that the download is over: %s", source.address, exc)


async def _fetch_all(
    network: Network, contact: Contact, part_method: str, offer: Offer, terms: Terms, share_s: float
) -> Snapshot:
    if offer.epoch < terms.least_epoch:
        raise StateMismatch(f"it is of epoch {offer.epoch}, at least {terms.least_epoch} was promised")
    if offer.epoch > terms.least_epoch + MOST_EPOCHS_AHEAD:
        raise StateMismatch(f"it is of epoch {offer.epoch}, over {MOST_EPOCHS_AHEAD} more than {terms.least_epoch}")
    terms.check(offer)
    assembly = await asyncio.to_thread(Assembly, offer)

    async def fetch(number: int) -> None:
        request = msgspec.json.encode(PartRequest(offer.token, number))
        most = assembly.most_bytes(number)
        payload = await network.call(contact, part_method, request, timeout_s=terms.request_timeout_s, max_reply=most)
        await asyncio.to_thread(assembly.fill, number, payload)

    numbers = range(len(assembly.parts))
    began = time.monotonic()
    for first in numbers[::_AHEAD]:
        await _all(*map(fetch, numbers[first : first + _AHEAD]))
        elapsed_s = time.monotonic() - began
        expected_s = elapsed_s * len(numbers) / (first + _AHEAD)
        if expected_s > share_s and elapsed_s > terms.request_timeout_s:
            raise DonorTooSlow(f"{first + _AHEAD} of {len(numbers)} parts took {elapsed_s:.0f} s of {share_s:.0f} s")
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
