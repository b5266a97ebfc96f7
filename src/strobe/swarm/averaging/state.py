"""What both sides of a round share: the group, our values, the averages as they come, and who failed."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

import torch

from strobe.swarm.averaging.group import Group, Member
from strobe.swarm.averaging.protocol import ALIVE, MAX_IN_ROUND_BYTES, VALUES, InRound, encode
from strobe.swarm.averaging.settings import Settings
from strobe.swarm.client.link import ask
from strobe.swarm.net.network import Network, NetworkError
from strobe.swarm.tensors import TensorSpec

_log = logging.getLogger("strobe.swarm.averaging")
_Result = TypeVar("_Result")
_FLOAT: Final = "F32"


class Crunch(Protocol):
    """Runs what takes long, elsewhere than on the event loop."""

    def __call__(self, work: Callable[[], _Result]) -> Awaitable[_Result]: ...


@dataclass(slots=True, kw_only=True)
class RoundState:
    """One round of this peer."""

    group: Group
    #: ours in the group
    place: int
    vector: torch.Tensor
    network: Network
    settings: Settings
    crunch: Crunch
    #: local values, replaced by averages as they come
    average: torch.Tensor = field(init=False)
    #: places of those of whom something is missing
    failed: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.average = self.vector.clone()

    @property
    def me(self) -> Member:
        return self.group.members[self.place]

    def note_bug(self, place: int, error: Exception) -> None:
        """Take note that what was due from a place is missing, for a reason that nobody foresaw."""
        self.failed.add(place)
        _log.error("a round failed for the share of %s", self.group.members[place].address, exc_info=error)

    async def is_alive(self, place: int) -> bool:
        """Tell whether a member that takes long says that it is still in this round; a client cannot be asked."""
        member = self.group.members[place]
        if not member.reduces:
            return False
        question = encode(InRound(self.group.id, self.settings.prefix))
        try:
            timeout_s = self.settings.request_timeout_s
            await ask(self.network, member.address, ALIVE, question, timeout_s=timeout_s, max_reply=MAX_IN_ROUND_BYTES)
        except NetworkError:
            return False
        return True


def part_specs(length: int) -> dict[str, TensorSpec]:
    """Return what a part of so many values looks like on the wire."""
    return {VALUES: TensorSpec(_FLOAT, (length,))}
