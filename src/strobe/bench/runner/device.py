"""Whether the device that was asked for is here, asked before anything is measured."""

from __future__ import annotations

import subprocess

from strobe.errors import UsageError

_LIMIT_S = 120.0
_COUNT = "import torch; print(torch.cuda.device_count(), torch.version.cuda or torch.version.hip or '')"


def refuse_missing(device: str, python: str) -> None:
    """Raise UsageError if torch says that there is no such card; without torch, nobody can tell."""
    kind, _, number = device.partition(":")
    if kind != "cuda":
        return
    # In a process of its own: what torch starts on a card must not be beside what is measured there.
    done = subprocess.run([python, "-c", _COUNT], capture_output=True, text=True, check=False, timeout=_LIMIT_S)
    if done.returncode:
        return
    count, _, build = done.stdout.strip().partition(" ")
    if count == "0":
        why = "finds no card" if build else "is built without CUDA"
        raise UsageError(f"--device {device}: there is no CUDA here: torch {why}; leave --device out for the CPU")
    if number and int(number) >= int(count):
        raise UsageError(f"--device {device}: there is no such card, torch counts {count} from cuda:0 on")
