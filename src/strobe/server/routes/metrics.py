"""Metrics of runs: which keys there are, and what the points of each come to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta
from starlette.responses import Response

from strobe.journal.goal import guess_goal, said_goal
from strobe.server.endpoint import Call, endpoint, weak_etag
from strobe.server.fields import Key, PathText
from strobe.server.problem import Problem
from strobe.server.routes.series import MAX_CURVES, RunOf, question_digest, readable_run, readable_runs
from strobe.store.charts import KeyFacts
from strobe.store.state import Facts
from strobe.wire.digest import Digest

Goal = Literal["minimize", "maximize"]
_RUN = "/api/v1/runs/{entity}/{project}/{run}"


class RunKey(msgspec.Struct, kw_only=True):
    """A key of a run."""

    key: str
    #: '' for what was logged, else who sampled the system
    lane: str
    #: whether there are numbers, which are charted, and other values, which are objects
    has_points: bool
    has_objects: bool
    #: which way is better, as `define_metric` said, else as the name tells; null if nobody knows
    goal: Goal | None = None
    #: whether only the name tells
    is_goal_guessed: bool = False


class Sampler(msgspec.Struct, kw_only=True):
    """Who sampled the system."""

    lane: str
    host: str
    #: of its process; null if it sampled for all of the host
    rank: int | None
    attempt: int


class RunKeys(msgspec.Struct, kw_only=True):
    items: list[RunKey]
    samplers: list[Sampler]


@endpoint("GET", _RUN + "/metrics", access="read", tag="series", path=RunOf, returns=RunKeys)
async def list_run_keys(call: Call, path: RunOf) -> RunKeys | Response:
    """List the keys that a run has logged under, and those that its system is sampled by."""
    row = await readable_run(call, path)
    if unchanged := call.unchanged(weak_etag("keys", row.id, row.version)):
        return unchanged
    store = call.services.store

    def read() -> RunKeys:
        found = store.series.keys(row.id)
        facts = store.runs.facts(row.id)
        samplers = store.samplers.of(row.id, sorted({key.lane for key in found if key.lane}))
        return RunKeys(
            items=[_run_key(key, facts) for key in found],
            samplers=[Sampler(lane=one.lane, host=one.host, rank=one.rank, attempt=one.attempt) for one in samplers],
        )

    return await call.in_thread(read)


def _run_key(key: KeyFacts, facts: Facts) -> RunKey:
    found = RunKey(key=key.key, lane=key.lane, has_points=key.has_points, has_objects=key.has_objects)
    if key.lane == "" and key.has_points:
        said = _said(facts, key.key)
        found.goal = cast("Goal | None", said or guess_goal(key.key))
        found.is_goal_guessed = said is None and found.goal is not None
    return found


def _said(facts: Facts, key: str) -> str | None:
    defined = facts.definition(key)
    return said_goal(defined.get("goal"), defined.get("summary") or ())


class KeysBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Whose keys."""

    #: paths: entity/project/run
    runs: Annotated[list[PathText], Meta(min_length=1, max_length=MAX_CURVES)]
    #: whether to say which way is better, which means reading what each run defined
    goals: bool = False


class SharedKey(msgspec.Struct, kw_only=True):
    """A key that some of the runs have."""

    key: str
    #: whether it is one of the samples of the system
    is_system: bool
    has_points: bool
    has_objects: bool
    num_runs: int
    #: with `goals`: which way is better, as the first run that says so has it, else as the name tells
    goal: Goal | None = None


class SharedKeys(msgspec.Struct, kw_only=True):
    items: list[SharedKey]


@endpoint("POST", "/api/v1/metrics", access="read", tag="series", body=KeysBody, returns=SharedKeys)
async def query_keys(call: Call, body: KeysBody) -> SharedKeys | Response:
    """List the keys that any of these runs has, each once: the charts that a page of them has."""
    rows = await readable_runs(call, body.runs)
    question = ["keys", body.goals, [(row.id, row.version) for row in rows]]
    if unchanged := call.unchanged(weak_etag(question_digest(question))):
        return unchanged
    store = call.services.store

    def read() -> SharedKeys:
        shared = _shared(store.series.keys_of([row.id for row in rows]).values())
        if body.goals:
            facts = [store.runs.facts(row.id) for row in rows]
            for key in shared:
                if key.has_points and not key.is_system:
                    said = (_said(one, key.key) for one in facts)
                    goal = next((goal for goal in said if goal is not None), None) or guess_goal(key.key)
                    key.goal = cast("Goal | None", goal)
        return SharedKeys(items=shared)

    return await call.in_thread(read)


def _shared(found: Iterable[list[KeyFacts]]) -> list[SharedKey]:
    shared: dict[tuple[bool, str], SharedKey] = {}
    for keys in found:
        seen = set()
        for fact in keys:
            name = (bool(fact.lane), fact.key)
            key = shared.setdefault(
                name, SharedKey(key=fact.key, is_system=name[0], has_points=False, has_objects=False, num_runs=0)
            )
            key.has_points |= fact.has_points
            key.has_objects |= fact.has_objects
            key.num_runs += name not in seen  # several processes of a run may sample the same
            seen.add(name)
    return [shared[name] for name in sorted(shared)]


class DigestQuery(msgspec.Struct, kw_only=True):
    keys: list[Key] | None = None


class Digests(msgspec.Struct, kw_only=True):
    digests: dict[str, Digest]


@endpoint("GET", _RUN + "/digests", access="read", tag="series", path=RunOf, query=DigestQuery, returns=Digests)
async def read_digests(call: Call, path: RunOf, query: DigestQuery) -> Digests | Response:
    """Return count, extremes, mean, first and last of every key, or of some."""
    row = await readable_run(call, path)
    if unchanged := call.unchanged(weak_etag(row.id, row.version, question_digest(query))):
        return unchanged
    found = await call.in_thread(call.services.store.series.digests, row.id, query.keys)
    return Digests(digests=_digests(found))


class DigestsBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which: every key of every run."""

    #: paths: entity/project/run
    runs: Annotated[list[PathText], Meta(min_length=1, max_length=MAX_CURVES)]
    keys: Annotated[list[Key], Meta(min_length=1, max_length=MAX_CURVES)]


class RunDigests(msgspec.Struct, kw_only=True):
    run: str
    digests: dict[str, Digest]


class ManyDigests(msgspec.Struct, kw_only=True):
    items: list[RunDigests]


@endpoint("POST", "/api/v1/digests", access="read", tag="series", body=DigestsBody, returns=ManyDigests)
async def query_digests(call: Call, body: DigestsBody) -> ManyDigests | Response:
    """Return count, extremes, mean, first and last of keys of many runs: what a table of runs shows."""
    if len(body.runs) * len(body.keys) > MAX_CURVES:
        raise Problem(422, detail=f"{len(body.runs)} runs times {len(body.keys)} keys; ask for {MAX_CURVES} at a time")
    rows = await readable_runs(call, body.runs)
    if unchanged := call.unchanged(
        weak_etag(question_digest(["digests", body, [(row.id, row.version) for row in rows]]))
    ):
        return unchanged
    found = await call.in_thread(call.services.store.series.digests_of, [row.id for row in rows], body.keys)
    return ManyDigests(items=[RunDigests(run=str(row.path), digests=_digests(found[row.id])) for row in rows])


def _digests(found: dict[str, Any]) -> dict[str, Digest]:
    return {key: _digest(bucket) for key, bucket in found.items()}


def _digest(bucket: Any) -> Digest:
    finite = int(bucket.count[0] - bucket.nan[0] - bucket.posinf[0] - bucket.neginf[0])
    return Digest(
        count=int(bucket.count[0]),
        min=float(bucket.min[0]) if finite else None,
        max=float(bucket.max[0]) if finite else None,
        min_step=int(bucket.min_step[0]) if finite else None,
        max_step=int(bucket.max_step[0]) if finite else None,
        mean=float(bucket.sum[0]) / finite if finite else None,
        first=float(bucket.first[0]),
        last=float(bucket.last[0]),
        first_step=int(bucket.first_step[0]),
        last_step=int(bucket.last_step[0]),
        nan=int(bucket.nan[0]),
        posinf=int(bucket.posinf[0]),
        neginf=int(bucket.neginf[0]),
    )


ENDPOINTS = [list_run_keys, query_keys, read_digests, query_digests]
