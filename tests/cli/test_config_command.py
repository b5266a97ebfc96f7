from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from strobe.cli import config as command
from strobe.errors import SettingsError
from strobe.home import Home
from strobe.settings.table import FIELDS

Run = Callable[..., tuple[str, str]]


@pytest.fixture
def run(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `strobe config …` in a directory of its own; return stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    parser = argparse.ArgumentParser(prog="strobe")
    command.register(parser.add_subparsers())

    def call(*words: str) -> tuple[str, str]:
        args = parser.parse_args(["config", *words])
        assert args.func(args) == 0
        printed = capsys.readouterr()
        return printed.out, printed.err

    return call


def user_file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "strobe" / "config.toml"


def test_list(run: Run, home: Home) -> None:
    out, err = run()
    assert err == ""
    assert [line.split()[0] for line in out.splitlines()] == ["SETTING", *FIELDS]
    assert str(home.path) in out
    changed = dict(line.split() for line in run("--changed")[0].splitlines()[1:])
    assert changed == {"home": str(home.path), "agent": "false", "silent": "true"}


def test_explain(run: Run, home: Home) -> None:
    out, _ = run("--explain")
    assert out.splitlines()[0].split() == ["SETTING", "VALUE", "ORIGIN", "MEANING"]
    line = next(line for line in out.splitlines() if line.startswith("agent "))
    assert line.split(maxsplit=3) == ["agent", "false", "STROBE_AGENT", FIELDS["agent"].doc]


def test_json(run: Run, home: Home) -> None:
    rows = {row["name"]: row for row in json.loads(run("--json")[0])}
    assert list(rows) == list(FIELDS)
    assert rows["home"]["value"] == str(home.path)
    assert rows["stats_disk_paths"]["value"] == ["/"]
    assert set(rows["mode"]) == {"name", "value", "origin", "doc"}


def test_secrets_are_hidden_everywhere(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "s3cret")
    printed = run()[0] + run("--explain")[0] + run("--json")[0] + run("get", "api_key")[0]
    assert "s3cret" not in printed
    assert "****" in printed


def test_get(run: Run, home: Home) -> None:
    assert run("get", "home") == (f"{home.path}\n", "")
    assert run("get", "root_dir")[0] == f"{home.path}\n"
    assert run("get", "project")[0] == "\n"
    assert run("get", "silent", "-v") == ("true\n", "from STROBE_SILENT\n")
    expected = {"name": "x_disable_stats", "value": False, "origin": "default"}
    assert json.loads(run("get", "x_disable_stats", "--json")[0]) == expected
    assert json.loads(run("--json", "get", "x_disable_stats")[0]) == expected
    assert run("--home", "/x", "get", "home")[0] == "/x\n"
    with pytest.raises(SettingsError, match="did you mean project"):
        run("get", "projct")


def test_set_and_unset(run: Run, tmp_path: Path) -> None:
    out, err = run("set", "tags", "a,b")
    assert (out, err) == ("", f"run_tags = a,b in {user_file(tmp_path)}\n")
    assert user_file(tmp_path).read_text() == 'run_tags = ["a", "b"]\n'
    assert run("get", "tags")[0] == "a,b\n"
    assert run("unset", "tags") == ("", f"run_tags taken out of {user_file(tmp_path)}\n")
    assert run("unset", "tags", "-q") == ("", "")
    done = {"name": "run_tags", "was_set": False, "file": str(user_file(tmp_path))}
    assert json.loads(run("unset", "tags", "--json")[0]) == done


def test_set_in_the_project(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x" # keep me\n\n[tool.strobe]\n')
    done = json.loads(run("set", "project", "mine", "--project", "--json")[0])
    assert done == {"name": "project", "value": "mine", "file": str(tmp_path / "strobe.toml")}
    (tmp_path / "strobe.toml").unlink()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x" # keep me\n\n[tool.strobe]\nquiet = true\n')
    run("set", "--project", "project", "mine")
    expected = '[project]\nname = "x" # keep me\n\n[tool.strobe]\nquiet = true\nproject = "mine"\n'
    assert (tmp_path / "pyproject.toml").read_text() == expected


def test_set_says_when_something_stronger_decides(run: Run) -> None:
    _, err = run("set", "silent", "false")
    assert "silent is decided by STROBE_SILENT, which is stronger than" in err


def test_value_from_stdin(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("s3cret\n"))
    out, err = run("set", "api_key", "-")
    assert "s3cret" not in out + err
    assert user_file(tmp_path).read_text() == 'api_key = "s3cret"\n'
    with pytest.raises(SettingsError, match="no value given for api_key"):
        run("set", "api_key")


def test_secret_is_asked_for_at_a_terminal(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import getpass

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(getpass, "getpass", lambda prompt: "typed")
    run("set", "api_key")
    assert user_file(tmp_path).read_text() == 'api_key = "typed"\n'
