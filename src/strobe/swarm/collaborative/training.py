"""What is trained: parameters, the torch optimizer that changes them and its schedule, read and replaced as a whole.

The one place that knows how torch keeps an optimizer's state. Others see it as named tensors: `param.3`,
`state.3.exp_avg`, `extra.0`. Whoever changes or copies the state holds the lock.
"""

from __future__ import annotations

import logging
import math
import re
import threading
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

import torch

from strobe.errors import UsageError
from strobe.swarm.collaborative.state import PARAMETERS, Offer, Scalar, Snapshot, StateMismatch
from strobe.swarm.tensors import TensorSpec, is_finite

#: which part of a state: `rest` is what the optimizer remembers, and extra tensors
Kind: TypeAlias = Literal["all", "parameters", "rest"]

_STATE: Final = re.compile(r"state\.(0|[1-9][0-9]{0,8})\.(\w{1,64})", re.ASCII)
#: the name under which a snapshot says what kind of optimizer it is of
_OPTIMIZER: Final = "optimizer"
#: what an optimizer may remember of one parameter
_MAX_PER_PARAMETER: Final = 16
_log = logging.getLogger("strobe.swarm.collaborative")


class TrainingState:
    """Parameters, optimizer and schedule, and how many epochs they have behind them."""

    def __init__(self, optimizer: Any, scheduler: Any = None, extra_tensors: Sequence[torch.Tensor] = ()) -> None:
        self.optimizer = optimizer
        self.scheduler = scheduler
        self.parameters: list[torch.Tensor] = [
            parameter for group in optimizer.param_groups for parameter in group["params"]
        ]
        self.extra_tensors = list(extra_tensors)
        for number, tensor in enumerate(self.extra_tensors):
            if not is_finite(tensor):
                raise UsageError(
                    f"extra_tensors[{number}] has NaN or infinite values, of which there is no average; "
                    "leave it out: what never changes, such as a mask, need not be shared"
                )
        self.lock = threading.RLock()
        self.epoch = 0
        #: changes whenever the state does
        self.version = 0
        #: whether what the optimizer remembers came from a peer, and no step was taken with it yet
        self._is_borrowed = False

    def apply(self, gradients: Sequence[torch.Tensor]) -> None:
        """Let the optimizer take one step with these gradients; those that the parameters have stay as they are."""
        with self.lock:
            before = [parameter.grad for parameter in self.parameters]
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                parameter.grad = gradient.to(parameter.device, parameter.dtype)
            try:
                self._step()
            finally:
                for parameter, gradient in zip(self.parameters, before, strict=True):
                    parameter.grad = gradient
            self.version += 1

    def step(self) -> None:
        """Let the optimizer take one step with the gradients that the parameters have."""
        with self.lock:
            self._step()
            self.version += 1

    def advance(self, epoch: int) -> None:
        """Be in this epoch from now on."""
        with self.lock:
            self.epoch = epoch
            self.version += 1
            self._schedule()

    def snapshot(self) -> Snapshot:
        """Return a copy of everything."""
        with self.lock:
            tensors = {
                name: value.detach().to("cpu", copy=True).contiguous()
                for name, value in self._named()
                if isinstance(value, torch.Tensor)
            }
            scalars = {name: _scalar(name, value) for name, value in self._named() if name not in tensors}
            return Snapshot(self.epoch, tensors, {_OPTIMIZER: self._optimizer_name, **scalars})

    def load(self, snapshot: Snapshot) -> None:
        """Become what a snapshot says, or stay as it is and raise StateMismatch; its offer was checked before."""
        remembered: dict[int, dict[str, Any]] = {}
        for name, value in (*snapshot.tensors.items(), *snapshot.scalars.items()):
            if (found := _STATE.fullmatch(name)) is not None:
                remembered.setdefault(int(found[1]), {})[found[2]] = value
        with self.lock, torch.no_grad():
            before = self.optimizer.state_dict()
            try:
                self.optimizer.load_state_dict({**before, "state": remembered})
            except Exception as exc:  # torch raises whatever comes of values that a stranger chose
                self.optimizer.load_state_dict(before)
                raise StateMismatch(f"{self._optimizer_name} cannot go on from what was offered: {exc!r:.200}") from exc
            for name, tensor in self._fixed():
                tensor.copy_(snapshot.tensors[name])
            self._is_borrowed = True
            self.epoch = snapshot.epoch
            self.version += 1
            self._schedule()

    def check(self, offer: Offer) -> None:
        """Raise StateMismatch unless what is offered can be the state of this very training."""
        known = {name: TensorSpec.of(value) for name, value in self._named() if isinstance(value, torch.Tensor)}
        for name, _ in self._fixed():
            if offer.tensors.get(name) != known[name]:
                raise StateMismatch(f"{name} is {known[name]} here, {offer.tensors.get(name)!s:.200} is offered")
        if (theirs := offer.scalars.get(_OPTIMIZER)) != self._optimizer_name:
            raise StateMismatch(f"the optimizer is {self._optimizer_name} here, {theirs!r:.80} there")
        counts: Counter[int] = Counter()
        for name in (*offer.tensors, *offer.scalars):
            found = _STATE.fullmatch(name)
            if found is None and (name in known or name == _OPTIMIZER):
                continue
            if found is None or (number := int(found[1])) >= len(self.parameters):
                raise StateMismatch(f"{name!r:.80} is offered, which belongs to nothing here")
            counts[number] += 1
            if counts[number] > _MAX_PER_PARAMETER:
                raise StateMismatch(f"more than {_MAX_PER_PARAMETER} values are offered of parameter {number}")
            spec = offer.tensors.get(name)
            if spec is not None and spec != known.get(name, spec):
                raise StateMismatch(f"{name} is {known[name]} here, {spec!s:.200} is offered")
            if spec is not None and math.prod(spec.shape) > max(self.parameters[number].numel(), 1):
                raise StateMismatch(f"{name} is larger than its parameter: {spec!s:.200}")

    def averageable(self, kind: Kind = "all") -> list[torch.Tensor]:
        """Return what peers average: everything with a fraction, except single numbers such as counts of steps."""
        return [
            value
            for name, value in self._named()
            if isinstance(value, torch.Tensor)
            and value.is_floating_point()
            and (value.ndim > 0 or not name.startswith("state."))
            and (kind == "all" or name.startswith(PARAMETERS) == (kind == "parameters"))
        ]

    def replace(self, averages: Sequence[torch.Tensor], kind: Kind = "all") -> None:
        """Put averages where `averageable` took them from."""
        with self.lock, torch.no_grad():
            for tensor, average in zip(self.averageable(kind), averages, strict=True):
                tensor.copy_(average)
            self.version += 1

    def state_dict(self) -> dict[str, Any]:
        """Return what torch's optimizer would, and the epoch."""
        with self.lock:
            scheduled = {} if self.scheduler is None else {"scheduler": self.scheduler.state_dict()}
            return {**self.optimizer.state_dict(), **scheduled, "epoch": self.epoch}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take what `state_dict` returned, here or of a plain torch optimizer."""
        state = dict(state)
        with self.lock:
            self.epoch = int(state.pop("epoch", self.epoch))
            scheduled = state.pop("scheduler", None)
            self.optimizer.load_state_dict(state)
            if self.scheduler is not None and scheduled is not None:
                self.scheduler.load_state_dict(scheduled)
            self.version += 1

    def _step(self) -> None:
        try:
            self.optimizer.step()
        except Exception as exc:  # that it could be loaded does not say that it is complete, and of the right shapes
            if not self._is_borrowed:
                raise
            _log.warning("what was downloaded is nothing that %s can go on from: %r", self._optimizer_name, exc)
            self.optimizer.state.clear()
            self.optimizer.step()
        self._is_borrowed = False

    @property
    def _optimizer_name(self) -> str:
        return type(self.optimizer).__name__

    def _schedule(self) -> None:
        """Bring the schedule to the epoch: by one step, or by all that were missed."""
        if self.scheduler is None:
            return
        with warnings.catch_warnings():
            # It warns of steps that its optimizer did not take; others took them.
            warnings.filterwarnings("ignore", message=".*lr_scheduler.step.*", category=UserWarning)
            for _ in range(self.epoch - self.scheduler.last_epoch):
                self.scheduler.step()

    def _fixed(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield what there is from the beginning."""
        for number, parameter in enumerate(self.parameters):
            yield f"param.{number}", parameter
        for number, tensor in enumerate(self.extra_tensors):
            yield f"extra.{number}", tensor

    def _named(self) -> Iterator[tuple[str, Any]]:
        yield from self._fixed()
        for number, parameter in enumerate(self.parameters):
            for key, value in sorted(self.optimizer.state.get(parameter, {}).items()):
                yield f"state.{number}.{key}", value


def _scalar(name: str, value: Any) -> Scalar:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise UsageError(f"the optimizer keeps {name} as {type(value).__name__}; only tensors and numbers can be shared")
