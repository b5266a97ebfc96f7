"""Who averages together: members in an order that all of them share. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from strobe.swarm.net.address import Address
from strobe.swarm.net.network import PeerId

#: `client`: cannot be called, so it reduces nothing. `auxiliary`: reduces for the others, has no values of its own
Role: TypeAlias = Literal["full", "client", "auxiliary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One of a group."""

    address: Address
    weight: float = 1.0
    bandwidth: float = 1.0
    role: Role = "full"
    #: packed, as it travels
    gathered: bytes = b"\xc0"

    @property
    def id(self) -> PeerId:
        return self.address.id

    @property
    def sends(self) -> bool:
        """Whether its values count."""
        return self.receives and self.weight > 0

    @property
    def receives(self) -> bool:
        """Whether it wants the averages."""
        return self.role != "auxiliary"

    @property
    def reduces(self) -> bool:
        """Whether others send it their values."""
        return self.role != "client"


@dataclass(frozen=True, slots=True)
class Group:
    """Members of one round."""

    id: bytes
    members: tuple[Member, ...]
    places: Mapping[PeerId, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {member.id: place for place, member in enumerate(self.members)})
