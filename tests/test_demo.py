"""The demo really learns, and logs one of everything."""

from __future__ import annotations

import pytest

from strobe.api import Api
from strobe.cli import main
from strobe.demo import Plan, train
from strobe.home import Home


@pytest.mark.slow
def test_the_demo_learns_and_logs(home: Home) -> None:
    path = train(Plan(steps=400, points_per_arm=100))
    run = Api(home).run(path)
    assert run.state == "finished"
    assert run.metrics["train/loss"].min < run.metrics["train/loss"].max / 2
    assert run.summary["val/accuracy"]["max"] > 0.6
    assert run.summary["decision"]["_type"] == "image-file"
    assert run.summary["gradients/hidden"]["_type"] == "histogram"
    assert run.summary["predictions"]["_type"].startswith("table")
    assert run.file(run.summary["decision"]["path"]).size > 0
    assert run.config["steps"] == 400


@pytest.mark.slow
def test_strobe_demo_shows_the_run(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--steps", "50"]) == 0
    assert "val/accuracy" in capsys.readouterr().out
