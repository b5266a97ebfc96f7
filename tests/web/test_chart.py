"""Charts under a real mouse and keyboard: the gallery of `web/bench`, built from the page's own modules."""

from __future__ import annotations

import functools
import http.server
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.accessibility import violations
from tests.web.conftest import PHONE, OpenPage

WEB = Path(__file__).resolve().parents[2] / "web"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    out = tmp_path_factory.mktemp("gallery")
    command = ["npx", "vite", "build", "--config", "bench/vite.config.ts", "--outDir", str(out), "--emptyOutDir"]
    subprocess.run([*command, "--logLevel", "error"], cwd=WEB, check=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(out)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/gallery.html"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(open_page: OpenPage, gallery: str) -> Page:
    page = open_page(gallery, viewport={"width": 1440, "height": 1300})
    expect(area(page)).to_be_visible()
    return page


def chart(page: Page, name: str = "ten runs") -> Locator:
    return page.locator("section", has=page.get_by_role("heading", name=name, exact=True))


def area(page: Page, name: str = "ten runs") -> Locator:
    return chart(page, name).locator(".chart-area")


def place(page: Page, share: float, name: str = "ten runs", height: float = 0.5) -> tuple[float, float]:
    box = area(page, name).bounding_box()
    assert box is not None
    return box["x"] + box["width"] * share, box["y"] + box["height"] * height


def drag(page: Page, start: float, end: float) -> None:
    page.mouse.move(*place(page, start))
    page.mouse.down()
    page.mouse.move(*place(page, (start + end) / 2))
    page.mouse.move(*place(page, end))
    page.mouse.up()


def zoomed(page: Page) -> tuple[float, float]:
    first, last = page.locator("#zoomed").inner_text().split(" to ")
    return float(first), float(last)


def test_a_drag_zooms_and_a_double_click_shows_all(page: Page) -> None:
    drag(page, 0.25, 0.5)
    first, last = zoomed(page)
    assert first == pytest.approx(100, abs=4)
    assert last == pytest.approx(200, abs=4)
    page.mouse.dblclick(*place(page, 0.5))
    expect(page.locator("#zoomed")).to_have_text("all")


def test_shift_drags_pan_and_the_wheel_zooms_with_ctrl_only(page: Page) -> None:
    drag(page, 0.25, 0.5)
    page.keyboard.down("Shift")
    drag(page, 0.5, 0.25)
    page.keyboard.up("Shift")
    assert zoomed(page)[0] == pytest.approx(125, abs=6)
    page.mouse.move(*place(page, 0.5))
    page.mouse.wheel(0, 200)
    page.wait_for_function("scrollY > 0")
    assert zoomed(page)[0] == pytest.approx(125, abs=6)
    page.evaluate("scrollTo(0, 0)")
    page.mouse.move(*place(page, 0.5))
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    page.wait_for_function("document.getElementById('zoomed').textContent.split(' to ')[0] > 135")


def test_new_points_leave_the_zoom_and_the_chart_as_they_are(page: Page) -> None:
    drag(page, 0.25, 0.5)
    before = zoomed(page)
    canvas = chart(page).locator("canvas").first.element_handle()
    page.get_by_role("button", name="Append").click()
    expect(chart(page).get_by_role("application")).to_have_attribute("aria-label", re.compile("step 499"))
    assert zoomed(page) == before
    assert canvas.evaluate("canvas => canvas.isConnected")


def test_the_crosshair_is_in_all_charts_with_the_same_axis_and_a_click_keeps_it(page: Page) -> None:
    page.mouse.move(*place(page, 0.4, height=0.9))
    expect(page.locator("#read")).to_have_text("10")
    assert page.locator(".chart-cross:visible").count() > 5
    expect(chart(page, "wall time").locator(".chart-cross")).to_be_hidden()
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(5, 5)
    expect(page.locator("#read")).to_have_text("10")
    page.mouse.click(*place(page, 0.6))
    page.mouse.move(5, 5)
    expect(page.locator("#read")).to_have_text("0")
    assert page.locator(".chart-cross:visible").count() == 0


def test_the_line_under_the_pointer_is_highlighted(page: Page) -> None:
    for height in range(5, 100, 2):
        page.mouse.move(*place(page, 0.1, height=height / 100))
        if page.locator("#highlighted").inner_text() == "run-4":
            break
    expect(page.locator("#highlighted")).to_have_text("run-4")
    expect(area(page).locator("canvas")).to_be_visible()
    page.mouse.move(5, 5)
    expect(page.locator("#highlighted")).to_be_empty()
    expect(area(page).locator("canvas")).to_have_count(0)


def test_the_keyboard_does_what_the_mouse_does(page: Page) -> None:
    host = chart(page).get_by_role("application")
    host.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(chart(page).get_by_role("status")).to_have_text(re.compile(r"^run-0: 1\.\d+ at step 10$"))
    page.keyboard.press("ArrowDown")
    expect(page.locator("#highlighted")).to_have_text("run-1")
    page.keyboard.press("+")
    assert zoomed(page)[1] < 260
    page.keyboard.press("0")
    expect(page.locator("#zoomed")).to_have_text("all")
    page.keyboard.press("End")
    expect(chart(page).get_by_role("status")).to_have_text(re.compile("at step 399$"))
    page.keyboard.press("Escape")
    expect(page.locator("#read")).to_have_text("0")


def test_what_no_line_shows_is_counted(page: Page) -> None:
    notes = chart(page, "gaps and marks").get_by_role("list")
    expect(notes).to_have_text("40 NaN2 +inf1 -inf")
    expect(notes.get_by_text("40 NaN")).to_have_attribute("title", "40 logged values are NaN\ngaps: 40")
    expect(chart(page, "clipped").get_by_role("list")).to_have_text("↑ 14↓ 5")
    expect(chart(page, "log with values of 0 or less").get_by_role("list")).to_have_text("278 ≤ 0")


def test_charts_off_the_screen_hold_no_canvas(open_page: OpenPage, gallery: str) -> None:
    page = open_page(gallery, viewport=PHONE)
    expect(area(page)).to_be_visible()
    assert page.locator("canvas").count() < 8
    chart(page, "large numbers").scroll_into_view_if_needed()
    expect(area(page, "large numbers")).to_be_visible()
    expect(chart(page).locator("canvas")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_finger_moves_the_crosshair(open_page: OpenPage, gallery: str) -> None:
    page = open_page(gallery, viewport=PHONE)
    at = {"pointerType": "touch", "pointerId": 7, "bubbles": True}
    x, y = place(page, 0.5)
    area(page).dispatch_event("pointerdown", {**at, "clientX": x, "clientY": y})
    expect(page.locator("#read")).to_have_text("10")
    expect(area(page).locator(".chart-place")).to_have_text(re.compile("step 200"))


def test_colours_follow_the_theme(page: Page) -> None:
    def brightness() -> float:
        """Return how bright the chart's pixels are that are not see-through: ticks, grid, lines."""
        found: float = (
            chart(page)
            .locator("canvas")
            .first.evaluate(
                """canvas => {
                const { data } = canvas.getContext("2d").getImageData(0, canvas.height - 24, canvas.width, 24);
                let sum = 0, n = 0;
                for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 128) { sum += data[i]; n++; }
                return sum / n;
            }"""
            )
        )
        return found

    light = brightness()
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(200)
    assert brightness() > light + 20


def test_brushing_is_linked_and_works_by_keys(page: Page) -> None:
    chart(page, "parallel coordinates").get_by_role("slider", name="Brush optimizer").focus()
    page.keyboard.press("Shift+ArrowUp")
    expect(page.locator("#brushed")).not_to_have_text("none")
    count = int(page.locator("#brushed").inner_text())
    assert 0 < count < 40
    assert chart(page, "scatter").locator(".point.dim").count() == 40 - count
    page.keyboard.press("Escape")
    expect(page.locator("#brushed")).to_have_text("none")
    chart(page, "scatter").get_by_role("application").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.locator("#brushed")).to_have_text("1")
    page.keyboard.press("Escape")
    chart(page, "bars").get_by_role("option").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.locator("#brushed")).to_have_text("1")


def test_exports_are_pictures(page: Page) -> None:
    page.get_by_role("button", name="Export").click()
    pictures = page.get_by_alt_text("exported panel")
    expect(pictures).to_have_count(2)
    page.wait_for_function("[...document.images].every(one => one.complete)")
    sizes = pictures.evaluate_all("all => all.map(one => [one.naturalWidth, one.naturalHeight])")
    assert sizes == [[560, 340], [1120, 680]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_people_out(open_page: OpenPage, gallery: str, scheme: str) -> None:
    page = open_page(gallery, viewport={"width": 1440, "height": 2000}, scheme=scheme)
    expect(area(page)).to_be_visible()
    assert violations(page, within="section") == []
