"""The page of projects: what is there, finding it, the way in, news without loading again, and how to begin."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.web.accessibility import violations
from tests.web.conftest import PHONE, OpenPage, Served, fill, serving
from tests.web.reach import beyond_reach


def names(page: Page) -> list[str]:
    return page.locator(".project-link strong").all_text_contents()


def test_projects_with_their_figures(page: Page) -> None:
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    expect(page.locator("li.project")).to_have_count(2)
    row = page.locator("li.project", has_text="vision")
    expect(row.locator(".project-number")).to_contain_text("6")
    expect(row.get_by_role("img", name="6 runs begun in the last 4 weeks")).to_be_visible()
    expect(row.locator("time")).to_have_text(re.compile("ago|just now"))
    assert page.title() == "Projects · Strobe"


def test_search_and_order(page: Page) -> None:
    expect(page.locator("li.project")).to_have_count(2)
    page.keyboard.press("/")
    page.keyboard.type("visi")
    expect(page.locator("li.project")).to_have_count(1)
    assert names(page) == ["vision"]
    page.keyboard.type("xyz")
    expect(page.get_by_text("No project is called “visixyz”")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_label("Order").select_option("name")
    assert names(page) == ["language-model-pretraining", "vision"]
    page.get_by_label("Order").select_option("runs")
    assert names(page) == ["vision", "language-model-pretraining"]


def test_into_a_project_and_back_with_the_keyboard_alone(page: Page, ui: Served) -> None:
    expect(page.locator("li.project")).to_have_count(2)
    page.get_by_label("Order").select_option("name")
    page.locator("body").click(position={"x": 5, "y": 500})
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{ui.url}/local/vision")
    page.go_back()
    expect(page.locator("li.project")).to_have_count(2)
    page.go_forward()
    expect(page).to_have_url(f"{ui.url}/local/vision")


def test_the_first_run_appears_by_itself(open_page: OpenPage, tmp_path: Path) -> None:
    with serving(tmp_path / "home") as served:
        page = open_page(served.url)
        expect(page.get_by_role("heading", name="Nothing has been logged yet")).to_be_visible()
        assert violations(page) == []
        expect(page.locator("pre")).to_contain_text('run = strobe.init(project="first")')
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy the code").click()
        expect(page.get_by_text("Copied")).to_be_attached()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("import strobe\n")
        compile(copied, "copied", "exec")
        fill(served.home, "first")
        expect(page.locator("li.project")).to_have_count(1, timeout=20_000)
        # More runs of a project that is known come as news, not when it is asked for again.
        fill(served.home, "first")
        expect(page.locator("li.project .project-number")).to_contain_text("2", timeout=5_000)
        page.close()  # before its server goes


def test_on_a_phone_nothing_is_wider_than_the_screen(open_page: OpenPage, ui: Served) -> None:
    page = open_page(ui.url, viewport=PHONE)
    expect(page.locator("li.project")).to_have_count(2)
    for scroller in ("document.documentElement", "document.getElementById('main')"):
        assert page.evaluate(f"{scroller}.scrollWidth") == PHONE["width"]
    for control in ("Search and commands", "Look"):
        expect(page.get_by_role("button", name=control)).to_be_visible()
    assert beyond_reach(page) == []
