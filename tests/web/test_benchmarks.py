"""The Benchmarks page: the published page, live, in a frame; of a home, and of a server that machines send to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from playwright.sync_api import expect

import strobe
from strobe.bench.records import Record, append_records
from strobe.bench.server import local_server
from strobe.cli import main
from tests.bench.publish.suite import records
from tests.web.accessibility import violations
from tests.web.clipboard import copy, pasted
from tests.web.conftest import PHONE, OpenPage, Watch, serving

#: the course that has a step, and one row of the other system
STEP = "400MF-int8"


def _take_in(home: Path, wanted: Iterable[Record]) -> None:
    path = home / "results.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    append_records(path, list(wanted))
    assert main(["bench", "import", str(path), "--home", str(home)]) == 0


def _step() -> list[Record]:
    return [one for one in records() if STEP in one.benchmark]


def test_results_are_shown_in_the_colours_of_the_dashboard(tmp_path: Path, open_page: OpenPage) -> None:
    home = tmp_path / "home"
    _take_in(home, _step())
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
        _take_in(tmp_path / "home", _step())
        expect(page.frame_locator("iframe").locator("tr.row").first).to_be_visible(timeout=30_000)


def test_results_that_come_later_are_shown_where_the_reader_is(tmp_path: Path, open_page: OpenPage) -> None:
    first, later = records()[-30:-8], records()[-8:]
    _take_in(tmp_path / "home", first)
    with serving(tmp_path / "home") as served:
        page = open_page(f"{served.url}/benchmarks", viewport={"width": 1440, "height": 300})
        frame = page.frame_locator("iframe")
        rows = frame.locator("tr.row:visible")
        frame.get_by_role("searchbox").fill("inference")
        frame.get_by_role("button", name="Config").first.click()
        frame.get_by_role("button", name=f"Details of regnety/optimized/inference/{STEP}").first.click()
        frame.locator("body").evaluate("() => window.scrollTo(0, 170)")
        before = rows.count()
        news = page.get_by_role("status").filter(has_text="new result")
        _take_in(tmp_path / "home", later)
        expect(news).to_contain_text("8 new results")
        assert rows.count() == before  # nothing moves under the reader's eyes
        frame.get_by_role("link", name="Results").focus()
        assert violations(page) == []
        news.get_by_role("button", name="Update").click()
        expect(frame.locator("tr.row", has_text="cvt-13-int8")).to_be_visible()
        assert rows.count() > before
        expect(frame.get_by_role("searchbox")).to_have_value("inference")
        expect(frame.locator("th", has_text="Config").first).to_have_attribute("aria-sort", "ascending")
        expect(frame.locator("tr.more:visible")).to_have_count(1)
        assert frame.locator("body").evaluate("() => window.scrollY") == 170
        expect(news).to_have_count(0)
        # The same in another view.
        frame.get_by_role("link", name="Systems").click()
        _take_in(tmp_path / "home", records()[:1])
        page.get_by_role("button", name="Update").click()
        expect(page).to_have_url(f"{served.url}/benchmarks?view=systems")
        expect(frame.locator("nav a[aria-current]")).to_have_text("Systems")
        expect(news).to_have_count(0)
        gone = f"{served.url}/api/v1/runs/local/bench/{records()[0].id}"
        assert page.request.delete(gone, headers={"X-Strobe-CSRF": "1"}).ok
        expect(page.get_by_text("Results were deleted")).to_be_visible()
        page.get_by_role("button", name="Update").click()
        expect(page.get_by_text("Results were deleted")).to_have_count(0)
        page.close()  # before its server goes


def test_a_server_that_is_back_leaves_the_page_as_it_is_read(tmp_path: Path, open_page: OpenPage, watch: Watch) -> None:
    _take_in(tmp_path / "home", records()[-30:-8])
    watch.expected.append("ERR_INTERNET_DISCONNECTED")
    with serving(tmp_path / "home") as served:
        page = open_page(f"{served.url}/benchmarks")
        frame = page.frame_locator("iframe")
        expect(frame.locator("tr.row").first).to_be_visible()
        frame.locator("body").evaluate("() => { window.isSame = true; }")
        page.context.set_offline(True)
        expect(page.get_by_text("Not connected")).to_be_visible()
        _take_in(tmp_path / "home", records()[-8:])
        page.context.set_offline(False)
        expect(page.get_by_text("8 new results")).to_be_visible()
        assert frame.locator("body").evaluate("() => window.isSame")
        page.close()  # before its server goes


def test_runs_of_one_s_own_with_the_job_type_leave_the_page_empty(tmp_path: Path, open_page: OpenPage) -> None:
    home = tmp_path / "home"
    quiet = strobe.Settings(agent=False, stats=False, console="off", silent=True)
    strobe.init(project="mine", job_type="bench", dir=home, settings=quiet).finish()
    with serving(home) as served:
        page = open_page(f"{served.url}/benchmarks")
        nothing = page.get_by_role("heading", name="There are no benchmark results here yet")
        expect(nothing).to_be_visible()
        # Nor does the page stay away once there are results.
        _take_in(home, _step())
        expect(page.frame_locator("iframe").locator("tr.row").first).to_be_visible()


def test_what_carries_no_readable_result_is_no_raw_answer_in_the_frame(
    tmp_path: Path, open_page: OpenPage, watch: Watch
) -> None:
    home = tmp_path / "home"
    quiet = strobe.Settings(agent=False, stats=False, console="off", silent=True)
    run = strobe.init(project="mine", job_type="bench", dir=home, settings=quiet)
    Path(run.dir, "benchmark.json").write_text("{}")
    run.finish()
    watch.expected.append("404 (Not Found)")
    with serving(home) as served:
        page = open_page(f"{served.url}/benchmarks")
        expect(page.get_by_role("heading", name="There are no benchmark results here yet")).to_be_visible()
        expect(page.locator("iframe")).to_have_count(0)
        _take_in(home, _step())
        expect(page.frame_locator("iframe").locator("tr.row").first).to_be_visible()


def test_a_project_without_results_is_told_so(tmp_path: Path, open_page: OpenPage, watch: Watch) -> None:
    home = tmp_path / "home"
    _take_in(home, _step())
    watch.expected.append("404 (Not Found)")
    with serving(home) as served:
        page = open_page(f"{served.url}/benchmarks?project=local/no-such")
        expect(page.get_by_role("heading", name="There are no benchmark results in local/no-such")).to_be_visible()
        expect(page.locator("iframe")).to_have_count(0)
        page.get_by_role("link", name="See the results of all projects").click()
        expect(page).to_have_url(f"{served.url}/benchmarks")
        expect(page.frame_locator("iframe").locator("tr.row").first).to_be_visible()


@pytest.mark.parametrize("has_clipboard", [True, False])  # a server over plain HTTP: the old way
def test_a_command_is_copied_out_of_the_frame(tmp_path: Path, open_page: OpenPage, has_clipboard: bool) -> None:
    _take_in(tmp_path / "home", _step())
    with serving(tmp_path / "home") as served:
        page = open_page(f"{served.url}/benchmarks")
        frame = page.frame_locator("iframe")
        if not has_clipboard:
            take_away = "() => Object.defineProperty(navigator, 'clipboard', { value: undefined })"
            frame.locator("body").evaluate(take_away)
        frame.get_by_role("button", name="Details of").first.click()
        copy(frame.get_by_role("button", name="Copy"))
        assert pasted(page.context) == f"strobe bench run regnety/optimized/inference/{STEP} --batch 8"


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
