"""The kinds of experts: named classes, ours and those of users, each with an example of what it takes.

@register_expert("residual", lambda batch, hidden: torch.empty(batch, hidden))
class Residual(nn.Module):
    def __init__(self, hidden_dim: int) -> None: ...
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import torch
from torch import nn

from strobe.errors import UsageError

#: batch size and hidden dimension to one tensor, or one for each parameter of `forward`
SampleInputs: TypeAlias = Callable[[int, int], "torch.Tensor | tuple[torch.Tensor, ...]"]
_Class = TypeVar("_Class", bound=Callable[..., Any])


class ExpertKind(NamedTuple):
    """What makes an expert from a hidden dimension, and what that expert takes."""

    name: str
    build: Callable[[int], nn.Module]
    sample_inputs: SampleInputs

    def samples(self, batch_size: int, hidden_dim: int) -> tuple[torch.Tensor, ...]:
        made = self.sample_inputs(batch_size, hidden_dim)
        return made if isinstance(made, tuple) else (made,)


_kinds: dict[str, ExpertKind] = {}


def register_expert(name: str, sample_inputs: SampleInputs) -> Callable[[_Class], _Class]:
    """Make a class known as a kind of expert: it is called with the hidden dimension and returns a module.

    The names of the parameters of the module's `forward` are the names of its inputs; all have one row per sample, and
    so do the outputs.
    """

    def register(build: _Class) -> _Class:
        known = _kinds.get(name)
        if known is not None and _origin(known.build) != _origin(build):
            raise UsageError(f"there is a kind of expert called {name!r} already; choose another name")
        _kinds[name] = ExpertKind(name, build, sample_inputs)
        return build

    return register


def expert_kind(name: str) -> ExpertKind:
    """Return a kind by its name."""
    import strobe.swarm.experts.layers  # noqa: F401  # registers ours

    if name not in _kinds:
        raise UsageError(f"no kind of expert called {name!r}; there are {', '.join(sorted(_kinds))}")
    return _kinds[name]


def load_experts(path: str | Path) -> None:
    """Run a Python file of the user's, which registers kinds of experts."""
    path = Path(path)
    spec = importlib.util.spec_from_file_location(f"strobe_experts_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"{path} is not a Python file; name one that calls register_expert")
    before = dict(_kinds)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where dataclasses look for annotations
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    if _kinds == before:
        raise UsageError(f"{path} registers no kind of expert; decorate a class with register_expert(name, ...)")


def _origin(build: Callable[..., Any]) -> tuple[str, str]:
    # A file that is loaded twice defines the same class twice.
    return build.__module__, build.__qualname__
