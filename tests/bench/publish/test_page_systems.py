"""Choosing among the systems of the published page: every view follows, and the address keeps it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from strobe.bench.publish import publish
from tests.bench.publish.conftest import VIEWS, OpenPage
from tests.bench.publish.suite import records
from tests.web.accessibility import violations

pytestmark = pytest.mark.slow

LAPTOP, SERVER, CARD = "Intel Xeon Platinum 8370C", "AMD EPYC 9654, 16 CPUs, 126 GiB, torch", "NVIDIA H100"


def _open_choice(page: Page) -> Locator:
    page.locator(".choice > summary").click()
    return page.locator(".panel")


def _titles(page: Page) -> Locator:
    return page.locator("main > section h2").filter(has_text=re.compile("CPUs"))


def test_a_system_is_left_out_and_taken_in(open_page: OpenPage, card_site: Path) -> None:
    page = open_page(of=card_site)
    expect(_titles(page)).to_contain_text([LAPTOP, SERVER, CARD])
    expect(page.locator(".choice > summary")).to_have_text("All 3 systems")
    panel = _open_choice(page)
    panel.get_by_role("checkbox", name=re.compile(LAPTOP)).uncheck()
    expect(_titles(page)).to_contain_text([SERVER, CARD])
    expect(page.locator(".choice > summary")).to_have_text("2 of 3 systems")
    panel.get_by_role("checkbox", name=re.compile("bench-2")).uncheck()  # by its host
    expect(_titles(page)).to_contain_text([CARD])
    expect(panel.get_by_role("checkbox", name=re.compile(CARD))).to_be_disabled()  # one has to stay
    panel.get_by_role("checkbox", name=re.compile(LAPTOP)).check()
    expect(_titles(page)).to_contain_text([LAPTOP, CARD])
    panel.get_by_role("button", name="Show all").click()
    expect(_titles(page)).to_have_count(3)
    assert "systems=" not in page.url
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.locator(".choice > summary")).to_be_focused()


def test_every_view_shows_what_is_chosen_and_a_link_shows_it_again(open_page: OpenPage, card_site: Path) -> None:
    page = open_page(of=card_site)
    _open_choice(page).get_by_role("button", name=re.compile(f"^Only {LAPTOP}")).click()
    for view in VIEWS:
        page.locator(f"nav a[href^='#{view}']").click()
        expect(page.locator("nav a[aria-current]")).to_have_attribute("href", re.compile(f"^#{view}\\?systems="))
        expect(page.locator("main")).not_to_be_empty()
        expect(page.locator("main").get_by_text("EPYC")).to_have_count(0)
        if view in ("results", "curves", "pareto", "environment"):
            expect(_titles(page)).to_contain_text([LAPTOP])
    again = open_page(page.url.partition("#")[2], of=card_site)
    expect(again.locator("nav a[aria-current]")).to_have_text("Environment")
    expect(_titles(again)).to_contain_text([LAPTOP])


def test_comparisons_and_courses_of_other_systems_go(open_page: OpenPage, card_site: Path) -> None:
    page = open_page("systems", of=card_site)
    options = page.get_by_label("A → B").locator("option")
    expect(options).to_have_count(3)
    panel = _open_choice(page)
    panel.get_by_role("checkbox", name=re.compile(LAPTOP)).uncheck()
    expect(options).to_have_count(1)
    panel.get_by_role("button", name=re.compile("^Only .*H100")).click()
    expect(page.locator("main")).to_contain_text("A comparison needs two systems, and one is chosen.")
    page.locator("nav a", has_text="History").click()
    expect(page.locator("main")).to_contain_text("There is nothing of this kind from what is chosen.")
    page.get_by_role("button", name="Show all systems").click()
    expect(page.locator("main .card").first).to_contain_text("against best")


def test_a_link_to_systems_that_are_gone_shows_all(open_page: OpenPage, card_site: Path) -> None:
    page = open_page("curves?systems=0123456789ab,%zz", of=card_site)
    expect(page.locator(".choice > summary")).to_have_text("All 3 systems")
    expect(page.locator("nav a[aria-current]")).to_have_attribute("href", "#curves")


def test_what_is_chosen_leaves_no_trail_in_the_browsers_history(open_page: OpenPage, card_site: Path) -> None:
    page = open_page("curves", of=card_site)
    page.locator("nav a", has_text="Accuracy").click()
    panel = _open_choice(page)
    panel.get_by_role("checkbox", name=re.compile(LAPTOP)).uncheck()
    panel.get_by_role("checkbox", name=re.compile(CARD)).uncheck()
    expect(_titles(page)).to_have_count(1)
    page.go_back()
    expect(page.locator("nav a[aria-current]")).to_have_text("Latency–throughput")


def test_memory_of_a_card_is_told_where_it_was_measured(open_page: OpenPage, card_site: Path) -> None:
    page = open_page(of=card_site)
    for name, count in (("B=8 cuda", 1), ("B=8", 0)):
        toggle = page.get_by_role("button", name=f"Details of regnety/ootb/inference/400MF-fp32 {name}", exact=True)
        toggle.first.click()
        more = page.locator("tr.more:visible")
        expect(more.get_by_text("Card memory")).to_have_count(count)
        if count:
            expect(more).to_contain_text("2,345 MB")
        toggle.first.click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_the_list_can_be_read_and_fits(open_page: OpenPage, card_site: Path, scheme: str, width: int) -> None:
    page = open_page("pareto", of=card_site, width=width, scheme=scheme)
    panel = _open_choice(page)
    panel.get_by_role("checkbox", name=re.compile(LAPTOP)).uncheck()
    box = panel.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []


def test_one_system_is_no_choice(open_page: OpenPage, tmp_path: Path) -> None:
    one = publish([record for record in records() if record.environment.host == "bench-2"], tmp_path)
    page = open_page(of=one)
    expect(page.locator("main table")).to_have_count(1)
    expect(page.locator(".choice")).to_have_count(0)


@pytest.mark.parametrize("width", [1300, 1440])
def test_the_header_has_one_line(open_page: OpenPage, card_site: Path, width: int) -> None:
    page = open_page("curves", of=card_site, width=width)
    middles = page.evaluate(
        "[...document.querySelector('header').children].map((part) => part.getBoundingClientRect())"
        ".map((box) => box.top + box.height / 2)"
    )
    assert max(middles) - min(middles) < 4
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    nav = page.locator("nav")
    assert nav.evaluate("nav => nav.scrollWidth <= nav.clientWidth")
