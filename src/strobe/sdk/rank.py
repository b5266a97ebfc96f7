"""Ranks: what a launcher (torchrun, SLURM, MPI) says about this process.

By default only rank 0 records. With `ranks="all"` every rank writes into one run. They find each other by the name of
the job, the same in all its processes and after its restarts; a launch is one start of the job. Where the launcher
gives no name that is unique, the process that started all ranks is one, if they are all on this host.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import msgspec

from strobe.identity import boot_id, host_id, pid_namespace, process_started


class _Launcher(msgspec.Struct, frozen=True):
    """The variables of one kind of launcher."""

    rank: str
    size: str
    #: number of processes on this host
    local_size: str = ""
    #: together these name the job
    job: tuple[str, ...] = ()
    #: these count its starts
    restart: tuple[str, ...] = ()


_TORCH = _Launcher(
    "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", ("TORCHELASTIC_RUN_ID",), ("TORCHELASTIC_RESTART_COUNT", "MASTER_PORT")
)
_SLURM = _Launcher("SLURM_PROCID", "SLURM_NTASKS", "", ("SLURM_JOB_ID", "SLURM_STEP_ID"), ("SLURM_RESTART_COUNT",))
#: the first whose rank is set is believed: torchrun inside a SLURM job counts, not SLURM around it
_LAUNCHERS = (
    _TORCH,
    _Launcher(
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"),
    ),
    _Launcher("PMIX_RANK", "PMIX_SIZE", "", ("PMIX_NAMESPACE",)),
    _Launcher("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"),
    _Launcher("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"),
    _SLURM,
)
#: what torchrun calls a job that was given no id
_NO_NAMES = {"", "none", "default"}
_THIS_HOST = {"localhost", "127.0.0.1", "::1"}


class Place(msgspec.Struct, frozen=True):
    """This process among those launched together."""

    rank: int = 0
    size: int = 1
    #: the same for all processes of the job, also after a restart; "" when nothing names the job
    job: str = ""
    #: the same for all processes of one start of the job
    launch: str = ""

    @property
    def is_alone(self) -> bool:
        return self.size <= 1 and self.rank == 0


def find_place(environ: Mapping[str, str] | None = None, parent: Callable[[], str] | None = None) -> Place:
    """Return rank, size, job and launch as the environment has them; `parent` names the process that started us."""
    env = os.environ if environ is None else environ
    for launcher in _LAUNCHERS:
        rank = _number(env, launcher.rank)
        if rank is None:
            continue
        size = _number(env, launcher.size) or rank + 1
        if size <= 1 and rank == 0:
            continue  # a shell inside a SLURM allocation has SLURM_PROCID=0 and a size of 1: nobody else was launched
        job = _job(env, launcher, size, parent or _name_parent)
        restart = "|".join(f"{name}={env[name]}" for name in launcher.restart if env.get(name))
        return Place(rank, size, job, f"{job}|{restart}" if job else "")
    return Place()


def _job(env: Mapping[str, str], launcher: _Launcher, size: int, parent: Callable[[], str]) -> str:
    named = [f"{name}={env[name]}" for name in launcher.job if env.get(name, "") not in _NO_NAMES]
    if named:
        return "|".join(named)
    if _is_one_host(env, launcher, size):
        return parent()
    # Ranks on several hosts, started inside a job of SLURM's by something that gives no name.
    return "|".join(f"{name}={env[name]}" for name in _SLURM.job if env.get(name))


def _is_one_host(env: Mapping[str, str], launcher: _Launcher, size: int) -> bool:
    local_size = _number(env, launcher.local_size)
    if local_size is None:
        return env.get("MASTER_ADDR", "") in _THIS_HOST
    return local_size == size


def _name_parent() -> str:
    pid = os.getppid()
    return f"parent={host_id()}|{boot_id()}|{pid_namespace()}|{pid}|{process_started(pid)}"


def _number(env: Mapping[str, str], name: str) -> int | None:
    text = env.get(name, "")
    return int(text) if text.isdigit() else None
