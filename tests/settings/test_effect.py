"""Every setting has an effect that a test shows: here those that name a run and say where it goes.

The others are in test_effect_*.py. A setting that no test shows fails here.
"""

from __future__ import annotations

import importlib
import socket
import time
from pathlib import Path
from typing import Any

import pytest

import strobe
from strobe.home import Home
from strobe.settings.table import FIELDS

from .effect import Start, contents, replay_of, shows

KEY = "0f3c9e71d2ab4c5e8f60a1b2c3d4e5f6a7b8c9d0"


def shown_settings() -> dict[str, list[str]]:
    """Return setting → the tests that show its effect."""
    found: dict[str, list[str]] = {}
    for path in sorted(Path(__file__).parent.glob("test_effect*.py")):
        module = importlib.import_module(f"{__package__}.{path.stem}")
        for name, test in vars(module).items():
            if name.startswith("test_"):
                for setting in getattr(test, "shows", ()):
                    found.setdefault(setting, []).append(f"{path.name}::{name}")
    return found


def test_every_setting_is_shown_to_have_an_effect() -> None:
    assert shown_settings().keys() == FIELDS.keys()


@shows("mode")
@pytest.mark.parametrize(("mode", "num_runs"), [("offline", 1), ("shared", 1), ("disabled", 0)])
def test_mode(start: Start, home: Home, mode: str, num_runs: int) -> None:
    start(mode=mode).log({"x": 1})
    assert len(list(home.iter_runs())) == num_runs


@shows("base_url")
def test_a_server_makes_the_mode_online(start: Start) -> None:
    assert (start().offline, start().url) == (True, None)
    run = start(base_url="http://127.0.0.1:9")
    assert (run.offline, run.url) == (False, f"http://127.0.0.1:9/local/uncategorized/runs/{run.id}")


@shows("login_entity")
def test_a_link_that_is_passed_on_names_whoever_signed_in(start: Start) -> None:
    run = start(base_url="http://127.0.0.1:9", login_entity="ada")
    assert run.url == f"http://127.0.0.1:9/ada/uncategorized/runs/{run.id}"
    run = start(base_url="http://127.0.0.1:9", login_entity="ada", entity="team")
    assert run.url == f"http://127.0.0.1:9/team/uncategorized/runs/{run.id}"


def test_online_without_an_agent_records_here_says_so_in_one_line_and_waits_for_nobody(
    start: Start, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("nobody is to be asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    run = start(mode="online", base_url="http://127.0.0.1:9", silent=False, quiet=True, finish_timeout=60)
    run.log({"loss": 0.5})
    began = time.monotonic()
    run.finish()
    assert time.monotonic() - began < 10
    assert capsys.readouterr().err == (
        f"strobe: WARNING not uploaded: the agent is off; `strobe sync {run.sync_dir}` uploads it\n"
    )
    replay = replay_of(run)
    assert (replay.state, replay.summary["loss"]) == ("finished", 0.5)


def test_the_key_of_an_online_run_lies_in_a_file_for_its_user_alone(start: Start, home: Home) -> None:
    run = start(base_url="http://127.0.0.1:9", api_key=KEY)
    run.log({"x": 1})
    (marker,) = (home.path / "unsynced").iterdir()
    assert KEY.encode() in marker.read_bytes()
    assert (marker.stat().st_mode & 0o777, marker.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    marker.unlink()
    assert KEY.encode() not in contents(home.path)


@shows("api_key")
def test_a_key_is_known_to_the_program_and_written_nowhere(
    start: Start, home: Home, agent_asked: list[Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["train.py", "--api-key", KEY, f"--strobe_api_key={KEY}"])
    monkeypatch.setattr("sys.orig_argv", ["python", "train.py", "--api-key", KEY])
    run = start(api_key=KEY, config={"api_key": KEY, "server": f"https://me:{KEY}@host/"})
    print(run.settings, run.settings.as_dict(), run.settings.explain())
    run.log({"x": 1})
    run.alert("key", f"api_key={KEY}")
    assert agent_asked == [home]
    assert run.settings.api_key == KEY
    before = contents(home.path)  # the note for the agent is still there
    assert b'"argv"' in before
    run.finish()
    assert KEY.encode() not in before + contents(home.path)


@shows("home")
def test_home(start: Start, home: Home, tmp_path: Path) -> None:
    run = start(home=tmp_path / "elsewhere")
    assert run.sync_dir.startswith(str(tmp_path / "elsewhere"))
    assert not home.runs.exists()


@shows("project", "entity", "run_id")
def test_the_path_of_a_run(start: Start, home: Home) -> None:
    run = start(project="p", entity="e", run_id="i")
    assert run.path == "e/p/i"
    assert (home.runs / "e" / "p" / "i" / "journal").is_dir()


NAMES = {
    "run_name": ("a name", "name", "a name"),
    "run_group": ("a group", "group", "a group"),
    "run_job_type": ("eval", "job_type", "eval"),
    "run_tags": (("a", "b"), "tags", ["a", "b"]),
    "run_notes": ("why", "notes", "why"),
    "sweep_id": ("s1", "sweep_id", "s1"),
    "username": ("ann", "user", "ann"),
    "email": ("ann@host", "email", "ann@host"),
    "host": ("a-node", "host", "a-node"),
    "program": ("other.py", "program", "other.py"),
}


@shows(*NAMES)
@pytest.mark.parametrize("setting", NAMES)
@pytest.mark.parametrize("describe", [True, False])
def test_what_is_said_of_a_run_is_recorded(start: Start, setting: str, describe: bool) -> None:
    value, attribute, recorded = NAMES[setting]
    run = start(describe=describe, **{setting: value})
    assert replay_of(run).attributes[attribute] == recorded
    assert replay_of(start(describe=describe)).attributes.get(attribute) != recorded


@shows("allow_val_change")
def test_allow_val_change(start: Start) -> None:
    run = start(allow_val_change=True, config={"lr": 1})
    run.config.update({"lr": 2})
    assert replay_of(run).config["lr"] == 2
    with pytest.raises(strobe.UsageError):
        start(config={"lr": 1}).config.update({"lr": 2})


@shows("strict_steps")
def test_strict_steps(start: Start) -> None:
    for strict, kept in ((False, [1, 5]), (True, [5])):
        run = start(strict_steps=strict)
        run.log({"x": 1}, step=5)
        if strict:
            with pytest.raises(strobe.errors.StepOrder):
                run.log({"x": 2}, step=1)
        else:
            run.log({"x": 2}, step=1)
        assert [row["_step"] for row in replay_of(run).rows()] == kept
