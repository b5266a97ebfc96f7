"""The benchmarks page of `strobe ui`: the published page, live, in a frame."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from strobe.bench.records import append_records, results_path
from tests.bench.publish.suite import records
from tests.web.conftest import PHONE, OpenPage, Watch, serving


def test_results_are_shown_in_the_colours_of_the_dashboard(tmp_path: Path, open_page: OpenPage) -> None:
    home = tmp_path / "home"
    append_records(results_path(home), records())
    with serving(home) as served:
        page = open_page(served.url, scheme="dark")
        page.get_by_role("button", name="Benchmarks").click()
        expect(page).to_have_url(f"{served.url}/benchmarks")
        frame = page.frame_locator("iframe")
        expect(frame.locator("tr.row", has_text="400MF-int8").first).to_be_visible()
        frame.get_by_role("link", name="History").click()
        expect(frame.locator(".card").first).to_contain_text("against best")
        assert frame.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(14, 15, 18)"
        expect(frame.get_by_role("button", name="Theme")).to_have_count(0)
        # The header stays; the frame fills the rest, on a phone too.
        small = open_page(f"{served.url}/benchmarks", viewport=PHONE)
        expect(small.frame_locator("iframe").locator("tr.row").first).to_be_visible()
        assert small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_home_without_results_says_how_to_make_some(tmp_path: Path, open_page: OpenPage, watch: Watch) -> None:
    watch.expected.append("404")
    with serving(tmp_path / "home") as served:
        page = open_page(f"{served.url}/benchmarks")
        expect(page.get_by_role("heading", name="There are no benchmark results here yet")).to_be_visible()
        expect(page.get_by_text("strobe bench run")).to_be_visible()
