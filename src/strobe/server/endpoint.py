"""Endpoints: one declaration drives routing, validation, access and the OpenAPI document.

    class SeriesQuery(msgspec.Struct, kw_only=True):
        key: str
        pixels: Annotated[int, msgspec.Meta(ge=1, le=20_000)] = 1000

    @endpoint("GET", "/api/v1/runs/{entity}/{project}/{run}/series", path=RunPathParts, query=SeriesQuery,
              returns=SeriesAnswer, access="read", tag="series")
    async def get_series(call: Call, path: RunPathParts, query: SeriesQuery) -> SeriesAnswer:
        \"\"\"The first line is the summary, the rest the description, in the OpenAPI document.\"\"\"
        await call.require("read", path.entity, path.project)
        return await call.in_thread(read_it, ...)

    ENDPOINTS = [get_series]

The handler gets the call, then what was declared, by name: `path`, `query`, `body`. It returns a value of `returns`
(sent as JSON, or as msgpack if that is asked for), a Starlette response (sent as it is), or None (204). In the template
`{name}` is one part of the path, percent-decoded, `{name:path}` the rest with its slashes.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from strobe.journal.value import decode_extension
from strobe.server.call import Call, weak_etag
from strobe.server.parameters import Parameters
from strobe.server.problem import Problem
from strobe.server.services import Limits
from strobe.server.threads import Crew
from strobe.wire import MSGPACK

__all__ = ["Access", "Call", "Endpoint", "endpoint", "weak_etag"]

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
#: open: everybody; account: whoever has a key; read and write: the handler asks `call.require` about a project;
#: admin: who runs the server
Access = Literal["open", "account", "read", "write", "admin"]
Handler = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A method on a path: who may call it, what it takes and gives, and the function that does it."""

    method: Method
    route: str
    handler: Handler
    access: Access
    tag: str
    path: Parameters | None = None
    query: Parameters | None = None
    body: Any = None
    returns: Any = None
    #: media types of a body that the handler reads itself from `call.stream()`, and of an answer that is not JSON
    consumes: str = ""
    produces: str = ""
    status: int = 200
    #: which limit holds for a body as it comes in
    max_bytes: Callable[[Limits], int] = lambda limits: limits.json_bytes
    #: whether requests do not count against the caller's rate, and need not say which protocol they speak
    is_free: bool = False

    @property
    def name(self) -> str:
        return self.handler.__name__

    @property
    def crew(self) -> Crew:
        """Whose threads do what blocks in it."""
        if self.tag == "ingest":
            return "points"
        is_question = self.access == "read" and self.tag not in ("files", "artifacts")
        return "questions" if is_question else "things"

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.handler) or self.name).partition("\n")[0]

    @property
    def description(self) -> str:
        return (inspect.getdoc(self.handler) or "").partition("\n")[2].strip()

    async def answer(self, call: Call) -> Response:
        """Check the caller and what came in, run the handler, and make its result an answer."""
        self._check_caller(call)
        arguments: dict[str, Any] = {}
        if self.path is not None:
            arguments["path"] = self.path.read(call.request.path_params)
        if self.query is not None:
            arguments["query"] = self.query.read_query(call.request.query_params.multi_items())
        elif unknown := list(call.request.query_params):
            raise Problem(422, detail=f"query parameter {unknown[0]!r} is not known here; this endpoint takes none")
        if self.body is not None:
            arguments["body"] = await self._read_body(call)
        result = await self.handler(call, **arguments)
        if self.access in ("read", "write") and not call.is_checked:
            raise AssertionError(f"{self.name} answered without asking call.require()")
        if isinstance(result, Response):
            response = result
        elif result is None:
            response = Response(status_code=204)
        else:
            # In a thread: an answer of megabytes takes a while to write, in which others are to be answered.
            response = await call.in_thread(call.json, result, status=self.status)
        response.headers.update(call.headers)
        return response

    def _check_caller(self, call: Call) -> None:
        caller = call.caller
        if self.access == "open" or (self.access == "read" and not caller.is_known):
            return  # a stranger may read what is public: `require` decides
        if not caller.is_known:
            raise Problem(401, detail="send a key as `Authorization: Bearer …`, or sign in")
        if self.access == "admin" and not (caller.is_admin and caller.allows("admin")):
            raise Problem(403, detail="this is for admins of the server, with a key of scope admin")
        if self.access in ("read", "write") and not caller.allows(self.access):
            raise Problem(403, detail=f"the key has scope {caller.scope}, this needs {self.access}; use another key")

    async def _read_body(self, call: Call) -> Any:
        kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in ("application/json", MSGPACK):
            raise Problem(415, detail=f"the body is {kind or 'of no stated type'}; send application/json")
        body = await call.whole(max_bytes=call.services.settings.limits.json_bytes)
        try:
            if kind == MSGPACK:
                return msgspec.msgpack.decode(body, type=self.body, ext_hook=decode_extension)
            return msgspec.json.decode(body, type=self.body)
        except (ValueError, TypeError, RecursionError) as error:  # text that is no Unicode, an extension that is none
            if isinstance(error, msgspec.MsgspecError):
                raise
            raise Problem(400, detail=f"the body cannot be read as {kind}: {error}") from error


def endpoint(
    method: Method,
    route: str,
    *,
    access: Access,
    tag: str,
    path: type[msgspec.Struct] | None = None,
    query: type[msgspec.Struct] | None = None,
    body: Any = None,
    returns: Any = None,
    consumes: str = "",
    produces: str = "",
    status: int = 200,
    max_bytes: Callable[[Limits], int] = lambda limits: limits.json_bytes,
    is_free: bool = False,
) -> Callable[[Handler], Endpoint]:
    """Declare what the function under it answers."""

    def declare(handler: Handler) -> Endpoint:
        return Endpoint(
            method=method,
            route=route,
            handler=handler,
            access=access,
            tag=tag,
            path=None if path is None else Parameters(path),
            query=None if query is None else Parameters(query),
            body=body,
            returns=returns,
            consumes=consumes,
            produces=produces,
            status=status,
            max_bytes=max_bytes,
            is_free=is_free,
        )

    return declare
