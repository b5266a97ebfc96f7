"""The dashboard's files: what is a page, what is kept for how long, and what is not to be had this way."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from strobe.server.pages import Pages
from strobe.server.security import PAGE_POLICY
from tests.server.conftest import Stage

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
SCRIPT = "export const answer = 42;\n" * 50


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Strobe</title>")
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "assets" / "index-abc.js").write_text(SCRIPT)
    (folder / ".sources").write_text("hash")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


@pytest.fixture(params=["server", "local"])
def pages(request: pytest.FixtureRequest, built: Path) -> Stage:
    stage: Stage = request.getfixturevalue("stage" if request.param == "server" else "local")
    stage.app.router.default = Pages(stage.services, built)
    return stage


@pytest.mark.parametrize("path", ["/", "/ada/vision", "/ada/vision/runs/x1/charts", "/settings", "/ä/b%2Fc"])
def test_addresses_of_pages_are_the_page(pages: Stage, path: str) -> None:
    answer = pages.ask("GET", path, headers=HTML)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == PAGE_POLICY
    assert answer.headers["cache-control"] == "no-cache"
    assert "<title>Strobe</title>" in answer.text


def test_a_page_that_is_known_is_not_sent_again(pages: Stage) -> None:
    etag = pages.ask("GET", "/", headers=HTML).headers["etag"]
    again = pages.ask("GET", "/ada/vision", headers={**HTML, "If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")


def test_a_page_that_was_built_anew_is_sent(pages: Stage, built: Path) -> None:
    etag = pages.ask("GET", "/", headers=HTML).headers["etag"]
    (built / "index.html").write_text("<!doctype html><title>Newer</title>")
    again = pages.ask("GET", "/", headers={**HTML, "If-None-Match": etag})
    assert (again.status_code, "Newer" in again.text) == (200, True)


def test_assets_are_kept_for_good_and_come_compressed(pages: Stage) -> None:
    packed = pages.ask("GET", "/assets/index-abc.js", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert packed.headers["content-type"] == "text/javascript; charset=utf-8"
    assert packed.headers["vary"] == "Accept-Encoding"
    assert packed.text == SCRIPT
    assert int(packed.headers["content-length"]) == len(gzip.compress(SCRIPT.encode(), mtime=0))
    plain = pages.ask("GET", "/assets/index-abc.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.text == SCRIPT


def test_marks_of_the_build_are_not_to_be_had(pages: Stage) -> None:
    assert pages.ask("GET", "/.sources").status_code == 404


def test_the_icon(pages: Stage) -> None:
    assert pages.ask("GET", "/favicon.svg").headers["content-type"] == "image/svg+xml"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/none.js",
        "/assets/..%2findex.html",
        "/assets/..%2f..%2fsecret.txt",
        "/assets/",
        "/assets",
        "/api/v1/nothing",
        "/api",
        "/healthz/x",
    ],
)
def test_what_is_no_page_is_not_there(pages: Stage, path: str) -> None:
    answer = pages.ask("GET", path, headers=HTML)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_program_that_asks_for_a_page_by_mistake_is_told(pages: Stage) -> None:
    assert pages.ask("GET", "/base/api/v1/server", headers={"Accept": "application/json"}).status_code == 404
    assert pages.ask("POST", "/graphql", headers=HTML).status_code == 404
    assert pages.ask("POST", "/api/v1/server").status_code == 405


def test_nothing_changes_by_asking_for_the_head(pages: Stage) -> None:
    answer = pages.ask("HEAD", "/", headers=HTML)
    assert (answer.status_code, answer.content) == (200, b"")


def test_sources_that_were_not_built_say_how(stage: Stage, tmp_path: Path) -> None:
    stage.app.router.default = Pages(stage.services, tmp_path / "nothing")
    answer = stage.ask("GET", "/ada/vision", headers=HTML)
    assert answer.status_code == 503
    assert "python web/build.py" in answer.text


def test_other_sites_get_nothing_from_this_machine(local: Stage, built: Path) -> None:
    local.app.router.default = Pages(local.services, built)
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert local.ask("GET", "/assets/index-abc.js", headers=embedded).status_code == 403
    followed = {**HTML, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert local.ask("GET", "/", headers=followed).status_code == 200
    local.client = ("192.168.1.5", 50_000)
    assert local.ask("GET", "/", headers=HTML).status_code == 403
