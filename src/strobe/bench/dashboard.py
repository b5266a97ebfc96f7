"""The Benchmarks page of the dashboard: what `strobe bench publish` writes, live, from the runs that carry results.

The same for `strobe ui` and for a server that many machines send to, whose callers see the results of the projects that
they may read. The server knows nothing of benchmarks; who starts it hands these endpoints in. The page goes into a
frame of the dashboard, under the same policy as anything else that was recorded: no origin, nothing from elsewhere.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from starlette.responses import HTMLResponse

from strobe.bench.publish import render
from strobe.bench.run_results import Found, RunResults, Tally, count
from strobe.bench.tracker import JOB_TYPE
from strobe.server.endpoint import Call, Endpoint, endpoint
from strobe.server.problem import Problem
from strobe.server.security import CONTENT_POLICY
from strobe.store.values import ProjectWith

_ROUTE = "/api/v1/benchmarks"
#: pages that are kept: callers differ in what they may see
_MAX_PAGES = 8
_MAX_CHOSEN = 50
ProjectName = Annotated[str, msgspec.Meta(max_length=300, pattern=r"^[^/\x00]+/[^/\x00]+\Z")]


class BenchProject(msgspec.Struct, frozen=True, kw_only=True):
    """A project with results."""

    entity: str
    project: str
    num_results: int
    newest_ns: int


class BenchProjects(msgspec.Struct, frozen=True, kw_only=True):
    """The projects with results that the caller may see, by name."""

    items: list[BenchProject]


class PageQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose results, and how the page looks, which its own script reads."""

    #: entity/project; without any: all that the caller may see
    project: Annotated[list[ProjectName], msgspec.Meta(max_length=_MAX_CHOSEN)] = []
    theme: Literal["system", "light", "dark"] = "system"


def endpoints() -> list[Endpoint]:
    """Return the endpoints of one server."""
    book = _Book()

    @endpoint("GET", f"{_ROUTE}/projects", returns=BenchProjects, access="read", tag="benchmarks")
    async def list_benchmark_projects(call: Call) -> BenchProjects:
        """List the projects with benchmark results that the caller may see."""
        return BenchProjects(items=await call.in_thread(book.projects, call, await _visible(call)))

    @endpoint("GET", _ROUTE, query=PageQuery, access="read", tag="benchmarks", produces="text/html")
    async def get_benchmarks(call: Call, query: PageQuery) -> HTMLResponse:
        """The benchmark results of some projects, or of all that the caller may see, as a page.

        404 when there are none.
        """
        chosen = await _visible(call)
        if query.project:
            wanted = {_place(call, name) for name in query.project}
            chosen = [one for one in chosen if (one.entity, one.project) in wanted]
            if missing := wanted - {(one.entity, one.project) for one in chosen}:
                names = ", ".join(sorted("/".join(place) for place in missing))
                raise Problem(404, detail=f"there are no benchmark results in {names} that you may see")
        page = await call.in_thread(book.page, call, chosen)
        return HTMLResponse(page, headers={"Content-Security-Policy": CONTENT_POLICY})

    return [list_benchmark_projects, get_benchmarks]


def _place(call: Call, name: str) -> tuple[str, str]:
    entity, _, project = name.partition("/")
    return call.entity(entity), project


async def _visible(call: Call) -> list[ProjectWith]:
    """Return the projects that the caller may read, of those with runs that may carry results."""
    visible = await call.visible()
    found = await call.in_thread(call.services.store.values.projects_with, "job_type", JOB_TYPE)
    return [one for one in found if visible.is_all or one.entity in visible.entities or one.access in visible.accesses]


class _Book:
    """Pages and what they are made of, each made again when one of its runs has changed."""

    def __init__(self) -> None:
        self._results = RunResults()
        self._tallies: dict[tuple[str, str], tuple[ProjectWith, Tally]] = {}
        self._pages: dict[tuple[ProjectWith, ...], str] = {}
        # One at a time: a page that many wait for is made once.
        self._lock = threading.Lock()
        # Apart from that: who asks what there is does not wait for a page.
        self._counting = threading.Lock()

    def projects(self, call: Call, projects: Sequence[ProjectWith]) -> list[BenchProject]:
        """Return those with results: a run can have the job type before its result is here, or without any to come."""
        with self._counting:
            tallies = [(one, self._tally(call, one)) for one in projects]
        return [
            BenchProject(entity=one.entity, project=one.project, num_results=it.num_results, newest_ns=it.newest_ns)
            for one, it in tallies
            if it.num_results
        ]

    def _tally(self, call: Call, project: ProjectWith) -> Tally:
        place = (project.entity, project.project)
        known = self._tallies.get(place)
        if known is None or known[0] != project:
            known = (project, count(call.services.store, place, now_ns=call.services.clock()))
            self._tallies[place] = known
        return known[1]

    def page(self, call: Call, projects: Sequence[ProjectWith]) -> str:
        key = tuple(projects)
        with self._lock:
            if key not in self._pages:
                places = [(one.entity, one.project) for one in projects]
                found = self._results.read(call.services.store, places, now_ns=call.services.clock())
                if not found.records:
                    raise Problem(404, detail="there are no benchmark results yet; `strobe bench run` makes some")
                self._pages[key] = render(
                    found.records, notes=_notes(found), runs=found.runs, num_results=found.num_results
                )
                for old in list(self._pages)[:-_MAX_PAGES]:
                    del self._pages[old]
            return self._pages[key]


def _notes(found: Found) -> list[str]:
    notes = ["Each result is a run with the job type bench; the file benchmark.json of the run is its raw record."]
    if found.num_older:
        notes.append(f"{found.num_older:,} older results are not shown.")
    if found.num_unreadable:
        notes.append(f"The records of {found.num_unreadable:,} runs cannot be read.")
    return notes
