"""Progress over the DHT: in the background this peer reports how far it is and reads how far the others are.

Lives on the event loop of the DHT's peer; what training code calls from its own thread only leaves a note or reads the
last word, except `look`, which waits for news.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import random
import time
from typing import Final

import msgspec

from strobe.errors import Error, UsageError
from strobe.swarm.client.silence import Silence
from strobe.swarm.collaborative.download import Source
from strobe.swarm.collaborative.progress import Outlook, Progress
from strobe.swarm.collaborative.report import PeerReport, parse_reports, progress_key, report_rules
from strobe.swarm.dht import DHT, Node, get_dht_time
from strobe.swarm.net.address import Address
from strobe.swarm.net.network import PeerId

_FAREWELL_S: Final = 3.0
_log = logging.getLogger("strobe.swarm.collaborative")


class Tracker:
    """What one peer knows of the progress of a training, and tells the others of its own."""

    def __init__(self, dht: DHT, run_id: str, progress: Progress, *, word: str = "") -> None:
        self._dht = dht
        self._run_id = run_id
        self._progress = progress
        #: peers whose offers turned out to be empty: what they report is not believed for a while
        self._distrusted = Silence()
        self._own = PeerReport(
            epoch=0,
            samples=0,
            samples_per_s=0.0,
            time=0.0,
            client_mode=dht.client_mode,
            word=word,
        )
        self._mark = ""
        self._is_ready = False
        self._is_leaving = False
        #: when it will look by itself
        self._next_look = math.inf
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to report and to read; return when both were done once."""
        self._dht.run_coroutine(self._attach)

    def stop(self) -> None:
        """Report nothing any more, and tell the others that this peer has left."""
        with contextlib.suppress(Error):  # the DHT may have been shut down first
            self._dht.run_coroutine(self._detach)

    def report(self, *, epoch: int, samples: int, samples_per_s: float, is_averaging: bool = False) -> Outlook:
        """Note how far this peer is; the swarm hears of it at the next look, or now if that makes a difference."""
        before, was_ready = self._own, self._is_ready
        self._own = msgspec.structs.replace(
            before, epoch=epoch, samples=samples, samples_per_s=samples_per_s, is_averaging=is_averaging
        )
        outlook = self.outlook
        self._is_ready = outlook.is_ready
        is_changed = (epoch, is_averaging) != (before.epoch, before.is_averaging)
        # How soon to look is known once a peer's pace is: before, the end of an epoch seems far off.
        is_sooner = time.monotonic() + outlook.look_again_s < self._next_look
        is_news = is_changed or is_sooner or (outlook.is_ready and not was_ready)
        if is_news and self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed with its DHT
                self._loop.call_soon_threadsafe(self._wake.set)
        return outlook

    @property
    def outlook(self) -> Outlook:
        """The swarm by what is known now."""
        return self._progress.outlook(self._own, get_dht_time())

    def look(self) -> Outlook:
        """Report and read now; return the swarm as it is then. Without a DHT, what was known before."""
        self._has_news()
        return self.outlook

    def look_while_others_average(self, timeout_s: float) -> Outlook:
        """Look until nobody of this epoch averages any more, or somebody is in a later one."""
        deadline = time.monotonic() + timeout_s
        while self._has_news() and time.monotonic() < deadline:
            outlook = self.outlook
            if not outlook.num_averaging or outlook.epoch > self._own.epoch:
                break
            time.sleep(self._progress.looks.least_s)
        return self.outlook

    def sources(self, above_epoch: int) -> list[Source]:
        """Return where a later state can be had: the latest first, those of one epoch in any order."""
        # In any order: not everybody to the same one.
        ahead = sorted(self._progress.ahead(above_epoch), key=lambda item: (-item[1].epoch, random.random()))
        found: list[Source] = []
        for mark, report in ahead:
            try:
                if report.address and report.word:
                    found.append(Source(mark, Address.parse(report.address), report.word))
            except UsageError:  # a stranger wrote it
                self.distrust(mark)
        return found

    def distrust(self, mark: str) -> None:
        """Do not believe a peer for a while: what it reported could not be had from it."""
        self._distrusted.failed(PeerId(mark.encode()))
        self._progress.forget(mark)

    def distrust_ahead(self, epoch: int) -> None:
        """Do not believe those who claim to be in a later epoch."""
        for mark, _ in self._progress.ahead(epoch):
            self.distrust(mark)

    def _has_news(self) -> bool:
        try:
            self._dht.run_coroutine(self._look)
        except Error as exc:
            _log.warning("%s: no news of the swarm: %s", self._run_id, exc)
            return False
        return True

    async def _attach(self, node: Node) -> None:
        self._loop = asyncio.get_running_loop()
        self._mark, rules = report_rules(self._run_id, node.network.identity)
        node.add_validators(rules)
        await self._look(node)
        self._task = self._loop.create_task(self._look_regularly(node))

    async def _detach(self, node: Node) -> None:
        self._is_leaving = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._store(node, msgspec.structs.replace(self._own, time=0.0)), _FAREWELL_S)

    async def _look_regularly(self, node: Node) -> None:
        # Not `while True`: before Python 3.12 wait_for forgets that it was cancelled if what it waits for comes then.
        while not self._is_leaving:
            wait_s = self.outlook.look_again_s
            self._next_look = time.monotonic() + wait_s
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), wait_s)
            self._wake.clear()
            try:
                await self._look(node)
            except Exception:  # noqa: BLE001  # a peer that reports nothing any more is lost to the others
                _log.exception("%s: progress could not be reported; trying again", self._run_id)

    async def _look(self, node: Node) -> None:
        address = str(node.network.address) if self._own.word else ""  # a peer behind a relay may have moved
        own = msgspec.structs.replace(self._own, time=node.clock(), address=address)
        _, record = await asyncio.gather(self._store(node, own), node.get(progress_key(self._run_id), latest=True))
        reports = parse_reports(record)
        self._progress.heard(
            {mark: report for mark, report in reports.items() if mark != self._mark and not self._is_distrusted(mark)},
            node.clock(),
        )

    async def _store(self, node: Node, report: PeerReport) -> None:
        expires = node.clock() + self._progress.looks.life_s
        await node.store(progress_key(self._run_id), msgspec.to_builtins(report), expires, subkey=self._mark)

    def _is_distrusted(self, mark: str) -> bool:
        return self._distrusted.is_silent(PeerId(mark.encode()))
