"""A proxy between agents and a server that breaks, delays, repeats, reorders and lies, by the draw of a seed.

Each request draws its fate. Several happen *after* the server has done its work, or leave it unknown whether it did: it
is those that double or lose data where somebody believes an answer that never came. `calm()` ends all of it; requests
that were held back are still delivered, long after whoever sent them has given up.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from tests.chaos.listener import Listener
from tests.chaos.messages import Request, abort, answer, exchange, read_request

#: fate → how often it is drawn, compared with the others
FATES: dict[str, int] = {
    "drop before": 2,
    "cut request": 3,
    "swallow answer": 3,
    "cut answer": 3,
    "late request": 2,
    "late answer": 2,
    "error": 4,
    "error after success": 2,
    "another's page": 1,
    "duplicate": 3,
    "hold": 2,
    "half-open": 1,
    "throttle": 2,
}
_PAGE = b"<html><body>Please accept the terms of this network</body></html>"


class ChaosProxy(Listener):
    """Passes requests on to the server at `upstream()`, a port that may change."""

    def __init__(
        self,
        upstream: Callable[[], int],
        seed: int,
        *,
        share: float = 0.4,
        fates: Mapping[str, int] = FATES,
        longest_s: float = 3.0,
    ) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        #: what came, in order: "fate request", for the explanation of a failure
        self.story: list[str] = []
        self._upstream = upstream
        self._rng = random.Random(seed)
        self._share = share
        self._fates = fates
        self._longest_s = longest_s
        self._held: set[asyncio.Task[None]] = set()
        self._calm = asyncio.Event()
        self.start()

    @property
    def num_harmed(self) -> int:
        return sum(count for fate, count in self.counts.items() if fate != "pass")

    @property
    def num_held(self) -> int:
        """How many requests are still to be delivered."""
        return len(self._held)

    def calm(self) -> None:
        """From now on everything passes; what is held back is delivered, what hangs is let go."""
        self._share = 0.0
        self.loop.call_soon_threadsafe(self._calm.set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read_request(reader)) is not None:
                fate = self._draw()
                self.counts[fate] += 1
                self.story.append(f"{fate}: {request.line}")
                response = await self._meet(fate, request)
                if response is None:
                    return
                writer.write(response)
                await writer.drain()
                if fate == "cut answer":
                    return
        except (ConnectionError, OSError, asyncio.IncompleteReadError):
            pass  # somebody was killed: what the other one sees of that is a broken connection, too
        finally:
            abort(writer)

    def _draw(self) -> str:
        if self._rng.random() >= self._share:
            return "pass"
        return self._rng.choices(list(self._fates), list(self._fates.values()))[0]

    async def _meet(self, fate: str, request: Request) -> bytes | None:
        """Let a fate come true; return what the client gets, None for a connection that breaks."""
        happen: dict[str, Callable[[Request], Awaitable[bytes | None]]] = {
            "pass": self._pass,
            "drop before": self._drop,
            "cut request": self._cut_request,
            "swallow answer": self._swallow_answer,
            "cut answer": self._cut_answer,
            "late request": self._late_request,
            "late answer": self._late_answer,
            "error": self._error,
            "error after success": self._error_after_success,
            "another's page": self._page,
            "duplicate": self._duplicate,
            "hold": self._hold,
            "half-open": self._half_open,
            "throttle": self._throttle,
        }
        return await happen[fate](request)

    async def _pass(self, request: Request) -> bytes | None:
        return await exchange(self._upstream(), request.head, await request.read())

    async def _drop(self, request: Request) -> bytes | None:
        return None

    async def _cut_request(self, request: Request) -> bytes | None:
        some = self._rng.randrange(request.length + 1)
        return await exchange(self._upstream(), request.head, await request.read(some), only=some) or None

    async def _swallow_answer(self, request: Request) -> bytes | None:
        await self._pass(request)
        return None

    async def _cut_answer(self, request: Request) -> bytes | None:
        response = await self._pass(request) or b""
        return response[: self._rng.randrange(len(response) + 1)]

    async def _late_request(self, request: Request) -> bytes | None:
        await self._wait(self._rng.uniform(0.05, self._longest_s / 3))
        return await self._pass(request)

    async def _late_answer(self, request: Request) -> bytes | None:
        response = await self._pass(request)
        await self._wait(self._rng.uniform(0.05, self._longest_s / 3))
        return response

    async def _error(self, request: Request) -> bytes | None:
        await request.read()
        status = self._rng.choice([500, 502, 503, 504, 429, 507])
        return answer(status, Retry_After=self._rng.choice(["0", "1", "Thu, 01 Jan 1970 00:00:00 GMT", "soon"]))

    async def _error_after_success(self, request: Request) -> bytes | None:
        await self._pass(request)
        return answer(504, b"<html>gateway timeout</html>")

    async def _page(self, request: Request) -> bytes | None:
        await request.read()
        return answer(200, _PAGE)

    async def _duplicate(self, request: Request) -> bytes | None:
        body = await request.read()
        port = self._upstream()
        if self._rng.random() < 0.5:
            responses = await asyncio.gather(*(exchange(port, request.head, body) for _ in range(2)))
        else:
            responses = [await exchange(port, request.head, body) for _ in range(2)]
        return self._rng.choice(responses)

    async def _hold(self, request: Request) -> bytes | None:
        """Later requests pass this one; its sender gives up on it, but it arrives in the end."""
        body = await request.read()
        self._spawn(self._deliver(request.head, body))
        await self._wait(self._rng.uniform(0.0, self._longest_s))
        return None

    async def _deliver(self, head: bytes, body: bytes) -> None:
        await self._wait(self._rng.uniform(0.5, 2 * self._longest_s))
        try:
            await exchange(self._upstream(), head, body)
        except OSError:
            self.counts["held request found no server"] += 1

    async def _half_open(self, request: Request) -> bytes | None:
        await request.read()
        await self._wait(10 * self._longest_s)
        return None

    async def _throttle(self, request: Request) -> bytes | None:
        slice_bytes = max(1, request.length // 10)
        for upto in range(slice_bytes, request.length, slice_bytes):
            await request.read(upto)
            await self._wait(self._longest_s / 40)
        return await self._pass(request)

    async def _wait(self, seconds: float) -> None:
        """Wait so long, or until there is calm."""
        try:
            await asyncio.wait_for(self._calm.wait(), seconds)
        except asyncio.TimeoutError:
            return

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(work)
        self._held.add(task)
        task.add_done_callback(self._held.discard)
