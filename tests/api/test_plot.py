"""Runs as one chart, drawn without a server."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree as ET

import strobe
from strobe.api import plot


def test_long_series_keep_their_spikes_and_odd_values(tmp_path: Path) -> None:
    run = strobe.init("p", dir=tmp_path, name="long")
    spike, hole = 4321, 7000
    for step in range(10_000):
        run.log({"loss": 50.0 if step == spike else math.nan if step == hole else 1.0})
    run.finish()
    points = plot._points(strobe.Api(tmp_path).run(run.id), "loss")
    line = plot._line(points, "long", 0, 0)
    assert len(line.x) == plot.MAX_POINTS
    assert line.low is not None
    assert line.high is not None
    assert (min(line.low), max(line.high)) == (1.0, 50.0)
    assert line.x[list(line.high).index(50.0)] == spike // 10 * 10
    assert list(line.odd) == [(hole, "nan")]
    svg, count = plot.plot([strobe.Api(tmp_path).run(run.id)], ["loss"])
    assert count == 10_000
    ET.fromstring(svg)
