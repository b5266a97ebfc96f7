"""Training of one model by peers that come and go: progress in the DHT, gradients and state averaged among them.

optimizer = Optimizer(dht=dht, run_id="my-run", optimizer=torch.optim.Adam(parameters), target_batch_size=4096)
loss.backward()
optimizer.step(batch_size=32)
"""

from strobe.swarm.collaborative.donor import DonorOptions
from strobe.swarm.collaborative.download import StateUnavailable
from strobe.swarm.collaborative.optimizer import Optimizer
from strobe.swarm.collaborative.progress import Looks, Outlook

__all__ = ["DonorOptions", "Looks", "Optimizer", "Outlook", "StateUnavailable"]
