"""`/chart.svg`: the chart that was asked for, to whom it may be shown, and for how long it may be kept."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.journal import event as ev
from strobe.server.routes.chart import ChartQuery
from tests.server.conftest import Stage
from tests.server.live.conftest import Logger

SPACE = "{http://www.w3.org/2000/svg}"
HERE = {"run": "team/p/r", "key": "loss"}


@pytest.fixture
def drawn(local: Stage) -> Stage:
    """`strobe ui` with two runs: one of 3,000 points with odd ones among them, one of 50."""
    logger = Logger(local.store, clock=local.clock)
    logger.say(ev.Attributes(time_ns=local.clock(), changes={"name": "the <first>"}))
    odd = {700: math.nan, 1500: math.inf, 2200: -math.inf}
    for start in range(0, 3000, 100):
        rows = [
            (step, {"loss": odd.get(step, 2 / (1 + step)), "val/loss": 1.0, "zero": step - 1})
            for step in range(start, start + 100)
        ]
        logger.log_many(rows)
        local.clock.now_ns += 10**10
    Logger(local.store, "other", clock=local.clock).log_many([(step, {"loss": step / 50}) for step in range(50)])
    local.store.settler.settle()
    return local


def draw(stage: Stage, **query: Any) -> ET.Element:
    answer = stage.ask("GET", "/chart.svg", params={**HERE, **query})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("image/svg+xml")
    return ET.fromstring(answer.text)


def words(root: ET.Element) -> set[str]:
    return {element.text or "" for element in root.iter(f"{SPACE}text")}


def said(root: ET.Element) -> str:
    return root.findtext(f"{SPACE}desc") or ""


def test_a_run(drawn: Stage) -> None:
    root = draw(drawn)
    assert {"loss", "step", "the <first>", "0", "1000", "2000"} <= words(root)
    assert (root.get("width"), root.get("height")) == ("720", "400")
    # three places that are no number: a cross and two arrows, drawn as paths in the colour of trouble
    marks = [path for path in root.iter(f"{SPACE}path") if (path.get("class") or "").endswith("odd")]
    assert len(marks) == 3
    assert any(path.get("fill-opacity") for path in root.iter(f"{SPACE}path")), "the band of extremes"


def test_several_runs_and_keys(drawn: Stage) -> None:
    both = ["team/p/r", "team/p/other"]
    assert {"the <first>", "other"} <= words(draw(drawn, run=both))
    keys = draw(drawn, key=["loss", "val/loss"])
    assert {"loss", "val/loss"} <= words(keys)
    everything = words(draw(drawn, run=both, key=["loss", "val/loss"]))
    assert {"the <first> · loss", "other · loss", "1 of 4 lines have no points here"} <= everything
    assert "other · val/loss" not in everything


def test_smoothing_keeps_the_line_behind(drawn: Stage) -> None:
    plain, smoothed = draw(drawn), draw(drawn, smooth=0.9)
    faint = [path for path in smoothed.iter(f"{SPACE}path") if path.get("stroke-opacity")]
    assert len(faint) == 1
    assert not [path for path in plain.iter(f"{SPACE}path") if path.get("stroke-opacity")]
    assert "1 line." in said(smoothed)


def test_a_range_is_exact(drawn: Stage) -> None:
    assert "100 points, from 0.0198 to 0.01," in said(draw(drawn, first=100, last=199))
    assert "1 point, from 2 to 2" in said(draw(drawn, first=0, last=0))
    assert "100 points, from 0.0198 to 0.01," in said(draw(drawn, x="relative", first=9.5, last=10.5))
    assert "no points" in words(draw(drawn, first=10_000))


def test_axes(drawn: Stage) -> None:
    assert {"time since the start", "1m"} <= words(draw(drawn, x="relative"))
    assert "time (UTC)" in words(draw(drawn, x="wall"))
    log = draw(drawn, key="zero", y="log", x_scale="log", pixels=4000)
    assert "2 points at or below zero are not on a log axis" in words(log)
    assert "not on a log axis" not in " ".join(words(draw(drawn, key="zero", y="symlog")))


def test_a_key_that_nobody_logged_is_an_empty_chart(drawn: Stage) -> None:
    assert "no points" in words(draw(drawn, key="nothing"))


@pytest.mark.parametrize(
    ("query", "status", "about"),
    [
        ({"run": "team/p/none"}, 404, "none"),
        ({"run": "x"}, 400, "x"),
        ({"key": ""}, 422, "length"),
        ({"x": "epoch"}, 422, "epoch"),
        ({"y": "cubic"}, 422, "cubic"),
        ({"smooth": "1"}, 422, "< 1"),
        ({"smooth": "nan"}, 422, "smooth"),
        ({"first": "nan"}, 422, "first"),
        ({"first": "2", "last": "1"}, 422, "after"),
        ({"width": "10"}, 422, "width"),
        ({"theme": "neon"}, 422, "neon"),
        ({"colour": "red"}, 422, "colour"),
        ({"key": [f"k{n}" for n in range(100)], "run": ["team/p/r", "team/p/other"]}, 422, "200 lines"),
        ({"key": [f"k{n}" for n in range(100)], "pixels": "4000"}, 422, "pixels"),
    ],
)
def test_mistakes_are_explained(drawn: Stage, query: dict[str, Any], status: int, about: str) -> None:
    answer = drawn.ask("GET", "/chart.svg", params={**HERE, **query})
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert about in answer.json()["detail"]


def test_without_a_run_it_says_what_is_missing(drawn: Stage) -> None:
    assert "run" in drawn.ask("GET", "/chart.svg").json()["detail"]


def test_a_chart_is_sent_once(drawn: Stage) -> None:
    first = drawn.ask("GET", "/chart.svg", params=HERE)
    tag = first.headers["etag"]
    again = drawn.ask("GET", "/chart.svg", params=HERE, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    other = drawn.ask("GET", "/chart.svg", params={**HERE, "theme": "dark"}, headers={"If-None-Match": tag})
    assert other.status_code == 200
    assert drawn.ask("HEAD", "/chart.svg", params=HERE).headers["etag"] == tag
    Logger(drawn.store, attempt=2, clock=drawn.clock).log(5000, loss=1.0)
    assert drawn.ask("GET", "/chart.svg", params=HERE, headers={"If-None-Match": tag}).status_code == 200


ODD = st.sampled_from(
    ["0", "1", "-1", "1e3", "1e308", "-1e308", "NaN", "true", "log", "symlog", "wall", "relative", ""]
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(ChartQuery.__struct_fields__[2:]), ODD | st.text(max_size=6), max_size=5))
def test_whatever_is_asked_of_a_run_that_is_there(drawn: Stage, query: dict[str, str]) -> None:
    answer = drawn.ask("GET", "/chart.svg", params={**HERE, **query})
    assert answer.status_code in (200, 422), answer.text
    if answer.status_code == 200:
        ET.fromstring(answer.text)


# -- a server with keys


@pytest.fixture
def served(stage: Stage) -> dict[str, str]:
    key = stage.key("ada")
    for access in ("public", "team"):
        stage.project("ada", access, access)
        Logger(stage.store, clock=stage.clock, project=("ada", access)).log(0, loss=1.0)
    return {"Authorization": f"Bearer {key}"}


def chart(stage: Stage, project: str, **more: Any) -> httpx.Response:
    return stage.ask("GET", "/chart.svg", params={"run": f"ada/{project}/r", "key": "loss"}, **more)


def test_what_is_public_may_be_shown_anywhere(stage: Stage, served: dict[str, str]) -> None:
    answer = chart(stage, "public")
    assert answer.status_code == 200
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["cache-control"] == "public, max-age=60"
    assert "unsafe-inline" in answer.headers["content-security-policy"]
    assert "script" not in answer.headers["content-security-policy"]


def test_what_is_not_public_stays_with_who_asked(stage: Stage, served: dict[str, str]) -> None:
    assert chart(stage, "team").status_code == 401
    answer = chart(stage, "team", headers=served)
    assert answer.status_code == 200
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "private, no-cache"
    mixed = {"run": ["ada/public/r", "ada/team/r"], "key": "loss"}
    assert stage.ask("GET", "/chart.svg", params=mixed).status_code == 401


def test_a_signed_link_shows_one_chart(stage: Stage, served: dict[str, str]) -> None:
    goal = {"kind": "chart", "chart": {"run": ["ada/team/r"], "key": ["loss"], "theme": "dark"}}
    wanted = {"method": "GET", "goal": goal, "expires_s": 60}
    assert stage.ask("POST", "/api/v1/links", json=wanted).status_code == 401
    made = stage.ask("POST", "/api/v1/links", json=wanted, headers=served).json()
    answer = stage.ask("GET", made["url"])
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert "#14171c" in answer.text
    assert stage.ask("GET", made["url"], headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    stage.clock.now_ns += 61 * 10**9
    assert stage.ask("GET", made["url"]).status_code == 403
    long = {**goal, "chart": {**goal["chart"], "key": ["k" * 3900]}}  # type: ignore[dict-item]
    refused = stage.ask("POST", "/api/v1/links", json={**wanted, "goal": long}, headers=served)
    assert refused.status_code == 422
    assert "characters long" in refused.json()["detail"]
    wrong = {"method": "PUT", "goal": goal}
    assert stage.ask("POST", "/api/v1/links", json=wrong, headers=served).status_code == 422
