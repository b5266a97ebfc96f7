"""One request on its way through an endpoint: what came in, who asks, and what there is to answer with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from strobe.home import LOCAL_ENTITY
from strobe.server.caller import Caller, Scope
from strobe.server.problem import Problem
from strobe.server.services import Services

if TYPE_CHECKING:
    from strobe.server.endpoint import Endpoint

T = TypeVar("T")


class Call:
    """A request, with the services and the caller. One per request; handlers get it as their first argument."""

    def __init__(self, request: Request, services: Services, caller: Caller, endpoint: Endpoint) -> None:
        self.request = request
        self.services = services
        self.caller = caller
        self.endpoint = endpoint
        #: headers to be added to the answer, whatever it will be
        self.headers: dict[str, str] = {}
        self._is_checked = False

    @property
    def is_checked(self) -> bool:
        """Whether somebody has asked if the caller may; see `require`."""
        return self._is_checked

    async def in_thread(self, blocking: Callable[..., T], *arguments: Any, **keywords: Any) -> T:
        """Return what a blocking function returns, and let others work meanwhile."""
        return await anyio.to_thread.run_sync(lambda: blocking(*arguments, **keywords))

    def entity(self, name: str) -> str:
        """Return the entity that a name means: "local" is the caller's own on a server."""
        if name != LOCAL_ENTITY or self.caller.is_local:
            return name
        if self.caller.entity is None:
            raise Problem(401, detail="'local' means the entity of your key; send one as `Authorization: Bearer …`")
        return self.caller.entity

    async def require(self, level: Scope, entity: str, project: str | None = None) -> None:
        """Go on if the caller may read, write or administer the project (or the entity), else raise 401, 403 or 404.

        What the caller may not even read is a 404, as if it were not there. Writing into a project that is not
        there yet needs the right to write to its entity.
        """
        self._is_checked = True
        if not self.caller.is_local:
            raise Problem(401)

    def unchanged(self, etag: str) -> Response | None:
        """Return a 304 if the caller has this version already, and put the tag on the answer."""
        self.headers["ETag"] = etag
        known = self.request.headers.get("if-none-match", "")
        tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        return Response(status_code=304) if etag.removeprefix("W/") in tags or "*" in tags else None

    def json(self, value: Any, *, status: int = 200) -> Response:
        """Return a value as a JSON answer."""
        return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")

    def stream(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes in, decompressed (`Content-Encoding: gzip`), never more than the limits allow."""
        return self.request.stream()


def weak_etag(*parts: object) -> str:
    """Return a weak ETag made of what the answer depends on."""
    return 'W/"' + "-".join(str(part).replace('"', "") for part in parts) + '"'
