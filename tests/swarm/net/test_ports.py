"""Which ports are bound when some of those that the system offers are taken, or kept for others."""

from __future__ import annotations

import ctypes
import errno
import socket
from typing import Any

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


class Winsock:
    """Stands in for Windows' library of sockets: called as C is called, it reads what it is pointed to."""

    def __init__(self, result: int) -> None:
        self._result = result
        self.asked: list[tuple[int, int, bytes, int | None, int]] = []
        of_c = ctypes.CFUNCTYPE(
            ctypes.c_int,
            *(ctypes.c_size_t, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p),
            *(ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint32), ctypes.c_void_p, ctypes.c_void_p),
        )
        self.WSAIoctl = of_c(self._ioctl)

    def __call__(self, name: str) -> Winsock:
        assert name == "ws2_32"
        return self

    def _ioctl(
        self, sock: int, code: int, given: int, size: int, out: int | None, out_size: int, returned: Any, *_: None
    ) -> int:
        returned[0] = 0  # Windows faults where there is no place for it
        self.asked.append((sock, code, ctypes.string_at(given, size), out, out_size))
        return self._result


@pytest.mark.parametrize("result", [0, -1])
def test_windows_is_told_not_to_report_what_could_not_be_delivered(
    monkeypatch: pytest.MonkeyPatch, result: int
) -> None:
    """And where it does not know how, peers listen all the same."""
    system = Winsock(result)
    monkeypatch.setattr(ctypes, "WinDLL", system, raising=False)
    pairs = ports.bind(("127.0.0.1",), 0)
    try:
        ((datagrams, _),) = pairs
        assert system.asked == [(datagrams.fileno(), code, bytes(4), None, 0) for code in (0x9800000C, 0x9800000F)]
    finally:
        for pair in pairs:
            for sock in pair:
                sock.close()
