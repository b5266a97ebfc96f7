"""Means of tensors among peers, without a server: groups that find each other in the DHT and average all at once.

with DHT(initial_peers) as dht, DecentralizedAverager(model.parameters(), dht, prefix="my-run") as averager:
    averager.step(weight=num_samples)
"""

from strobe.swarm.averaging.averager import DecentralizedAverager
from strobe.swarm.averaging.round import Round

__all__ = ["DecentralizedAverager", "Round"]
