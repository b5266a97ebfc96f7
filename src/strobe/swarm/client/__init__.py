"""Using the experts of other peers from ordinary torch code: one, or a mixture of the best of many."""

from strobe.swarm.client.beam import BeamSearch
from strobe.swarm.client.crowd import Patience, TooFewExperts
from strobe.swarm.client.expert import RemoteExpert, get_experts
from strobe.swarm.client.link import Link
from strobe.swarm.client.mixture import RemoteMixtureOfExperts
from strobe.swarm.client.stub import BadReply, CallOptions
from strobe.swarm.client.switch import RemoteSwitchMixtureOfExperts

__all__ = [
    "BadReply",
    "BeamSearch",
    "CallOptions",
    "Link",
    "Patience",
    "RemoteExpert",
    "RemoteMixtureOfExperts",
    "RemoteSwitchMixtureOfExperts",
    "TooFewExperts",
    "get_experts",
]
