"""Figures of peers arrive in a run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

import strobe
from strobe.errors import Error, RunFinished
from strobe.swarm.dht import DHT, get_dht_time
from strobe.swarm.telemetry import Telemetry, dht_figures


def test_figures_can_go_with_the_steps_of_the_run(tmp_path: Path) -> None:
    with strobe.init(project="p", dir=tmp_path) as run:
        with Telemetry(run, {"mine": lambda: {"figure": 7.0}}, period_s=0.01, commit=False):
            time.sleep(0.05)
        run.log({"loss": 1.0})
        assert run.step == 1
        assert run.summary["swarm/mine/figure"] == 7.0


def test_sources_are_asked_regularly_and_once_more_at_the_end(tmp_path: Path) -> None:
    asked = 0

    def count() -> Mapping[str, float]:
        nonlocal asked
        asked += 1
        return {"asked": asked}

    def gone() -> Mapping[str, float]:
        raise Error("gone")

    def broken() -> Mapping[str, float]:
        raise ZeroDivisionError

    with DHT() as dht, DHT([dht.address]) as other, strobe.init(project="p", dir=tmp_path) as run:
        other.store("key", 1, get_dht_time() + 60)
        sources = {"gone": gone, "broken": broken, "mine": count, "dht": dht_figures(dht)}
        with Telemetry(run, sources, period_s=0.02):
            deadline = time.monotonic() + 10
            while asked < 3 and time.monotonic() < deadline:
                time.sleep(0.01)
        summary = dict(run.summary)
    assert summary["swarm/mine/asked"] == asked >= 4, "whatever the others raised"
    assert summary["swarm/dht/peers"] == 1
    assert summary["swarm/dht/records"] == 1
    assert summary["swarm/dht/served"] > 0


def test_figures_that_a_run_does_not_take_are_not_the_last_ones(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked = 0

    def odd_at_first() -> Mapping[str, float]:
        nonlocal asked
        asked += 1
        return {"figure": asked if asked > 2 else object()}  # type: ignore[dict-item]

    with strobe.init(project="p", dir=tmp_path) as run:
        with Telemetry(run, {"mine": odd_at_first}, period_s=0.02):
            deadline = time.monotonic() + 10
            while asked < 4 and time.monotonic() < deadline:
                time.sleep(0.01)
        assert run.summary["swarm/mine/figure"] == asked >= 4
    assert "trying again in 0.02 s" in caplog.text


def test_a_run_that_has_finished_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = strobe.init(project="p", dir=tmp_path)
    telemetry = Telemetry(run, {"mine": lambda: {"figure": 7.0}}, period_s=0.02)
    telemetry.__enter__()
    run.finish()
    telemetry._thread.join(10)
    assert not telemetry._thread.is_alive()
    with pytest.raises(RunFinished):
        telemetry.__exit__(None, None, None)
    assert "not logged any more" in caplog.text
