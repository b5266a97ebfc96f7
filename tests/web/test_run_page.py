"""The page of a run: its tabs on runs of the real SDK, keys, live news, edits, phone and dark, accessibility."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.web.accessibility import violations
from tests.web.conftest import PHONE, OpenPage, Served, Watch, environment, serving
from tests.web.reach import beyond_reach

FILL = Path(__file__).parent / "fill_run.py"
TABS = ["", "charts", "system", "console", "media", "tables", "files", "artifacts"]


def fill(home: Path, *what: str, agent: str = "off") -> None:
    environ = {**environment(home), "STROBE_AGENT": agent}
    work = home / "work"
    work.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, str(FILL), *what], env=environ, cwd=work, check=True, timeout=100, capture_output=True
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A `strobe ui` with runs that have everything; tests here change only what they put back."""
    home = tmp_path_factory.mktemp("run") / "home"
    fill(home, "full", "failed", "empty", "loud", "wide")
    fill(home, "sampled", agent="on")
    with serving(home) as served:
        yield served
    subprocess.run([sys.executable, "-m", "strobe", "agent", "stop"], env=environment(home), timeout=60)


def at(site: Served, run: str, tab: str = "", search: str = "") -> str:
    return f"{site.url}/local/page/runs/{run}{f'/{tab}' if tab else ''}{search}"


# --- overview


def test_overview(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full"))
    expect(page.get_by_role("heading", name="everything at once")).to_be_visible()
    expect(page.locator(".run-facts")).to_contain_text("finished")
    row = page.get_by_role("region", name="Metrics").get_by_role("row").filter(has_text="train/loss")
    expect(row).to_contain_text("@119")
    expect(row).to_contain_text("1")  # a NaN is counted
    expect(page.get_by_role("row").filter(has_text="val/acc").get_by_role("cell").nth(2)).to_contain_text("@")
    expect(page.get_by_role("region", name="Alerts")).to_contain_text("Loss is NaN")
    attempts = page.get_by_role("region", name="Attempts").get_by_role("listitem")
    expect(attempts).to_have_count(2)
    expect(attempts.nth(1)).to_contain_text("from step 60")
    assert page.title() == "everything at once · Strobe"


def test_config_is_searched(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full"))
    config = page.get_by_role("region", name="Config")
    config.get_by_label("Search in config").fill("drop")
    expect(config.locator(".tree-row")).to_have_count(4)
    expect(config).to_contain_text("attention")
    config.get_by_label("Search in config").fill("nowhere")
    expect(config).to_contain_text("No key or value contains")


def test_how_a_run_failed_and_what_an_empty_one_says(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "failed"))
    failure = page.get_by_role("region", name="How it failed")
    expect(failure).to_contain_text("CUDA out of memory")
    failure.get_by_text("Traceback").first.click()
    expect(failure.locator("pre")).to_contain_text("Traceback (most recent call last)")
    page = open_page(at(site, "empty"))
    expect(page.get_by_role("heading", name="Nothing was logged", exact=True)).to_be_visible()
    titles = {
        "charts": "No metrics yet",
        "system": "No samples of the system",
        "console": "Nothing was printed",
        "media": "No media were logged",
        "tables": "No tables were logged",
        "files": "No files",
        "artifacts": "No artifacts",
    }
    for number, (tab, title) in enumerate(titles.items(), start=2):
        page.keyboard.press(str(number))
        expect(page).to_have_url(at(site, "empty", tab))
        expect(page.get_by_role("heading", name=title)).to_be_visible()


def test_a_fork_leads_to_its_parent_and_back(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "branch"))
    forks = page.get_by_role("region", name="Forks")
    expect(forks).to_contain_text("after step 50")
    forks.get_by_role("link", name="everything at once").click()
    expect(page).to_have_url(at(site, "full"))
    expect(forks.get_by_role("listitem")).to_have_count(1)
    expect(forks).to_contain_text("after step 50")
    forks.get_by_role("link", name="a branch of it").click()
    expect(page).to_have_url(at(site, "branch"))
    page = open_page(at(site, "judge"))
    expect(page.get_by_role("region", name="Config")).to_be_visible()
    expect(page.get_by_role("region", name="Forks")).to_have_count(0)


def test_there_is_no_such_run(open_page: OpenPage, site: Served, watch: Watch) -> None:
    watch.expected.append("404")
    page = open_page(at(site, "nothing"))
    expect(page.get_by_role("heading", name="There is no run nothing")).to_be_visible()


# --- edits


def test_name_tags_and_notes_are_edited(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "judge"))
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Name of the run").fill("another name")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="another name")).to_be_visible()
    page.get_by_role("button", name="Add a tag").click()
    page.keyboard.type("good")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add notes").click()
    page.get_by_role("textbox", name="Notes").fill("worth a look")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".notes-text")).to_have_text("worth a look")
    page.reload()  # at once: the page sends changes so that they outlive it
    expect(page.get_by_role("heading", name="another name")).to_be_visible()
    expect(page.locator(".tag")).to_have_text("good")
    expect(page.locator(".notes-text")).to_have_text("worth a look")
    page.get_by_role("button", name="Remove the tag good").click()
    expect(page.locator(".tag")).to_have_count(0)


def test_an_edit_that_comes_between_the_page_and_its_news_is_seen(open_page: OpenPage, site: Served) -> None:
    """As one of one's own does that the server took in a moment after it had answered the page loaded again."""
    page = open_page(at(site, "failed"))
    expect(page.locator(".run-facts")).to_contain_text("failed")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/v1/live?*", hold)
    page.reload()
    expect(page.get_by_role("button", name="Add notes")).to_be_visible()
    api = at(site, "failed").replace("/local/page/runs/", "/api/v1/runs/local/page/")
    headers = {"X-Strobe-CSRF": "1"}
    answer = page.request.patch(api, data={"notes": "between the two"}, headers=headers)
    assert answer.ok, answer.text()
    for _ in range(100):
        if page.request.get(api).json()["notes"]:
            break
        time.sleep(0.05)
    time.sleep(1)  # those who watched before were told
    assert held
    for route in held:
        route.continue_()
    expect(page.locator(".notes-text")).to_have_text("between the two")
    assert page.request.patch(api, data={"notes": ""}, headers=headers).ok


def test_deleting_can_be_undone(open_page: OpenPage, site: Served, watch: Watch) -> None:
    watch.expected.append("404 (Not Found)")  # what the page was still asking about the run
    page = open_page(at(site, "prepare"))
    page.get_by_role("button", name="Delete the run").click()
    expect(page).to_have_url(f"{site.url}/local/page")
    page.get_by_role("button", name="Undo").click()
    expect(page).to_have_url(at(site, "prepare"))
    expect(page.get_by_role("heading", name="prepare the data")).to_be_visible()
    # and later, when there is nothing to press any more, on the page of the run
    page.get_by_role("button", name="Delete the run").click()
    expect(page).to_have_url(f"{site.url}/local/page")
    page.goto(at(site, "prepare"))
    expect(page.get_by_role("status").filter(has_text="This run was deleted")).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("navigation", name="Parts of the run")).to_be_visible()


def test_a_live_run_grows_and_is_stopped(open_page: OpenPage, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    environ = {**environment(home), "STROBE_AGENT": "on"}
    with serving(home) as served, open(tmp_path / "log", "w") as log:
        process = subprocess.Popen(
            [sys.executable, str(FILL), "live"], env=environ, cwd=tmp_path, stdout=log, stderr=log
        )
        try:
            url = f"{served.url}/local/page/runs/live"
            _until_known(process, url.replace("/local/page/runs/", "/api/v1/runs/local/page/"))
            page = open_page(f"{url}/console")
            expect(page.locator(".log-line").last).to_contain_text("tick")
            first = page.locator(".log-line").last.inner_text()
            page.wait_for_function(
                "before => [...document.querySelectorAll('.log-line')].at(-1)?.innerText !== before", arg=first
            )
            page.get_by_role("button", name="Stop").click()
            page.get_by_role("button", name="Stop the run").click()
            expect(page.get_by_role("button", name="Stopping…")).to_be_disabled()
            expect(page.locator(".run-facts")).to_contain_text("killed", timeout=30_000)
            assert process.wait(20) != 0
            page.close()
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            subprocess.run([sys.executable, "-m", "strobe", "agent", "stop"], env=environment(home), timeout=60)


def _until_known(process: subprocess.Popen[bytes], url: str) -> None:
    import time
    import urllib.error
    import urllib.request

    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url):
                return
        except urllib.error.HTTPError:
            time.sleep(0.1)
    raise AssertionError("the run did not appear")


# --- charts and system


def test_the_page_and_its_charts_share_one_stream(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full"))
    streams: set[Request] = set()
    page.on("request", lambda request: streams.add(request) if "/api/v1/live?" in request.url else None)
    page.on("requestfailed", lambda request: streams.difference_update({request}))
    page.goto(at(site, "full", "charts"))
    expect(page.locator("article.panel canvas").first).to_be_visible()
    _until_one(page, streams, lambda url: "runs=local%2Fpage%2Ffull" in url and "keys=epoch" in url)
    page.get_by_role("link", name="Overview").click()
    _until_one(page, streams, lambda url: "keys=" not in url)


def _until_one(page: Page, streams: set[Request], fits: Callable[[str], bool]) -> None:
    """Wait until one stream is open, and it is that one."""
    for _ in range(100):
        page.wait_for_timeout(100)
        if len(streams) == 1 and all(fits(stream.url) for stream in streams):
            return
    raise AssertionError(f"open streams: {[stream.url for stream in streams]}")


def test_charts_are_those_of_the_workspace(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "charts"))
    expect(page.locator("article.panel")).to_have_count(5)
    expect(page.locator("article.panel", has_text="loss").first.locator("canvas").first).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("acc")
    expect(page.locator("article.panel")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"q=acc"))


def test_from_a_point_to_the_lines_and_back(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "charts", "?q=train/lr"))
    chart = page.locator("article.panel .chart-area").first
    expect(chart).to_be_visible()
    box = chart.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + 40)
    page.get_by_role("link", name="Log lines here").click()
    expect(page).to_have_url(re.compile(r"/console\?at=\d+"))
    expect(page.locator(".log-current")).to_be_visible()
    page.locator(".log-current .log-time").click()
    expect(page).to_have_url(re.compile(r"/charts\?x=wall&at="))
    expect(page.get_by_role("button", name="Let go")).to_be_visible()
    expect(page.locator(".chart-cross:visible").first).to_be_visible()
    page.go_back()
    expect(page.locator(".log-current")).to_be_visible()


def test_charts_and_media_share_the_crosshair(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "charts", "?q=train/lr"))
    page.get_by_role("button", name="Media", exact=True).click()
    strip = page.get_by_role("region", name="Media at the crosshair")
    step = strip.locator(".slider-value")
    expect(step).to_have_text("100")
    area = page.locator("article.panel .chart-area").first
    box = area.bounding_box()
    assert box is not None
    # pointing marks the nearest step on the slider, and moves nothing
    page.mouse.move(box["x"] + 2, box["y"] + 40)
    expect(strip.locator(".slider-mark")).to_have_attribute("style", re.compile(r"--at:\s*0;?$"))
    expect(step).to_have_text("100")
    page.mouse.click(box["x"] + 2, box["y"] + 40)
    expect(step).to_have_text("0")
    expect(page).to_have_url(re.compile(r"step=0"))
    expect(strip.get_by_role("region", name="remark")).to_contain_text("at step 0")
    # the slider holds the crosshair of the charts
    before = area.locator(".chart-cross").get_attribute("style")
    strip.get_by_role("slider", name="Step").press("ArrowRight")
    expect(step).to_have_text("20")
    expect(area.locator(".chart-cross")).to_be_visible()
    expect(area.locator(".chart-cross")).not_to_have_attribute("style", before or "")
    assert violations(page) == []
    strip.get_by_role("link", name="All media here").click()
    expect(page).to_have_url(at(site, "full", "media", "?step=20"))
    page.get_by_role("link", name="Charts here").click()
    expect(step).to_have_text("20")
    expect(page.locator(".chart-cross:visible").first).to_be_visible()


def test_media_beside_the_charts_of_a_phone(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "charts", "?media=1"), viewport=PHONE)
    strip = page.get_by_role("region", name="Media at the crosshair")
    expect(strip.get_by_role("region").first).to_be_in_viewport(ratio=0.5)
    # nothing lies over what closes it
    page.get_by_role("button", name="Media", exact=True).click()
    expect(strip).to_have_count(0)


def test_what_an_attempt_logged_before_it_was_superseded(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full"))
    page.get_by_role("region", name="Attempts").get_by_role("link", name="Charts of it").first.click()
    expect(page).to_have_url(at(site, "full", "charts", "?attempt=1"))
    expect(page.get_by_text("superseded", exact=False).first).to_be_visible()
    expect(page.get_by_role("article", name="train/loss").locator("canvas").first).to_be_visible()
    page.get_by_role("button", name="Charts of the run").click()
    expect(page.locator("article.panel")).to_have_count(5)


def test_system(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "sampled", "system"))
    expect(page.get_by_role("article", name="CPU, %").locator("canvas").first).to_be_visible()
    expect(page.get_by_role("region", name="Memory")).to_be_visible()
    expect(page.get_by_role("article", name="CPU, %")).to_contain_text("machine")
    page.get_by_label("Metric beside").select_option("loss")
    expect(page.get_by_role("article", name="loss").locator("canvas").first).to_be_visible()
    expect(page).to_have_url(re.compile("with=loss"))
    page.get_by_role("button", name="Since start").click()
    expect(page).to_have_url(re.compile("x=relative"))


# --- console


def test_colours_and_errors_of_the_console(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "console"))
    expect(page.locator(".log-line")).to_have_count(16)
    green = page.get_by_text("step   10", exact=True)
    assert green.evaluate("element => element.style.color") == "var(--ansi-2)"
    assert int(green.evaluate("element => getComputedStyle(element).fontWeight")) >= 600
    error = page.locator(".log-error")
    expect(error).to_contain_text("slow batch, <b>not bold</b>")
    page.get_by_label("Lines of").select_option("stderr")
    expect(page.locator(".log-line")).to_have_count(1)
    page.get_by_label("Lines of").select_option("@2")
    expect(page.locator(".log-line").first).to_contain_text("resumed")


def test_many_lines_are_searched_and_scrolled(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "loud", "console"))
    expect(page.locator(".log-line").last).to_contain_text("line 49999 of many")
    expect(page.get_by_text("50,000 lines")).to_be_visible()
    assert page.locator(".log-line").count() < 200
    page.keyboard.press("/")
    page.keyboard.type("needle")
    expect(page.locator(".log-matches")).to_have_text("1 of 4")
    expect(page.locator(".log-current")).to_contain_text("line 7 of many NEEDLE")
    page.keyboard.press("Escape")
    page.goto(at(site, "loud", "console", "?q=NEEDLE"))
    expect(page.locator(".log-matches")).to_have_text("1 of 4")
    page.locator("body").press("n")
    expect(page.locator(".log-current")).to_contain_text("line 12507")
    page.locator("body").press("Shift+N")
    page.locator("body").press("Shift+N")
    expect(page.locator(".log-matches")).to_have_text("4 of 4")
    expect(page.locator(".log-current mark")).to_have_text("NEEDLE")
    page.locator("body").press("g")
    page.locator("body").press("g")
    expect(page.locator(".log-line").first).to_contain_text("line 0 of many")
    page.locator(".log").evaluate("log => { log.scrollTop = log.scrollHeight / 2 }")
    expect(page.locator(".log-line").nth(5)).to_contain_text(re.compile(r"line 2\d{4} of many"))
    page.get_by_role("button", name="Follow").click()
    expect(page.locator(".log-line").last).to_contain_text("line 49999")


def test_the_console_is_downloaded(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "console"))
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    text = Path(download.value.path()).read_text()
    assert "step   10  loss" in text
    assert "\x1b" not in text


# --- media, tables


def test_one_slider_moves_all_media(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "media"))
    samples = page.get_by_role("region", name="samples")
    expect(samples).to_contain_text("last at step 80")
    expect(samples.locator(".picture-label")).to_have_text("cat, score 0.87")
    expect(page.get_by_role("region", name="batch").locator("img")).to_have_count(5)
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("Report of step 80")).to_be_visible()
    expect(page.locator("iframe")).to_have_attribute("sandbox", "allow-scripts")
    steps = []
    for _ in range(8):
        steps.append(page.locator(".slider-value").inner_text())
        page.keyboard.press("[")
    assert steps == ["100", "90", "80", "60", "40", "30", "20", "0"]
    expect(samples.locator("figcaption")).to_have_text("#0")
    expect(page.get_by_role("region", name="remark")).to_contain_text("at step 0")
    expect(frame.get_by_text("Report of step 0")).to_be_visible()
    page.reload()
    expect(samples.locator("figcaption")).to_have_text("#0")
    page.keyboard.press("}")
    expect(page.locator(".slider-value")).to_have_text("100")
    weights = page.get_by_role("region", name="weights")
    expect(weights.get_by_role("img", name=re.compile("over 6 steps"))).to_be_visible()


def test_media_over_the_whole_window(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "media"))
    page.get_by_role("button", name="Full screen: #81").click()
    viewer = page.get_by_role("dialog")
    expect(viewer).to_contain_text("2 of 5")
    page.keyboard.press("ArrowRight")
    expect(viewer).to_contain_text("3 of 5")
    page.keyboard.press("[")
    page.keyboard.press("[")
    page.keyboard.press("[")
    expect(viewer).to_contain_text("step 40")
    page.keyboard.press("Escape")
    expect(viewer).to_have_count(0)


def test_a_picture_is_as_large_as_a_phone_and_keeps_its_shape(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "media"), viewport=PHONE)
    page.get_by_role("button", name="Full screen: #81").click()
    picture = page.get_by_role("dialog").locator(".picture")
    expect(picture).to_be_in_viewport(ratio=1)
    width, height = picture.evaluate("picture => [picture.offsetWidth, picture.offsetHeight]")
    assert width > 0.85 * PHONE["width"]
    assert width / height == pytest.approx(64 / 48, rel=0.02)


def test_a_table_that_is_wider_than_the_window_scrolls_to_its_last_column(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "tables"), viewport=PHONE)
    picture = page.locator(".grid-row img").first
    expect(picture).to_be_attached()
    page.get_by_role("grid", name="Rows of the table").evaluate("grid => { grid.scrollLeft = grid.scrollWidth; }")
    expect(picture).to_be_in_viewport(ratio=0.9)


def test_tables_are_sorted_filtered_and_grouped(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "tables"))
    expect(page.get_by_text("40 rows")).to_be_visible()
    expect(page.locator(".grid-row img").first).to_be_visible()
    first = page.locator(".grid-row").first
    page.get_by_role("button", name="id", exact=True).click()
    expect(first).to_contain_text("39")
    page.get_by_label("Filter label").fill("= cat")
    expect(page.get_by_text(re.compile(r"^\d+ of 40 rows"))).to_be_visible()
    expect(page).to_have_url(re.compile("where=label"))
    page.reload()
    expect(page.get_by_text(re.compile(r"^\d+ of 40 rows"))).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Group by").select_option("label")
    expect(page.get_by_text("in 3 groups")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Open")).first.click()
    expect(page.locator(".grid-row img").first).to_be_visible()
    page.get_by_role("button", name="Step before").click()
    expect(page.locator(".slider-value")).to_have_text("80")


def test_a_large_table_comes_from_its_file(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "wide", "tables"))
    expect(page.get_by_text("20,000 rows")).to_be_visible()
    page.get_by_label("Filter share").fill("> 0.999")
    expect(page.get_by_text(re.compile(r"^2\d of 20,000 rows"))).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "i,name,share,third"
    assert all(float(line.split(",")[2]) > 0.999 for line in lines[1:])


# --- files, artifacts


def test_files_are_looked_at(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "files"))
    page.get_by_label("Search in Files").fill("notes")
    page.get_by_role("treeitem", name="notes.txt").click()
    expect(page.locator(".preview-text")).to_contain_text("kept by run.save")
    expect(page).to_have_url(re.compile("file=notes.txt"))
    page.get_by_label("Search in Files").fill("")
    page.get_by_role("tree").focus()
    page.keyboard.press("Home")
    expect(page.get_by_role("treeitem", name="media")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("treeitem")).to_have_count(3)
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator(".preview-text")).to_contain_text('"threads": 4')


def test_artifacts_and_where_they_come_from(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "full", "artifacts"))
    labels = page.locator(".lineage-label")
    expect(labels).to_have_text(["prepare", "digits:v0", "full", "resnet:v0", "judge"])
    expect(page.get_by_role("region", name="Artifact resnet")).to_contain_text("val/acc")
    page.get_by_role("treeitem", name="card.md").click()
    expect(page.locator(".preview-text")).to_contain_text("Trained on digits")
    graph = page.get_by_role("group", name=re.compile("Lineage: 5 items"))
    graph.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Artifact digits")).to_contain_text("synthetic")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page).to_have_url(at(site, "prepare", "artifacts"))


# --- everywhere


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_is_accessible(open_page: OpenPage, site: Served, tab: str) -> None:
    run = "sampled" if tab == "system" else "full"
    for scheme in ("light", "dark"):
        page = open_page(at(site, run, tab), scheme=scheme)
        _settle(page, tab)
        assert violations(page) == []


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_fits_a_phone(open_page: OpenPage, site: Served, tab: str) -> None:
    run = {"": "failed", "charts": "failed", "system": "sampled"}.get(tab, "full")
    page = open_page(at(site, run, tab), viewport=PHONE)
    _settle(page, tab)
    assert page.evaluate("document.getElementById('main').scrollWidth") <= PHONE["width"]
    # the tabs have more to show than the phone is wide, and the chosen one is in sight
    expect(page.get_by_role("navigation", name="Parts of the run").locator("[aria-current]")).to_be_in_viewport(ratio=1)
    assert beyond_reach(page) == []


#: what is there when a tab has its content
CONTENT = {
    "": ".metrics .sparkline path",
    "charts": "article.panel canvas",
    "system": ".system-panel canvas",
    "console": ".log-line .log-text",
    "media": ".media-items > *",
    "tables": ".grid-row",
    "files": ".file-row",
    "artifacts": ".lineage-node",
}


def _settle(page: Page, tab: str) -> None:
    expect(page.locator(CONTENT[tab]).first).to_be_visible()
    page.wait_for_timeout(200)
