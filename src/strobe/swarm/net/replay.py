"""Which of the last numbers have been seen: a sliding window, for counters of packets and of connections."""

from __future__ import annotations

#: How far behind the newest a late packet may be. Reordering on real paths stays far below.
SIZE = 1024
_MASK = (1 << SIZE) - 1


class ReplayWindow:
    """Each number is fresh once; what is older than the window counts as seen."""

    __slots__ = ("_bits", "top")

    def __init__(self) -> None:
        self.top = -1
        #: bit i stands for the number top - i
        self._bits = 0

    def is_fresh(self, number: int) -> bool:
        behind = self.top - number
        return behind < 0 or (behind < SIZE and not self._bits >> behind & 1)

    def mark(self, number: int) -> None:
        """Take a number that is fresh as seen."""
        ahead = number - self.top
        if ahead <= 0:
            self._bits |= 1 << -ahead
        elif ahead < SIZE:
            self._bits = (self._bits << ahead | 1) & _MASK
            self.top = number
        else:  # a peer may choose any number: never shift by it
            self._bits = 1
            self.top = number
