"""Watch: histograms of a torch model's gradients and parameters, every so many steps.

Hooks count the steps by themselves; between two histograms a hook is one addition. Counting is done on the tensor's
own device, and only the counts come over. torch is never imported here: whoever has a model has it loaded. What goes
wrong in a hook is said once and never reaches the training. Keys are wandb's: `gradients/<name>`, `parameters/<name>`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from strobe import terminal
from strobe.errors import UsageError

if TYPE_CHECKING:
    from strobe.data.histogram import Histogram

NUM_BINS = 64
WHAT = ("gradients", "parameters", "all", None)


class Watch:
    """Watches models and hands each histogram to `log({key: Histogram})`, which must not complete the step."""

    def __init__(self, log: Callable[[dict[str, Any]], None]) -> None:
        self._log = log
        self._watched: dict[int, _Watched] = {}
        self._num_models = 0

    def watch(
        self,
        models: Any,
        criterion: Any = None,
        log: str | None = "gradients",
        log_freq: int = 1000,
        idx: int | None = None,
        log_graph: bool = False,
    ) -> None:
        """Watch one model or several, from now on. A model can be watched once.

        `log_freq` counts backward passes for gradients and forward passes in training for parameters. `criterion` is
        taken for wandb's sake. `idx` numbers the first model, where several share a run.
        """
        if log not in WHAT:
            raise UsageError(f"watch(log={log!r}): use 'gradients', 'parameters', 'all' or None")
        if not isinstance(log_freq, int) or log_freq < 1:
            raise UsageError(f"watch(log_freq={log_freq!r}): a number of steps, at least 1")
        if log_graph:
            terminal.warn_once("watch:graph", "watch(log_graph=True): graphs of models are not recorded")
        for number, model in enumerate(_several(models)):
            _check_model(model)
            if id(model) in self._watched:
                raise UsageError(f"this {type(model).__name__} is watched already; call unwatch() first")
            position = self._num_models if idx is None else idx + number
            # wandb's spelling, without a separator, so that charts of both line up.
            prefix = f"graph_{position}" if position > 0 else ""
            self._num_models += 1
            watched = _Watched(model, self._deliver)
            if log in ("gradients", "all"):
                watched.hook_gradients(prefix, log_freq)
            if log in ("parameters", "all"):
                watched.hook_parameters(prefix, log_freq)
            self._watched[id(model)] = watched

    def unwatch(self, models: Any = None) -> None:
        """Stop watching these models, or all."""
        chosen = list(self._watched) if models is None else [id(model) for model in _several(models)]
        for key in chosen:
            if (watched := self._watched.pop(key, None)) is not None:
                watched.remove()
        if not self._watched:
            self._num_models = 0

    def _deliver(self, key: str, tensor: Any) -> None:
        try:
            histogram = count(tensor)
            if histogram is not None:
                self._log({key: histogram})
        except Exception as error:  # noqa: BLE001 - the SDK's outermost guard: this is inside the user's backward()
            terminal.warn_once("watch", f"watch: no histogram of {key}: {error!r}")


class _Watched:
    """The hooks in one model."""

    def __init__(self, model: Any, deliver: Callable[[str, Any], None]) -> None:
        self.model = model  # also keeps its id from being used again
        self.deliver = deliver
        self.handles: list[Any] = []

    def hook_gradients(self, prefix: str, every: int) -> None:
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad:
                hook = _GradientHook(f"gradients/{prefix}{name}", every, self.deliver)
                self.handles.append(parameter.register_hook(hook))

    def hook_parameters(self, prefix: str, every: int) -> None:
        self.handles.append(self.model.register_forward_hook(_ForwardHook(prefix, every, self.deliver)))

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles.clear()


class _GradientHook:
    """Called by torch with a parameter's gradient."""

    #: torch.save warns about hooks on tensors unless they say that they need not be saved
    __torch_unserializable__ = True

    def __init__(self, key: str, every: int, deliver: Callable[[str, Any], None]) -> None:
        self.key = key
        self.every = every
        self.deliver = deliver
        self.seen = 0

    def __call__(self, gradient: Any) -> None:
        self.seen += 1
        if self.seen >= self.every:
            self.seen = 0
            self.deliver(self.key, gradient)


class _ForwardHook:
    """Called by torch after each forward pass of a model."""

    def __init__(self, prefix: str, every: int, deliver: Callable[[str, Any], None]) -> None:
        self.prefix = prefix
        self.every = every
        self.deliver = deliver
        self.seen = 0

    def __call__(self, module: Any, inputs: Any, output: Any) -> None:
        if not module.training:
            return
        self.seen += 1
        if self.seen >= self.every:
            self.seen = 0
            for name, parameter in module.named_parameters():
                self.deliver(f"parameters/{self.prefix}{name}", parameter)

    def __reduce__(self) -> tuple[Any, ...]:
        # A model is pickled and deep-copied with its hooks (torch.save, EMA copies, spawn): the copy is not watched.
        return _NoHook, ()


class _NoHook:
    """Stands for a watch in the copy of a model."""

    def __call__(self, module: Any, inputs: Any, output: Any) -> None:
        return None


def count(tensor: Any, num_bins: int = NUM_BINS) -> Histogram | None:
    """Return the histogram of a torch tensor, counted where the tensor is; None for one without elements.

    Values without a bin (NaN, ±inf) are counted beside the bins. 16-bit floats are widened for the counting.
    """
    from strobe.data.histogram import Histogram

    torch = sys.modules["torch"]
    with torch.no_grad():
        values = _to_dense(tensor.detach())
        if values.numel() == 0:
            return None
        if values.is_complex():
            values = torch.view_as_real(values)
        if values.dtype not in (torch.float32, torch.float64):
            values = values.to(torch.float32)
        low, high = torch.aminmax(values)
        nan = posinf = neginf = 0
        extremes = torch.stack((low, high)).tolist()
        if not all(map(math.isfinite, extremes)):
            finite = torch.isfinite(values)
            counts = torch.stack((values.isnan().sum(), values.isposinf().sum(), values.isneginf().sum()))
            nan, posinf, neginf = counts.tolist()
            low = torch.where(finite, values, math.inf).amin()
            high = torch.where(finite, values, -math.inf).amax()
            extremes = torch.stack((low, high)).tolist()
        start, end = extremes if math.isfinite(extremes[0]) else (0.0, 0.0)
        if start == end:
            start, end = start - 0.5 - abs(start) * 1e-6, end + 0.5 + abs(end) * 1e-6
        # histc leaves out what is outside of the range, and NaN.
        counted = torch.histc(values, bins=num_bins, min=start, max=end).tolist()
    width = end / num_bins - start / num_bins
    edges = [start + width * index for index in range(num_bins)] + [end]
    histogram = Histogram(np_histogram=([int(number) for number in counted], edges))
    histogram.nan, histogram.posinf, histogram.neginf = nan, posinf, neginf
    return histogram


def _to_dense(tensor: Any) -> Any:
    if hasattr(tensor, "to_local"):  # a distributed tensor: this rank's part
        tensor = tensor.to_local()
    if tensor.is_sparse:
        return tensor.coalesce().values()
    return tensor


def _several(models: Any) -> Iterable[Any]:
    return models if isinstance(models, list | tuple) else (models,)


def _check_model(model: Any) -> None:
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        kind = f"{type(model).__module__}.{type(model).__qualname__}"
        raise TypeError(f"watch() needs a torch.nn.Module (or a list of them), got {kind}")
