"""One peer's way through the epochs of a training: what it adds, how an epoch ends, and what happens if it is behind.

An epoch ends for everybody at about the same time, with an average and a step. Whatever goes wrong there ends in one of
two ways: the step is taken with what is here, or, if the others went on, their state replaces this peer's. Knows
nothing of torch's interface; `optimizer` shows it to the user.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch

from strobe.errors import Error, UsageError
from strobe.swarm.averaging import Round
from strobe.swarm.collaborative.download import Terms, download
from strobe.swarm.collaborative.gradients import Gradients
from strobe.swarm.collaborative.progress import Outlook, Pace
from strobe.swarm.collaborative.rounds import Purpose, Rounds, present_in
from strobe.swarm.collaborative.state import Snapshot
from strobe.swarm.collaborative.tracker import Tracker
from strobe.swarm.collaborative.training import Kind, TrainingState
from strobe.swarm.dht import DHT
from strobe.swarm.tensors import COMPRESSIONS

#: how much longer than for a word a donor may take for a part
_PATIENCE: Final = 3
_log = logging.getLogger("strobe.swarm.collaborative")


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochOptions:
    """How epochs end; times in seconds."""

    average_state_every: int = 1
    grad_compression: str = "none"
    state_compression: str = "none"
    use_local_updates: bool = False
    auxiliary: bool = False
    averaging_timeout_s: float = 30.0
    load_state_timeout_s: float = 300.0
    request_timeout_s: float = 5.0
    verbose: bool = False

    def __post_init__(self) -> None:
        if self.average_state_every < 1 or (self.use_local_updates and self.average_state_every > 1):
            raise UsageError(
                f"average_state_every is {self.average_state_every}; it is a number of epochs, at least 1, "
                "and with use_local_updates exactly that: a greater target_batch_size makes it less often"
            )
        for name in (self.grad_compression, self.state_compression):
            if name not in COMPRESSIONS:
                raise UsageError(f"no compression {name!r}; there are {', '.join(COMPRESSIONS)}")
        if self.auxiliary and self.use_local_updates:
            raise UsageError("with use_local_updates only states are averaged, in which an auxiliary peer has no part")


class Epochs:
    """Gradients, state and reports of one peer, in step with those of the others."""

    def __init__(
        self, dht: DHT, run_id: str, state: TrainingState, tracker: Tracker, rounds: Rounds, options: EpochOptions
    ) -> None:
        self._dht = dht
        self._run_id = run_id
        self._state = state
        self._tracker = tracker
        self._rounds = rounds
        self._options = options
        self._level = logging.INFO if options.verbose else logging.DEBUG
        self.gradients = Gradients(state.parameters)
        self.pace = Pace()
        self.num_downloads = self.num_alone = 0
        #: whether the parameters come from the swarm, and how many peers averaged the last time
        self._has_joined = False
        self._group_size = 1

    def take(self, batch_size: int) -> None:
        """Add the gradients that the parameters have, of a batch of so many samples; of none, nothing."""
        if batch_size == 0:
            self.pace.resume(time.monotonic())
            return
        if not self.gradients.add(batch_size):
            _log.warning("%s: a batch with gradients that are NaN or infinite is left out", self._run_id)
        elif self._options.use_local_updates:
            self._state.step()
        self.pace.add(batch_size, time.monotonic())

    def move(self) -> None:
        """Tell the swarm how far this peer is; catch up with it, and end the epoch with it, if it is time for that."""
        outlook = self.report()
        if outlook.epoch > self._state.epoch:
            self._catch_up(outlook)
            outlook = self.report()
        if outlook.is_ready and outlook.epoch <= self._state.epoch:
            self._end(outlook)

    def report(self, *, is_averaging: bool = False) -> Outlook:
        return self._tracker.report(
            epoch=self._state.epoch,
            samples=self.gradients.samples,
            samples_per_s=self.pace.samples_per_s,
            is_averaging=is_averaging,
        )

    def begin(self, epoch: int) -> None:
        """Be at the beginning of an epoch, with the parameters that are here."""
        self._state.advance(epoch)
        self.gradients.reset()
        self._has_joined = True
        self._resume()

    def load(self, timeout_s: float | None = None) -> bool:
        """Take over the state of those who are furthest; False if nobody is, StateUnavailable if none gives it."""
        self._tracker.look()
        snapshot = self._download(timeout_s)
        if snapshot is not None:
            self._go_on(keep_gradients=False)
        return snapshot is not None

    # -- the end of an epoch -----------------------------------------------------------------------------------------

    def _end(self, outlook: Outlook) -> None:
        options, state = self._options, self._state
        if self._together(outlook) == 1:
            # Nobody, by the last look. Epochs may be shorter than the time between two: who ends them alone for lack
            # of news leaves everybody else waiting in an epoch that is over.
            outlook = self._tracker.look()
            if outlook.epoch > state.epoch:
                self._catch_up(outlook)
                return
        together = self._together(outlook)
        # Not on the parameters' device: there it would take room from the training while others are waited for.
        means = None if options.use_local_updates else [mean.cpu() for mean in self.gradients.means()]
        round_: Round | None = None
        if together > 1:
            self.report(is_averaging=True)
            round_ = self._average_state(together) if means is None else self._average_gradients(means, together)
            if round_ is None:
                self.report()
                now = self._tracker.look_while_others_average(options.averaging_timeout_s)
                if now.epoch > state.epoch:
                    # The others have done without us: their step counts, and our samples in the next epoch.
                    self._catch_up(now)
                    return
        if options.auxiliary and round_ is None:  # the others are still in this epoch: so is who helps them
            self._resume()
            return
        self.num_alone += round_ is None
        self._group_size = round_.group_size if round_ is not None else 1
        samples = self.gradients.samples
        # A round that failed may have left something in the first ones.
        self._step(means if round_ is not None else None)
        _log.log(
            self._level,
            "%s: epoch %d after %d samples, %d of them here; %d peers averaged",
            self._run_id,
            state.epoch,
            outlook.samples,
            samples,
            self._group_size,
        )
        is_due = means is not None and state.epoch % options.average_state_every == 0 and not options.auxiliary
        del means  # as large as the model
        if round_ is not None and is_due and len(present := present_in(round_)) > 1:
            self._average_state(len(present))
            self._resume()

    def _together(self, outlook: Outlook) -> int:
        """Return how many peers end this epoch, as far as is known."""
        # Those of the last group count although their first report of this epoch may be on its way.
        return max(outlook.num_together, min(self._group_size, outlook.num_peers))

    def _step(self, means: Sequence[torch.Tensor] | None = None) -> None:
        """Take the step of the swarm with these gradients, or those that are here, and begin the next epoch.

        With local updates and in auxiliary peers there is no step.
        """
        with self._state.lock:  # over both: who copies the state between them would have the step, and the old epoch
            if not (self._options.use_local_updates or self._options.auxiliary):
                self._state.apply(means if means is not None else self.gradients.means())
            self.begin(self._state.epoch + 1)

    def _average_gradients(self, means: list[torch.Tensor], together: int) -> Round | None:
        return self._rounds.average(
            "gradients",
            self._state.epoch,
            means,
            weight=float(self.gradients.samples),
            num_peers=together,
            compression=self._options.grad_compression,
        )

    def _average_state(self, together: int) -> Round | None:
        """Make up for what rounds that failed, rounding and local updates have done to the likeness of the peers."""
        compression = self._options.state_compression
        if compression == "none":
            return self._average_kind("state", "all", together, "none")
        # Apart from what bears no loss: what is decoded becomes everybody's own.
        round_ = self._average_kind("state", "parameters", together, compression)
        if round_ is not None and self._state.averageable("rest"):
            self._average_kind("statistics", "rest", len(present_in(round_)), "none")
        return round_

    def _average_kind(self, purpose: Purpose, kind: Kind, together: int, compression: str) -> Round | None:
        copies = [tensor.detach().to("cpu", copy=True) for tensor in self._state.averageable(kind)]
        round_ = self._rounds.average(
            purpose,
            self._state.epoch,
            copies,
            # After a common step all states are as good; those of local updates are worth what went into them.
            weight=float(self.gradients.samples) if self._options.use_local_updates else 1.0,
            num_peers=together,
            compression=compression,
        )
        if round_ is not None:
            self._state.replace(copies, kind)
        return round_

    # -- who is behind -----------------------------------------------------------------------------------------------

    def _catch_up(self, outlook: Outlook) -> None:
        """Get the state of those who are further; gradients that are no more than one epoch old still count."""
        state, missed = self._state, outlook.epoch - self._state.epoch
        if self._options.auxiliary:  # it has no state to keep up
            self.begin(outlook.epoch)
            return
        try:
            snapshot = self._download()
        except Error as exc:
            _log.warning("%s: in epoch %d, the swarm in %d: %s", self._run_id, state.epoch, outlook.epoch, exc)
            self._tracker.look()
            return
        if snapshot is not None:
            is_stale = missed > 1 or not self._has_joined or self._options.use_local_updates
            self._go_on(keep_gradients=not is_stale)
            return
        _log.warning(
            "%s: the swarm is said to be in epoch %d and nobody there gives its state; going on from epoch %d",
            self._run_id,
            outlook.epoch,
            state.epoch,
        )
        if missed == 1 and outlook.num_together == 1:  # others took a step alone, as this peer does now
            self._step()
        else:  # what cannot be had cannot be followed, and may be a lie; who is here can average
            self._tracker.distrust_ahead(state.epoch)

    def _go_on(self, *, keep_gradients: bool) -> None:
        """Train with a state that has come."""
        self._has_joined = True
        if not keep_gradients:
            self.gradients.reset()
        self._resume()

    def _download(self, timeout_s: float | None = None) -> Snapshot | None:
        """Take over a later state, and return it; None if nobody offers one."""
        sources = self._tracker.sources(self._state.epoch)
        if not sources:
            return None
        terms = Terms(
            least_epoch=self._state.epoch + 1,
            check=self._state.check,
            take=self._state.load,
            timeout_s=timeout_s if timeout_s is not None else self._options.load_state_timeout_s,
            request_timeout_s=_PATIENCE * self._options.request_timeout_s,
        )
        snapshot = self._dht.run_coroutine(
            lambda node: download(node.network, sources, terms, lambda source: self._tracker.distrust(source.mark))
        )
        self.num_downloads += 1
        _log.log(self._level, "%s: got the state of epoch %d", self._run_id, snapshot.epoch)
        return snapshot

    def _resume(self) -> None:
        """Go on after a time that was not spent on samples."""
        self.report()
        self.pace.resume(time.monotonic())
