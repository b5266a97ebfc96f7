"""Comparing runs: what differs, what came of it, charts, and one brush for all plots; all of it in the address."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from tests.web.accessibility import violations
from tests.web.conftest import PHONE, OpenPage, Served, environment, serving
from tests.web.reach import beyond_reach

FILL = Path(__file__).parent / "fill_compare.py"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("compare") / "home"
    home.mkdir()
    subprocess.run([sys.executable, str(FILL), "pair", "sweep"], env=environment(home), check=True, timeout=100)
    with serving(home) as served:
        _await_runs(served, {"pair": 2, "sweep": 40})
        yield served


def _await_runs(served: Served, wanted: dict[str, int]) -> None:
    """Wait until the index has what is in the journals."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{served.url}/api/v1/projects") as answer:
            found = {item["name"]: item["num_runs"] - item["num_running"] for item in json.load(answer)["items"]}
        if found == wanted and all(_has_configs(served, project) for project in wanted):
            return
        time.sleep(0.1)
    raise AssertionError(f"the index has {found}, not {wanted}")


def _has_configs(served: Served, project: str) -> bool:
    """Tell whether all runs were added up: their config is known a moment later than they are."""
    with urllib.request.urlopen(f"{served.url}/api/v1/projects/local/{project}/runs?limit=100") as answer:
        return all(item["config"] for item in json.load(answer)["items"])


def run_ids(served: Served, project: str, count: int) -> list[str]:
    """Return ids of the first runs of a project."""
    address = f"{served.url}/api/v1/projects/local/{project}/runs?sort=created_at&limit={count}"
    with urllib.request.urlopen(address) as answer:
        return [item["id"] for item in json.load(answer)["items"]]


def pair(served: Served, more: str = "") -> str:
    return f"{served.url}/local/pair/compare?runs={','.join(run_ids(served, 'pair', 2))}{more}"


def section(page: Page, name: str) -> str:
    """Return the text of a section of the differences."""
    found = page.get_by_role("region", name=name, exact=True)
    expect(found).to_be_visible()
    return found.inner_text()


def saved(download: Download) -> str:
    return Path(download.path()).read_text()


def test_only_what_differs_unless_all_is_wanted(open_page: OpenPage, compared: Served) -> None:
    page = open_page(pair(compared))
    config = page.get_by_role("region", name="Config", exact=True)
    expect(config).to_contain_text("5 of 7 keys differ")
    expect(config.get_by_role("rowheader", name="model.depth")).to_be_visible()
    expect(config.get_by_role("rowheader", name="act")).to_have_count(0)
    expect(config.locator("del").filter(has_text="English")).to_be_visible()
    expect(config.locator("ins").filter(has_text="French")).to_be_visible()
    page.keyboard.press("d")
    expect(config.get_by_role("rowheader", name="act")).to_be_visible()
    assert "all=1" in page.url
    page.go_back()
    expect(config.get_by_role("rowheader", name="act")).to_have_count(0)


def test_code_environment_and_packages(open_page: OpenPage, compared: Served) -> None:
    page = open_page(pair(compared))
    packages = page.get_by_role("region", name="Packages", exact=True)
    expect(packages).to_contain_text("1 of 2 keys differs")
    expect(packages.get_by_role("row", name="torch 2.0.0 2.1.0")).to_be_visible()
    lines = page.locator(".compare-line")
    expect(lines.filter(has_text="+learning_rate = 1")).to_have_class(re.compile("compare-line-add"))
    expect(lines.filter(has_text="+learning_rate = 0")).to_have_class(re.compile("compare-line-remove"))
    assert "the same in all" in section(page, "Environment")


def test_keys_are_ignored_by_pattern(open_page: OpenPage, compared: Served) -> None:
    page = open_page(pair(compared))
    config = page.get_by_role("region", name="Config", exact=True)
    expect(config.get_by_role("rowheader", name="seed")).to_be_visible()
    page.keyboard.press("i")
    page.keyboard.type("seed|prompt")
    expect(config.get_by_role("rowheader", name="seed")).to_have_count(0)
    expect(config).to_contain_text("3 of 7 keys differ, 2 ignored")
    page.wait_for_url(re.compile(r"ignore=seed"))
    page.keyboard.type("[")
    expect(page.get_by_text("Not a regular expression")).to_be_visible()


def test_deltas_against_the_baseline(open_page: OpenPage, compared: Served) -> None:
    page = open_page(pair(compared, "&tab=metrics"))
    row = page.get_by_role("row").filter(has_text="train/loss")
    expect(row.locator(".grid-better")).to_contain_text("-0.2")
    expect(row.locator(".grid-better")).to_contain_text("%")
    page.get_by_label("Baseline").select_option(index=1)
    expect(row.locator(".grid-worse")).to_contain_text("+0.2")
    row.get_by_role("button", name="train/loss: lower is better; change").click()
    expect(row.locator(".grid-better")).to_contain_text("+0.2")
    page.get_by_role("button", name="Last", exact=True).click()
    expect(row).to_contain_text("@ 49")
    for part in ("base=", "goals=train/loss:max", "figure=last"):
        assert part in page.url
    page.reload()
    expect(row.locator(".grid-better")).to_contain_text("+0.2")


def test_runs_sort_by_a_metric_and_missing_ones_come_last(open_page: OpenPage, compared: Served) -> None:
    page = open_page(f"{compared.url}/local/sweep/compare?tab=metrics")
    page.get_by_role("button", name="train/loss", exact=True).click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("train/loss")
    rows = page.locator(".grid-table tbody tr")
    expect(rows).to_have_count(40)
    expect(rows.last).to_contain_text("run-7")

    def values() -> list[float]:
        cells = page.locator(".grid-table tbody tr td:nth-child(2) .grid-value").all_inner_texts()
        return [float(cell.replace("best:", "").split("@")[0]) for cell in cells]

    found = values()
    assert len(found) == 39
    assert found == sorted(found)
    page.get_by_role("button", name="train/loss", exact=True).click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("train/loss")
    assert values() == sorted(found, reverse=True)
    expect(rows.last).to_contain_text("run-7")


def test_tables_as_csv_markdown_and_latex(open_page: OpenPage, compared: Served) -> None:
    page = open_page(pair(compared, "&tab=metrics"))
    expect(page.get_by_role("row").filter(has_text="train/loss").locator(".grid-delta")).to_be_visible()
    for title, start in (("CSV", "metric,"), ("Markdown table", "| metric |"), ("LaTeX table", "% needs")):
        page.get_by_role("button", name="Export Metrics").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=title).click()
        text = saved(download.value)
        assert text.startswith(start)
        assert "train/loss" in text


def test_charts_of_chosen_metrics(open_page: OpenPage, compared: Served) -> None:
    page = open_page(pair(compared, "&tab=charts"))
    expect(page.locator(".chart-panel canvas").first).to_be_visible()
    expect(page.locator(".chart-panel")).to_have_count(4)
    page.get_by_role("button", name="Remove spiky").click()
    expect(page.locator(".chart-panel")).to_have_count(3)
    page.get_by_role("button", name="Export train/loss").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="SVG drawing").click()
    assert saved(download.value).startswith("<svg")
    page.get_by_role("button", name="Metrics", exact=True).click()
    page.keyboard.type("spik")
    page.keyboard.press("Enter")
    expect(page.locator(".chart-panel")).to_have_count(4)


def brushed(page: Page) -> set[str]:
    """Return the names of the runs that are ticked in the table."""
    ticked = page.locator(".explore-table tbody tr").filter(has=page.locator("input:checked"))
    return set(ticked.locator(".compare-run").all_inner_texts())


def test_a_brush_in_one_plot_is_a_brush_in_all(open_page: OpenPage, compared: Served) -> None:
    page = open_page(f"{compared.url}/local/sweep/compare?tab=explore")
    scatter = page.get_by_role("region", name="Scatter", exact=True).locator(
        "svg[aria-roledescription='scatter chart']"
    )
    expect(scatter.locator("circle")).to_have_count(39)
    scatter.scroll_into_view_if_needed()
    box = scatter.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.45, box["y"] + box["height"] * 0.6)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.88, steps=4)
    page.mouse.up()
    expect(page.locator(".compare-brushed")).to_contain_text("selected")
    chosen = brushed(page)
    assert 1 < len(chosen) < 39
    bright = scatter.locator("circle:not(.dim)")
    expect(bright).to_have_count(len(chosen))
    expect(page.locator(".strand:not(.dim)")).to_have_count(len(chosen))
    names = [text.split("\n")[0] for text in page.locator(".svg-bar:not(.dim) text:first-of-type").all_text_contents()]
    assert set(names) <= chosen
    page.wait_for_url(re.compile("brush="))
    page.reload()
    expect(page.locator(".compare-brushed")).to_contain_text(f"{len(chosen)} runs selected")
    assert brushed(page) == chosen
    page.keyboard.press("2")
    expect(page.locator(".grid-table tbody tr:not(.compare-dim)")).to_have_count(len(chosen))
    page.keyboard.press("Escape")
    expect(page.locator(".compare-brushed")).to_have_count(0)


def test_a_brush_by_keyboard_along_an_axis(open_page: OpenPage, compared: Served) -> None:
    page = open_page(f"{compared.url}/local/sweep/compare?tab=explore")
    axis = page.get_by_role("slider", name="Brush lr")
    axis.focus()
    page.keyboard.press("ArrowDown")
    expect(axis).not_to_have_attribute("aria-valuetext", "all")
    expect(page.locator(".compare-brushed")).to_be_visible()
    count = len(brushed(page))
    assert 0 < count < 40
    page.get_by_role("button", name="Keep only these").click()
    # The baseline stays in any case.
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(rf"Compare ({count}|{count + 1}) runs"))
    assert "runs=" in page.url


def test_what_goes_with_a_metric(open_page: OpenPage, compared: Served) -> None:
    page = open_page(f"{compared.url}/local/sweep/compare?tab=explore")
    table = page.locator(".importance")
    expect(table.locator("tbody tr:not(.importance-weak) th")).to_have_text(["lr", "optimizer.name"])
    expect(table.locator("tbody tr").first.locator("td").nth(2)).to_contain_text("%", timeout=20_000)
    page.get_by_role("button", name="model.width", exact=True).click()
    expect(page.get_by_role("button", name="X: model.width")).to_be_visible()


@pytest.mark.parametrize("panel", ["Parallel coordinates", "Scatter", "train/loss (best)"])
def test_every_plot_is_saved_as_svg_png_and_csv(open_page: OpenPage, compared: Served, panel: str) -> None:
    page = open_page(f"{compared.url}/local/sweep/compare?tab=explore", scheme="dark")
    expect(page.locator("circle").first).to_be_visible()
    for title, kind in (("SVG drawing", "svg"), ("PNG picture", "png"), ("CSV", "csv")):
        page.get_by_role("button", name=f"Export {panel}", exact=True).click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=title).click()
        assert download.value.suggested_filename.endswith(kind)
        body = Path(download.value.path()).read_bytes()
        if kind == "png":
            assert body.startswith(b"\x89PNG")
        elif kind == "csv":
            assert len(body.splitlines()) == 41
        else:
            text = body.decode()
            assert text.startswith("<svg")
            assert "var(" not in text
            assert "class=" not in text


def test_runs_are_added_and_taken_away(open_page: OpenPage, compared: Served) -> None:
    ids = run_ids(compared, "sweep", 2)
    page = open_page(f"{compared.url}/local/sweep/compare?runs={','.join(ids)}")
    expect(page.get_by_role("heading", name="Compare 2 runs")).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.type("run-17")
    option = page.get_by_role("option", name="run-17")
    expect(option).to_be_visible()
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Compare 3 runs")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Take run-0 away").click()
    expect(page.get_by_role("heading", name="Compare 2 runs")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Compare 3 runs")).to_be_visible()


def test_all_runs_of_a_view_with_values_instead_of_columns(open_page: OpenPage, compared: Served) -> None:
    page = open_page(f"{compared.url}/local/sweep/compare?filter=config.optimizer.name+%3D+sgd")
    expect(page.get_by_text("Runs of the view")).to_be_visible()
    config = page.get_by_role("region", name="Config", exact=True)
    expect(config.get_by_role("columnheader", name="Values and runs that have them")).to_be_visible()
    expect(config.get_by_role("rowheader", name="optimizer")).to_have_count(0)
    chip = config.get_by_role("row").filter(has_text="model").locator("..").locator(".diff-chip").first
    chip.click()
    expect(page.locator(".compare-brushed")).to_be_visible()
    expect(chip).to_have_attribute("aria-pressed", "true")


def test_runs_that_are_gone_are_told_of(open_page: OpenPage, compared: Served) -> None:
    ids = run_ids(compared, "sweep", 2)
    page = open_page(f"{compared.url}/local/sweep/compare?runs={','.join([*ids, 'nothere1'])}")
    expect(page.get_by_text("1 run of the address is not there, perhaps deleted: nothere1.")).to_be_visible()
    page.goto(f"{compared.url}/local/sweep/compare?runs=nothere1")
    expect(page.get_by_role("heading", name="No runs to compare")).to_be_visible()
    page.goto(f"{compared.url}/local/sweep/compare?filter=lr+%3C")
    expect(page.get_by_text("The filter cannot be read")).to_be_visible()


@pytest.mark.parametrize("tab", ["diff", "metrics", "charts", "explore"])
def test_nothing_serious_for_assistive_tools(open_page: OpenPage, compared: Served, tab: str) -> None:
    for scheme, address in (("light", pair(compared, f"&tab={tab}")), ("dark", _sweep(compared, tab))):
        page = open_page(address, scheme=scheme)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        assert violations(page) == []


@pytest.mark.parametrize("tab", ["diff", "metrics", "charts", "explore"])
def test_on_a_phone_nothing_is_wider_than_the_screen(open_page: OpenPage, compared: Served, tab: str) -> None:
    page = open_page(pair(compared, f"&tab={tab}"), viewport=PHONE)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    for scroller in ("document.documentElement", "document.getElementById('main')"):
        assert page.evaluate(f"{scroller}.scrollWidth") == PHONE["width"]
    assert beyond_reach(page) == []


def _sweep(served: Served, tab: str) -> str:
    return f"{served.url}/local/sweep/compare?tab={tab}"
