"""Samples of many processes, samples beside metrics, and media that is drawn without a library, in a real browser."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.accessibility import violations
from tests.web.conftest import PHONE, OpenPage, Served, environment, serving

FILL = Path(__file__).parent / "fill_run.py"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A `strobe ui` whose runs nobody changes."""
    home = tmp_path_factory.mktemp("drawn") / "home"
    home.mkdir()
    subprocess.run([sys.executable, str(FILL), "nodes", "drawn"], env=environment(home), check=True, timeout=100)
    with serving(home) as served:
        yield served


def at(site: Served, run: str, tab: str, search: str = "") -> str:
    return f"{site.url}/local/page/runs/{run}/{tab}{search}"


def test_samplers_are_chosen_and_coloured_by_host_and_rank(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "nodes", "system"))
    names = page.get_by_role("article", name="CPU, %").locator(".system-legend li")
    expect(names).to_have_count(4)
    expect(names.first).to_contain_text("machine, node-a rank 0")
    page.get_by_label("Host", exact=True).select_option("node-b")
    expect(page).to_have_url(re.compile("host=node-b"))
    expect(names).to_have_count(2)
    expect(names.first).to_contain_text("node-b rank 2")
    page.get_by_label("Rank", exact=True).select_option("3")
    expect(names).to_have_count(1)
    page.goto(at(site, "nodes", "system", "?colour=host"))
    expect(names).to_have_count(4)
    marks = page.get_by_role("article", name="CPU, %").locator(".attempt-mark")
    colours = marks.evaluate_all("marks => marks.map((mark) => mark.style.background)")
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert violations(page) == []


def test_samples_lie_beside_a_metric_by_time(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "nodes", "charts", "?v=1&for=loss,y2:system:system.cpu_percent"))
    loss = page.get_by_role("article", name="loss", exact=True)
    expect(loss.get_by_role("list", name="Lines")).to_contain_text("CPU, % · machine")
    chart = loss.get_by_role("application")
    # one line for the metric, one for each of the four samplers, over the steps of the metric
    expect(chart).to_have_attribute("aria-label", re.compile(r"loss by step, 5 lines\."))
    last = re.findall(r"CPU, % · machine: last [\d.]+ at step (\d+)", chart.get_attribute("aria-label") or "")
    assert len(last) == 4
    assert all(20 < int(step) < 60 for step in last)


def test_media_is_drawn(open_page: OpenPage, site: Served) -> None:
    for scheme in ("light", "dark"):
        page = open_page(at(site, "drawn", "media"), scheme=scheme)
        lines = page.get_by_role("region", name="plot/lines")
        expect(lines.get_by_role("img", name="Two losses: train, val").locator("path")).to_have_count(2)
        bars = page.get_by_role("region", name="plot/bars")
        expect(bars.locator("rect")).to_have_count(6)
        expect(bars.get_by_text("bird")).to_be_visible()
        expect(page.get_by_role("region", name="plot/pie")).to_contain_text("none of the lines, points and bars")
        expect(page.get_by_role("region", name="molecule")).to_contain_text("3 atoms")
        expect(page.get_by_role("region", name="model")).to_contain_text("glb cannot be drawn here")
        scene = page.get_by_role("region", name="scene").get_by_role("application")
        expect(scene.locator("canvas")).to_be_visible()
        before = scene.locator("canvas").evaluate("canvas => canvas.toDataURL()")
        scene.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "([canvas, before]) => canvas.toDataURL() !== before",
            arg=[scene.locator("canvas").element_handle(), before],
        )
        moves = page.get_by_role("img", name="a square that moves")
        assert moves.evaluate("picture => picture.decode().then(() => picture.naturalWidth)") == 96
        assert violations(page) == []


def test_media_fits_a_phone(open_page: OpenPage, site: Served) -> None:
    page = open_page(at(site, "drawn", "media"), viewport=PHONE)
    expect(page.get_by_role("region", name="scene").locator("canvas")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
