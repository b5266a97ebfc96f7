"""Which experts a server takes: names given, or of a pattern those it has already and those nobody serves."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from strobe.errors import UsageError
from strobe.swarm.dht import DHT
from strobe.swarm.experts import checkpoint
from strobe.swarm.experts.directory import find_experts
from strobe.swarm.experts.uid import ExpertUid, Pattern, parse_uid


def choose_uids(
    dht: DHT,
    uids: Iterable[str],
    pattern: str | None,
    num_experts: int | None,
    directory: Path | None,
    rng: random.Random,
) -> list[ExpertUid]:
    """Return the names of the experts to serve."""
    given = [parse_uid(uid) for uid in uids]
    if given:
        if pattern is not None:
            raise UsageError("give either names of experts or a pattern, not both")
        if num_experts is not None:
            raise UsageError(f"{len(given)} experts are named, and {num_experts} wanted; a number goes with a pattern")
        return given
    if pattern is None:
        raise UsageError("which experts? give names, or a pattern such as ffn.[0:32].[0:256]")
    if num_experts is not None and num_experts < 1:
        raise UsageError(f"{num_experts} experts of {pattern}; a server has at least one")
    grid = Pattern(pattern)
    count = len(grid) if num_experts is None else num_experts
    stored = checkpoint.stored_uids(directory) if directory is not None else []
    chosen = [uid for uid in stored if uid in grid][:count]
    seen = set(chosen)
    while len(chosen) < count:
        candidates = grid.sample(count - len(chosen), seen, rng)
        if not candidates:
            raise UsageError(
                f"{pattern} has {len(grid)} names; {count} that nobody serves were not found among them (the names of "
                "a server that was stopped are free when its records expire, after two of its update periods; with the "
                "same identity it can be started again at once)"
            )
        seen.update(candidates)
        found = find_experts(dht, candidates)
        # What this peer itself served until a moment ago is in the swarm still, and nobody else's.
        chosen += [uid for uid in candidates if (place := found[uid]) is None or place.address.id == dht.peer_id]
    return chosen
