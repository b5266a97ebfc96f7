"""Console and objects over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from strobe.journal import event as ev
from tests.server.conftest import Stage
from tests.server.live.conftest import Logger

RUN = "/api/v1/runs/team/p/r"


@pytest.fixture
def logger(local: Stage) -> Logger:
    found = Logger(local.store, clock=local.clock)
    texts = "".join(f"line {number}\n" for number in range(50))
    found.say(
        ev.Console(time_ns=local.clock(), stream="stdout", text=texts + "\x1b[31mred\x1b[0m\n"),
        ev.Console(time_ns=local.clock(), stream="stderr", text="\r 1%\r 2%\r100%"),
    )
    return found


def _texts(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [item["text"] for item in answer.json()["items"]]


def test_lines_by_number_from_the_end_and_around_a_time(local: Stage, logger: Logger) -> None:
    assert _texts(local.ask("GET", f"{RUN}/console?start=3&limit=2&stream=stdout")) == ["line 3", "line 4"]
    answer = local.ask("GET", f"{RUN}/console?limit=1&stream=stdout")
    assert _texts(answer) == ["\x1b[31mred\x1b[0m"]
    assert answer.json()["total"] == 51
    assert _texts(local.ask("GET", f"{RUN}/console?limit=1&stream=stdout&styles=false")) == ["red"]
    assert _texts(local.ask("GET", f"{RUN}/console?stream=stderr")) == ["100%"]
    assert len(_texts(local.ask("GET", f"{RUN}/console?time_ns=0&limit=10"))) == 10
    assert local.ask("GET", f"{RUN}/console?time_ns=0&start=1").status_code == 422


def test_an_unchanged_console_is_not_sent_again(local: Stage, logger: Logger) -> None:
    first = local.ask("GET", f"{RUN}/console?limit=5")
    again = local.ask("GET", f"{RUN}/console?limit=5", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    logger.say(ev.Console(time_ns=local.clock(), stream="stdout", text="more\n"))
    later = local.ask("GET", f"{RUN}/console?limit=5", headers={"If-None-Match": first.headers["etag"]})
    assert later.status_code == 200


def test_pages_follow_the_cursor(local: Stage, logger: Logger) -> None:
    found: list[str] = []
    cursor: str | None = "0"
    while cursor is not None:
        answer = local.ask("GET", f"{RUN}/console?start={cursor}&limit=20")
        found += _texts(answer)
        cursor = answer.json()["cursor"]
    assert len(found) == 52


def test_search_over_http(local: Stage, logger: Logger) -> None:
    assert _texts(local.ask("GET", f"{RUN}/console/search?text=LINE%204&limit=3")) == ["line 4", "line 40", "line 41"]
    assert _texts(local.ask("GET", f"{RUN}/console/search?text=^red$&regex=true&styles=false")) == ["red"]
    assert local.ask("GET", f"{RUN}/console/search?text=(&regex=true").status_code == 400
    assert local.ask("GET", f"{RUN}/console/search").status_code == 422


def test_the_whole_console_as_text(local: Stage, logger: Logger) -> None:
    answer = local.ask("GET", f"{RUN}/console/text?stream=stdout")
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.splitlines()[-1] == "red"
    assert len(answer.text.splitlines()) == 51


def test_objects_over_http(local: Stage, logger: Logger) -> None:
    for step in range(5):
        logger.log(step, note=f"n{step}", hist={"_type": "histogram", "values": [step, float("nan")]}, loss=1.0)
    keys = local.ask("GET", f"{RUN}/objects").json()["items"]
    assert [(item["key"], item["types"], item["last_step"]) for item in keys] == [
        ("hist", ["histogram"], 4),
        ("note", ["text"], 4),
    ]
    steps: list[int] = []
    cursor: Any = ""
    while cursor is not None:
        answer = local.ask("GET", f"{RUN}/objects/values?key=note&limit=2{cursor and f'&cursor={cursor}'}").json()
        steps += [item["step"] for item in answer["items"]]
        cursor = answer["cursor"]
    assert steps == [0, 1, 2, 3, 4]
    down = local.ask("GET", f"{RUN}/objects/values?key=note&order=desc&limit=2&cursor=2").json()
    assert [item["value"] for item in down["items"]] == ["n2", "n1"]
    stepped = local.ask("GET", f"{RUN}/objects/steps?keys=note&keys=none").json()["steps"]
    assert stepped == {"note": [0, 1, 2, 3, 4], "none": []}
    nearest = local.ask("GET", f"{RUN}/objects/nearest?step=2&keys=note&keys=hist&keys=none").json()["values"]
    assert nearest["note"]["value"] == "n2"
    assert nearest["hist"]["value"]["values"] == [2, "NaN"]
    assert nearest.keys() == {"note", "hist"}


@pytest.mark.parametrize("path", ["console", "console/search?text=a", "console/text", "objects", "alerts"])
def test_strangers_see_nothing(stage: Stage, path: str) -> None:
    Logger(stage.store, clock=stage.clock)
    stage.store.projects.change("team", "p", access="private")
    assert stage.ask("GET", f"{RUN}/{path}").status_code == 401
    key = stage.key("eve")
    assert stage.ask("GET", f"{RUN}/{path}", key=key).status_code == 404
    assert stage.ask("GET", f"/api/v1/runs/team/p/none/{path}", key=key).status_code == 404
