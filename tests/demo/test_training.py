"""The demo's trainings really learn, log one of everything, and one of them really goes wrong."""

from __future__ import annotations

import json
import math

import pytest

from strobe.api import Api
from strobe.cli import main
from strobe.demo import story
from strobe.demo.spiral import Plan
from strobe.demo.training import train
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
    assert [artifact.type for artifact in run.logged_artifacts()] == ["dataset", "model"]
    assert "step    300" in run.console_logs()


@pytest.mark.slow
def test_the_data_is_kept_once(home: Home) -> None:
    plan = Plan(steps=3, points_per_arm=20)
    first, second = (Api(home).run(train(plan, say=lambda text: None)) for _ in range(2))
    assert [artifact.name for artifact in second.used_artifacts()] == ["spiral:v0"]
    assert "spiral:v0" in [artifact.name for artifact in first.logged_artifacts()]
    other = Api(home).run(train(Plan(steps=3, points_per_arm=21), say=lambda text: None))
    assert "spiral:v1" in [artifact.name for artifact in other.logged_artifacts()]


@pytest.mark.slow
def test_one_run_diverges(home: Home) -> None:
    chapter = story.past(60)[-1]
    run = Api(home).run(train(chapter.plan, name=chapter.name, say=lambda text: None))
    assert (run.state, run.replay.exit_code) == ("failed", 1)
    assert run.metrics["train/loss"].nan == 1
    assert math.isfinite(run.metrics["train/loss"].max)
    assert [alert.level for alert in run.replay.alerts] == ["ERROR"]


def test_the_runs_have_names_of_their_own() -> None:
    names = [chapter.name for chapter in story.past()]
    assert len(set(names)) == len(names) >= 5
    assert len({chapter.plan for chapter in story.past()}) == len(names)


@pytest.mark.slow
def test_strobe_demo_without_a_page_shows_the_run(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--no-ui", "--steps", "50"]) == 0
    assert "val/accuracy" in capsys.readouterr().out
    assert main(["demo", "--steps", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "finished"
    assert len(list(Api(home).runs("demo"))) == 2
