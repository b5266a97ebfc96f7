"""Which cards there are, asked before anything is measured: whether the one that is wanted is here, and its name."""

from __future__ import annotations

import re
import subprocess
from functools import cache

import msgspec

from strobe.errors import Error, UsageError

#: on others, nobody would wait for a step to end
_DEVICE = re.compile(r"cpu|cuda(:\d+)?")
_LIMIT_S = 120.0
_ASK = """
import json, torch
names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
print(json.dumps({"names": names, "build": torch.version.cuda or torch.version.hip or ""}))
"""


class Cards(msgspec.Struct, frozen=True, kw_only=True):
    """The cards that torch may use, in its order, and the version of CUDA or ROCm that it is built with."""

    names: tuple[str, ...]
    build: str


@cache
def find_cards(python: str) -> Cards | None:
    """Return what this Python's torch finds; None without torch: nobody can tell. Raises Error if it does not say."""
    # In a process of its own: what torch starts on a card must not be beside what is measured there.
    try:
        done = subprocess.run([python, "-c", _ASK], capture_output=True, check=False, timeout=_LIMIT_S)
    except subprocess.TimeoutExpired as exc:
        raise Error(f"torch did not say within {_LIMIT_S:g} s which cards there are; it is too busy, or hangs") from exc
    return None if done.returncode else msgspec.json.decode(done.stdout, type=Cards)


def refuse_missing(device: str, python: str) -> None:
    """Raise UsageError for a device that is not measured here, or if torch says that there is no such card."""
    if not _DEVICE.fullmatch(device):
        raise UsageError(f"--device must be cpu, cuda or cuda:N, got {device!r}")
    kind, _, number = device.partition(":")
    cards = find_cards(python) if kind == "cuda" else None
    if cards is None:
        return
    if not cards.names:
        why = "finds no card" if cards.build else "is built without CUDA"
        raise UsageError(f"--device {device}: there is no CUDA here: torch {why}; leave --device out for the CPU")
    if number and int(number) >= len(cards.names):
        raise UsageError(f"--device {device}: there is no such card, torch counts {len(cards.names)} from cuda:0 on")


def find_shortage(device: str, count: int, python: str) -> str | None:
    """Return what a row of so many devices lacks, if it does: it takes a card for each, from the first on."""
    kind, _, number = device.partition(":")
    if kind != "cuda" or count == 1:
        return None
    if number:
        return f"needs {count} cards, and --device {device} is one of them; --device cuda takes as many as a row has"
    cards = find_cards(python)
    return f"needs {count} cards, torch finds {len(cards.names)}" if cards and len(cards.names) < count else None


def names_of(device: str, count: int, python: str) -> tuple[str, ...]:
    """Return the names of the cards that a row of so many devices runs on; none on CPUs, or where nobody can tell."""
    kind, _, number = device.partition(":")
    cards = find_cards(python) if kind == "cuda" else None
    first = int(number or 0)
    return cards.names[first : first + count] if cards else ()
