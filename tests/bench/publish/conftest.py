"""The published page in a real Chromium, from a disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from strobe.bench.publish import publish
from tests.bench.publish.suite import records, with_card

OpenPage = Callable[..., Page]

#: as the navigation has them
VIEWS = ("results", "implementations", "commits", "systems", "curves", "pareto", "history", "environment")


@pytest.fixture(scope="package")
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


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(records(), tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="package")
def card_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of three systems, one of them with a card."""
    return publish(with_card(), tmp_path_factory.mktemp("card-site"))


@pytest.fixture
def open_page(browser: Browser, site: Path) -> Iterator[OpenPage]:
    """Return a function that opens a view, `of` another page if so asked.

    Any error, and any request but for the page itself, fails the test.
    """
    faults: list[str] = []
    contexts = []

    def open_(view: str = "", *, of: Path = site, width: int = 1440, height: int = 900, scheme: str = "light") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith(of.as_uri()) else faults.append(one.url))
        page.goto(f"{of.as_uri()}#{view}")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert faults == []
