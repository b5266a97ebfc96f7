"""Settings: on `strobe ui` what makes sense there; on a real `strobe server` who one is, keys, users, teams, access."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from strobe.store.address import open_database
from strobe.store.blobs import open_blobs
from strobe.store.store import Store
from tests.web.accessibility import violations
from tests.web.conftest import PHONE, OpenPage, Served, Watch, environment
from tests.web.reach import beyond_reach

TABS = ("profile", "keys", "users", "teams", "projects", "storage", "look")


@dataclass
class Server:
    """A `strobe server` that runs, with keys of ada (an admin) and bob (owner of the team lab)."""

    url: str
    keys: dict[str, str]


@contextmanager
def serving_keys(home: Path) -> Iterator[Server]:
    folder = home / "server"
    folder.mkdir(parents=True)
    store = Store(open_database(str(folder / "strobe.db")), open_blobs(folder / "blobs"), time.time_ns)
    accounts = store.accounts
    accounts.add("ada", is_admin=True)
    for name in ("bob", "eve"):
        accounts.add(name)
    accounts.add_team("lab", owner="bob")
    store.projects.ensure("ada", "vision", now_ns=time.time_ns())
    store.projects.ensure("lab", "shared", now_ns=time.time_ns())
    keys = {name: accounts.keys.add(name, scope="admin", label="first")[1] for name in ("ada", "bob")}
    keys["writer"] = accounts.keys.add("bob", scope="write", label="job")[1]
    store.close()
    log = home / "server.log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "strobe", "server", "--port", "0", "--log-format", "text"],
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=environment(home),
            text=True,
        )
    try:
        yield Server(_url(process, log), keys)
    finally:
        process.kill()
        process.wait()


def _url(process: subprocess.Popen[str], log: Path) -> str:
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text()):
            return found.group()
        time.sleep(0.05)
    raise AssertionError(f"`strobe server` did not start: {log.read_text()}")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving_keys(tmp_path / "home") as running:
        yield running


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for tests that change nothing in it."""
    with serving_keys(tmp_path_factory.mktemp("settings") / "home") as running:
        yield running


def enter(page: Page, key: str, path: str) -> None:
    """Sign in, and go to a page."""
    page.locator("input[type=password]").fill(key)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page).not_to_have_url(re.compile("signin"))
    page.goto(page.url.split("/settings")[0].rstrip("/") + path)


def signed_in(open_page: OpenPage, server: Server, who: str, path: str, viewport: dict[str, int] | None = None) -> Page:
    page = open_page(f"{server.url}/signin?next=/settings/look", **({"viewport": viewport} if viewport else {}))
    enter(page, server.keys[who], path)
    return page


def test_on_this_machine_there_is_only_what_makes_sense(open_page: OpenPage, ui: Served) -> None:
    page = open_page(f"{ui.url}/settings")
    expect(page.get_by_text("there are no users")).to_be_visible()
    assert page.locator(".tab").all_inner_texts() == ["Look", "Storage"]
    page.get_by_role("button", name="Dark", exact=True).click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Compact", exact=True).click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("html")).to_have_attribute("data-density", "compact")
    assert violations(page) == []
    page.get_by_role("link", name="Storage").click()
    expect(page.get_by_role("row").filter(has_text="local/vision")).to_contain_text("6")
    expect(page.get_by_text("strobe du")).to_be_visible()


def test_who_one_is_and_signing_out(server: Server, open_page: OpenPage, watch: Watch) -> None:
    watch.expected.append("401")
    page = signed_in(open_page, server, "bob", "/settings")
    profile = page.get_by_role("region", name="Profile")
    expect(profile).to_contain_text("bob")
    expect(profile).to_contain_text(server.keys["bob"].split("_")[1])
    page.get_by_role("textbox", name="Email").fill("bob@example.com")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved")).to_be_visible()
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        page.get_by_label("Runs that name no entity go to").select_option("lab")
    page.reload()
    expect(page.get_by_role("textbox", name="Email")).to_have_value("bob@example.com")
    expect(page.get_by_label("Runs that name no entity go to")).to_have_value("lab")
    page.get_by_role("region", name="Profile").get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/signin"))


def test_a_key_is_made_shown_once_used_and_revoked(server: Server, open_page: OpenPage, watch: Watch) -> None:
    page = signed_in(open_page, server, "bob", "/settings/keys")
    page.get_by_role("button", name="New key").click()
    page.get_by_role("textbox", name="Label").fill("the cluster")
    page.get_by_label("Scope").select_option("read")
    page.get_by_label("Ends after").select_option("30")
    page.get_by_role("button", name="Make the key").click()
    key = page.locator("[data-key]").inner_text()
    assert key.startswith("strobe_")
    assert violations(page) == []
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the key").click()
    assert page.evaluate("navigator.clipboard.readText()") == key
    page.get_by_role("button", name="Done").click()
    assert key.split("_")[2] not in page.content()
    row = page.get_by_role("row").filter(has_text="the cluster")
    expect(row).to_contain_text("read")
    expect(row).to_contain_text(re.compile(r"in (29|30) d|\d{4}-\d\d-\d\d"))
    authorization = {"Authorization": f"Bearer {key}"}
    assert page.request.get(f"{server.url}/api/v1/session", headers=authorization).status == 200
    row.get_by_role("button", name="Revoke the cluster").click()
    page.get_by_role("button", name="Cancel").click()
    expect(row).to_be_visible()
    row.get_by_role("button", name="Revoke the cluster").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(row).to_have_count(0)
    page.get_by_role("switch", name="Show 1 key that ended").check(force=True)
    expect(row).to_contain_text("revoked")
    watch.expected.append("401")


def test_a_user_is_added_with_a_key_and_disabled(server: Server, open_page: OpenPage) -> None:
    page = signed_in(open_page, server, "ada", "/settings/users")
    expect(page.get_by_role("row").filter(has_text="ada")).to_contain_text("you")
    page.get_by_role("button", name="Add user").click()
    page.get_by_role("textbox", name="Name").fill("grace")
    page.get_by_role("textbox", name="Email").fill("grace@example.com")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("dialog", name="New key for grace")).to_be_visible()
    page.get_by_role("button", name="Make the key").click()
    key = page.locator("[data-key]").inner_text()
    page.get_by_role("button", name="Done").click()
    authorization = {"Authorization": f"Bearer {key}"}
    assert page.request.get(f"{server.url}/api/v1/session", headers=authorization).json()["user"] == "grace"
    row = page.get_by_role("row").filter(has_text="grace")
    row.get_by_role("button", name="Actions for grace").click()
    page.get_by_role("menuitem", name="Make an admin").click()
    expect(row).to_contain_text("admin")
    row.get_by_role("button", name="Actions for grace").click()
    page.get_by_role("menuitem", name="Disable").click()
    page.get_by_role("dialog", name="Disable grace?").get_by_role("button", name="Disable").click()
    expect(row).to_contain_text("disabled")
    assert page.request.get(f"{server.url}/api/v1/session", headers=authorization).status == 401


def test_a_name_that_is_taken_is_told_of_and_nothing_is_lost(server: Server, open_page: OpenPage, watch: Watch) -> None:
    watch.expected.append("400")
    page = signed_in(open_page, server, "ada", "/settings/users")
    page.get_by_role("button", name="Add user").click()
    page.get_by_role("textbox", name="Name").fill("bob")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is taken")
    expect(page.get_by_role("textbox", name="Name")).to_have_value("bob")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_owner_decides_who_is_in_the_team(server: Server, open_page: OpenPage, watch: Watch) -> None:
    watch.expected.append("400")
    page = signed_in(open_page, server, "bob", "/settings/teams")
    team = page.get_by_role("region", name="Team lab")
    team.get_by_role("textbox", name="User to add to lab").fill("eve")
    team.get_by_role("button", name="Add", exact=True).click()
    role = team.get_by_label("Role of eve in lab")
    expect(role).to_have_value("member")
    role.select_option("viewer")
    expect(page.get_by_text("eve is viewer of lab")).to_be_visible()
    # The last owner cannot go: the page says why, and shows what is still so.
    team.get_by_label("Role of bob in lab").select_option("viewer")
    expect(page.get_by_text("would have no owner left")).to_be_visible()
    expect(team.get_by_label("Role of bob in lab")).to_have_value("owner")
    team.get_by_role("button", name="Remove eve from lab").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(role).to_have_count(0)


def test_who_sees_a_project_and_how_much_it_keeps(server: Server, open_page: OpenPage) -> None:
    page = signed_in(open_page, server, "bob", "/settings/projects")
    expect(page.get_by_role("button", name="Edit ada/vision")).to_have_count(0)
    page.get_by_role("button", name="Edit lab/shared").click()
    page.get_by_role("textbox", name="Description").fill("what we share")
    page.get_by_label("Access").select_option("private")
    page.get_by_role("textbox", name="Keep at most").fill("lots")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_role("textbox", name="Keep at most").fill("2 GiB")
    page.get_by_role("textbox", name="Delete runs").fill("30")
    page.get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has_text="lab/shared")
    expect(row).to_contain_text("private")
    expect(row).to_contain_text("what we share")
    expect(row).to_contain_text("30 days, 2 GiB at most")
    page.get_by_role("link", name="Storage").click()
    expect(page.get_by_role("row").filter(has_text="lab/shared")).to_contain_text("of 2 GiB")


def test_a_key_that_only_writes_decides_nothing(open_page: OpenPage, calm: Server) -> None:
    page = signed_in(open_page, calm, "writer", "/settings/projects")
    page.get_by_role("button", name="Edit lab/shared").click()
    expect(page.get_by_text("decided by owners, with a key of scope admin")).to_be_visible()
    page.keyboard.press("Escape")
    assert "Users" not in page.locator(".tab").all_inner_texts()
    page.goto(f"{calm.url}/settings/users")
    expect(page.get_by_text("That needs an admin of the server")).to_be_visible()


@pytest.mark.parametrize("tab", TABS)
def test_nothing_serious_for_assistive_tools_nor_too_wide(open_page: OpenPage, calm: Server, tab: str) -> None:
    page = signed_in(open_page, calm, "ada", f"/settings/{tab}", PHONE)
    expect(page.locator(".tab[aria-current]")).to_have_text(re.compile(tab, re.IGNORECASE))
    expect(page.locator(".settings-card, .settings-part").first).to_be_visible()
    assert violations(page) == []
    for scroller in ("document.documentElement", "document.getElementById('main')"):
        assert page.evaluate(f"{scroller}.scrollWidth") == PHONE["width"]
    assert beyond_reach(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []
