"""HTTP as uvicorn speaks it, but nobody holds a connection by sending headers slowly, or none at all.

uvicorn waits for ever for the first request of a connection; this gives up. What follows the headers is watched by
`strobe.server.body`, the time between requests by uvicorn itself.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

#: the headers of a request take no longer than this
HEADERS_S = 20.0

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as _Base
else:
    _Base = AutoHTTPProtocol  # h11's, or httptools' where that is installed


class ImpatientProtocol(_Base):
    """Closes connections on which a request does not get beyond its headers in time."""

    headers_s = HEADERS_S
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:  # a request has got beyond its headers
            self._stop()
        elif self._is_between_requests() and self._timer is None:  # the first bytes of the next one
            self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _is_between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _start(self) -> None:
        self._timer = self.loop.call_later(self.headers_s, self._give_up)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self._is_between_requests() and not self.transport.is_closing():
            self.transport.close()
