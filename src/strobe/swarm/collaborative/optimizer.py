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
import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any

import torch

from strobe.errors import Error, UsageError
from strobe.swarm.collaborative.donor import Donor, DonorOptions
from strobe.swarm.collaborative.epochs import EpochOptions, Epochs
from strobe.swarm.collaborative.progress import Looks, Outlook, Progress
from strobe.swarm.collaborative.rounds import RoundOptions, Rounds
from strobe.swarm.collaborative.tracker import Tracker
from strobe.swarm.collaborative.training import TrainingState
from strobe.swarm.dht import DHT, DhtStopped, Node
from strobe.swarm.net.network import Network


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
        options = EpochOptions(
            average_state_every=average_state_every,
            grad_compression=grad_compression,
            state_compression=state_compression,
            use_local_updates=use_local_updates,
            auxiliary=auxiliary,
            averaging_timeout_s=averaging_timeout_s,
            load_state_timeout_s=load_state_timeout_s,
            request_timeout_s=request_timeout_s,
            verbose=verbose,
        )
        round_options = RoundOptions(
            matchmaking_s=matchmaking_s,
            averaging_timeout_s=averaging_timeout_s,
            request_timeout_s=request_timeout_s,
            target_group_size=target_group_size,
            bandwidth=bandwidth,
            auxiliary=auxiliary,
        )
        _check_in_process(dht)
        inner = _made(optimizer, params)
        self.run_id = run_id
        self.dht = dht
        self.client_mode = dht.client_mode
        self.auxiliary = auxiliary
        self._batch_size = batch_size_per_step
        self._state = state = TrainingState(
            inner, scheduler(inner) if callable(scheduler) else scheduler, extra_tensors
        )
        # Who gives is as patient as who takes.
        donor_options = donor_options or DonorOptions(total_s=load_state_timeout_s)
        self._donor = Donor(state.snapshot, lambda: state.version, compression=state_compression, options=donor_options)
        # A peer that cannot be called, or that does not train, has no state to give.
        self._gives = not (dht.client_mode or auxiliary)
        # By default so often that everybody hears of the end of an epoch while others still wait for a group.
        looks = looks or Looks(least_s=min(0.25, matchmaking_s / 4), most_s=min(5.0, matchmaking_s / 2))
        word = self._donor.word if self._gives else ""
        self._tracker = Tracker(dht, run_id, Progress(target_batch_size, looks), word=word)
        self._rounds = Rounds(dht, run_id, round_options)
        self._epochs = Epochs(dht, run_id, state, self._tracker, self._rounds, options)
        self._is_open = True
        if self._gives:
            dht.run_coroutine(self._attach)
        self._tracker.start()
        self._epochs.pace.resume(time.monotonic())

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
        self._epochs.begin(self.local_epoch)

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
        if batch_size is None:
            batch_size = 0 if self.auxiliary else self._batch_size
        if batch_size is None or batch_size < 0:
            raise UsageError(f"batch_size is {batch_size}; give it to step(), or batch_size_per_step to the optimizer")
        if not self.auxiliary:
            self._epochs.take(batch_size)
        self._epochs.move()
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
        return self._epochs.load(timeout_s)

    def figures(self) -> dict[str, float]:
        """Return how the training goes, by names that a run can log (see `strobe.swarm.telemetry`)."""
        outlook, rounds, epochs = self._tracker.outlook, self._rounds, self._epochs
        return {
            "epoch": self.local_epoch,
            "swarm_epoch": outlook.epoch,
            "peers": outlook.num_peers,
            "clients": outlook.num_clients,
            "samples": outlook.samples,
            "samples_per_s": epochs.pace.samples_per_s,
            "swarm_samples_per_s": outlook.samples_per_s,
            "rounds_ok": rounds.num_ok["gradients"],
            "rounds_failed": rounds.num_failed["gradients"],
            "state_rounds_ok": rounds.num_ok["state"] + rounds.num_ok["statistics"],
            "state_rounds_failed": rounds.num_failed["state"] + rounds.num_failed["statistics"],
            "epochs_alone": epochs.num_alone,
            "matchmaking_s": rounds.matchmaking_s,
            "averaging_s": rounds.averaging_s,
            "skipped_batches": epochs.gradients.num_skipped,
            "downloads": epochs.num_downloads,
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

    async def _attach(self, node: Node) -> None:
        self._donor.attach(node.network)

    async def _detach(self, node: Node) -> None:
        if self._gives:
            self._donor.close(node.network)

    def _check_open(self) -> None:
        if not self._is_open:
            raise UsageError("this optimizer was shut down; make a new one")


def _check_in_process(dht: DHT) -> None:
    try:
        dht.run_coroutine(_network_of)
    except DhtStopped:
        raise
    except Error as exc:
        raise UsageError("an Optimizer needs a DHT in this process; make it without process=True") from exc


async def _network_of(node: Node) -> Network:
    return node.network


def _made(optimizer: Any, params: Iterable[Any] | None) -> Any:
    if params is None:
        if not hasattr(optimizer, "param_groups"):
            raise UsageError(f"optimizer is {optimizer!r:.80}; give a torch optimizer, or what makes one, and params")
        return optimizer
    if not callable(optimizer) or hasattr(optimizer, "param_groups"):
        raise UsageError("params are for an optimizer that is yet to be made; leave them out, or give what makes it")
    return optimizer(params)
