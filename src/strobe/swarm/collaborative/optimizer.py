"""`Optimizer`: training of one model by peers that come and go, as if it were one machine with a large batch.

    with DHT(initial_peers) as dht:
        optimizer = Optimizer(dht=dht, run_id="my-run", optimizer=torch.optim.Adam(model.parameters()),
                              target_batch_size=4096, batch_size_per_step=32)
        for x, y in batches:
            loss(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()

Each peer adds up its gradients. When all peers together have `target_batch_size` samples they average them, everybody
takes the same step, and the next epoch begins. What others do wrong, or what happens to the network, never raises into
the training: then a peer takes the step with what it has, or gets the state that the others have.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any

import torch

from strobe.errors import Error, UsageError
from strobe.swarm.averaging import Round
from strobe.swarm.collaborative.donor import Donor, DonorOptions
from strobe.swarm.collaborative.download import Terms, download
from strobe.swarm.collaborative.gradients import Gradients
from strobe.swarm.collaborative.progress import Looks, Outlook, Pace, Progress
from strobe.swarm.collaborative.rounds import AUXILIARY, RoundOptions, Rounds
from strobe.swarm.collaborative.state import Snapshot
from strobe.swarm.collaborative.tracker import Tracker
from strobe.swarm.collaborative.training import TrainingState
from strobe.swarm.dht import DHT, Node
from strobe.swarm.tensors import COMPRESSIONS

_log = logging.getLogger("strobe.swarm.collaborative")


class Optimizer:
    """Steps like a torch optimizer, together with all peers of the same `run_id`.

    `optimizer` is a torch optimizer, or what makes one of `params`; `scheduler` is its schedule, or what makes one of
    the optimizer, and moves once per epoch. `extra_tensors` (such as a model's buffers) are averaged and downloaded
    with the parameters. All peers should have the same of all of these, of `target_batch_size`, `average_state_every`,
    `use_local_updates` and the compressions.

    With `use_local_updates` every step changes the parameters at once, and what peers average is only the state. An
    `auxiliary` peer has no data: it calls `step()` now and then, and helps the others to average.
    """

    def __init__(
        self,
        *,
        dht: DHT,
        run_id: str,
        target_batch_size: int,
        optimizer: Any,
        params: Iterable[Any] | None = None,
        batch_size_per_step: int | None = None,
        scheduler: Any = None,
        extra_tensors: Sequence[torch.Tensor] = (),
        matchmaking_s: float = 5.0,
        averaging_timeout_s: float = 30.0,
        request_timeout_s: float = 5.0,
        load_state_timeout_s: float = 300.0,
        average_state_every: int = 1,
        target_group_size: int | None = None,
        grad_compression: str = "none",
        state_compression: str = "none",
        use_local_updates: bool = False,
        auxiliary: bool = False,
        bandwidth: float = 1.0,
        looks: Looks | None = None,
        donor_options: DonorOptions | None = None,
        verbose: bool = False,
    ) -> None:
        if average_state_every < 1 or (use_local_updates and average_state_every > 1):
            raise UsageError(
                f"average_state_every is {average_state_every}; it is a number of epochs, at least 1, "
                "and with use_local_updates exactly that: a greater target_batch_size makes it less often"
            )
        for name in (grad_compression, state_compression):
            if name not in COMPRESSIONS:
                raise UsageError(f"no compression {name!r}; there are {', '.join(COMPRESSIONS)}")
        if auxiliary and use_local_updates:
            raise UsageError("with use_local_updates only states are averaged, in which an auxiliary peer has no part")
        inner = _made(optimizer, params)
        self.run_id = run_id
        self.dht = dht
        self.client_mode = dht.client_mode
        self.auxiliary = auxiliary
        self._state = TrainingState(inner, scheduler(inner) if callable(scheduler) else scheduler, extra_tensors)
        self._gradients = Gradients(self._state.parameters)
        self._batch_size = batch_size_per_step
        self._every = average_state_every
        self._grad_compression, self._state_compression = grad_compression, state_compression
        self._use_local_updates = use_local_updates
        self._load_state_timeout_s = load_state_timeout_s
        self._request_timeout_s = request_timeout_s
        self._level = logging.INFO if verbose else logging.DEBUG
        self._pace = Pace()
        self._num_downloads = self._num_alone = 0
        #: whether the parameters come from the swarm, and how many peers averaged the last time
        self._has_joined = False
        self._group_size = 1
        self._is_open = True
        # A peer that cannot be called, or that does not train, has no state to give.
        gives = not (dht.client_mode or auxiliary)
        self._donor = Donor(
            self._state.snapshot, lambda: self._state.version, compression=state_compression, options=donor_options
        )
        # By default so often that everybody hears of the end of an epoch while others still wait for a group.
        looks = looks or Looks(least_s=min(0.25, matchmaking_s / 4), most_s=min(5.0, matchmaking_s / 2))
        self._tracker = Tracker(dht, run_id, Progress(target_batch_size, looks), word=self._donor.word if gives else "")
        self._rounds = Rounds(
            dht,
            run_id,
            RoundOptions(
                matchmaking_s=matchmaking_s,
                averaging_timeout_s=averaging_timeout_s,
                request_timeout_s=request_timeout_s,
                target_group_size=target_group_size,
                bandwidth=bandwidth,
                auxiliary=auxiliary,
            ),
        )
        if gives:
            dht.run_coroutine(self._attach)
        self._tracker.start()
        self._pace.resume(time.monotonic())

    # -- as torch's ----------------------------------------------------------------------------------------------------

    @property
    def param_groups(self) -> Any:
        return self._state.optimizer.param_groups

    @property
    def state(self) -> Any:
        return self._state.optimizer.state

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of the last batch; what they added to the epoch stays."""
        self._state.optimizer.zero_grad(set_to_none=set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the torch optimizer and its schedule, and the epoch; the parameters are the model's."""
        return self._state.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was called; what was accumulated since the last epoch is dropped."""
        self._state.load_state_dict(state)
        self._begin_epoch(self.local_epoch)

    def step(self, closure: Callable[[], Any] | None = None, batch_size: int | None = None) -> Any:
        """Take the gradients of a batch of so many samples; if with them the epoch is complete, end it with the others.

        With `batch_size=0` nothing is taken: for a peer that has no more data for now, and waits for the others.
        Returns what `closure` returned, if there is one.
        """
        self._check_open()
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        if not self.auxiliary:
            self._take(batch_size if batch_size is not None else self._batch_size)
        outlook = self._report()
        if outlook.epoch > self.local_epoch:
            self._catch_up(outlook)
            outlook = self._report()
        if outlook.is_ready and outlook.epoch <= self.local_epoch:
            self._end_epoch(outlook)
        return loss

    # -- the swarm -----------------------------------------------------------------------------------------------------

    @property
    def local_epoch(self) -> int:
        """How many steps of the swarm this peer's state has behind it."""
        return self._state.epoch

    @property
    def outlook(self) -> Outlook:
        """How far the swarm is, by what is known now."""
        return self._tracker.outlook

    def load_state_from_peers(self, timeout_s: float | None = None) -> bool:
        """Get parameters, optimizer state and epoch from the peer that is furthest; False if nobody is further.

        Raises StateUnavailable if there are such peers, and none of them gives it in time.
        """
        self._check_open()
        self._tracker.look()
        snapshot = self._download(timeout_s)
        if snapshot is None:
            return False
        self._adopt(snapshot, keep_gradients=False)
        return True

    def figures(self) -> dict[str, float]:
        """Return how the training goes, by names that a run can log (see `strobe.swarm.telemetry`)."""
        outlook = self._tracker.outlook
        rounds = self._rounds
        return {
            "epoch": self.local_epoch,
            "swarm_epoch": outlook.epoch,
            "peers": outlook.num_peers,
            "clients": outlook.num_clients,
            "samples": outlook.samples,
            "samples_per_s": self._pace.samples_per_s,
            "swarm_samples_per_s": outlook.samples_per_s,
            "rounds_ok": rounds.num_ok["gradients"],
            "rounds_failed": rounds.num_failed["gradients"],
            "state_rounds_ok": rounds.num_ok["state"],
            "state_rounds_failed": rounds.num_failed["state"],
            "epochs_alone": self._num_alone,
            "matchmaking_s": rounds.matchmaking_s,
            "averaging_s": rounds.averaging_s,
            "skipped_batches": self._gradients.num_skipped,
            "downloads": self._num_downloads,
            "states_given": self._donor.num_served,
        }

    def shutdown(self) -> None:
        """Leave the training; the others hear of it. The DHT goes on: it belongs to whoever made it."""
        if not self._is_open:
            return
        self._is_open = False
        self._rounds.close()
        self._tracker.stop()
        with contextlib.suppress(Error):  # the DHT may have been shut down first
            self.dht.run_coroutine(self._detach)

    def __enter__(self) -> Optimizer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()

    # -- one epoch -----------------------------------------------------------------------------------------------------

    def _take(self, batch_size: int | None) -> None:
        if batch_size is None or batch_size < 0:
            raise UsageError(f"batch_size is {batch_size}; give it to step(), or batch_size_per_step to the optimizer")
        if batch_size == 0:
            self._pace.resume(time.monotonic())
            return
        if not self._gradients.add(batch_size):
            _log.warning("%s: a batch with gradients that are NaN or infinite is left out", self.run_id)
        elif self._use_local_updates:
            self._state.step()
        self._pace.add(batch_size, time.monotonic())

    def _report(self) -> Outlook:
        return self._tracker.report(
            epoch=self.local_epoch, samples=self._gradients.samples, samples_per_s=self._pace.samples_per_s
        )

    def _end_epoch(self, outlook: Outlook) -> None:
        # Those of the last group count although their first report of this epoch may be on its way.
        together = max(outlook.num_together, min(self._group_size, outlook.num_peers))
        means = None if self._use_local_updates else self._gradients.means()
        round_: Round | None = None
        if together > 1:
            round_ = self._average_state(together) if means is None else self._average_gradients(means, together)
            if round_ is None and self._tracker.look().epoch > self.local_epoch:
                # The others have done without us: their step counts, and our samples in the next epoch.
                self._catch_up(self._tracker.outlook)
                return
        if means is not None and not self.auxiliary:
            # A round that failed may have left something in the first ones.
            self._state.apply(means if round_ is not None else self._gradients.means())
        self._num_alone += round_ is None
        self._group_size = round_.group_size if round_ is not None else 1
        samples = self._gradients.samples
        self._begin_epoch(self.local_epoch + 1)
        _log.log(
            self._level,
            "%s: epoch %d after %d samples, %d of them here; %d peers averaged",
            self.run_id,
            self.local_epoch,
            outlook.samples,
            samples,
            self._group_size,
        )
        is_due = means is not None and self.local_epoch % self._every == 0 and not self.auxiliary
        if round_ is not None and is_due:
            self._average_state(sum(word != AUXILIARY for word in round_.gathered.values()))
        self._pace.resume(time.monotonic())

    def _average_gradients(self, means: list[torch.Tensor], together: int) -> Round | None:
        return self._rounds.average(
            "gradients",
            self.local_epoch,
            means,
            weight=float(self._gradients.samples),
            num_peers=together,
            compression=self._grad_compression,
        )

    def _average_state(self, together: int) -> Round | None:
        """Make up for what rounds that failed, rounding and local updates have done to the likeness of the peers."""
        copies = [tensor.detach().clone() for tensor in self._state.averageable()]
        # After a common step all states are as good; those of local updates are worth what went into them.
        weight = float(self._gradients.samples) if self._use_local_updates else 1.0
        round_ = self._rounds.average(
            "state", self.local_epoch, copies, weight=weight, num_peers=together, compression=self._state_compression
        )
        if round_ is not None:
            self._state.replace(copies)
        return round_

    def _begin_epoch(self, epoch: int) -> None:
        self._state.advance(epoch)
        self._gradients.reset()
        self._has_joined = True
        self._report()

    # -- who is behind -------------------------------------------------------------------------------------------------

    def _catch_up(self, outlook: Outlook) -> None:
        """Get the state of those who are further; gradients that are no more than one epoch old still count."""
        try:
            snapshot = None if self.auxiliary else self._download(None)
        except Error as exc:
            _log.warning("%s: epoch %d, the swarm is in %d: %s", self.run_id, self.local_epoch, outlook.epoch, exc)
            self._tracker.look()  # without those who could not give what they claim to have
            return
        if snapshot is not None:
            is_stale = outlook.epoch - self.local_epoch > 1 or not self._has_joined or self._use_local_updates
            self._adopt(snapshot, keep_gradients=not is_stale)
            return
        if not self.auxiliary:  # it has no state to keep up
            _log.warning(
                "%s: the swarm is in epoch %d and nobody there gives its state; going on with that of epoch %d",
                self.run_id,
                outlook.epoch,
                self.local_epoch,
            )
            self._state.apply(self._gradients.means())
        self._begin_epoch(outlook.epoch)

    def _adopt(self, snapshot: Snapshot, *, keep_gradients: bool) -> None:
        self._state.load(snapshot)
        self._has_joined = True
        if not keep_gradients:
            self._gradients.reset()
        self._report()
        self._pace.resume(time.monotonic())

    def _download(self, timeout_s: float | None) -> Snapshot | None:
        sources = self._tracker.sources(self.local_epoch)
        if not sources:
            return None
        terms = Terms(
            least_epoch=self.local_epoch + 1,
            check=self._state.check,
            timeout_s=timeout_s or self._load_state_timeout_s,
            request_timeout_s=max(self._request_timeout_s, 1.0),
        )
        snapshot = self.dht.run_coroutine(
            lambda node: download(node.network, sources, terms, lambda source: self._tracker.distrust(source.mark))
        )
        self._num_downloads += 1
        _log.log(self._level, "%s: got the state of epoch %d", self.run_id, snapshot.epoch)
        return snapshot

    async def _attach(self, node: Node) -> None:
        self._donor.attach(node.network)

    async def _detach(self, node: Node) -> None:
        self._donor.close()

    def _check_open(self) -> None:
        if not self._is_open:
            raise UsageError("this optimizer was shut down; make a new one")


def _made(optimizer: Any, params: Iterable[Any] | None) -> Any:
    if params is None:
        if not hasattr(optimizer, "param_groups"):
            raise UsageError(f"optimizer is {optimizer!r:.80}; give a torch optimizer, or what makes one, and params")
        return optimizer
    if not callable(optimizer) or hasattr(optimizer, "param_groups"):
        raise UsageError("params are for an optimizer that is yet to be made; leave them out, or give what makes it")
    return optimizer(params)
