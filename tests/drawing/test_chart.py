"""Charts: whatever the numbers and names, a well-formed document that holds no script and shows what is there."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.drawing import Cell, Figure, Grid, Line, draw, draw_grid
from strobe.drawing.theme import _PARTS

SPACE = "{http://www.w3.org/2000/svg}"
numbers = st.floats() | st.integers(-(2**63), 2**64).map(float) | st.sampled_from([0.0, 1.0, -1.0, 5e-324, 1.7e308])
texts = st.text(max_size=40) | st.sampled_from(["<script>&\"'", "\x00\x1b", "\udce9", "漢字" * 20])


@st.composite
def lines(draw_: Any) -> Line:
    size = draw_(st.integers(0, 12))
    parts = {name: draw_(st.lists(numbers, min_size=size, max_size=size)) for name in ("x", "y", "low", "high")}
    if draw_(st.booleans()):
        parts.pop("low"), parts.pop("high")
    return Line(
        **parts,
        label=draw_(texts),
        colour=draw_(st.integers(0, 100)),
        dash=draw_(st.sampled_from(["solid", "dash", "dot", "dashdot"])),
        is_faint=draw_(st.booleans()),
        odd=draw_(st.lists(st.tuples(numbers, st.sampled_from(["nan", "inf", "-inf"])), max_size=3)),
    )


@settings(max_examples=400)
@given(
    found=st.lists(lines(), max_size=4),
    title=texts,
    x_scale=st.sampled_from(["linear", "log"]),
    y_scale=st.sampled_from(["linear", "log", "symlog"]),
    x_kind=st.sampled_from(["number", "duration", "time"]),
    ends=st.tuples(st.none() | numbers, st.none() | numbers),
    size=st.tuples(st.integers(60, 3000), st.integers(60, 3000)),
    theme=st.sampled_from(["auto", "light", "dark"]),
)
def test_anything_is_a_document(
    found: list[Line],
    title: str,
    x_scale: Any,
    y_scale: Any,
    x_kind: Any,
    ends: tuple[float | None, float | None],
    size: tuple[int, int],
    theme: Any,
) -> None:
    figure = Figure(
        lines=found, title=title, x_label=title, x_scale=x_scale, y_scale=y_scale, x_kind=x_kind, x_first=ends[0],
        x_last=ends[1], width=size[0], height=size[1], theme=theme,
    )  # fmt: skip
    document = draw(figure)
    root = ET.fromstring(document)
    assert root.find(f"{SPACE}title") is not None
    assert "<script" not in document
    for element in root.iter():
        for name, value in element.attrib.items():
            if name in ("d", "points", "x", "y", "cx", "cy"):
                assert not re.search("nan|inf|None", value), (element.tag, name, value)
    assert len(root.findall(f".//{SPACE}text")) < 200
    assert draw(figure) == document


def words(document: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(document).iter(f"{SPACE}text")]


def test_a_chart_says_what_it_shows() -> None:
    line = Line(x=[0, 10, 20], y=[4.0, 2.0, 1.0], low=[3.0, 1.0, 0.5], high=[5.0, 3.0, 2.0], label="first <run>")
    other = Line(x=[0, 10, 20], y=[3.0, math.nan, math.inf], label="second", colour=1, dash="dash")
    document = draw(Figure(lines=[line, other], title="train/loss", x_label="step"))
    assert {"train/loss", "step", "first <run>", "second", "0", "20"} <= set(words(document))
    said = ET.fromstring(document).findtext(f"{SPACE}desc") or ""
    assert "2 lines" in said
    assert "first <run>: 3 points, from 4 to 1, lowest 1, highest 4." in said
    assert "second: 3 points, 2 not finite" in said
    assert "prefers-color-scheme:dark" in document
    assert document.count("stroke-dasharray") == 2 - 1  # one point stands alone, the legend has its stroke


def test_a_fixed_theme_has_no_style_sheet() -> None:
    for theme in ("light", "dark"):
        assert "<style" not in draw(Figure(lines=[Line(x=[0, 1], y=[0, 1])], theme=theme))


def test_what_a_log_axis_cannot_show_is_said() -> None:
    document = draw(Figure(lines=[Line(x=[0, 1, 2], y=[1.0, 0.0, -3.0])], x_scale="log", y_scale="log"))
    assert any("3 points at or below zero are not on a log axis" in text for text in words(document))
    assert not any("log axis" in text for text in words(draw(Figure(lines=[Line(x=[1, 2], y=[1, 2])], y_scale="log"))))


def test_a_legend_that_is_too_long_is_counted() -> None:
    many = [Line(x=[0, 1], y=[n, n], label=f"a run with quite a long name, number {n}", colour=n) for n in range(60)]
    shown = words(draw(Figure(lines=many)))
    more = next(text for text in shown if text.startswith("and "))
    assert int(re.sub(r"\D", "", more)) + sum("quite" in text for text in shown) == 60


def test_without_points() -> None:
    assert "no points" in words(draw(Figure(lines=[], title="nothing")))


def test_a_line_has_parts_of_one_length() -> None:
    with pytest.raises(ValueError, match="one length"):
        Line(x=[1, 2], y=[1])
    with pytest.raises(ValueError, match="low goes with high"):
        Line(x=[1], y=[1], low=[1])


@pytest.mark.parametrize("part", [name for name in _PARTS if name not in ("ground", "grid")])
def test_colours_have_contrast(part: str) -> None:
    _, light, dark = _PARTS[part]
    least = 4.5 if part in ("ink", "soft", "odd") else 3.0
    assert contrast(light, _PARTS["ground"][1]) >= least
    assert contrast(dark, _PARTS["ground"][2]) >= least


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@given(
    st.lists(
        st.builds(
            Cell, title=texts, caption=texts, values=st.lists(numbers, max_size=9), best=st.none() | st.integers(0, 9),
            first=texts, last=texts, alarm=texts,
        ),
        max_size=7,
    ),
    texts,
)  # fmt: skip
def test_any_grid_is_a_document(cells: list[Cell], title: str) -> None:
    document = draw_grid(Grid(title=title, cells=cells))
    root = ET.fromstring(document)
    assert len(root.findall(f"{SPACE}g")) == len(cells)
    assert "<script" not in document


@pytest.mark.slow
def test_nothing_heavy_is_loaded() -> None:
    heavy = ("numpy", "strobe.server", "strobe.api")
    code = f"import sys, strobe.drawing; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("top", [1.7e308, 9e307, 5e-324])
def test_ranges_at_the_ends_of_floats_have_ticks(top: float) -> None:
    document = draw(Figure(lines=[Line(x=[0.0, 1.0], y=[0.0, top])], title="far"))
    assert len(words(document)) >= 4


def points_of(path: str) -> list[tuple[float, float]]:
    """Return where a path goes: what a browser would make of it."""
    found: list[tuple[float, float]] = []
    x = y = 0.0
    for command, text in re.findall(r"([MlhZ])([^MlhZ]*)", path):
        numbers_ = [float(number) for number in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", text)]
        if command == "M":
            x, y = numbers_
        elif command == "l":
            x, y = x + numbers_[0], y + numbers_[1]
        elif command == "h":
            x += numbers_[0]
        found.append((x, y))
    return found


@given(
    st.lists(st.tuples(st.floats(0, 5000), st.floats(0, 5000) | st.sampled_from([7.0, 7.04])), min_size=2, max_size=60)
)
def test_a_path_goes_through_its_spots(spots: list[tuple[float, float]]) -> None:
    from strobe.drawing.stroke import _path

    walked = points_of(_path([(round(x * 10), round(y * 10)) for x, y in spots]))
    assert walked[0] == pytest.approx(spots[0], abs=0.06)
    assert walked[-1] == pytest.approx(spots[-1], abs=0.06)
    levels = [one for one in range(1, len(spots) - 1) if round(spots[one][1] * 10) != round(spots[one - 1][1] * 10)]
    for index in levels:
        x, y = spots[index]
        assert any(abs(x - at) < 0.06 and abs(y - down) < 0.06 for at, down in walked), (index, walked)
