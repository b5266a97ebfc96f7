"""Repetitions are interleaved in fresh processes, and a failure becomes a record."""

from __future__ import annotations

import os
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from strobe.bench.load import catalog, runner, venvs
from strobe.bench.load.job import Job, Server
from strobe.bench.load.variant import Subject
from strobe.bench.load.worker import arrival
from strobe.errors import UsageError

FAKE = catalog.load_tracker(Path(__file__).parent / "fake_tracker.py")
PROFILES = catalog.profiles()


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """Environments that are there already: this interpreter under the trackers' names."""
    for tracker in (FAKE, catalog.trackers()["jsonl"]):
        place = tmp_path / "venvs" / tracker.name
        (place / "bin").mkdir(parents=True)
        (place / "bin" / "python").symlink_to(sys.executable)
        (place / "load-bench.stamp").write_text(sys.version)
    return tmp_path / "venvs"


def _plan(ready: Path, **changes: object) -> runner.Plan:
    fields: dict[str, object] = {
        "profiles": [PROFILES["v1-empty"]],
        "subjects": [Subject(FAKE), Subject(catalog.trackers()["jsonl"])],
        "repeat": 2,
        "venvs": ready,
        "directory": ready.parent,
        **changes,
    }
    return runner.Plan(**fields)  # type: ignore[arg-type]


@pytest.mark.slow
def test_repetitions_are_interleaved(ready: Path) -> None:
    said: list[str] = []
    records = runner.run(_plan(ready), said.append)
    order = [line.split(":")[0] for line in said]
    assert order == ["v1-empty 1/2 fake", "v1-empty 1/2 jsonl", "v1-empty 2/2 fake", "v1-empty 2/2 jsonl"]
    assert [(record.subject, len(record.samples)) for record in records] == [("fake", 2), ("jsonl", 2)]
    assert shlex.split(records[0].command) == [
        *("strobe", "bench", "load", "--profile", "v1-empty", "--tracker", str(FAKE.path)),
        *("--mode", "offline", "--repeat", "2", "--directory", str(ready.parent)),
    ]
    assert records[0].environment.file_system
    assert not list(ready.parent.glob("load-bench-*"))


@pytest.mark.slow
def test_a_failure_is_recorded_once_with_its_reason(ready: Path) -> None:
    said: list[str] = []
    subjects = [Subject(FAKE, {"colour": "blue"}), Subject(FAKE)]
    failed, fine = runner.run(_plan(ready, subjects=subjects), said.append)
    assert failed.error == "RuntimeError: blue does not start"
    assert failed.samples == ()
    assert len(fine.samples) == 2
    assert sum("failed" in line for line in said) == 1


def test_what_a_tracker_does_not_offer_is_not_run(ready: Path) -> None:
    (record,) = runner.run(_plan(ready, profiles=[PROFILES["v1-tables"]], subjects=[Subject(FAKE)]))
    assert record.error == "fake has no table"


def test_the_command_has_all_that_was_asked_for(ready: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "two words"
    place.mkdir()
    monkeypatch.chdir(tmp_path)
    # A profile that the tracker cannot do: nothing has to run to be recorded.
    changes = {"profiles": [PROFILES["v1-tables"]], "subjects": [Subject(FAKE)], "options": {"steps": 12_345_678.0}}
    (record,) = runner.run(_plan(ready, **changes, directory=Path("two words"), timeout_s=7.5))
    words = shlex.split(record.command)
    assert words[words.index("--directory") + 1] == str(place)
    assert words[words.index("--timeout") + 1] == "7.5"
    assert words[words.index("--option") + 1] == "steps=12345678"
    (plain,) = runner.run(_plan(ready, **{**changes, "options": {}}, directory=None))
    assert not {"--directory", "--timeout", "--server", "--option"} & set(shlex.split(plain.command))


def test_the_command_names_the_server_that_was_asked_for_and_no_key(ready: Path) -> None:
    subject = Subject(catalog.trackers()["strobe"])
    profile = next(one for one in PROFILES.values() if "table" in one.needs)
    server = Server("https://strobe.example", "secret")
    plan = _plan(ready, profiles=[profile], subjects=[subject], mode="online", server=server)
    assert "--server https://strobe.example" in runner.command_of(plan, profile, subject)
    assert "secret" not in runner.command_of(plan, profile, subject)
    own = replace(plan, is_own_server=True)
    assert "--server" not in runner.command_of(own, profile, subject)


def test_impossible_plans_are_refused(ready: Path) -> None:
    with pytest.raises(UsageError, match="fake cannot be measured online: no server here speaks its protocol yet"):
        runner.run(_plan(ready, mode="online"))
    with pytest.raises(UsageError, match="at least 1"):
        runner.run(_plan(ready, repeat=0))
    with pytest.raises(UsageError, match="no chosen profile has the option size"):
        runner.run(_plan(ready, options={"size": 1.0}))


@pytest.mark.slow
def test_a_worker_over_its_limit_is_ended_with_all_it_started(tmp_path: Path) -> None:
    profile = tmp_path / "endless.py"
    profile.write_text(
        "import subprocess, sys, time\n"
        "NAME, METRICS, OPTIONS, NEEDS = 'endless', {'x': ('s', 'less', 'x')}, {}, ()\n"
        "def measure(bench):\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "    time.sleep(60)\n"
    )
    job = Job(
        profile=catalog.load_profile(profile),
        subject=Subject(FAKE),
        python=Path(sys.executable),
        mode="offline",
        options={},
        timeout_s=5.0,  # within which it has to start and to write down its child
    )
    outcome = job.run(tmp_path)
    assert outcome.error == "not done after 5 s"
    status = Path(f"/proc/{(tmp_path / 'pid').read_text()}/status")
    # Gone, or killed and not yet reaped by whoever inherited it; the kernel may take a moment.
    until = time.monotonic() + 10
    while status.exists() and "zombie" not in status.read_text():
        assert time.monotonic() < until, "it still runs"
        time.sleep(0.05)


@pytest.mark.slow
def test_workers_see_nothing_of_the_users_settings(
    ready: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "secret")
    profile = tmp_path / "environment.py"
    profile.write_text(
        "import os\n"
        "NAME, OPTIONS, NEEDS = 'environment', {}, ()\n"
        "METRICS = {name: ('', 'less', name) for name in ('key', 'fake', 'home', 'strobe')}\n"
        "def measure(bench):\n"
        "    import sys\n"
        f"    at_home = os.environ['HOME'] != {os.environ.get('HOME', '')!r}\n"
        "    return {'key': int('WANDB_API_KEY' in os.environ), 'fake': int(os.environ['FAKE_TRACKER'] == 'yes'),\n"
        "            'home': int(at_home), 'strobe': int('strobe' in sys.modules)}\n"
    )
    records = runner.run(_plan(ready, profiles=[catalog.load_profile(profile)], subjects=[Subject(FAKE)], repeat=1))
    assert {record.metric: record.samples for record in records} == {
        "key": (0.0,),
        "fake": (1.0,),
        "home": (1.0,),
        "strobe": (0.0,),
    }


@pytest.mark.slow
def test_online_a_server_is_started_and_asked_for_every_row(tmp_path: Path) -> None:
    tracker = catalog.trackers()["strobe"]
    python = tmp_path / "venvs" / "strobe" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')  # a link would not find this environment's packages
    python.chmod(0o755)
    (tmp_path / "venvs" / "strobe" / "load-bench.stamp").write_text(
        venvs._stamp(venvs._pip_arguments(tracker.requirements))
    )
    plan = runner.Plan(
        profiles=[PROFILES["v1-scalars"]],
        subjects=[Subject(tracker, {"finish": finish}) for finish in ("wait", "leave")],
        mode="online",
        repeat=1,
        options={"processes": 2, "steps": 30, "keys": 5},
        venvs=tmp_path / "venvs",
        directory=tmp_path,
    )
    records = runner.run(plan)
    found = {(record.variant["finish"], record.metric): record for record in records}
    assert {record.error for record in records} == {None}
    assert {found[finish, "server_rows"].samples for finish in ("wait", "leave")} == {(60.0,)}
    assert found["leave", "server_wait"].samples[0] > 0
    assert records[0].server.startswith("strobe ")
    assert records[0].variant["mode"] == "online"


def test_a_row_that_does_not_arrive_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "_LIMIT_S", 0.1)
    with pytest.raises(RuntimeError, match="has 999 of 1,000 rows"):
        arrival.wait_for_server(lambda: (1000, 999))
