"""The application: every route module's endpoints, behind what all requests go through."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from strobe.server.call import Call
from strobe.server.caller import LOCAL, STRANGER
from strobe.server.endpoint import Endpoint
from strobe.server.problem import problem_of, problem_response
from strobe.server.services import Services

#: modules of strobe.server.routes, in the order in which their paths are tried; each exports ENDPOINTS
ROUTES = ("server",)


def endpoints() -> list[Endpoint]:
    """Return every endpoint of the server."""
    modules = [importlib.import_module(f"strobe.server.routes.{name}") for name in ROUTES]
    return [found for module in modules for found in module.ENDPOINTS]


def create_app(services: Services) -> Starlette:
    """Return the ASGI application."""
    return Starlette(routes=_routes(endpoints(), services), exception_handlers={Exception: _failed})


class _Path:
    """One path template: hands a request to the endpoint of its method."""

    def __init__(self, by_method: dict[str, Endpoint], services: Services) -> None:
        self._by_method = by_method
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._by_method["GET" if scope["method"] == "HEAD" else scope["method"]]
        request = Request(scope, receive)
        caller = LOCAL if self._services.settings.mode == "local" else STRANGER
        try:
            response = await endpoint.answer(Call(request, self._services, caller, endpoint))
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            response = problem_response(problem)
        await response(scope, receive, send)


def _routes(found: Iterable[Endpoint], services: Services) -> list[Route]:
    paths: defaultdict[str, dict[str, Endpoint]] = defaultdict(dict)
    for endpoint in found:
        assert endpoint.method not in paths[endpoint.route], f"{endpoint.method} {endpoint.route} is declared twice"
        paths[endpoint.route][endpoint.method] = endpoint
    return [
        Route(route, _Path(by_method, services), methods=[*by_method, *(["HEAD"] if "GET" in by_method else [])])
        for route, by_method in paths.items()
    ]


async def _failed(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    assert problem is not None
    return problem_response(problem)
