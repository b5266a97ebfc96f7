"""One request on its way through an endpoint: what came in, who asks, and what there is to answer with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from strobe.api.jsonable import jsonable
from strobe.home import LOCAL_ENTITY
from strobe.journal.value import encode_decoded
from strobe.server.body import decompressed
from strobe.server.caller import Caller, Scope
from strobe.server.gate import Place
from strobe.server.problem import Problem
from strobe.server.services import Services
from strobe.wire import MSGPACK

if TYPE_CHECKING:
    from strobe.server.endpoint import Endpoint

T = TypeVar("T")

_SMALL_BODY = 64 << 10


class Call:
    """A request, with the services and the caller. One per request; handlers get it as their first argument."""

    def __init__(self, request: Request, services: Services, caller: Caller, endpoint: Endpoint, place: Place) -> None:
        self.request = request
        self.services = services
        self.caller = caller
        self.endpoint = endpoint
        self.place = place
        #: headers to be added to the answer, whatever it will be
        self.headers: dict[str, str] = {}
        self._is_checked = False

    @property
    def is_checked(self) -> bool:
        """Whether somebody has asked if the caller may; see `require`."""
        return self._is_checked

    def note_checked(self) -> None:
        """Say that there was nothing to ask about, or that the handler asks for each thing as it comes."""
        self._is_checked = True

    async def in_thread(self, blocking: Callable[..., T], *arguments: Any, **keywords: Any) -> T:
        """Return what a blocking function returns, and let others work meanwhile."""
        return await self.services.threads.run(self.endpoint.crew, lambda: blocking(*arguments, **keywords))

    async def in_pieces(self, pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
        """Yield what a blocking iterator yields, each piece from a thread."""
        while (piece := await self.in_thread(next, pieces, None)) is not None:
            yield piece

    def entity(self, name: str) -> str:
        """Return the entity that a name means: "local" is the caller's own on a server."""
        if name != LOCAL_ENTITY or self.caller.is_local:
            return name
        if self.caller.entity is None:
            raise Problem(401, detail="'local' means the entity of your key; send one as `Authorization: Bearer …`")
        return self.caller.entity

    async def require(
        self, level: Scope, entity: str, project: str | None = None, *, unseen: Exception | None = None
    ) -> None:
        """Go on if the caller may read, write or administer the project (or the entity), else raise a problem.

        To somebody who may not even read it a project is not there: 404, and 401 for who has not said who it is. A key
        whose scope is too small, or a project that may only be read, is a 403. Writing into a project that is not
        there yet needs the right to write to its entity. Who asked for a thing by its id gets `unseen` instead, what
        is raised for ids that there are not: not even the name of the project is told.
        """
        self._is_checked = True
        caller = self.caller
        if caller.is_local:
            return
        if not caller.is_admin:
            standing = await self.in_thread(self.services.store.accounts.standing, caller.user, entity, project)
            if not standing.allows("read"):
                raise unseen or self._unseen(entity, project)
            if not standing.allows(level):
                if not caller.is_known:
                    raise Problem(401, detail=f"to {_VERBS[level]} {_path(entity, project)}, send a key or sign in")
                raise Problem(403, detail=f"you may read {_path(entity, project)}, but not {_VERBS[level]} it")
        if caller.is_known and not caller.allows(level):
            raise Problem(403, detail=f"your key has scope {caller.scope}, this needs {level}; use another key")

    async def may(self, level: Scope, entity: str, project: str | None = None) -> bool:
        """Return whether `require` would let the caller go on."""
        try:
            await self.require(level, entity, project)
        except Problem:
            return False
        return True

    def refuse_at_home(self, what: str) -> None:
        """Raise a 403 on `strobe ui`, whose home is written by its runs alone: what was taken in would be lost."""
        if self.caller.is_local:
            raise Problem(403, detail=f"`strobe ui` shows what is in its home and takes in no {what}; use a server")

    async def visible(self) -> Visible:
        """Return what of a list the caller may see; to be asked by endpoints that list across projects."""
        self._is_checked = True
        caller = self.caller
        if caller.is_local or caller.is_admin:
            return Visible(is_all=True)
        if caller.user is None:
            return Visible(accesses=("public",))
        entities = await self.in_thread(self.services.store.accounts.entities, caller.user)
        return Visible(entities=tuple(entities), accesses=("public", "team"))

    def _unseen(self, entity: str, project: str | None) -> Problem:
        path = _path(entity, project)
        if self.caller.is_known:
            return Problem(404, detail=f"there is no {path} that you may see")
        return Problem(401, detail=f"{path} is not public; send a key as `Authorization: Bearer …`, or sign in")

    def unchanged(self, etag: str) -> Response | None:
        """Return a 304 if the caller has this version already, and put the tag on the answer."""
        self.headers["ETag"] = etag
        known = self.request.headers.get("if-none-match", "")
        tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        return Response(status_code=304) if etag.removeprefix("W/") in tags or "*" in tags else None

    def json(self, value: Any, *, status: int = 200) -> Response:
        """Return a value as a JSON answer, NaN and the infinities as their names; as msgpack to whoever accepts that.

        JSON takes a walk over the value, so this blocks: see `in_thread`.
        """
        self.headers["Vary"] = "Accept"
        if MSGPACK in self.request.headers.get("accept", ""):
            return Response(encode_decoded(value), status_code=status, media_type=MSGPACK)
        plain = jsonable(msgspec.to_builtins(value, enc_hook=jsonable))
        return Response(msgspec.json.encode(plain), status_code=status, media_type="application/json")

    async def whole(self, *, max_bytes: int) -> bytes:
        """Return the body in one piece; a 429 if too many large ones are held at the moment."""
        body = bytearray()
        async for piece in self.stream(max_bytes=max_bytes):
            body += piece
            if len(body) > _SMALL_BODY:
                self.place.hold(len(body))
        return bytes(body)

    def stream(self, *, max_bytes: int | None = None) -> AsyncIterator[bytes]:
        """Yield the body as it comes in, without its `Content-Encoding` (gzip), never more than the limits allow.

        What comes in is limited by the endpoint's `max_bytes`, what it decompresses to by the one given here.
        """
        limit = self.services.settings.limits.decompressed_bytes if max_bytes is None else max_bytes
        encoding = self.request.headers.get("content-encoding", "")
        return decompressed(self.request.stream(), encoding, max_bytes=limit)


class Visible(msgspec.Struct, frozen=True, kw_only=True):
    """Projects that a caller may see: all, or those of these entities and those with one of these accesses."""

    is_all: bool = False
    entities: tuple[str, ...] = ()
    accesses: tuple[str, ...] = ()


_VERBS = {"read": "read", "write": "write to", "admin": "administer"}


def _path(entity: str, project: str | None) -> str:
    return entity if project is None else f"{entity}/{project}"


def weak_etag(*parts: object) -> str:
    """Return a weak ETag made of what the answer depends on."""
    return 'W/"' + "-".join(str(part).replace('"', "") for part in parts) + '"'
