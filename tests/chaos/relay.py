"""What stands in front of several servers: passes each connection on to the next one that takes it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tests.chaos.listener import Listener
from tests.chaos.messages import abort
from tests.chaos.serving import Server


class Relay(Listener):
    """A round of servers behind one port. Knows nothing of what passes."""

    def __init__(self, servers: Sequence[Server]) -> None:
        super().__init__()
        self._servers = servers
        self._turn = 0
        self.start()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in self._servers:
            self._turn += 1
            port = self._servers[self._turn % len(self._servers)].port
            if not port:
                continue
            try:
                answers, server = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                continue  # killed just now
            await asyncio.gather(_pump(reader, server), _pump(answers, writer))
            return
        abort(writer)


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while piece := await source.read(1 << 16):
            target.write(piece)
            await target.drain()
    except OSError:
        pass  # one side has gone; the other sees the end
    finally:
        target.close()
