"""The C library's allocator in the processes that measure: what a step frees stays with the process.

By default glibc gives large blocks back to the system when they are freed, and each page of the next one is a fault.
From which size on it does so, and when it cuts its heap, depends on what the process has freed before: one that had
checked an output took 308 ms for a training step of RNN-T, the others 415; of equal processes some multiplied a quarter
slower. So no block is given back, in any of them, as torch does on cards. Results say so: these are variables that
change speed (`software.switches`). Those that a user has set for malloc are obeyed instead.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

_KEEP_ALL = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which a process started with them keeps all it frees; none if a user has some."""
    is_chosen = any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in environment)
    return {} if is_chosen else dict(_KEEP_ALL)


def give_back() -> None:
    """Give all that is free now back to the system, as a process that never needed it would not have it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # glibc's
        trim(ctypes.c_size_t(0))
