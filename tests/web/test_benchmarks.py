"""The Benchmarks page: the published page, live, in a frame; of a home, and of a server that machines send to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from strobe.bench.records import Record, append_records
from strobe.bench.server import local_server
from strobe.cli import main
from tests.bench.publish.suite import records
from tests.web.conftest import PHONE, OpenPage, serving

#: the course that has a step, and one row of the other system
STEP = "400MF-int8"


def _results(path: Path) -> Path:
    wanted = [one for one in records() if STEP in one.benchmark]
    append_records(path, wanted)
    return path


def test_results_are_shown_in_the_colours_of_the_dashboard(tmp_path: Path, open_page: OpenPage) -> None:
    home = tmp_path / "home"
    assert main(["bench", "import", str(_results(tmp_path / "results.jsonl")), "--home", str(home)]) == 0
    with serving(home) as served:
        page = open_page(served.url, scheme="dark")
        page.get_by_role("button", name="Benchmarks").click()
        expect(page).to_have_url(f"{served.url}/benchmarks")
        frame = page.frame_locator("iframe")
        expect(frame.locator("tr.row", has_text=STEP).first).to_be_visible()
        frame.get_by_role("link", name="History").click()
        expect(frame.locator(".card").first).to_contain_text("against best")
        expect(page).to_have_url(f"{served.url}/benchmarks?view=history")
        assert frame.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(14, 15, 18)"
        expect(frame.get_by_role("button", name="Theme")).to_have_count(0)
        # A link shows the view that it was taken from, and a result leads to its run.
        again = open_page(f"{served.url}/benchmarks?view=history", scheme="dark")
        expect(again.frame_locator("iframe").locator(".card").first).to_contain_text("against best")
        frame.get_by_role("link", name="Results").click()
        frame.get_by_role("button", name=f"Details of regnety/optimized/inference/{STEP}").first.click()
        frame.locator("button.link").first.click()
        expect(page.get_by_role("heading", name=STEP).first).to_be_visible()
        assert "/local/bench/runs/" in page.url
        # The header stays; the frame fills the rest, on a phone too.
        small = open_page(f"{served.url}/benchmarks", viewport=PHONE)
        expect(small.frame_locator("iframe").locator("tr.row").first).to_be_visible()
        assert small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_home_without_results_says_how_to_make_some(tmp_path: Path, open_page: OpenPage) -> None:
    with serving(tmp_path / "home") as served:
        page = open_page(f"{served.url}/benchmarks")
        expect(page.get_by_role("heading", name="There are no benchmark results here yet")).to_be_visible()
        expect(page.get_by_text("strobe bench run")).to_be_visible()
        # As it says, they show up: nobody has to load it again.
        home = str(tmp_path / "home")
        assert main(["bench", "import", str(_results(tmp_path / "results.jsonl")), "--home", home]) == 0
        expect(page.frame_locator("iframe").locator("tr.row").first).to_be_visible(timeout=30_000)


def _of_machine(record: Record, host: str) -> bool:
    return record.environment.host == host and STEP in record.benchmark


def test_a_server_shows_what_machines_have_sent(
    tmp_path: Path, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    with local_server(tmp_path / "server") as server:
        monkeypatch.setenv("STROBE_BASE_URL", server.url)
        monkeypatch.setenv("STROBE_API_KEY", server.key)
        for host in ("bench-1", "bench-2"):
            path = tmp_path / f"{host}.jsonl"
            append_records(path, [one for one in records() if _of_machine(one, host)][-2:])
            assert main(["bench", "import", str(path), "--home", str(tmp_path / host)]) == 0
        page = open_page(f"{server.url}/signin?next=/benchmarks")
        page.locator("input[type=password]").fill(server.key)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("button", name="Benchmarks")).to_be_visible()
        frame = page.frame_locator("iframe")
        expect(frame.locator("main h2")).to_contain_text(["Intel Xeon Platinum 8370C", "AMD EPYC 9654"])
        frame.get_by_role("link", name="Systems").click()
        expect(frame.locator("tr", has_text="flags")).to_contain_text("avx512_bf16")
        # Which systems are shown is in the address of the dashboard, so that a link shows the same.
        frame.get_by_role("link", name="Results").click()
        frame.locator(".choice > summary").click()
        frame.get_by_role("button", name="Only AMD EPYC 9654").click()
        expect(frame.locator("main h2")).to_have_count(1)
        expect(page).to_have_url(re.compile(r"/benchmarks\?systems=[0-9a-f]{12}$"))
        page.reload()
        expect(frame.locator("main h2")).to_contain_text(["AMD EPYC 9654"])
        expect(frame.locator("main h2")).to_have_count(1)
