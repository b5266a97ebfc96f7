"""The benchmarks of a home in `strobe ui`: an endpoint that answers with the page that `strobe bench publish` writes.

The server knows nothing of benchmarks; who starts it for a home hands this endpoint in. The page goes into a frame of
the dashboard, under the same policy as anything else that was recorded: no origin, nothing from elsewhere.
"""

from __future__ import annotations

import os
from typing import Literal

import msgspec
from starlette.responses import HTMLResponse

from strobe.bench.publish import render
from strobe.bench.records import read_records, results_path
from strobe.home import Home
from strobe.server.endpoint import Call, Endpoint, endpoint
from strobe.server.problem import Problem
from strobe.server.security import CONTENT_POLICY


class PageQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the page looks, which its own script reads."""

    theme: Literal["system", "light", "dark"] = "system"


def endpoints(home: Home) -> list[Endpoint]:
    """Return the endpoints that show the benchmarks of a home."""
    book = _Book(home)

    @endpoint("GET", "/api/v1/benchmarks", query=PageQuery, access="account", tag="benchmarks", produces="text/html")
    async def get_benchmarks(call: Call, query: PageQuery) -> HTMLResponse:
        """The benchmark results of this home, as a page.

        404 when there are none yet.
        """
        page = await call.in_thread(book.page)
        return HTMLResponse(page, headers={"Content-Security-Policy": CONTENT_POLICY})

    return [get_benchmarks]


class _Book:
    """The page, made again when the results have changed."""

    def __init__(self, home: Home) -> None:
        self._path = results_path(home.path)
        self._made: tuple[tuple[int, int], str] | None = None

    def page(self) -> str:
        try:
            found = os.stat(self._path)
        except FileNotFoundError as exc:
            raise Problem(404, detail="this home has no benchmark results yet; `strobe bench run` makes some") from exc
        state = (found.st_mtime_ns, found.st_size)
        if self._made is None or self._made[0] != state:
            try:
                self._made = (state, render(list(read_records(self._path))))
            except ValueError as exc:
                raise Problem(404, detail=f"{exc}; `strobe bench run` makes some") from exc
        return self._made[1]
