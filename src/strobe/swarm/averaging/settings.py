"""What was chosen about an averager, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass

from strobe.errors import UsageError
from strobe.swarm.averaging.group import Role
from strobe.swarm.averaging.key import MAX_BITS
from strobe.swarm.averaging.protocol import MAX_BANDWIDTH, MAX_MEMBERS, MAX_PREFIX
from strobe.swarm.tensors import COMPRESSIONS

_ITEM_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Times in seconds, sizes in bytes of float32."""

    prefix: str
    target_group_size: int | None
    min_group_size: int
    matchmaking_s: float
    round_timeout_s: float
    request_timeout_s: float
    compression: str
    part_bytes: int
    bandwidth: float
    role: Role
    group_bits: str | None = None

    def __post_init__(self) -> None:
        if not self.prefix or len(self.prefix) > MAX_PREFIX:
            raise UsageError(f"prefix {self.prefix[:40]!r}…: it names the group keys, 1 to {MAX_PREFIX} characters")
        if not 2 <= self.min_group_size <= MAX_MEMBERS:
            raise UsageError(f"min_group_size is {self.min_group_size}; a group has 2 to {MAX_MEMBERS} members")
        target = self.target_group_size
        if target is not None and not self.min_group_size <= target <= MAX_MEMBERS:
            raise UsageError(
                f"target_group_size is {target}; it is None, or {self.min_group_size} (min_group_size) to {MAX_MEMBERS}"
            )
        for name in ("matchmaking_s", "round_timeout_s", "request_timeout_s", "bandwidth"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise UsageError(f"{name} is {value}; it must be a number above 0")
        if self.bandwidth > MAX_BANDWIDTH:
            raise UsageError(f"bandwidth is {self.bandwidth}; at most {MAX_BANDWIDTH:g}, for it is a ratio to others'")
        if self.compression not in COMPRESSIONS:
            raise UsageError(f"no compression {self.compression!r}; there are {', '.join(COMPRESSIONS)}")
        if self.part_bytes < _ITEM_BYTES:
            raise UsageError(f"part_bytes is {self.part_bytes}; a part has at least one value of {_ITEM_BYTES} bytes")

        if self.group_bits is not None and not (
            set(self.group_bits) <= {"0", "1"} and len(self.group_bits) <= MAX_BITS
        ):
            raise UsageError(f"group_bits is {self.group_bits!r:.80}; it is None, or up to {MAX_BITS} of 0 and 1")

    @property
    def stall_s(self) -> float:
        """How long one that is alive may go without delivering anything."""
        return max(self.round_timeout_s / 2, self.request_timeout_s)

    @property
    def part_length(self) -> int:
        """Values in a part."""
        return self.part_bytes // _ITEM_BYTES
