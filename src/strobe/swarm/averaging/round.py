"""What became of a round, as its caller sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strobe.swarm.net.network import PeerId


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A group that averaged. Times in seconds."""

    #: everybody in the group, this peer too; the same order for all of them
    members: tuple[PeerId, ...]
    #: what each of them gave to `step` as `gather`
    gathered: Mapping[PeerId, Any]
    #: those of whom something is missing in this peer's averages: they died, stalled, or sent what they should not
    failed: frozenset[PeerId]
    #: from the moment the group was complete, and what it took to find it
    seconds: float
    matchmaking_seconds: float

    @property
    def group_size(self) -> int:
        return len(self.members)
