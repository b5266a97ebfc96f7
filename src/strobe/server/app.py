"""The application: every route module's endpoints, behind what all requests go through.

From the outside in: headers on every answer, the log and the figures, the check of the name that the server is called
by, the route (or the dashboard's files); then, per endpoint, limits on the body, the protocol's version, who asks,
where from, how often.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from strobe import wire
from strobe.server.auth import address_of, check_origin, identify
from strobe.server.body import LimitedReceive
from strobe.server.call import Call
from strobe.server.caller import Caller
from strobe.server.chores import Chore, doing, own_chores
from strobe.server.endpoint import Endpoint
from strobe.server.observe import Observe, trace_of
from strobe.server.pages import Pages
from strobe.server.problem import Problem
from strobe.server.security import HostCheck, SecurityHeaders
from strobe.server.services import Services

#: modules of strobe.server.routes, in the order in which their paths are tried; each exports ENDPOINTS
ROUTES = (
    "server",
    "health",
    "session",
    "keys",
    "users",
    "teams",
    "document",
    "ingest",
    "series",
    "metrics",
    "chart",
    "projects",
    "usage",
    "runs_table",
    "runs",
    "diff",
    "export",
    "views",
    "console",
    "objects",
    "alerts",
    "live",
    "files",
    "bundles",
    "uploads",
    "artifact_drafts",
    "artifacts",
    "lineage",
    "links",
)


def endpoints() -> list[Endpoint]:
    """Return every endpoint of the server."""
    modules = [importlib.import_module(f"strobe.server.routes.{name}") for name in ROUTES]
    return [found for module in modules for found in module.ENDPOINTS]


def create_app(
    services: Services | None = None, extra: Iterable[Endpoint] = (), chores: Iterable[Chore] = ()
) -> Starlette:
    """Return the ASGI application; `extra` endpoints come after its own, and so do `chores`.

    Without services it serves the store that the environment names (`strobe.server.environment`), and closes it at the
    end.
    """
    if services is None:
        from strobe.server.environment import services_from

        services = services_from()
        return _closing(create_app(services, extra, chores), services)
    served = [*endpoints(), *extra]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with doing([*own_chores(services), *chores], services):
            yield

    app = Starlette(
        lifespan=lifespan,
        routes=_routes(served, services),
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(Observe, services=services),
            Middleware(HostCheck, settings=services.settings),
        ],
        exception_handlers={HTTPException: _pass_on},
    )
    app.state.endpoints = served
    app.router.redirect_slashes = False  # an address has one spelling
    app.router.default = Pages(services)
    return app


def _closing(app: Starlette, services: Services) -> Starlette:
    """Let the application close its store when its life is over."""
    living = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(it: Starlette) -> AsyncIterator[None]:
        try:
            async with living(it):
                yield
        finally:
            services.store.close()

    app.router.lifespan_context = lifespan
    return app


class _Path:
    """One path template: hands a request to the endpoint of its method."""

    def __init__(self, by_method: dict[str, Endpoint], services: Services) -> None:
        self._by_method = by_method
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        services = self._services
        endpoint = self._by_method["GET" if scope["method"] == "HEAD" else scope["method"]]
        trace = trace_of(scope)
        trace.endpoint = endpoint.route
        limited = LimitedReceive(scope, receive, max_bytes=endpoint.max_bytes(services.settings.limits))
        request = Request(scope, limited)
        _check_protocol(request)
        caller = await identify(request, services)
        trace.caller = caller.user or caller.via
        check_origin(request, caller)
        if not endpoint.is_free:
            _check_rate(request, caller, services)
        with services.bodies.enter() as place:
            response = await endpoint.answer(Call(request, services, caller, endpoint, place))
        await response(scope, receive, send)


def _check_protocol(request: Request) -> None:
    given = request.headers.get(wire.PROTOCOL_HEADER)
    if given is None:
        return
    accepted = f"{wire.OLDEST_PROTOCOL} to {wire.PROTOCOL}"
    if not given.isdecimal() or not wire.OLDEST_PROTOCOL <= int(given[:9]) <= wire.PROTOCOL:
        side = "server" if given.isdecimal() and int(given[:9]) > wire.PROTOCOL else "client"
        raise Problem(
            426,
            detail=f"the request speaks protocol {given[:20]!r}, this server {accepted}; upgrade Strobe on the {side}",
            headers={"Upgrade": f"Strobe/{wire.PROTOCOL}", wire.PROTOCOL_HEADER: str(wire.PROTOCOL)},
        )


def _check_rate(request: Request, caller: Caller, services: Services) -> None:
    if caller.is_local:
        return
    buckets, name = services.rates.addresses, address_of(request)
    if caller.key:
        buckets, name = services.rates.keys, caller.key
    if wait_s := buckets.take(name):
        raise Problem(429, detail=f"too many requests; the next in {wait_s:.1f} s", retry_after_s=wait_s)


def _routes(found: Iterable[Endpoint], services: Services) -> list[Route]:
    paths: defaultdict[str, dict[str, Endpoint]] = defaultdict(dict)
    for endpoint in found:
        assert endpoint.method not in paths[endpoint.route], f"{endpoint.method} {endpoint.route} is declared twice"
        paths[endpoint.route][endpoint.method] = endpoint
    return [
        Route(route, _Path(by_method, services), methods=[*by_method, *(["HEAD"] if "GET" in by_method else [])])
        for route, by_method in paths.items()
    ]


async def _pass_on(request: Request, error: Exception) -> Response:
    """Let what the router raises reach `Observe`, which answers all errors."""
    raise error
