"""Training of one model by peers that come and go: progress in the DHT, gradients and state averaged among them."""

from strobe.swarm.collaborative.donor import DonorOptions
from strobe.swarm.collaborative.download import StateUnavailable
from strobe.swarm.collaborative.progress import Looks, Outlook

__all__ = ["DonorOptions", "Looks", "Outlook", "StateUnavailable"]
