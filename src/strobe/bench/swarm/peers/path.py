"""A path that is not loopback: datagrams get lost and take their time.

Only datagrams: what is too large for them goes by TCP, where the system makes up for losses by itself.
"""

from __future__ import annotations

import asyncio
import random
import socket

from strobe.swarm.net.ports import DatagramPort, Received, SocketAddress


class BadPort(DatagramPort):
    """A port whose datagrams arrive `delay_s` late, or not at all with the probability `loss`."""

    __slots__ = ("_delay_s", "_is_closed", "_loss", "_random")

    def __init__(
        self, sock: socket.socket, received: Received, *, loss: float, delay_s: float, rng: random.Random
    ) -> None:
        super().__init__(sock, received)
        self._loss = loss
        self._delay_s = delay_s
        self._random = rng
        self._is_closed = False

    def send(self, packet: bytes, address: SocketAddress) -> None:
        if self._random.random() < self._loss:
            return
        if self._delay_s:
            asyncio.get_running_loop().call_later(self._delay_s, self._arrive, packet, address)
        else:
            super().send(packet, address)

    def close(self) -> None:
        self._is_closed = True
        super().close()

    def _arrive(self, packet: bytes, address: SocketAddress) -> None:
        if not self._is_closed:
            super().send(packet, address)
