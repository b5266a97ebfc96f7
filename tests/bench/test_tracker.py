"""A result becomes a run: job type, specification as config, figures as summary."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from strobe.api.client import Api
from strobe.bench.records import Record
from strobe.bench.tracker import FILE, track
from strobe.home import Home
from tests.bench.results import result


def _record(error: str | None = None) -> Record:
    return result(
        () if error else (10.0, 30.0, 20.0),
        "own/micro/test/Sleep",
        model="Own",
        batch_size=4,
        error=error,
        command="strobe bench run own/micro/test/Sleep --batch 4",
    )


def test_a_result_is_a_run(tmp_path: Path) -> None:
    record = _record()
    track(record, tmp_path)
    run = Api(Home(tmp_path)).run(f"bench/{record.id}")
    assert run.job_type == "bench"
    assert run.state == "finished"
    assert run.config["model"] == "Own"
    assert run.config["batch_size"] == 4
    assert (run.config["device"], run.config["is_trial"]) == ("cpu", False)
    assert run.config["command"] == record.command
    assert run.summary["score"] == 20.0
    assert [row["repeat_score"] for row in run.scan_history()] == [10.0, 30.0, 20.0]
    assert run.name == "own/micro/test/Sleep B=4"


def test_the_whole_record_is_a_file_of_the_run(tmp_path: Path) -> None:
    record = _record()
    run_dir = track(record, tmp_path)
    assert msgspec.json.decode((run_dir.files / FILE).read_bytes(), type=Record) == record


def test_a_disabled_tracker_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_MODE", "disabled")
    track(_record(), tmp_path / "home")
    assert not list(tmp_path.rglob(FILE))


def test_a_failed_result_is_a_failed_run(tmp_path: Path) -> None:
    record = _record("killed by SIGKILL")
    track(record, tmp_path)
    run = Api(Home(tmp_path)).run(f"bench/{record.id}")
    assert run.state == "failed"
    assert run.summary["error"] == "killed by SIGKILL"


@pytest.mark.parametrize("how", ["must", "never", "auto"])
def test_what_is_said_about_resuming_is_not_about_results(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STROBE_RESUME", how)
    record = _record()
    track(record, tmp_path)
    assert Api(Home(tmp_path)).run(f"bench/{record.id}").state == "finished"
