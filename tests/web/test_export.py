"""A panel's points leave the page in the forms that programs read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import OpenPage, Served

parquet = pytest.importorskip("pyarrow.parquet")


def choose(page: Page, title: str) -> None:
    page.get_by_role("article", name="val/loss", exact=True).hover()
    page.get_by_role("button", name="Options of val/loss").click()
    page.get_by_role("menuitem", name=title).click()


def test_points_as_json_and_parquet(open_page: OpenPage, ui: Served, tmp_path: Path) -> None:
    page = open_page(f"{ui.url}/local/vision?filter=config.seed+%3D+2")
    expect(page.locator(".list-count")).to_have_text("1 run")
    expect(page.get_by_role("article", name="val/loss", exact=True).locator("canvas").first).to_be_visible()
    with page.expect_download() as drawn:
        choose(page, "JSON of the points")
    drawn.value.save_as(tmp_path / "drawn.json")
    (line,) = json.loads((tmp_path / "drawn.json").read_text())["lines"]
    assert (drawn.value.suggested_filename, line["label"]) == ("val-loss.json", "resnet-2")
    with page.expect_download() as logged:
        choose(page, "Parquet of what was logged")
    logged.value.save_as(tmp_path / "logged.parquet")
    assert re.fullmatch(r".+-val-loss\.parquet", logged.value.suggested_filename)
    rows = [row for row in parquet.read_table(tmp_path / "logged.parquet").to_pylist() if row["val/loss"] is not None]
    assert [row["_step"] for row in rows] == list(range(0, 300, 10)) == line["x"]
    assert [row["val/loss"] for row in rows] == line["y"]
