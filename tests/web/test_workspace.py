"""The workspace in a real browser: what is drawn, and that everything that can be chosen is in the address."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.accessibility import violations
from tests.web.conftest import PHONE, OpenPage, Served, Watch, environment, serving
from tests.web.reach import beyond_reach

FILL = Path(__file__).parent / "fill_workspace.py"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A `strobe ui` whose runs nobody changes."""
    home = tmp_path_factory.mktemp("workspace") / "home"
    home.mkdir()
    subprocess.run([sys.executable, str(FILL), "lab", "silent", "huge"], env=environment(home), check=True, timeout=100)
    with serving(home) as served:
        yield served


def at(served: Served, project: str = "lab", search: str = "") -> str:
    return f"{served.url}/local/{project}{search}"


def rows(page: Page) -> Locator:
    return page.get_by_role("grid", name="Runs").locator("[id^='row-']")


def panel(page: Page, title: str) -> Locator:
    return page.get_by_role("article", name=title, exact=True)


def chart(page: Page, title: str) -> Locator:
    return panel(page, title).get_by_role("application")


def drawn(page: Page, title: str) -> None:
    """Wait until a panel has its canvas."""
    expect(panel(page, title).locator("canvas").first).to_be_visible()


def summary(page: Page, title: str) -> str:
    return chart(page, title).get_attribute("aria-label") or ""


def test_runs_and_panels(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab))
    expect(rows(page)).to_have_count(8)
    expect(page.locator(".list-count")).to_have_text("8 runs")
    expect(page.locator(".drawn-note")).to_have_text("Drawing 8 runs")
    headings = page.locator(".section-fold")
    expect(headings).to_have_text([re.compile("Metrics"), re.compile("train"), re.compile("val")])
    drawn(page, "train/loss")
    assert summary(page, "train/loss").startswith("train/loss by step, 8 lines.")
    expect(rows(page).first.get_by_role("img", name="train/loss of trial-7")).to_be_visible()
    assert violations(page) == []


def test_a_name_that_is_too_long_keeps_its_end(open_page: OpenPage, lab: Served) -> None:
    """Names of a sweep begin alike."""
    page = open_page(f"{lab.url}/local/lab")
    link = page.get_by_role("link", name="a trial with a name that is much longer than the list is wide, as happens")
    start, end = link.get_by_text("a trial with"), link.get_by_text("as happens")
    row, cut, whole = (place.bounding_box() for place in (link, start, end))
    assert row is not None
    assert cut is not None
    assert whole is not None
    assert cut["width"] > 0
    assert cut["x"] + cut["width"] <= whole["x"] + 1
    assert whole["x"] + whole["width"] <= row["x"] + row["width"] + 1
    assert start.evaluate("e => e.scrollWidth > e.clientWidth"), "there is no room for all of it"


def test_a_name_given_elsewhere_is_seen_at_once(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab))
    expect(rows(page).filter(has_text="trial-1")).to_have_count(1)
    api, headers = f"{lab.url}/api/v1/runs/local/lab/r1", {"X-Strobe-CSRF": "1"}
    assert page.request.patch(api, data={"name": "called by another"}, headers=headers).ok
    expect(rows(page).filter(has_text="called by another")).to_have_count(1)
    assert page.request.patch(api, data={"name": "trial-1"}, headers=headers).ok
    expect(rows(page).filter(has_text="trial-1")).to_have_count(1)


def test_what_the_list_shows_can_be_compared(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab, search="?filter=config.seed+%3C+3"))
    expect(page.locator(".list-count")).to_contain_text("6 runs")
    page.get_by_role("button", name="Compare all runs in the list").click()
    expect(page).to_have_url(re.compile(r"/compare\?.*filter="))
    expect(page.get_by_role("heading", name="Compare 6 runs")).to_be_visible()


def test_nan_is_marked_and_counted(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab))
    drawn(page, "train/loss")
    expect(panel(page, "train/loss").locator(".chart-notes")).to_contain_text("20 NaN")
    expect(rows(page).filter(has_text="trial-6")).to_contain_text("NaN")


def test_crosshair_values_stand_in_the_list(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab, search="?v=1&hide=r0"))
    drawn(page, "train/loss")
    area = panel(page, "train/loss").locator(".chart-area")
    area.hover(position={"x": 3, "y": 40})
    value = rows(page).filter(has_text="trial-1").locator(".row-value")
    expect(value).to_have_text(re.compile(r"^[12]\.\d+$"))
    # every panel with the same axis has the line
    expect(panel(page, "train/acc").locator(".chart-cross")).to_be_visible()
    page.mouse.move(5, 5)
    expect(value).to_have_count(0)


def test_zoom_until_every_point_was_logged(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab, search="?v=1&only=r0&full=train/loss"))
    expect(page.locator(".full canvas").first).to_be_visible()
    page.get_by_role("button", name="Values", exact=True).click()
    expect(page.locator(".raw-note")).to_contain_text("Means of neighbouring points")
    page.get_by_role("textbox", name="From").fill("1000")
    page.get_by_role("textbox", name="To").fill("1100")
    page.get_by_role("textbox", name="To").press("Enter")
    expect(page.locator(".raw-note")).to_contain_text("Every value that was logged")
    expect(page.locator(".raw-note")).to_contain_text("101 rows")
    expect(page).to_have_url(re.compile(r"zoom=1000\.\.1100"))
    page.get_by_role("button", name="Chart", exact=True).click()
    page.keyboard.press("Escape")
    # what is zoomed in one panel is zoomed in all
    drawn(page, "train/acc")
    expect(page.get_by_role("button", name="step 1,000 to step 1,100")).to_be_visible()
    page.go_back()
    page.go_back()
    expect(page).to_have_url(re.compile("full=train/loss$"))


def test_zoom_with_the_mouse_asks_for_finer_curves(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab, search="?v=1&only=r0"))
    drawn(page, "train/loss")
    box = panel(page, "train/loss").locator(".chart-area").bounding_box()
    assert box is not None
    with page.expect_request(
        lambda request: request.url.endswith("/series") and '"first":null' not in str(request.post_data)
    ):
        page.mouse.move(box["x"] + 20, box["y"] + 30)
        page.mouse.down()
        page.mouse.move(box["x"] + 60, box["y"] + 40, steps=4)
        page.mouse.up()
    expect(page).to_have_url(re.compile("zoom="))


def test_groups_with_bands(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab))
    drawn(page, "train/loss")
    page.keyboard.press("g")
    page.get_by_role("combobox", name="Group runs by").fill("opt")
    page.get_by_role("option", name=re.compile("config.opt.name")).click()
    page.keyboard.press("Escape")
    expect(page.locator(".list-count")).to_have_text("2 groups of 8 runs")
    expect(rows(page)).to_have_count(2)
    expect(page.locator(".drawn-note")).to_have_text("Drawing 2 groups, 8 runs")
    expect(chart(page, "train/loss")).to_have_attribute("aria-label", re.compile("2 lines.*adam"))
    rows(page).filter(has_text="sgd").click()
    expect(rows(page)).to_have_count(6)
    # a group's line is of its members alone: hiding one group leaves the other as it was
    before = re.findall(r"adam[^.]*\.\d+", summary(page, "train/loss"))
    page.get_by_role("button", name="Hide opt.name sgd").click()
    expect(chart(page, "train/loss")).to_have_attribute("aria-label", re.compile("1 line"))
    assert re.findall(r"adam[^.]*\.\d+", summary(page, "train/loss")) == before
    expect(page).to_have_url(re.compile("group=config.opt.name"))


def test_filter_with_completion(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab))
    expect(rows(page)).to_have_count(8)
    field = page.get_by_role("combobox", name="Filter runs")
    field.click()
    page.keyboard.type("config.opt.")
    expect(page.locator(".filter-item")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", name=re.compile("config.opt.name"))).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.keyboard.type("= ")
    expect(page.get_by_role("option", name="sgd")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(4)
    expect(page.locator(".list-count")).to_have_text("4 runs")
    expect(page).to_have_url(re.compile(r"filter=config\.opt\.name"))
    field.fill("config.lr <")
    field.press("Enter")
    expect(page.locator(".filter .field-problem")).to_contain_text("a value is missing")
    expect(rows(page)).to_have_count(4)  # what was understood last still holds
    field.fill("config.lr > 5")
    field.press("Enter")
    expect(page.get_by_role("heading", name="No run fits the filter")).to_be_visible()
    page.get_by_role("button", name="Clear the filter").last.click()
    expect(rows(page)).to_have_count(8)


def test_the_address_is_the_view(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab))
    drawn(page, "train/loss")
    page.keyboard.press("l")
    page.keyboard.press("s")
    page.get_by_role("button", name="x Step").click()
    page.get_by_role("option", name="tokens").click()
    page.locator(".section-fold", has_text="val").click()
    expect(page.locator("article")).to_have_count(3)
    for part in ("ys=log", "smooth=ema:0.9", "x=tokens", "closed=val"):
        assert part in page.url
    copy = open_page(page.url)
    drawn(copy, "train/loss")
    expect(copy.locator("article")).to_have_count(3)
    assert "by tokens" in summary(copy, "train/loss")
    expect(copy.get_by_role("button", name="log y")).to_be_visible()
    page.go_back()
    expect(page.locator("article")).to_have_count(4)
    page.go_back()
    expect(page.get_by_role("button", name="x Step")).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("button", name="x tokens")).to_be_visible()


def test_saved_views(open_page: OpenPage, lab: Served, watch: Watch) -> None:
    page = open_page(at(lab, search="?v=1&ys=log"))
    drawn(page, "train/loss")
    page.keyboard.press("v")
    page.get_by_label("Name of the view").fill("on a log axis")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="on a log axis")).to_be_visible()
    page.keyboard.press("l")
    expect(page.get_by_role("button", name="on a log axis, changed")).to_be_visible()
    page.goto(at(lab))
    drawn(page, "train/loss")
    page.keyboard.press("v")
    page.locator(".views .menu-item", has_text="on a log axis").click()
    expect(page).to_have_url(re.compile("ys=log"))
    # its short address leads there too, and one that is not there says so
    page.goto(f"{lab.url}/local/lab/views/on%20a%20log%20axis")
    expect(page).to_have_url(at(lab, search="?v=1&ys=log"))
    drawn(page, "train/loss")
    watch.expected.append("404")
    page.goto(f"{lab.url}/local/lab/views/nothing")
    expect(page.get_by_text("There is no view nothing")).to_be_visible()
    page.get_by_role("link", name="Go to local/lab").click()
    drawn(page, "train/loss")
    page.keyboard.press("v")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy a short link to on a log axis").click()
    expect(page.locator(".toast")).to_contain_text("Link to on a log axis copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"{lab.url}/local/lab/views/on%20a%20log%20axis"
    page.keyboard.press("v")
    page.locator(".views .menu-item", has_text="on a log axis").click()
    expect(page).to_have_url(re.compile("ys=log"))
    # somebody else is quicker: that is told, and nothing is overwritten
    page.keyboard.press("l")
    watch.expected.append("409")
    page.evaluate(
        """() => fetch("/api/v1/projects/local/lab/views/on%20a%20log%20axis", {
            method: "PUT",
            headers: {"Content-Type": "application/json", "X-Strobe-CSRF": "1"},
            body: JSON.stringify({version: 1, document: {search: "v=1&ys=symlog"}}),
        }).then(answer => answer.status)"""
    )
    page.keyboard.press("v")
    page.get_by_role("button", name="Save the changes to on a log axis").click()
    expect(page.locator(".toast-bad")).to_contain_text("The list is up to date now")
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.get_by_role("button", name="Rename on a log axis").click()
    page.get_by_label("New name of on a log axis").fill("renamed")
    page.keyboard.press("Enter")
    expect(page.locator(".views .menu-item", has_text="renamed")).to_be_visible()
    page.get_by_role("button", name="Delete renamed").click()
    expect(page.get_by_text("No view is saved yet.")).to_be_visible()


def test_choices_are_undone_and_done_again(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab))
    drawn(page, "train/loss")
    page.keyboard.press("l")
    expect(page).to_have_url(re.compile("ys=log"))
    page.keyboard.press("s")
    expect(page).to_have_url(re.compile("smooth=ema"))
    page.keyboard.press("z")
    expect(page).not_to_have_url(re.compile("smooth=ema"))
    page.keyboard.press("z")
    expect(page).not_to_have_url(re.compile("ys=log"))
    page.keyboard.press("z")  # nothing is left to undo, and the page stays
    page.keyboard.press("Shift+Z")
    expect(page).to_have_url(re.compile("ys=log"))
    page.keyboard.press("Shift+Z")
    expect(page).to_have_url(re.compile("smooth=ema"))


def test_by_keyboard_alone(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab))
    drawn(page, "train/loss")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Space")
    expect(page.locator(".drawn-note")).to_have_text("Drawing 7 runs")
    expect(page).to_have_url(re.compile("hide=r6"))
    page.keyboard.press("b")
    expect(rows(page).filter(has_text="base")).to_have_count(1)
    page.keyboard.press("p")
    expect(rows(page).first).to_contain_text("trial-6")
    page.keyboard.press("a")
    page.keyboard.press("/")
    page.keyboard.type("val")
    expect(page.locator("article")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("article")).to_have_count(4)
    handle = page.get_by_role("button", name="Move train/loss")
    handle.focus()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"order=train/loss,train/acc"))
    expect(handle).to_be_focused()
    page.keyboard.press("f")
    expect(page.get_by_role("button", name="Back to all panels")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    for title in ("Log y axis on or off", "Show or hide the run", "Use the run or group as baseline", "Search metrics"):
        expect(sheet).to_contain_text(title)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()
    page.keyboard.type("symlog")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("ys=symlog"))
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/local/lab/runs/r\d"))


def test_columns_baseline_and_difference(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab, search="?v=1&base=r1&cols=config.lr,min(train/loss)"))
    row = rows(page).filter(has_text="trial-2")
    expect(row).to_contain_text(re.compile(r"0\.1\+0\.09"))
    expect(row).to_contain_text(re.compile(r"0\.\d+ @ 1\d\d"))
    page.get_by_role("button", name="Difference").click()
    drawn(page, "train/loss")
    assert re.search(r"trial-1: last 0 at", summary(page, "train/loss"))
    expect(page).to_have_url(re.compile("diff=1"))


def test_a_group_is_the_baseline(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab, search="?v=1&group=config.opt.name&cols=summary.train/loss"))
    expect(rows(page)).to_have_count(2)
    drawn(page, "train/loss")
    page.keyboard.press("j")
    page.keyboard.press("b")
    adam, sgd = rows(page).filter(has_text="adam"), rows(page).filter(has_text="sgd")
    expect(adam.get_by_text("base", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"base=group:"))
    expect(sgd.locator(".row-delta")).to_have_text(re.compile(r"^[+−-]\d"))
    page.get_by_role("button", name="Difference").click()
    # a group is compared with as it is drawn: its own line lies on zero, to the end of its longest run
    expect(chart(page, "train/loss")).to_have_attribute(
        "aria-label", re.compile(r"adam[^.]*: last 0 at step [\d,]+, from 0 to 0\.")
    )
    page.reload()
    expect(chart(page, "train/loss")).to_have_attribute(
        "aria-label", re.compile(r"adam[^.]*: last 0 at step [\d,]+, from 0 to 0\.")
    )
    sgd.hover()
    sgd.get_by_role("button", name="Actions for opt.name sgd").click()
    page.get_by_role("menuitem", name="Use as baseline").click()
    expect(sgd.get_by_text("base", exact=True)).to_be_visible()
    expect(chart(page, "train/loss")).to_have_attribute(
        "aria-label", re.compile(r"sgd[^.]*: last 0 at step [\d,]+, from 0 to 0\.")
    )
    expect(rows(page)).to_have_count(2)
    assert violations(page) == []


def test_own_panels(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab))
    drawn(page, "train/loss")
    page.keyboard.press("n")
    page.get_by_role("button", name="Expression").click()
    page.get_by_label("Expression of metrics").fill("train/loss - ")
    expect(page.get_by_role("button", name="Add", exact=True)).to_be_disabled()
    page.get_by_label("Expression of metrics").fill("val/loss - train/loss")
    page.keyboard.press("Enter")
    drawn(page, "val/loss - train/loss")
    assert "8 lines" in summary(page, "val/loss - train/loss")
    page.keyboard.press("/")
    page.keyboard.type("/loss$/")
    page.get_by_role("button", name="Keep as one panel").click()
    drawn(page, "/loss$/")
    assert "16 lines" in summary(page, "/loss$/")
    with page.expect_download() as download:
        panel(page, "/loss$/").hover()
        page.get_by_role("button", name="Options of /loss$/").click()
        page.get_by_role("menuitem", name="CSV of the points").click()
    assert download.value.suggested_filename == "loss.csv"


def test_panels_are_moved_sized_and_pinned(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab))
    drawn(page, "train/loss")
    panel(page, "train/loss").hover()
    page.get_by_role("button", name="Move train/loss").drag_to(panel(page, "train/acc"))
    expect(page).to_have_url(re.compile("order=train/loss,train/acc"))
    titles = page.locator("section.panel-section", has_text="train").locator("article h3")
    expect(titles).to_have_text(["loss", "acc"])
    corner = page.get_by_role("button", name="Resize train/loss")
    box = corner.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 100, steps=5)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"size=train/loss,2,2[89]\d|size=train/loss,2,300"))
    panel(page, "train/loss").hover()
    page.keyboard.press("Shift+P")
    expect(page.locator(".section-fold").first).to_have_text(re.compile("Pinned"))


def test_dark(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab), scheme="dark")
    drawn(page, "train/loss")
    assert page.evaluate("getComputedStyle(document.querySelector('.panel')).backgroundColor") == "rgb(21, 23, 27)"
    assert violations(page) == []


def test_phone(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab), viewport=PHONE)
    drawn(page, "tokens")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert beyond_reach(page) == []
    expect(page.get_by_role("grid", name="Runs")).to_be_hidden()
    page.get_by_role("button", name="Runs", exact=True).click()
    expect(rows(page)).to_have_count(8)
    expect(page.locator("article").first).to_be_hidden()
    assert beyond_reach(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert violations(page) == []


def test_values_scroll_to_the_last_line_with_their_steps_beside(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab, search="?v=1&full=train/loss"), viewport=PHONE)
    page.get_by_role("button", name="Values", exact=True).click()
    values = page.get_by_role("list", name="Values")
    first = values.get_by_role("listitem").first.locator(".raw-cell")
    expect(first).to_have_count(9)
    expect(first.nth(8)).not_to_be_in_viewport()
    values.evaluate("list => { list.scrollLeft = list.scrollWidth; }")
    expect(first.nth(8)).to_be_in_viewport(ratio=0.9)
    expect(first.first).to_be_in_viewport(ratio=0.9)


def test_nothing_to_draw(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab, "silent"))
    expect(page.get_by_role("heading", name="No metrics yet")).to_be_visible()
    page.keyboard.press("Shift+A")
    expect(page.get_by_role("heading", name="No run is shown")).to_be_visible()
    page.get_by_role("button", name="Show all runs").click()
    expect(page.get_by_role("heading", name="No metrics yet")).to_be_visible()


def test_a_project_that_is_not_there(open_page: OpenPage, lab: Served, watch: Watch) -> None:
    watch.expected.append("404")
    for address in ("local/nobody", "local/nobody/compare"):
        page = open_page(f"{lab.url}/{address}")
        expect(page.get_by_role("heading", name="There is no project local/nobody")).to_be_visible()
        expect(page.get_by_role("main").get_by_role("link", name="See all projects")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_the_axis_of_a_loss_that_diverged_has_numbers(open_page: OpenPage, lab: Served) -> None:
    """Beyond 17 digits, where uPlot alone has no ticks."""
    page = open_page(at(lab, "huge"))
    expect(page.locator(".panel canvas")).to_have_count(2)
    page.wait_for_function(
        """() => [...document.querySelectorAll(".panel canvas")].every((canvas) => {
            const left = canvas.parentElement.querySelector(".u-over").offsetLeft - 8;
            const { data } = canvas.getContext("2d").getImageData(0, 0, left, canvas.height);
            return data.some((value) => value > 0);
        })"""
    )


def test_a_picture_is_copied(open_page: OpenPage, lab: Served) -> None:
    page = open_page(f"{lab.url}/local/lab")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Options of train/loss").click()
    page.get_by_role("menuitem", name="Copy as picture").click()
    expect(page.get_by_text("Picture copied")).to_be_visible()
    kinds = page.evaluate("navigator.clipboard.read().then((items) => items.flatMap((item) => item.types))")
    assert kinds == ["image/png"]


def test_the_sheet_has_the_keys_of_panels_and_rows_too(open_page: OpenPage, lab: Served) -> None:
    page = open_page(f"{lab.url}/local/lab")
    expect(page.get_by_role("button", name="Options of train/loss")).to_be_attached()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    for title in ("Full screen, and back", "Export the panel as PNG", "Show or hide the run", "Pin the run"):
        expect(sheet.get_by_text(title)).to_be_visible()


def test_many_runs_by_pages(open_page: OpenPage, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    subprocess.run([sys.executable, str(FILL), "many"], env=environment(home), check=True, timeout=100)
    with serving(home) as served:
        page = open_page(at(served, "many"))
        expect(page.locator(".list-count")).to_have_text("230 runs · showing 200")
        expect(page.locator(".drawn-note")).to_have_text(re.compile("Drawing 20 of 230 shown runs"))
        assert rows(page).count() < 60  # only what is in view is in the document
        page.get_by_role("grid", name="Runs").hover()
        page.mouse.wheel(0, 200 * 40)
        expect(page.locator(".list-count")).to_have_text("230 runs")
        page.get_by_role("button", name="draw all").click()
        expect(page.locator(".drawn-note")).to_have_text(re.compile("Drawing 230 runs"))
        # a run that begins does not move what is looked at
        grid = page.get_by_role("grid", name="Runs")
        grid.evaluate("element => { element.scrollTop = 3000 }")
        row = rows(page).filter(has_text="m120")
        expect(row).to_be_visible()
        place = row.bounding_box()
        new = [sys.executable, "-c", "import strobe; strobe.init(project='many', name='new').finish()"]
        subprocess.run(new, env=environment(home), check=True, timeout=60)
        expect(page.locator(".list-count")).to_have_text("231 runs")
        assert row.bounding_box() == place
        grid.evaluate("element => { element.scrollTop = 0 }")
        expect(rows(page).first).to_contain_text("new")
        # delete, and take that back
        page.keyboard.press("j")
        page.keyboard.press("m")
        page.get_by_role("toolbar", name="Selected runs").get_by_role("button", name="Delete").click()
        expect(page.locator(".list-count")).to_have_text("230 runs")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".list-count")).to_have_text("231 runs")
        # a name is changed where it stands
        page.keyboard.press("F2")
        expect(page.locator(".inline-edit")).to_be_focused()
        page.keyboard.type("renamed\n")
        expect(rows(page).filter(has_text="renamed")).to_have_count(1)
        page.reload()
        expect(rows(page).filter(has_text="renamed")).to_have_count(1)
        page.close()


def test_live_points_come_without_moving_anything(open_page: OpenPage, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    stream = subprocess.Popen([sys.executable, str(FILL), "stream"], env=environment(home))
    try:
        with serving(home) as served:
            page = open_page(served.url)
            page.get_by_role("link", name=re.compile("live")).first.click()
            drawn(page, "loss")
            page.evaluate("window.wasHere = true")

            def last_step() -> int:
                found = re.search(r"at step ([\d,]+)", summary(page, "loss"))
                return int(found[1].replace(",", "")) if found else -1

            first = last_step()
            page.wait_for_function(
                "first => Number(document.querySelector('[role=application]').ariaLabel"
                ".match(/at step ([\\d,]+)/)?.[1].replace(',', '')) > first + 10",
                arg=first,
            )
            # zoomed, new points do not move the view
            page.goto(at(served, "live", "?v=1&zoom=0..5"))
            drawn(page, "loss")
            label = page.get_by_role("button", name="step 0 to step 5")
            expect(label).to_be_visible()
            page.wait_for_timeout(1500)
            expect(label).to_be_visible()
            expect(rows(page).first.get_by_text("running")).to_be_attached()
            page.keyboard.press("j")
            rows(page).first.hover()
            page.get_by_role("button", name="Actions for streaming").click()
            page.get_by_role("menuitem", name="Stop the run").click()
            expect(page.get_by_role("dialog", name="Stop streaming?")).to_be_visible()
            page.get_by_role("button", name="Let it run").click()
            page.close()
    finally:
        stream.terminate()
        stream.wait(20)


def test_a_panel_measures_another_metric_on_the_right(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab, search="?v=1&only=r1,r2"))
    drawn(page, "train/loss")
    panel(page, "train/loss").hover()
    panel(page, "train/loss").get_by_role("button", name="Options of train/loss").click()
    page.get_by_role("menuitem", name="Add a right axis").click()
    dialog = page.get_by_role("dialog", name="Right axis")
    dialog.get_by_role("combobox").fill("train/acc")
    dialog.get_by_role("option", name="train/acc").click()
    assert violations(page) == []
    dialog.get_by_role("button", name="Done").click()
    expect(page).to_have_url(re.compile(r"for=train/loss,y2:train/acc"))
    legend = panel(page, "train/loss").get_by_role("list", name="Lines")
    expect(legend.get_by_role("listitem")).to_have_text(["train/loss", re.compile("train/acc.*right")])
    assert summary(page, "train/loss").startswith("train/loss by step, 4 lines.")
    page.reload()
    expect(legend.get_by_role("listitem")).to_have_count(2)
    with page.expect_download() as download:
        panel(page, "train/loss").hover()
        panel(page, "train/loss").get_by_role("button", name="Options of train/loss").click()
        page.get_by_role("menuitem", name="CSV of the points").click()
    head, *points = download.value.path().read_text().splitlines()
    assert head == "line,step,train/loss,axis"
    assert {line.rpartition(",")[2] for line in points} == {"left", "right"}
    # the values in the list are those of the left axis
    panel(page, "train/loss").locator(".chart-area").hover(position={"x": 3, "y": 40})
    expect(rows(page).filter(has_text="trial-1").locator(".row-value")).to_have_text(re.compile(r"^[12]\.\d+$"))


def test_a_groups_line_says_how_many_runs_it_has(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab, search="?v=1&group=config.opt.name&hide=r6"))
    drawn(page, "train/loss")
    legend = panel(page, "train/loss").get_by_role("list", name="Lines")
    expect(legend.get_by_role("listitem")).to_have_text(["adam (n = 4)", re.compile(r"sgd \(n = [34]\)")])


def test_runs_are_sorted_and_filtered_by_the_least_value(open_page: OpenPage, lab: Served) -> None:
    page = open_page(at(lab, search="?v=1&cols=min(train/loss)&sort=display_name"))
    head = page.get_by_role("columnheader", name="min(train/loss)")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(page).to_have_url(re.compile(r"sort=min\(train/loss\)|sort=min%28"))
    cells = rows(page).locator(".row-cell")
    expect(cells).to_have_text([re.compile(r"\d @ ")] * 8)
    # the first time that somebody asks for it all runs are added up: meanwhile the old order stays
    page.wait_for_function(
        """() => [...document.querySelectorAll(".row-cell")].map((cell) => cell.innerText)
        .filter((text) => text.includes("@")).map(parseFloat)
        .every((value, place, all) => place === 0 || all[place - 1] <= value)"""
    )
    least = [float(text.split(" @")[0]) for text in cells.all_inner_texts()]
    assert least == sorted(least)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(cells.first).to_contain_text(f"{max(least):g}"[:5])
    limit = (least[2] + least[3]) / 2
    page.get_by_role("combobox", name="Filter").fill(f"min(train/loss) < {limit}")
    expect(page.locator(".list-count")).to_have_text("3 runs")
