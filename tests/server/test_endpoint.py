"""Declarations: what is validated, decoded, answered and refused because of them."""

from __future__ import annotations

import math
from typing import Annotated, Any

import msgspec
import pytest
from starlette.responses import Response

from strobe.errors import CommError, NotInStore, StoreBusy, StoreFull, UsageError
from strobe.journal import value
from strobe.server.endpoint import Call, endpoint, weak_etag
from strobe.server.problem import Problem
from strobe.wire import MSGPACK
from tests.server.conftest import Stage


class Where(msgspec.Struct):
    entity: str
    project: str


class Rest(msgspec.Struct):
    rest: str


class Query(msgspec.Struct, kw_only=True):
    pixels: Annotated[int, msgspec.Meta(ge=1, le=100)] = 10
    key: list[str] = []
    exact: bool = False
    until: float | None = None


class Body(msgspec.Struct):
    name: str
    count: int = 0


@endpoint("GET", "/t/{entity}/{project}", access="read", tag="t", path=Where, query=Query, returns=list)
async def get_it(call: Call, path: Where, query: Query) -> list[Any]:
    await call.require("read", path.entity, path.project)
    return [path.entity, path.project, query.pixels, query.key, query.exact, query.until]


@endpoint("GET", "/rest/{rest:path}", access="open", tag="t", path=Rest, returns=str)
async def get_rest(call: Call, path: Rest) -> str:
    return path.rest


@endpoint("POST", "/body", access="open", tag="t", body=Body, returns=Body, status=201)
async def post_body(call: Call, body: Body) -> Body:
    return body


@endpoint("GET", "/careless", access="read", tag="t", returns=int)
async def careless(call: Call) -> int:
    return 1


@endpoint("GET", "/numbers", access="open", tag="t", returns=dict)
async def numbers(call: Call) -> dict[str, Any]:
    return {"nan": math.nan, "up": math.inf, "down": -math.inf, "big": 2**70, "list": [1.5, math.nan]}


@endpoint("GET", "/tagged", access="open", tag="t", returns=int)
async def tagged(call: Call) -> int | Response:
    return call.unchanged(weak_etag("run", 7)) or 7


@endpoint("DELETE", "/nothing", access="open", tag="t", status=204)
async def nothing(call: Call) -> None:
    return None


@pytest.fixture
def here(local: Stage) -> Stage:
    local.serve(get_it, get_rest, post_body, careless, numbers, tagged, nothing)
    return local


def test_text_becomes_typed(here: Stage) -> None:
    answer = here.ask("GET", "/t/ada/p?pixels=20&key=a&key=b&exact=true&until=1.5")
    assert answer.json() == ["ada", "p", 20, ["a", "b"], True, 1.5]
    assert here.ask("GET", "/t/ada/p").json() == ["ada", "p", 10, [], False, None]


@pytest.mark.parametrize(
    ("part", "decoded"), [("a%20b", "a b"), ("%E7%A0%94", "研"), ("a+b", "a+b"), ("x.y~z", "x.y~z")]
)
def test_parts_of_a_path_are_decoded_once(here: Stage, part: str, decoded: str) -> None:
    assert here.ask("GET", f"/t/{part}/p").json()[0] == decoded


def test_the_rest_of_a_path_keeps_its_slashes(here: Stage) -> None:
    assert here.ask("GET", "/rest/a/b%20c/d.txt").json() == "a/b c/d.txt"


def test_a_name_with_a_slash_is_no_name(here: Stage) -> None:
    assert here.ask("GET", "/t/a%2Fb/p").status_code == 404


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("pixels=0", ">= 1"),
        ("pixels=x", "Expected `int`"),
        ("pixels=1&pixels=2", "twice"),
        ("pixel=3", "did you mean 'pixels'"),
        ("what=3", "known are pixels, key, exact, until"),
    ],
)
def test_what_is_not_understood_is_an_error(here: Stage, query: str, said: str) -> None:
    answer = here.ask("GET", f"/t/a/b?{query}")
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert said in answer.json()["detail"]


def test_parameters_where_there_are_none(here: Stage) -> None:
    assert here.ask("GET", "/numbers?x=1").status_code == 422


def test_a_body(here: Stage) -> None:
    answer = here.ask("POST", "/body", json={"name": "n", "count": 3})
    assert (answer.status_code, answer.json()) == (201, {"name": "n", "count": 3})


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b'{"name": 3}', "application/json", 422),
        (b"{", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"", "application/json", 400),
        (b"{}", "application/json; charset=utf-8", 422),
        (b"{}", "text/plain", 415),
        (b'{"name": "n", "count": 0, "x": ' + b"[" * 100_000, "application/json", 400),
        (b'{"name": "n", "more": {' + b'"x": {' * 100_000, "application/json", 400),
        (b'{"name": "\xff"}', "application/json", 400),
        (b'{"name": "\\ud800"}', "application/json", 400),
    ],
)
def test_bodies_that_cannot_be(here: Stage, content: bytes, kind: str, status: int) -> None:
    answer = here.ask("POST", "/body", content=content, headers={"Content-Type": kind})
    assert answer.status_code == status, answer.text


def test_no_answer_is_204(here: Stage) -> None:
    answer = here.ask("DELETE", "/nothing")
    assert (answer.status_code, answer.content) == (204, b"")


def test_numbers_that_json_has_not(here: Stage) -> None:
    assert here.ask("GET", "/numbers").json() == {
        "nan": "NaN", "up": "Infinity", "down": "-Infinity", "big": 2**70, "list": [1.5, "NaN"],
    }  # fmt: skip


def test_an_etag_that_is_known_is_304(here: Stage) -> None:
    first = here.ask("GET", "/tagged")
    assert (first.status_code, first.headers["etag"]) == (200, 'W/"run-7"')
    for known in (first.headers["etag"], '"x", W/"run-7"', "*"):
        again = here.ask("GET", "/tagged", headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", 'W/"run-7"')
    assert here.ask("GET", "/tagged", headers={"If-None-Match": 'W/"run-6"'}).status_code == 200


def test_an_endpoint_that_forgets_to_ask_does_not_answer(here: Stage) -> None:
    assert here.ask("GET", "/careless").status_code == 500


def test_paths_and_methods_that_there_are_not(here: Stage) -> None:
    for path in ("/nope", "/api/v1/server/", "/../etc/passwd", "/t/a"):
        answer = here.ask("GET", path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json"), path
    answer = here.ask("PUT", "/body")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["detail"] == "this address takes POST"


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (StoreBusy("locked"), 503, "busy"),
        (StoreFull("no space"), 507, "full"),
        (NotInStore("no run"), 404, "not-found"),
        (UsageError("wrong"), 400, "bad-request"),
        (CommError("not a batch"), 400, "bad-request"),
        (Problem(409, detail="again"), 409, "conflict"),
        (RuntimeError("the secret reason"), 500, "internal"),
        (KeyError("x"), 500, "internal"),
    ],
)
def test_errors_are_problems(
    here: Stage, error: Exception, status: int, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    @endpoint("GET", "/fails", access="open", tag="t")
    async def fails(call: Call) -> None:
        raise error

    here.serve(fails)
    answer = here.ask("GET", "/fails")
    document = answer.json()
    assert (answer.status_code, document["status"]) == (status, status)
    assert document["type"] == f"urn:strobe:problem:{kind}"
    assert document["request"] == answer.headers["x-request-id"]
    assert ("retry-after" in answer.headers) == (status in (503, 507))
    if status == 500:
        assert "secret reason" not in answer.text
        assert document["request"] in document["detail"]
        (record,) = [record for record in caplog.records if record.exc_info]
        assert record.exc_info is not None
        assert record.exc_info[1] is error
        assert vars(record)["strobe_fields"]["request"] == document["request"]
    else:
        assert document["detail"] in str(error)


def test_a_head_request_is_a_get_without_its_body(here: Stage) -> None:
    assert here.ask("HEAD", "/api/v1/server").status_code == 200
    assert here.ask("HEAD", "/body").status_code == 405


class TestMsgpack:
    """Documents as msgpack, for who wants values as they are."""

    def test_an_answer_keeps_what_json_has_no_word_for(self, here: Stage) -> None:
        answer = here.ask("GET", "/numbers", headers={"Accept": MSGPACK})
        assert answer.headers["content-type"] == MSGPACK
        assert answer.headers["vary"] == "Accept"
        found = value.decode(answer.content)
        assert math.isnan(found.pop("nan"))
        assert math.isnan(found["list"].pop())
        assert found == {"up": math.inf, "down": -math.inf, "big": 2**70, "list": [1.5]}

    def test_nobody_gets_it_who_has_not_asked(self, here: Stage) -> None:
        for accepted in ("*/*", "application/json", "text/html,application/xhtml+xml"):
            answer = here.ask("GET", "/numbers", headers={"Accept": accepted})
            assert answer.json()["nan"] == "NaN"

    def test_a_body(self, here: Stage) -> None:
        content = msgspec.msgpack.encode({"name": "n", "count": 3})
        answer = here.ask("POST", "/body", content=content, headers={"Content-Type": MSGPACK})
        assert (answer.status_code, answer.json()) == (201, {"name": "n", "count": 3})

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\xc1",
            b"\x81",
            msgspec.msgpack.encode({"x": 1}),
            b"\xc7\x02\x01xx",
            b"\xc7\x01\x02\x00",
            b"\xd9\x01\xff",
        ],
    )
    def test_a_body_that_is_none(self, here: Stage, content: bytes) -> None:
        answer = here.ask("POST", "/body", content=content, headers={"Content-Type": MSGPACK})
        assert answer.status_code in (400, 422), answer.text
