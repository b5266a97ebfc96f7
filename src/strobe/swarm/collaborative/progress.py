"""How far the swarm is: from what its peers report to a total, an expected time and when to look again.

No clock, no network: the caller says what time it is and what was reported. A sample counts when its peer has reported
it; that peers went on since only changes when the end is expected, never whether it has come. Reports that cannot be
true, or that nobody stands behind any more, count as absent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from strobe.errors import UsageError
from strobe.swarm.collaborative.report import MOST_EPOCHS_AHEAD, PeerReport

#: More samples than that for one step of the swarm are no progress but nonsense, or meant to end every epoch at once.
_MOST_BATCHES: Final = 100
_SMOOTHING: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """How often a peer reports and reads, and what it takes for stale; seconds."""

    least_s: float = 0.25
    most_s: float = 5.0
    #: how long a report lives; long enough for a few to be lost
    life_s: float = 30.0
    #: how far the clocks of peers may be apart
    max_skew_s: float = 3.0

    def __post_init__(self) -> None:
        if not 0 < self.least_s <= self.most_s < self.life_s:
            raise UsageError(
                f"looks every {self.least_s:g} to {self.most_s:g} s at reports that live {self.life_s:g} s: "
                "each must be greater than the one before"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The swarm as one peer sees it at one moment, itself included."""

    #: the highest that any peer has reached
    epoch: int
    num_peers: int
    num_clients: int
    #: peers in the same epoch as this one
    num_together: int
    #: others of those who are about to end the epoch: they look for a group, or average with one
    num_averaging: int
    #: of the epoch that this peer is in
    samples: int
    samples_per_s: float
    #: until the target is reached
    seconds_left: float
    look_again_s: float
    #: whether the target is reached
    is_ready: bool


class Progress:
    """Reports of all peers of a training, as far as they are credible."""

    def __init__(self, target_batch_size: int, looks: Looks | None = None) -> None:
        if target_batch_size < 1:
            raise UsageError(f"target_batch_size is {target_batch_size}; it is at least 1")
        self.target_batch_size = target_batch_size
        self.looks = looks or Looks()
        self._others: dict[str, PeerReport] = {}

    def heard(self, reports: Mapping[str, PeerReport], now: float) -> None:
        """Take note of what the other peers report; it replaces what was heard before."""
        self._others = {mark: self._limit(report) for mark, report in reports.items() if self._is_credible(report, now)}

    def forget(self, mark: str) -> None:
        """Act as if a peer had reported nothing."""
        self._others = {other: report for other, report in self._others.items() if other != mark}

    def ahead(self, epoch: int) -> list[tuple[str, PeerReport]]:
        """Return the marks and reports of those who are in a later epoch."""
        return [item for item in self._others.items() if epoch < item[1].epoch <= epoch + MOST_EPOCHS_AHEAD]

    def outlook(self, own: PeerReport, now: float) -> Outlook:
        """Return what this peer, which is as far as `own` says, can expect."""
        furthest = own.epoch + MOST_EPOCHS_AHEAD
        others = [r for r in self._others.values() if r.epoch <= furthest and not self._is_stale(r, now)]
        together = [report for report in others if report.epoch == own.epoch]
        samples = own.samples + sum(report.samples for report in together)
        rate = own.samples_per_s + sum(report.samples_per_s for report in together)
        # Those who reported a while ago have worked on; one who died meanwhile has not, but for that reports expire.
        expected = samples + sum(report.samples_per_s * max(now - report.time, 0.0) for report in together)
        seconds_left = _time_for(self.target_batch_size - expected, rate)
        epoch = max([own.epoch, *(report.epoch for report in others)])
        return Outlook(
            epoch=epoch,
            num_peers=1 + len(others),
            num_clients=sum(report.client_mode for report in [own, *others]),
            num_together=1 + len(together),
            num_averaging=sum(report.is_averaging and self._is_fresh(report, now) for report in together),
            samples=samples,
            samples_per_s=rate,
            seconds_left=seconds_left,
            # Half of it: should the swarm grow to twice its size meanwhile, this peer still looks in time.
            look_again_s=min(max(seconds_left / 2, self.looks.least_s), self.looks.most_s),
            is_ready=samples >= self.target_batch_size,
        )

    def _is_credible(self, report: PeerReport, now: float) -> bool:
        most = _MOST_BATCHES * self.target_batch_size
        is_from_the_future = report.time > now + self.looks.max_skew_s
        return not (is_from_the_future or report.samples > most or self._is_stale(report, now))

    def _limit(self, report: PeerReport) -> PeerReport:
        """Give a report with a pace that looks can follow: a small model on a fast machine is quicker, and no liar."""
        quickest = _MOST_BATCHES * self.target_batch_size / self.looks.least_s
        return msgspec.structs.replace(report, samples_per_s=min(report.samples_per_s, quickest))

    def _is_fresh(self, report: PeerReport, now: float) -> bool:
        """Tell whether its peer may well be alive: one that is reports at least every `most_s`."""
        return report.time > now - 2 * self.looks.most_s - self.looks.max_skew_s

    def _is_stale(self, report: PeerReport, now: float) -> bool:
        return report.time < now - self.looks.life_s


class Pace:
    """How many samples a peer takes per second: lately, and without the time that it spent waiting for others."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._seconds_per_sample: float | None = None

    @property
    def samples_per_s(self) -> float:
        return 1 / self._seconds_per_sample if self._seconds_per_sample else 0.0

    def resume(self, now: float) -> None:
        """Begin to count time here."""
        self._since = now

    def add(self, samples: int, now: float) -> None:
        """Take note of samples that were done between the last call and now."""
        since, self._since = self._since, now
        if since is None or samples < 1 or now <= since:
            return
        latest = (now - since) / samples
        known = self._seconds_per_sample
        self._seconds_per_sample = latest if known is None else known + _SMOOTHING * (latest - known)


def _time_for(samples: float, rate: float) -> float:
    if samples <= 0:
        return 0.0
    return samples / rate if rate > 0 else math.inf
