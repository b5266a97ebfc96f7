"""The answer that does not end by itself: events as they come, a sign of life in between, and a last word."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from strobe.server.live.event import RETRY_MS, encode_data, written
from strobe.server.live.hub import Hub
from strobe.server.live.subscription import Subscription

HEARTBEAT_S = 15.0
#: a client that takes nothing for so long is cut off
SEND_S = 30.0
#: how often it is asked whether the client may still see what it watches
CHECK_S = 30.0


async def _always() -> bool:
    return True


class EventStream(Response):
    """Sends what a subscription gets until one side ends it."""

    media_type = "text/event-stream"

    def __init__(
        self,
        hub: Hub,
        subscription: Subscription,
        *,
        is_allowed: Callable[[], Awaitable[bool]] = _always,
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._hub = hub
        self._subscription = subscription
        self._is_allowed = is_allowed
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b""})
                return
            async with anyio.create_task_group() as group:
                group.start_soon(_until_gone, receive, group.cancel_scope)
                await self._send_all(send)
                group.cancel_scope.cancel()
        finally:
            self._hub.unsubscribe(self._subscription)

    async def _send_all(self, send: Send) -> None:
        async for message in self._messages():
            with anyio.move_on_after(SEND_S) as patience:
                await send({"type": "http.response.body", "body": message, "more_body": True})
            if patience.cancelled_caught:
                return  # it reads no more: the server closes the connection
        await send({"type": "http.response.body", "body": b""})

    async def _messages(self) -> AsyncIterator[bytes]:
        yield f"retry: {RETRY_MS}\n\n".encode()
        checked = time.monotonic()
        while True:
            message = await self._subscription.take(min(self._heartbeat_s, CHECK_S))
            if time.monotonic() - checked >= CHECK_S:
                checked = time.monotonic()
                if not await self._is_allowed():
                    self._subscription.end("denied")
                    message = None
            if message is None:
                yield written("end", encode_data({"reason": self._subscription.ending}))
                return
            yield message or b": still here\n\n"


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
