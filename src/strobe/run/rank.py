"""Ranks: what a launcher (torchrun, SLURM, MPI) says about this process.

By default only rank 0 records. With `ranks="all"` every rank writes into one run; they find each other by the launch
id, which is the same in all processes of one launch and differs after a restart.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")
_SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS")
#: together these name one launch: job, restart, rendezvous
_LAUNCH = (
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_RESTART_COUNT",
    "MASTER_ADDR",
    "MASTER_PORT",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_RESTART_COUNT",
    "OMPI_MCA_ess_base_jobid",
    "PMIX_NAMESPACE",
    "PMI_JOBID",
)


class Place(NamedTuple):
    """This process among those launched together."""

    rank: int = 0
    size: int = 1
    #: "" when nothing names the launch
    launch: str = ""

    @property
    def is_alone(self) -> bool:
        return self.size <= 1 and self.rank == 0


def find_place(environ: Mapping[str, str] | None = None) -> Place:
    """Return rank, size and launch id as the environment has them."""
    env = os.environ if environ is None else environ
    rank = _first_number(env, _RANKS, 0)
    size = _first_number(env, _SIZES, rank + 1)
    # A shell inside a SLURM allocation has SLURM_PROCID=0 and a size of 1: nobody else was launched.
    if size <= 1 and rank == 0:
        return Place()
    launch = "|".join(f"{name}={env[name]}" for name in _LAUNCH if env.get(name))
    return Place(rank, size, launch)


def _first_number(env: Mapping[str, str], names: tuple[str, ...], default: int) -> int:
    for name in names:
        text = env.get(name, "")
        if text.isdigit():
            return int(text)
    return default
