"""Windows tells whoever reads a UDP socket that something sent by it before could not be delivered.

Its usual loop, the one of `asyncio.run`, takes that for the end of reading in many versions of Python (CPython's issues
91227 and 127057): a peer would hear nobody any more because one of those it called had gone. So a socket is told not to
report it. Python's own `socket.ioctl` does not know these two controls, hence the call of the system's library.
"""

from __future__ import annotations

import ctypes
import socket

#: SIO_UDP_CONNRESET (nobody listens there) and SIO_UDP_NETRESET (it is too far away)
_CONTROLS = (0x9800000C, 0x9800000F)
_SOCKET, _DWORD, _POINTER = ctypes.c_size_t, ctypes.c_uint32, ctypes.c_void_p


def leave_unreported(sock: socket.socket) -> None:
    """Have reads of a UDP socket not fail for what was sent by it; nothing is to be done but on Windows."""
    open_library = getattr(ctypes, "WinDLL", None)
    if open_library is None:
        return
    control = open_library("ws2_32").WSAIoctl
    # socket, control, input and its size, output and its size, bytes returned, and two for calls that do not wait
    control.argtypes = [_SOCKET, _DWORD, _POINTER, _DWORD, _POINTER, _DWORD, _POINTER, _POINTER, _POINTER]
    control.restype = ctypes.c_int
    is_reported, returned = _DWORD(0), _DWORD()
    for code in _CONTROLS:
        # A system that does not know one says so by its result, and has no such reports, or goes on making them.
        size = ctypes.sizeof(is_reported)
        control(sock.fileno(), code, ctypes.byref(is_reported), size, None, 0, ctypes.byref(returned), None, None)
