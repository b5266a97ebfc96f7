"""What is on every page: theme, palette, sheet of keys, a server that goes away and comes back, signing in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.server.processes import make_key, running
from tests.web.accessibility import violations
from tests.web.conftest import OpenPage, Served, Watch, fill, serving


def background(page: Page) -> str:
    found: str = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    return found


LIGHT, DARK = "rgb(247, 247, 248)", "rgb(14, 15, 18)"


def test_the_theme_is_the_systems_and_follows_it(open_page: OpenPage, ui: Served) -> None:
    page = open_page(ui.url, scheme="dark")
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    assert background(page) == DARK
    page.emulate_media(color_scheme="light")
    assert background(page) == LIGHT


def test_a_chosen_theme_stays(open_page: OpenPage, ui: Served) -> None:
    page = open_page(ui.url)
    page.get_by_role("button", name="Look").click()
    page.get_by_role("menuitemradio", name="Dark").click()
    assert background(page) == DARK
    page.reload()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    assert background(page) == DARK
    page.keyboard.press("Shift+D")
    assert background(page) == LIGHT


def test_a_theme_in_the_address_is_for_that_page_alone(open_page: OpenPage, ui: Served) -> None:
    page = open_page(f"{ui.url}/?theme=dark")
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    assert background(page) == DARK
    page.goto(ui.url)
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    assert background(page) == LIGHT


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(open_page: OpenPage, ui: Served, scheme: str) -> None:
    page = open_page(ui.url, scheme=scheme)
    expect(page.locator("li.project")).to_have_count(2)
    assert violations(page) == []
    page.get_by_role("button", name="Look").click()
    expect(page.get_by_role("menuitemradio", name="Dark")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.locator(".palette-item").first).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert violations(page) == []


def test_a_menu_lies_inside_the_window_and_closes(page: Page) -> None:
    page.get_by_role("button", name="Look").click()
    menu = page.get_by_role("menu", name="Look")
    expect(menu).to_be_visible()
    expect(page.get_by_role("menuitemradio", name="As the system")).to_be_focused()
    box = menu.bounding_box()
    assert box is not None
    assert box["width"] >= 150
    assert box["x"] + box["width"] <= 1440
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitemradio", name="Light")).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="Look").click()
    page.get_by_role("button", name="Look").click()
    expect(menu).to_be_hidden()


def test_the_palette_finds_commands_and_projects(page: Page, ui: Served) -> None:
    expect(page.locator("li.project")).to_have_count(2)
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name=re.compile("Search commands"))
    expect(field).to_be_focused()
    page.keyboard.type("keys")
    expect(page.locator(".palette-item[aria-selected=true]")).to_have_text(re.compile("Show the keys"))
    field.fill("vision")
    expect(page.locator(".palette-item[aria-selected=true]")).to_have_text(re.compile("local / vision"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{ui.url}/local/vision")
    expect(page.locator(".palette")).to_have_count(0)
    page.keyboard.press("Control+k")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".palette")).to_have_count(0)


def test_the_sheet_has_the_keys_of_this_page(page: Page, ui: Served) -> None:
    expect(page.locator("li.project")).to_have_count(2)
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet.get_by_text("Search projects")).to_be_visible()
    expect(sheet.get_by_text("Switch light and dark")).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page).to_have_url(f"{ui.url}/settings")


def test_an_address_that_is_no_page_says_so(open_page: OpenPage, ui: Served) -> None:
    page = open_page(f"{ui.url}/just-one-part")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    page.get_by_role("link", name="See all projects").click()
    expect(page.locator("li.project")).to_have_count(2)


def test_a_lost_server_is_said_and_found_again(open_page: OpenPage, tmp_path: Path, watch: Watch) -> None:
    home = tmp_path / "home"
    fill(home, "first")
    with serving(home) as served:
        page = open_page(served.url)
        expect(page.locator("li.project")).to_have_count(1)
        served.stop()
        banner = page.locator(".banner")
        expect(banner).to_contain_text("The server does not answer", timeout=15_000)
        expect(banner).to_contain_text("strobe ui")
        # What was shown stays.
        expect(page.locator("li.project")).to_have_count(1)
    fill(home, "vision")
    with serving(home, port=int(served.url.rpartition(":")[2])):
        expect(banner).to_be_hidden(timeout=20_000)
        expect(page.locator("li.project")).to_have_count(2)


def test_signing_in_leads_back_to_where_one_wanted_to_go(open_page: OpenPage, tmp_path: Path, watch: Watch) -> None:
    watch.expected += ["401 (Unauthorized)", "404 (Not Found)"]  # there is no such project
    key = make_key(tmp_path / "home")
    with running(tmp_path / "home") as server:
        page = open_page(f"{server.url}/ada/secret/runs/x1?tab=charts")
        page.get_by_role("button", name="Sign in").click()
        expect(page).to_have_url(re.compile("/signin"))
        page.goto(f"{server.url}/signin?next=%2Fada%2Fsecret%3Fx%3D1")
        expect(page.get_by_label("Key", exact=True)).to_be_focused()
        assert violations(page) == []
        page.get_by_label("Key", exact=True).fill("strobe_wrong_key")
        page.keyboard.press("Enter")
        expect(page.get_by_text("is unknown, expired or revoked")).to_be_visible()
        page.get_by_label("Key", exact=True).fill(key)
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{server.url}/ada/secret?x=1")
        page.get_by_role("button", name="Signed in as ada").click()
        page.get_by_role("menuitem", name="Sign out").click()
        expect(page).to_have_url(f"{server.url}/signin")


def test_another_site_cannot_be_the_place_after_signing_in(open_page: OpenPage, tmp_path: Path) -> None:
    key = make_key(tmp_path / "home")
    with running(tmp_path / "home") as server:
        page = open_page(f"{server.url}/signin?next=//evil.example/x")
        page.get_by_label("Key", exact=True).fill(key)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Nothing has been logged yet")).to_be_visible()
        assert page.url == f"{server.url}/"
