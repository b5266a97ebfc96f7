"""Which ports are bound when some of those that the system offers are taken, or kept for others."""

from __future__ import annotations

import errno
import socket

import pytest

from strobe.errors import CommError
from strobe.swarm.net import ports

Pair = tuple[socket.socket, socket.socket]


class FussySystem:
    """Refuses the first few pairs of sockets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, *, times: int) -> None:
        self._bind_pair = ports._bind_pair
        self._number = number
        self._times = times
        self.asked = 0
        monkeypatch.setattr(ports, "_bind_pair", self.bind_pair)

    def bind_pair(self, host: str, port: int) -> Pair:
        self.asked += 1
        if self.asked <= self._times:
            raise OSError(self._number, "refused")
        return self._bind_pair(host, port)


@pytest.mark.parametrize("number", [errno.EADDRINUSE, errno.EACCES])
def test_any_port_means_another_one_when_the_first_is_taken_or_kept(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Windows keeps whole ranges of UDP ports, whose numbers it gives out for TCP all the same."""
    system = FussySystem(monkeypatch, number, times=3)
    for pair in ports.bind(("127.0.0.1",), 0):
        for sock in pair:
            sock.close()
    assert system.asked == 4


@pytest.mark.parametrize(("number", "port"), [(errno.EACCES, 80), (errno.EADDRNOTAVAIL, 0)])
def test_what_another_number_does_not_change_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, number: int, port: int
) -> None:
    system = FussySystem(monkeypatch, number, times=9)
    with pytest.raises(CommError, match="refused"):
        ports.bind(("127.0.0.1",), port)
    assert system.asked == 1
