"""Experts that peers serve to each other: modules behind forward and backward calls, trained by whoever uses them."""

from strobe.swarm.experts.backend import ExpertBackend, ExpertUnusable, Training
from strobe.swarm.experts.checkpoint import CheckpointUnsaved, CheckpointUnusable
from strobe.swarm.experts.directory import ExpertPlace, declare_experts, find_experts
from strobe.swarm.experts.registry import load_experts, register_expert
from strobe.swarm.experts.schema import ExpertInfo, SchemaMismatch
from strobe.swarm.experts.server import Server, ServerOptions
from strobe.swarm.experts.uid import ExpertUid, Pattern, is_uid, parse_uid

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
