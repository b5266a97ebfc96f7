"""A launcher around us, such as torchrun: what it tells its processes is not about the workers that we start.

Workers would believe it: with torchrun's own variables rank 0 looks for a store that nobody opened, until its timeout.
"""

from __future__ import annotations

from collections.abc import Mapping

from strobe.errors import UsageError

_RUN_ID = "TORCHELASTIC_RUN_ID"
#: what torchrun sets, and what torch.distributed reads
_NAMES = (
    "RANK",
    "LOCAL_RANK",
    "GROUP_RANK",
    "ROLE_RANK",
    "ROLE_NAME",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "GROUP_WORLD_SIZE",
    "ROLE_WORLD_SIZE",
)
_PREFIXES = ("TORCHELASTIC_", "MASTER_")


def without_launcher(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what a launcher said of a process's place."""
    return {name: value for name, value in environment.items() if name not in _NAMES and not name.startswith(_PREFIXES)}


def refuse_launcher(environment: Mapping[str, str]) -> None:
    """Raise UsageError if torchrun started several of us, which would all measure the same at the same time."""
    size = environment.get("WORLD_SIZE", "1")
    if _RUN_ID in environment and size != "1":
        raise UsageError(
            f"torchrun started this {size} times, but rows for several devices start their own processes, one per "
            "device: run `strobe bench run …` without torchrun; on each of several nodes once, with "
            "--node N --master HOST:PORT"
        )
