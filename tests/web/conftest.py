"""A real Chromium before a real `strobe ui`, on a home that the real SDK has filled.

One browser and one server per worker; each test has a page of its own. A test fails if its page says an error on the
console, throws, or asks another host for anything.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from strobe.server.pages import STATIC

FILL = Path(__file__).parent / "fill.py"
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
#: how long a page may take on a machine that is busy with other tests; nothing is measured here
PATIENCE_MS = 20_000
expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)


@dataclass
class Served:
    """A `strobe ui` that runs."""

    process: subprocess.Popen[str]
    url: str
    home: Path

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a process that works on that home, and talks to nobody."""
    quiet = {"STROBE_HOME": str(home), "STROBE_SILENT": "true", "STROBE_AGENT": "off", "PYTHONUNBUFFERED": "1"}
    return {**os.environ, **quiet, "XDG_CONFIG_HOME": str(home / "config"), "LANG": "en_US.UTF-8"}


def fill(home: Path, *what: str) -> None:
    """Log the named sets of runs (see fill.py) into a home."""
    subprocess.run([sys.executable, str(FILL), *what], env=environment(home), check=True, timeout=100)


@contextmanager
def serving(home: Path, port: int = 0) -> Iterator[Served]:
    """Run `strobe ui` on a home."""
    home.mkdir(parents=True, exist_ok=True)
    log = home / f"ui-{time.monotonic_ns()}.log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "strobe", "ui", "--no-browser", "--port", str(port)],
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=environment(home),
            text=True,
        )
    try:
        yield Served(process, _url(process, log), home)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _url(process: subprocess.Popen[str], log: Path) -> str:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text().splitlines():
            if " at http" in line:
                return line.partition(" at ")[2].split()[0].rstrip("/")
        time.sleep(0.02)
    raise AssertionError(f"`strobe ui` did not start: {log.read_text()}")


@pytest.fixture(scope="package")  # while it is open, nothing else on this thread can run an event loop
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium")
    if found is None:
        # Who can install it is not let off: `make chromium` does, and a suite that nobody ran proves nothing.
        told = "there is no chromium on this machine; run: make chromium"
        pytest.skip(told) if hasattr(os, "getuid") and os.getuid() else pytest.fail(told)
    if not (STATIC / "index.html").is_file():
        pytest.fail("the dashboard is not built; run: python web/build.py")
    with sync_playwright() as playwright:
        environ: dict[str, str | float | bool] = {**os.environ, "LANG": "en_US.UTF-8"}
        shown = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"], env=environ)
        yield shown
        shown.close()


@pytest.fixture(scope="session")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A `strobe ui` with a few projects, for tests that change nothing in it."""
    home = tmp_path_factory.mktemp("web") / "home"
    fill(home, "vision", "language")
    with serving(home) as served:
        yield served


#: what a browser says when the server is gone
_SERVER_ENDED = (
    "net::ERR_CONNECTION_REFUSED",
    "net::ERR_CONNECTION_RESET",
    "net::ERR_EMPTY_RESPONSE",
    "net::ERR_INCOMPLETE_CHUNKED_ENCODING",
)


@dataclass
class Watch:
    """What went wrong on a page, apart from what the test expects."""

    #: parts of messages that are no fault here; a server that a test ends before its page is none
    expected: list[str] = field(default_factory=lambda: list(_SERVER_ENDED))
    faults: list[str] = field(default_factory=list)

    def note(self, fault: str) -> None:
        if not any(part in fault for part in self.expected):
            self.faults.append(fault)


OpenPage = Callable[..., Page]


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def open_page(browser: Browser, watch: Watch) -> Iterator[OpenPage]:
    """Return a function that opens an address in a fresh browser profile, watched."""
    contexts = []

    def open_(url: str, *, viewport: dict[str, int] = WIDE, scheme: str = "light") -> Page:
        context = browser.new_context(
            viewport={"width": viewport["width"], "height": viewport["height"]},
            color_scheme="dark" if scheme == "dark" else "light",
            locale="en-US",
            reduced_motion="reduce",
            # a phone is no narrow window: fingers have larger controls
            has_touch=viewport is PHONE,
            is_mobile=viewport is PHONE,
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        own = "/".join(url.split("/")[:3])

        def on_console(message: ConsoleMessage) -> None:
            if message.type == "error":
                watch.note(f"console: {message.text} ({message.location.get('url', '')})")

        def on_request(request: Request) -> None:
            if not request.url.startswith((own, "data:", "blob:")):
                watch.note(f"request to another host: {request.url}")

        page.on("console", on_console)
        page.on("pageerror", lambda error: watch.note(f"thrown: {error}"))
        page.on("request", on_request)
        page.goto(url)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert watch.faults == []


@pytest.fixture
def page(open_page: OpenPage, ui: Served) -> Page:
    """The start page of the shared `strobe ui`."""
    return open_page(ui.url)
