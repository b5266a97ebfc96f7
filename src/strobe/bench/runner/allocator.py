"""How processes that measure keep memory: in Optimized and Micro rows, what a step frees stays with the process.

By default glibc gives large blocks back to the system when they are freed, and each page of the next one is a fault.
OOTB is measured so, as a researcher runs it. Who is in a hurry tells malloc to keep them, as torch does on cards; an
operation is measured without its allocator. What a user has set for malloc is obeyed instead, by all rows.
"""

from __future__ import annotations

from collections.abc import Mapping

from strobe.bench.spec import Implementation

_KEEP_ALL = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}


def variables(implementation: Implementation, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a process of such a row is started with; results name them, since they change speed."""
    is_chosen = any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in environment)
    return {} if is_chosen or implementation == "OOTB" else dict(_KEEP_ALL)
