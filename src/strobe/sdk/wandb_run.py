"""`wandb.sdk.wandb_run.Run`, the name by which frameworks written for wandb ask whether they were given a run."""

from strobe.sdk.run import Run

__all__ = ["Run"]
