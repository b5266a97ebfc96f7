"""The published page, in a real browser, from a disk: it draws everything, asks nobody, fits a phone."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from strobe.bench.publish import publish
from tests.bench.publish.suite import records
from tests.web.accessibility import violations

pytestmark = pytest.mark.slow

VIEWS = ("results", "implementations", "commits", "systems", "curves", "history", "environment")
OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium")
    if found is None:
        # As in tests/web: who can install it is not let off.
        told = "there is no chromium on this machine; run: make chromium"
        pytest.skip(told) if hasattr(os, "getuid") and os.getuid() else pytest.fail(told)
    with sync_playwright() as playwright:
        shown = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield shown
        shown.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(records(), tmp_path_factory.mktemp("site"))


@pytest.fixture
def open_page(browser: Browser, site: Path) -> Iterator[OpenPage]:
    """Return a function that opens a view; any error, and any request but for the page itself, fails the test."""
    faults: list[str] = []
    contexts = []

    def open_(view: str = "", *, width: int = 1440, height: int = 900, scheme: str = "light") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith(site.as_uri()) else faults.append(one.url))
        page.goto(f"{site.as_uri()}#{view}")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert faults == []


def _show(page: Page, view: str) -> None:
    page.locator(f"nav a[href='#{view}']").click()
    expect(page.locator("nav a[aria-current]")).to_have_attribute("href", f"#{view}")


@pytest.mark.parametrize("width", [1440, 390])
def test_every_view_draws_and_fits(open_page: OpenPage, width: int) -> None:
    page = open_page(width=width)
    for view in VIEWS:
        _show(page, view)
        expect(page.locator("main")).not_to_be_empty()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        text = page.locator("main").inner_text()
        assert not [odd for odd in ("[object", "undefined", "NaN") if odd in text], view


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(open_page: OpenPage, scheme: str) -> None:
    page = open_page(scheme=scheme)
    for view in VIEWS:
        _show(page, view)
        if view == "results":
            page.get_by_role("button", name="Details of").first.click()
        assert violations(page) == [], view


def test_a_table_per_system_with_signs_and_badges(open_page: OpenPage) -> None:
    page = open_page()
    expect(page.locator("main h2")).to_contain_text(["Intel Xeon Platinum 8370C, 2 CPUs", "AMD EPYC 9654, 16 CPUs"])
    cells = page.locator("tr.row", has_text="512").filter(has_text="OOTB").locator("td")
    assert cells.all_inner_texts()[1:6] == ["DLRM", "OOTB", "Inference", "tiny-100k", "512"]
    expect(page.locator("tr.row", has_text="cvt-13-int8")).to_contain_text("incorrect")
    expect(page.locator("tr.row", has_text="cvt-13").filter(has_text="failed")).to_have_count(1)
    left_out = page.locator("tr.row", has_text="cvt-21")
    expect(left_out).to_contain_text("left out")
    expect(left_out.locator(".bad")).to_have_count(0)  # it is no failure
    expect(page.get_by_text("unstable", exact=True)).to_have_count(1)
    expect(page.get_by_text("noisy", exact=True)).to_have_count(1)


def test_a_score_shows_its_distribution_to_pointer_and_keyboard(open_page: OpenPage) -> None:
    page = open_page()
    hint = page.locator("#hint")
    score = page.locator("td.score span[tabindex]").first
    expect(hint).to_be_hidden()
    score.hover()
    expect(hint).to_contain_text("Share of 600 steps that are quicker")
    expect(hint.locator("polyline")).to_have_count(1)
    page.mouse.move(5, 5)
    expect(hint).to_be_hidden()
    score.focus()
    expect(hint).to_be_visible()
    page.keyboard.press("Escape")
    expect(hint).to_be_hidden()


def test_a_row_opens_to_its_conditions_and_its_command_is_copied(open_page: OpenPage) -> None:
    page = open_page()
    # Where there is no clipboard to read back, what would be copied is what was selected.
    page.evaluate("document.execCommand = () => { window.copied = document.activeElement.value; return true; }")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Details of regnety/optimized/inference/400MF-int8").first.click()
    more = page.locator("tr.more:visible")
    expect(more).to_contain_text("batch norms folded into convolutions")
    expect(more).to_contain_text("yes, error 3.0e-4")
    more.get_by_role("button", name="Copy").click()
    expect(more.get_by_role("button")).to_have_text("Copied")
    assert page.evaluate("window.copied") == "strobe bench run regnety/optimized/inference/400MF-int8 --batch 8"


def test_rows_are_filtered_and_sorted(open_page: OpenPage) -> None:
    page = open_page()
    first = page.locator("table").first
    page.get_by_role("searchbox").fill("regnety int8")
    expect(first.locator("tr.row:visible")).to_have_count(1)
    page.get_by_role("searchbox").fill("nothing like it")
    expect(page.get_by_text("No row matches.").first).to_be_visible()
    page.get_by_role("searchbox").fill("")
    first.get_by_role("button", name="Score").click()
    expect(first.locator("tr.row").first).to_contain_text("16,")
    expect(first.locator("th", has_text="Score")).to_have_attribute("aria-sort", "descending")
    first.get_by_role("button", name="Score").click()
    expect(first.locator("tr.row").first).to_contain_text("mlp_A")


def test_ootb_against_optimized_with_verdicts(open_page: OpenPage) -> None:
    page = open_page("implementations")
    row = page.locator("tr.row", has_text="regnety/optimized/inference/400MF-int8").first
    expect(row).to_contain_text("faster")
    row.locator("span[tabindex]").hover()
    expect(page.locator("#hint")).to_contain_text("25.0 %, assumed: so few pairs")
    expect(page.locator("main")).to_contain_text("Geometric mean")


def test_any_two_of_the_newest_commits_are_compared(open_page: OpenPage) -> None:
    page = open_page("commits")
    row = page.locator("tr.row", has_text="regnety/optimized/inference/400MF-int8")
    expect(row).to_contain_text("0.995×")  # two commits after the step
    select = page.get_by_label("A → B")
    expect(select.locator("option").first).to_have_text(re.compile(r"16a7f3c9, 2026-11-13 06:00 .* 17a7f3c9"))
    expect(select.locator("option")).to_have_count(36)  # of nine commits
    select.select_option(index=7)  # before the step
    expect(row).to_contain_text("0.89×")
    expect(page.locator("tr", has_text="torch").last).to_contain_text("2.12.0")
    step = select.locator("option", has_text=re.compile(r"11a7f3c9.* 12a7f3c9")).get_attribute("value")
    select.select_option(step)
    expect(row).to_contain_text("0.9")
    expect(row.get_by_text("inconclusive")).to_have_attribute("title", re.compile("within the noise floor|hides it"))


def test_systems_are_compared_with_what_differs(open_page: OpenPage) -> None:
    page = open_page("systems")
    expect(page.locator("main")).to_contain_text("AMD EPYC 9654")
    expect(page.locator("tr", has_text="flags")).to_contain_text("avx512_bf16")


def test_history_shows_the_step_and_its_commits_first(open_page: OpenPage) -> None:
    page = open_page("history")
    card = page.locator(".card").first
    expect(card).to_contain_text("regnety/optimized/inference/400MF-int8")
    expect(card).to_contain_text("against best")
    expect(card).to_contain_text("11a7f3c9..12a7f3c9")
    expect(card.locator("rect.band")).to_have_count(2)  # what noise stays within, for each level
    card.locator("circle").first.hover()
    expect(page.locator("#hint")).to_contain_text("2026-11-01")


def test_curves_have_a_point_per_batch_and_the_limit(open_page: OpenPage) -> None:
    page = open_page("curves")
    card = page.locator(".card", has_text="DLRM Inference tiny-100k").first
    expect(card.locator("circle")).to_have_count(9)
    expect(card).to_contain_text("limit 60")


def test_themes(open_page: OpenPage) -> None:
    page = open_page(scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(14, 15, 18)"
    page.get_by_role("button", name="Theme: auto").click()
    assert page.evaluate(background) == "rgb(247, 247, 248)"


def test_views_are_addresses(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("link", name="History").click()
    assert page.url.endswith("#history")
    page.go_back()
    expect(page.get_by_role("searchbox")).to_be_visible()
