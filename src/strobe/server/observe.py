"""Around every request: an id, its time, a line in the log, its figures, and an answer for whatever went wrong.

This is the one place where any exception is caught: what nobody expected becomes a 500 whose reason is in the log.
"""

from __future__ import annotations

import logging
import re
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from strobe.server.log import FIELDS
from strobe.server.problem import Problem, fault, problem_of, problem_response
from strobe.server.services import Services
from strobe.wire import PROTOCOL, PROTOCOL_HEADER

REQUEST_ID = "X-Request-ID"
#: the sender went away before it had an answer (nginx's number for it)
_GONE = 499
_KEY = "strobe.trace"
_ACCEPTED_ID = re.compile(r"[A-Za-z0-9._:-]{8,64}")
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})


class Trace:
    """What is found out about a request on its way."""

    __slots__ = ("caller", "endpoint", "request_id", "status")

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        #: the path's template: a figure per run would be too many
        self.endpoint = ""
        self.caller = ""
        self.status = 0


def trace_of(scope: Scope) -> Trace:
    """Return the trace of a request."""
    found: Trace = scope[_KEY]
    return found


class Observe:
    """Watches requests pass."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        trace = scope[_KEY] = Trace(given if _ACCEPTED_ID.fullmatch(given) else secrets.token_hex(8))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                trace.status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.setdefault(REQUEST_ID, trace.request_id)
                # Senders tell by it that it is us who answer, not something on the way.
                headers.setdefault(PROTOCOL_HEADER, str(PROTOCOL))
            await send(message)

        started = time.perf_counter()
        self._services.metrics.in_flight.add(1)
        try:
            await self._app(scope, receive, sending)
        except ClientDisconnect:
            trace.status = _GONE
        except Exception as error:  # noqa: BLE001  # the outermost handler: see above
            await self._answer_error(error, trace, scope, receive, sending)
        finally:
            self._services.metrics.in_flight.add(-1)
            self._note(scope, trace, time.perf_counter() - started)

    async def _answer_error(self, error: Exception, trace: Trace, scope: Scope, receive: Receive, send: Send) -> None:
        problem = problem_of(error)
        if problem is None:
            fields = {"request": trace.request_id, "method": scope["method"], "path": scope["path"]}
            self._services.log.error("a request failed", exc_info=error, extra={FIELDS: fields})
            problem = fault(trace.request_id)
        if trace.status:  # too late for an answer: a connection that breaks off is better than half of one
            self._services.metrics.errors.add(1, "broken-off")
            raise error
        await self.send_problem(problem, trace, scope, receive, send)

    async def send_problem(self, problem: Problem, trace: Trace, scope: Scope, receive: Receive, send: Send) -> None:
        self._services.metrics.errors.add(1, problem.kind)
        await problem_response(problem, trace.request_id)(scope, receive, send)

    def _note(self, scope: Scope, trace: Trace, seconds: float) -> None:
        method, endpoint = scope["method"], trace.endpoint or "none"
        if method not in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            method = "other"  # anybody can invent methods
        metrics = self._services.metrics
        metrics.requests.add(1, method, endpoint, str(trace.status or _GONE))
        metrics.request_seconds.observe(seconds, method, endpoint)
        level = logging.DEBUG if scope["path"] in _QUIET and trace.status < 400 else logging.INFO
        if self._services.log.isEnabledFor(level):
            # Never the query, which may hold what people search for; the log itself cuts out signed links.
            fields = {
                "request": trace.request_id,
                "method": scope["method"],
                "path": scope["path"],
                "status": trace.status or _GONE,
                "ms": round(seconds * 1000, 2),
                "caller": trace.caller,
                "address": scope["client"][0] if scope.get("client") else "",
            }
            self._services.log.log(level, "request", extra={FIELDS: fields})
