"""Experts that peers serve to each other: modules behind forward and backward calls, trained by whoever uses them.

Names are loaded when they are first used: who only declares or finds experts, such as the process of a DHT, needs no
torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strobe.swarm.experts.backend import ExpertBackend, ExpertUnusable, Training
    from strobe.swarm.experts.checkpoint import CheckpointUnsaved, CheckpointUnusable
    from strobe.swarm.experts.directory import ExpertPlace, declare_experts, find_experts
    from strobe.swarm.experts.registry import load_experts, register_expert
    from strobe.swarm.experts.schema import ExpertInfo, SchemaMismatch
    from strobe.swarm.experts.server import Server, ServerOptions
    from strobe.swarm.experts.uid import ExpertUid, Pattern, is_uid, parse_uid

_HOME = {
    "ExpertBackend": "backend",
    "ExpertUnusable": "backend",
    "Training": "backend",
    "CheckpointUnsaved": "checkpoint",
    "CheckpointUnusable": "checkpoint",
    "ExpertPlace": "directory",
    "declare_experts": "directory",
    "find_experts": "directory",
    "load_experts": "registry",
    "register_expert": "registry",
    "ExpertInfo": "schema",
    "SchemaMismatch": "schema",
    "Server": "server",
    "ServerOptions": "server",
    "ExpertUid": "uid",
    "Pattern": "uid",
    "is_uid": "uid",
    "parse_uid": "uid",
}
__all__ = [
    "CheckpointUnsaved",
    "CheckpointUnusable",
    "ExpertBackend",
    "ExpertInfo",
    "ExpertPlace",
    "ExpertUid",
    "ExpertUnusable",
    "Pattern",
    "SchemaMismatch",
    "Server",
    "ServerOptions",
    "Training",
    "declare_experts",
    "find_experts",
    "is_uid",
    "load_experts",
    "parse_uid",
    "register_expert",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
