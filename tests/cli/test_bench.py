"""`strobe bench load`: what is there, what is refused, and one real measurement."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from strobe.bench.load import catalog, venvs
from strobe.bench.records import read_records
from strobe.cli import main


def test_the_list_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "load", "--list"]) == 0
    printed = capsys.readouterr().out
    for name in (*catalog.profiles(), *catalog.trackers()):
        assert name in printed


def test_the_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "load", "--list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"name": "v1-empty", "options": {}, "metrics": ["time_load"]}.items() <= next(
        one for one in found["profiles"] if one["name"] == "v1-empty"
    ).items()
    assert {one["name"] for one in found["trackers"]} == set(catalog.trackers())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--tracker", "nobody"],
        ["--profile", "v9"],
        ["--tracker", "jsonl", "--variant", "stats"],
        ["--tracker", "jsonl", "--variant", "stats=off"],
        ["--tracker", "jsonl", "--option", "calls=many"],
        ["--tracker", "jsonl", "--mode", "online"],
        ["--tracker", "jsonl", "--repeat", "0"],
    ],
)
def test_mistakes_are_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "load", *arguments]) == 2
    assert capsys.readouterr().err.startswith("strobe: ")


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """Environments that are there already: this one, under the trackers' names."""
    for name in ("strobe", "jsonl"):
        place = tmp_path / "venvs" / name
        (place / "bin").mkdir(parents=True)
        # A script, because a link would not find the packages beside the interpreter.
        (place / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (place / "bin" / "python").chmod(0o755)
        stamp = venvs._stamp(venvs._pip_arguments(catalog.trackers()[name].requirements))
        (place / "load-bench.stamp").write_text(stamp)
    return tmp_path / "venvs"


@pytest.mark.slow
def test_strobe_and_the_floor_for_real(
    ready: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STROBE_HOME", str(tmp_path / "home"))
    places = ["--csv", str(tmp_path / "results.csv")]
    code = main(
        [
            *("bench", "load", "--profile", "v1-empty", "--tracker", "strobe,jsonl", "--repeat", "2"),
            *("--variant", "agent=off", "--venvs", str(ready), "--directory", str(tmp_path), *places),
        ]
    )
    captured = capsys.readouterr()
    assert code == 0, captured.err
    assert "| Startup/Shutdown Time | v1-empty | Offline |" in captured.out
    with (tmp_path / "results.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [(line["client_type"], line["test_variant"]) for line in lines] == [
        ("strobe", "mode=offline,agent=off"),
        ("jsonl", "mode=offline"),
    ]
    assert all(0 < float(line["seconds"]) < 60 for line in lines)
    records = list(read_records(tmp_path / "home" / "bench" / "results.jsonl"))
    assert [len(record.samples) for record in records] == [2, 2]
    assert records[0].command.endswith(f"--variant agent=off --repeat 2 --directory {tmp_path}")

    # The same records, tables and runs as those of workloads.
    assert main(["bench", "table", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [tuple(row[name] for name in ("model", "implementation", "mode", "config", "units")) for row in rows] == [
        ("load-v1-empty", "strobe", "time_load", "offline-agent=off", "s"),
        ("load-v1-empty", "jsonl", "time_load", "offline", "s"),
    ]
    assert main(["run", "ls", "--json"]) == 0
    assert {run["id"] for run in json.loads(capsys.readouterr().out)} == {record.id for record in records}


@pytest.mark.slow
def test_strobe_loses_nothing_when_killed(ready: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = ["--csv", str(tmp_path / "results.csv"), "--records", str(tmp_path / "results.jsonl")]
    code = main(
        [
            *(
                "bench",
                "load",
                "--profile",
                "kill,v1-tables,v1-images",
                "--tracker",
                "strobe",
                "--repeat",
                "1",
                "--json",
            ),
            *("--option", "kills=4", "--option", "steps=2", "--option", "processes=2", "--variant", "agent=off"),
            *("--venvs", str(ready), "--directory", str(tmp_path), *places),
        ]
    )
    captured = capsys.readouterr()
    assert code == 0, captured.err
    samples = {(one["model"], one["metric"]): one["samples"] for one in json.loads(captured.out)}
    assert samples["load-kill", "lost"] == [0.0]
    assert samples["load-kill", "acknowledged"][0] > 0
