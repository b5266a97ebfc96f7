"""The matplotlib script of a panel, made by the page's own code and run by the real matplotlib."""

from __future__ import annotations

import json
import math
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.frameworks

WEB = Path(__file__).resolve().parents[2] / "web"

#: reads a panel as JSON (x, y, low and high as lists, null for NaN) and writes its script
_RUNNER = """
import { matplotlibOf } from "./src/chart/export/matplotlib";
import { readFileSync } from "node:fs";
const panel = JSON.parse(readFileSync(0, "utf8"));
const column = (values) => values && Float64Array.from(values, (value) => value ?? NaN);
panel.lines = panel.lines.map((line) => ({
  id: line.label, colour: "#3451d1", dash: [], width: 1.5, faint: false, marks: [], members: 1, ...line,
  x: column(line.x), y: column(line.y), low: column(line.low ?? null), high: column(line.high ?? null),
}));
process.stdout.write(matplotlibOf(panel, { file: "chart.png" }));
"""


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("script") / "runner.mjs"
    esbuild = WEB / "node_modules" / ".bin" / "esbuild"
    options = ["--bundle", "--platform=node", "--format=esm", "--loader=ts", f"--outfile={out}", "--log-level=error"]
    subprocess.run([esbuild, *options], input=_RUNNER, text=True, cwd=WEB, check=True)
    return out


def drawn(runner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **panel: Any) -> dict[str, Any]:
    """Return what the script of a panel leaves behind: its names, after it has written its file."""
    full = {"title": "train/loss", "xAxis": "step", "xScale": "linear", "yScale": "linear", "clip": None, "zoom": None}
    answer = subprocess.run(
        ["node", runner], input=json.dumps({**full, **panel}), capture_output=True, text=True, check=True, timeout=60
    )
    script = tmp_path / "chart.py"
    script.write_text(answer.stdout)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names = runpy.run_path(str(script))
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    return names


def test_lines_bands_dashes_and_gaps_are_drawn(runner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        {"label": "raw", "x": [0, 1, 2], "y": [3, None, 1], "faint": True},
        {"label": "mean", "x": [0, 1, 2], "y": [3, 2, 1], "low": [2, 1, 0], "high": [4, 3, 2], "members": 5},
        {"label": 'other $x$ "q" \\n', "x": [0, 2], "y": [1, 1e-7], "dash": [6, 4]},
    ]
    names = drawn(runner, tmp_path, monkeypatch, lines=lines, title='loss $\\alpha "quoted"')
    axes = names["axes"]
    raw, mean, other = axes.get_lines()
    assert [math.isnan(value) for value in raw.get_ydata()] == [False, True, False]
    assert list(mean.get_ydata()) == [3, 2, 1]
    assert list(other.get_ydata()) == [1, 1e-7]
    assert other.is_dashed()
    assert len(axes.collections) == 1
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["mean (n = 5)", 'other \\$x\\$ "q" \\n']
    assert axes.get_title(loc="left") == 'loss \\$\\alpha "quoted"'


def test_the_view_is_the_one_of_the_page(runner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [{"label": "a", "x": list(range(1, 101)), "y": [10.0**-i for i in range(100)]}]
    names = drawn(
        runner, tmp_path, monkeypatch, lines=lines, yScale="log", xScale="log", zoom={"first": 10, "last": 20}
    )
    axes = names["axes"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlim() == (10, 20)
    low, high = axes.get_ylim()
    assert 1e-21 < low < 1e-19
    assert 1e-10 < high < 1e-8
    assert list(axes.get_lines()[0].get_xdata()) == list(range(9, 22))


def test_symlog_clipping_and_times(runner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [{"label": "a", "x": [1_790_000_000, 1_790_000_600], "y": [-5, 5000]}]
    panel = {"xAxis": "wall", "yScale": "symlog", "clip": {"low": -10, "high": 100}, "yName": "loss"}
    axes = drawn(runner, tmp_path, monkeypatch, lines=lines, **panel)["axes"]
    assert axes.get_yscale() == "asinh"
    assert axes.get_ylim()[1] < 200
    assert axes.get_ylabel() == "loss"
    assert axes.get_lines()[0].get_xdata()[0].isoformat() == "2026-09-21T14:13:20+00:00"


def test_a_second_axis_has_its_own_lines_and_scale(
    runner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        {"label": "loss", "x": [0, 1, 2], "y": [3, 2, 1]},
        {"label": "tokens/s", "x": [0, 1, 2], "y": [1e3, 1e5, 1e4], "isRight": True},
    ]
    panel = {"rightScale": "log", "rightName": "tokens/s", "zoom": {"first": 0, "last": 1}}
    names = drawn(runner, tmp_path, monkeypatch, lines=lines, **panel)
    left, right = names["axes"], names["right_axes"]
    assert [len(axes.get_lines()) for axes in (left, right)] == [1, 1]
    assert list(right.get_lines()[0].get_ydata()) == [1e3, 1e5, 1e4]
    assert (left.get_yscale(), right.get_yscale(), right.get_ylabel()) == ("linear", "log", "tokens/s")
    assert right.get_ylim()[1] > 1e5
    assert [text.get_text() for text in names["figure"].legends[0].get_texts()] == ["loss", "tokens/s"]


def test_a_panel_without_lines_draws_too(runner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(runner, tmp_path, monkeypatch, lines=[])["axes"].get_lines()[:] == []
