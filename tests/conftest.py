"""Every test gets a scrubbed environment; those that ask get a home of their own."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from strobe.home import Home
from strobe.sdk import current

# Times are noise on shared machines: a slow example is not a failure.
settings.register_profile("strobe", deadline=None)
settings.load_profile("strobe")

# What `nohup` or a shell in the background ignores, all processes of the tests would ignore, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

_RANK_VARIABLES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_JOB_ID", "OMPI_COMM_WORLD_RANK")


@pytest.fixture(autouse=True)
def _scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("STROBE_", "WANDB_", "TORCHELASTIC_")) or name in _RANK_VARIABLES:
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _nothing_stays_active() -> Iterator[None]:
    """Finish runs that a test left behind, so that it fails alone."""
    yield
    for run in list(current.active_runs()):
        run.finish()


@pytest.fixture
def signals() -> Iterator[None]:
    """Give back the handlers that a command takes for itself."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty home that `strobe.init()` will use: no agent, no talk."""
    path = tmp_path / "home"
    monkeypatch.setenv("STROBE_HOME", str(path))
    monkeypatch.setenv("STROBE_AGENT", "off")
    monkeypatch.setenv("STROBE_SILENT", "true")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Home(path)
