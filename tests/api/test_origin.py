"""Which source `Api` reads: what is given decides, else where `init()` sends runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from strobe.api import Api
from strobe.api.server.source import ServerSource
from strobe.errors import UsageError
from strobe.home import Home

from .conftest import MakeRun

SERVER = "https://strobe.example.com"


def key_of(api: Api) -> str | None:
    assert isinstance(api._source, ServerSource)
    return api._source.host._link.target.api_key


def test_without_a_server_it_is_the_home(home: Home) -> None:
    assert Api().home == home
    assert repr(Api()) == f"<Api {home.path}>"


def test_a_server_of_the_settings_is_read(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_BASE_URL", SERVER)
    monkeypatch.setenv("STROBE_API_KEY", "k1")
    assert repr(Api()) == f"<Api {SERVER}>"
    assert key_of(Api()) == "k1"
    assert Api(home=home).home == home
    assert Api(str(home.path)).home == home


def test_but_not_when_runs_stay_here(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_BASE_URL", SERVER)
    monkeypatch.setenv("STROBE_MODE", "offline")
    assert Api().home == home
    assert repr(Api(base_url=SERVER)) == f"<Api {SERVER}>"


@pytest.mark.usefixtures("home")
def test_all_the_ways_to_name_a_server() -> None:
    for api in (
        Api(SERVER),
        Api(SERVER + "/"),
        Api(base_url=SERVER),
        Api(overrides={"base_url": SERVER, "entity": "team"}),
        Api({"base_url": SERVER}),  # type: ignore[arg-type]  # wandb's way
    ):
        assert repr(api) == f"<Api {SERVER}>"
    assert key_of(Api(SERVER, api_key="k2")) == "k2"


def test_a_key_goes_only_to_the_server_that_it_is_for(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_API_KEY", "k1")
    assert key_of(Api(SERVER)) == "k1"
    monkeypatch.setenv("STROBE_BASE_URL", SERVER)
    assert key_of(Api(SERVER)) == "k1"
    assert key_of(Api("https://elsewhere.example.com")) is None
    assert key_of(Api("https://elsewhere.example.com", api_key="k3")) == "k3"


def test_contradictions_are_refused(home: Home) -> None:
    with pytest.raises(UsageError, match="which one"):
        Api(SERVER, base_url="https://elsewhere.example.com")
    with pytest.raises(UsageError, match="both a home"):
        Api(home, base_url=SERVER)


def test_a_home_is_read_without_network_and_numerics(home: Home, make_run: MakeRun, tmp_path: Path) -> None:
    make_run("r1", rows=[(0, {"loss": 1.0})])
    script = (
        "import sys, strobe\n"
        "run = strobe.Api(sys.argv[1]).runs()[0]\n"
        "assert run.state == 'finished' and run.summary['loss'] == 1.0 and run.history(pandas=False)\n"
        "print([name for name in ('urllib3', 'numpy', 'pandas', 'strobe.store') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, str(home.path)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert result.stdout.strip() == "[]"
