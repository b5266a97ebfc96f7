"""wandb's own files: `run-<id>.wandb`, beside a directory of files. No wandb is needed to read them."""

from strobe.importers.wandb.run import WandbRun, find_runs, peek

__all__ = ["WandbRun", "find_runs", "peek"]
