"""Seeds of the tests here: a failure prints the one it had, and `STROBE_CHAOS_SEEDS=17` plays it again.

`STROBE_CHAOS_SEEDS=1,2,3` are those three, `STROBE_CHAOS_SEEDS=new` is one that nobody has tried yet.
"""

from __future__ import annotations

import os
import secrets

VARIABLE = "STROBE_CHAOS_SEEDS"
# Read when the tests are collected: what a test sees of the environment is scrubbed.
_GIVEN = os.environ.get(VARIABLE, "")


def seeds(*usual: int) -> list[int]:
    """Return the seeds to play: those that the environment names, else the usual ones."""
    if _GIVEN == "new":
        return [secrets.randbelow(10**6)]
    return [int(word) for word in _GIVEN.split(",")] if _GIVEN else list(usual)


def announce(seed: int) -> None:
    """Say how to play this again; pytest shows it when the test fails."""
    print(f"replay with {VARIABLE}={seed}")
