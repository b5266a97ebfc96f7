"""The start line, the end block and the notebook picture, on what a real journal replays to."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.api.picture import MAX_CHARTS
from strobe.drawing import grid
from strobe.home import RunDir, RunPath
from strobe.journal import event as ev
from strobe.journal.digest import MetricDigest
from strobe.journal.goal import guess_goal
from strobe.journal.relevance import by_relevance
from strobe.sdk.report.text import duration, end_block, mimebundle, shorten_home, sparkline, start_line, svg
from strobe.terminal import Terminal, number

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
PATH = RunPath("local", "mnist", "ab12cd34")


class Tty(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def tty(columns: int = 100, lines: int = 24, **environ: str) -> Terminal:
    return Terminal(Tty(), environ={"COLUMNS": str(columns), "LINES": str(lines), **environ})


def plain() -> Terminal:
    return Terminal(io.StringIO(), environ={})


def digest(values: list[float]) -> MetricDigest:
    return MetricDigest.of((step, value, step) for step, value in enumerate(values))


@pytest.fixture
def replay() -> Callable[..., Any]:
    """Makes what a Replay shows of a finished run; keywords replace parts of it."""

    def make(metrics: dict[str, MetricDigest] | None = None, **changes: Any) -> Any:
        metrics = metrics if metrics is not None else {"loss": digest([3.0, 2.0, 1.0, 1.5])}
        for name, each in metrics.items():
            each.goal = guess_goal(name)
        found = {
            "run_dir": RunDir(Path("/data/runs/local/mnist/ab12cd34")),
            "path": PATH,
            "attributes": {"name": "bright-comet-12"},
            "metrics": metrics,
            "state": "finished",
            "started_ns": 1_000_000_000,
            "ended_ns": 134_000_000_000,
            "error": None,
            "rejected": 0,
            "num_rows": 4,
            "share": 0.0002,
            "damages": [],
            "definition": lambda name: None,
        }
        return SimpleNamespace(**{**found, **changes})

    return make


# -- start -----------------------------------------------------------------------------------------------------------


def test_start_line() -> None:
    line = start_line({"name": "bright-comet-12"}, PATH, "/data/x", plain())
    assert line == "strobe: bright-comet-12 - mnist - /data/x\n"
    shown = start_line({"name": "bright-comet-12"}, PATH, "/data/x", tty())
    assert COLOUR.sub("", shown) == "strobe: bright-comet-12 · mnist · /data/x\n"
    assert COLOUR.search(shown)
    assert "https://host/r" in start_line({}, PATH, "/data/x", plain(), url="https://host/r")


def test_start_line_is_one_line_whatever_the_name() -> None:
    assert start_line({"name": "a\nb\x1b[31m"}, PATH, "/x", plain()).count("\n") == 1


@pytest.mark.parametrize("setting", ["quiet", "silent"])
def test_no_start_line_when_not_wanted(setting: str) -> None:
    assert start_line({}, PATH, "/x", Terminal(io.StringIO(), environ={}, **{setting: True})) == ""


# -- end -------------------------------------------------------------------------------------------------------------


def test_end_block_byte_for_byte(replay: Callable[..., Any]) -> None:
    metrics = {
        "loss": digest([4.0, 3.0, 2.0, 1.0, 1.5]),
        "val/accuracy": digest([0.1, 0.5, 0.9, 0.85, 0.8]),
        "epoch": digest([0, 0, 1, 1, 2]),
    }
    assert end_block(replay(metrics)).splitlines() == [
        "strobe: bright-comet-12 finished after 2m 13s - 4 rows (0.03/s), 0 rejected",
        "  Strobe took 0.02 % of the time",
        "  metric        last    best  @ step  course",
        "  val/accuracy   0.8     0.9       2  .+@@@",
        "  loss           1.5       1       3  @*-.:",
        "  epoch            2  0 .. 2          ..++@",
        "  where   /data/runs/local/mnist/ab12cd34",
        "  next    strobe run show mnist/ab12cd34",
    ]


def test_end_block_on_a_terminal(replay: Callable[..., Any]) -> None:
    block = end_block(replay(), terminal=tty(columns=120))
    assert COLOUR.sub("", block).splitlines()[0] == (
        "strobe: bright-comet-12 finished after 2m 13s · 4 rows (0.03/s), 0 rejected · Strobe took 0.02 % of the time"
    )
    assert "▁" in block
    assert COLOUR.search(block)
    assert end_block(replay(), terminal=tty(TERM="dumb")).isascii()
    assert not COLOUR.search(end_block(replay(), terminal=tty(NO_COLOR="1")))


def test_one_screen_at_most(replay: Callable[..., Any]) -> None:
    metrics = {f"layer{n}/norm": digest([n, n + 1]) for n in range(50)}
    metrics["val/loss"] = digest([2.0, 1.0])
    for lines in (24, 10, 60):
        block = COLOUR.sub("", end_block(replay(metrics), terminal=tty(lines=lines))).splitlines()
        assert len(block) < max(lines, 11)
        header = next(place for place, line in enumerate(block) if line.startswith("  metric"))
        assert block[header + 1].startswith("  val/loss")
        hidden = 51 - sum("norm" in line or "val/loss" in line for line in block)
        assert f"  + {hidden} more metrics: strobe run show mnist/ab12cd34 --all" in block


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 300])
def test_lines_fit_the_screen_and_align(replay: Callable[..., Any], columns: int) -> None:
    metrics = {
        "train/very/long/name/of/a/metric/that/goes/on/and/on/loss": digest([1e-30, 5.0, math.nan]),
        "acc": digest([0.5, 0.25]),
    }
    block = COLOUR.sub("", end_block(replay(metrics), terminal=tty(columns=columns))).splitlines()
    assert all(len(line) <= max(columns, 60) for line in block)
    header, first = next(pair for pair in pairwise(block) if "last" in pair[0])
    assert header.index("last") + 4 == re.search(r"0\.25", first).end()  # type: ignore[union-attr]


def test_the_command_that_does_it_again(replay: Callable[..., Any], tmp_path: Path) -> None:
    told = {"name": "n", "command": "python train.py --lr 0.1", "cwd": os.getcwd()}
    assert "  again   python train.py --lr 0.1" in end_block(replay(attributes=told)).splitlines()
    elsewhere = end_block(replay(attributes={**told, "cwd": "/data/my code"})).splitlines()
    assert "  again   cd '/data/my code' && python train.py --lr 0.1" in elsewhere


def test_what_became_of_it_against_a_baseline(replay: Callable[..., Any]) -> None:
    metrics = {
        "loss": digest([3.0, 1.5]),  # the best counts where there is one
        "val/accuracy": digest([0.2, 0.9]),
        "epoch": digest([0, 2]),
        "new/loss": digest([1.0]),
        "lr": digest([0.5, 0.1]),
    }
    before = {
        "loss": digest([2.0, 2.5]),
        "val/accuracy": digest([0.1, 0.9]),
        "epoch": digest([0, 0]),
        "lr": digest([1.0, math.nan]),
    }
    baseline = replay(before, attributes={"name": "the-old-one"})
    block = end_block(replay(metrics), baseline=baseline)
    cells = {line.split()[0]: line for line in block.splitlines() if line.startswith("  ")}
    assert "vs the-old-one" in cells["metric"]
    place = cells["metric"].index("vs the-old-one") + len("vs the-old-one")
    assert cells["loss"][:place].endswith("  -25 %")
    assert cells["val/accuracy"][:place].endswith("  same")
    assert cells["epoch"][:place].endswith("  +2")
    assert cells["new/loss"][:place].endswith("   ")
    assert cells["lr"][:place].endswith("   ")


def test_failed_run_shows_the_last_line_of_the_error(replay: Callable[..., Any]) -> None:
    trace = "Traceback (most recent call last):\n  File ...\nValueError: boom\n\n"
    block = end_block(replay(state="failed", error=trace))
    assert "bright-comet-12 failed" in block
    assert "  error   ValueError: boom" in block.splitlines()
    assert "Traceback" not in block


def test_rejected_damaged_and_odd_values_are_never_hidden(replay: Callable[..., Any]) -> None:
    odd = digest([1.0, math.nan, math.inf, -math.inf, math.nan])
    block = end_block(replay({"loss": odd}, rejected=12345, damages=[("s", object())]))
    assert "12,345 rejected" in block
    assert "2 nan, 1 inf, 1 -inf" in block
    assert "1 place in the journal cannot be read: strobe journal verify /data/runs/local/mnist/ab12cd34" in block


def test_no_metrics_no_rows(replay: Callable[..., Any]) -> None:
    block = end_block(replay({}, num_rows=0, share=None, ended_ns=None, attributes={}))
    assert block.splitlines()[0] == "strobe: ab12cd34 finished - 0 rows, 0 rejected"
    assert len(block.splitlines()) == 3


def test_metrics_without_a_finite_value(replay: Callable[..., Any]) -> None:
    block = end_block(replay({"loss": digest([math.nan, math.nan])}))
    assert "nan" in block
    assert "inf" not in block


def test_commands_can_be_pasted(replay: Callable[..., Any]) -> None:
    block = end_block(replay(path=RunPath("team", "it's mine", "x y")))
    assert "strobe run show 'team/it'\"'\"'s mine/x y'" in block


def test_rows_and_url_can_be_given(replay: Callable[..., Any]) -> None:
    block = end_block(replay(), rows=1, url="https://host/run")
    assert "1 row (0.0075/s), 0 rejected" in block
    assert "  where   https://host/run" in block


# -- which metrics ---------------------------------------------------------------------------------------------------


def test_relevance(replay: Callable[..., Any]) -> None:
    metrics = {
        "gradients/w.norm": digest([1, 2]),
        "lr": digest([1, 2]),
        "constant": digest([5, 5]),
        "something": digest([1, 2]),
        "train/loss": digest([1, 2]),
        "val/loss": digest([1, 2]),
        "chosen": digest([1, 2]),
        "hidden": digest([1, 2]),
    }
    definitions = {
        "hidden": ev.Metric(time_ns=0, name="hidden", hidden=True),
        "chosen": ev.Metric(time_ns=0, name="chosen", goal="maximize"),
    }
    known = replay(metrics, definition=definitions.get)
    found = by_relevance(known.metrics, known.definition)
    assert [name for name, _ in found] == [
        *("chosen", "val/loss", "train/loss", "something", "constant", "lr", "gradients/w.norm"),
    ]


# -- texts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "width", "line"),
    [
        ([], 10, ""),
        ([1.0], 10, "▄"),
        ([1, 1, 1], 10, "▄▄▄"),
        ([0, 1, 2, 3, 4, 5, 6, 7], 8, "▁▂▃▄▅▆▇█"),
        ([0, 0, 10, 10], 2, "▁█"),
        ([1, math.nan, 2], 3, "▁·█"),
        ([1, math.inf, -math.inf, 2, None], 5, "▁▲▼█·"),
        ([math.nan, math.nan], 2, "··"),
        ([-1e308, 1e308], 2, "▁█"),
        ([10**400, 1, 2], 3, "▲▁█"),
        ([1, 2], 0, ""),
    ],
)
def test_sparklines(values: list[Any], width: int, line: str) -> None:
    assert sparkline(values, width) == line


@given(st.lists(st.floats() | st.integers()), st.integers(0, 50), st.booleans())
def test_any_sparkline(values: list[float | int], width: int, ascii: bool) -> None:
    line = sparkline(values, width, ascii=ascii)
    assert len(line) == min(width, len(values))
    assert line.isascii() or not ascii


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0.123456, "0.1235"),
        (1234, "1,234"),
        (10**9, "1e+09"),
        (10**400, "~1e400"),
        (-(10**400), "~-1e400"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (True, "1"),
    ],
)
def test_numbers(value: Any, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.00 s"), (-3, "0.00 s"), (12.34, "12.3 s"), (133, "2m 13s"), (18_240, "5h 04m"), (266_400, "3d 02h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_home_is_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert shorten_home("/home/me/runs") == "~/runs"
    assert shorten_home("/home/melanie/runs") == "/home/melanie/runs"


# -- notebook --------------------------------------------------------------------------------------------------------


def test_svg_is_a_document_of_its_own(replay: Callable[..., Any]) -> None:
    metrics = {f"m{n}/loss": digest([1.0, 3.0, 2.0]) for n in range(9)}
    metrics["<script>&\"'\x00/val/loss"] = digest([math.nan, math.inf])
    document = svg(replay(metrics, attributes={"name": "<b>&\udce9"}))
    root = ET.fromstring(document)
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}g")) == MAX_CHARTS
    assert len(root.findall(f".//{space}polyline")) == MAX_CHARTS - 1
    assert "1 NaN, 1 inf" in "".join(root.itertext())
    assert "<script" not in document
    assert document.count("http") == 1  # the namespace


def test_svg_without_metrics(replay: Callable[..., Any]) -> None:
    assert "no metrics yet" in svg(replay({}))


def test_svg_of_one_point_and_of_a_constant(replay: Callable[..., Any]) -> None:
    document = svg(replay({"a": digest([1.0]), "b": digest([2.0, 2.0]), "c": digest([-1e308, 1e308])}))
    assert "nan" not in document
    ET.fromstring(document)


@pytest.mark.parametrize("colour", [grid.TEXT, grid.LINE, grid.MARK, grid.ODD])
def test_colours_read_on_light_and_dark(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= 2.9
    assert contrast(colour, "#0d1117") >= 3.0


def contrast(a: str, b: str) -> float:
    """WCAG's contrast ratio."""

    def luminance(colour: str) -> float:
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_mimebundle(replay: Callable[..., Any]) -> None:
    bundle = mimebundle(replay())
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
    assert bundle["text/plain"].isascii()
    assert "data:image/svg+xml;base64," in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
