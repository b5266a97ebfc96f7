"""After an online measurement: how long until the server has everything, and whether it ever does.

Outside of what is timed: the program that was measured has ended its runs by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_LIMIT_S = 300.0
_POLL_S = 0.02


def wait_for_server(arrival: Callable[[], tuple[int, int]]) -> dict[str, float]:
    """Wait until the server has all rows; raise if it does not get there, because then no figure means anything."""
    began = time.perf_counter()
    while True:
        recorded, there = arrival()
        waited = time.perf_counter() - began
        if recorded == there:
            return {"server_wait": waited, "server_rows": there}
        if waited > _LIMIT_S:
            raise RuntimeError(f"the server has {there:,} of {recorded:,} rows {waited:.0f} s after the end")
        time.sleep(_POLL_S)
