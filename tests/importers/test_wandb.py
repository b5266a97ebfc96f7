"""A `.wandb` file that the real client wrote (golden/wandb, by wandb_script.py) becomes the run that it was."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from strobe.data.loading import load
from strobe.home import Home, RunPath
from strobe.importers import Outcome, Report, record
from strobe.importers.protobuf import Message
from strobe.importers.wandb import find_runs
from strobe.importers.wandb.values import value_of
from strobe.journal import Replay
from tests.importers.encoding import field, wandb_file

GOLDEN = Path(__file__).parent / "golden" / "wandb"


def bring(home: Home, *paths: Path, **options: Any) -> tuple[Outcome, Replay, Report]:
    """Import the one run there is."""
    (run,) = find_runs(paths, {})
    report = Report()
    outcome = record(home, run, report, **options)
    replay = Replay(home.run_dir(run.path))
    replay.refresh()
    return outcome, replay, report


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Replay, Report]:
    return bring(Home(tmp_path_factory.mktemp("home")), GOLDEN)


def test_names_times_and_state(imported: tuple[Outcome, Replay, Report]) -> None:
    outcome, run, _ = imported
    assert run.path == RunPath("local", "digits", "p61g5ln2")
    facts = {key: run.attributes[key] for key in ("name", "group", "job_type", "tags", "notes", "host", "program")}
    assert facts == {
        "name": "second name",
        "group": "sweep",
        "job_type": "train",
        "tags": ["z"],
        "notes": "some notes",
        "host": "trainer",
        "program": "train.py",
    }
    assert run.attributes["imported"]["from"] == "wandb"
    assert run.attributes["imported"]["version"] == "0.31.0"
    assert (run.state, run.exit_code) == ("finished", 0)
    assert run.started_ns == 1794809782_285842000
    assert run.ended_ns is not None
    assert 3 <= (run.ended_ns - run.started_ns) / 1e9 <= 60
    assert run.damages == []
    assert outcome.rows == run.num_rows


def test_environment(imported: tuple[Outcome, Replay, Report]) -> None:
    attributes = imported[1].attributes
    assert attributes["python"] == "3.11.7"
    assert attributes["python_implementation"] == "cpython"
    assert attributes["executable"] == "/usr/bin/python3"
    assert attributes["cpu_count"] == 2
    assert attributes["memory_total_bytes"] > 1 << 30


def test_config_and_summary(imported: tuple[Outcome, Replay, Report]) -> None:
    run = imported[1]
    assert run.config == {"lr": 0.1, "opt": {"name": "sgd"}, "seed": 2**70, "late": 3}
    summary = run.summary
    assert summary["best"] == 7
    assert summary["val/acc"] == {"max": 0.5}
    assert summary["loss"] == pytest.approx(0.05)
    assert summary["nested"] == {"a": 19, "b": {"c": 38}}
    assert not [key for key in summary if key.startswith("_")]
    assert run.definitions["val/*"].step_metric == "epoch"


def test_rows_keep_steps_values_and_times(imported: tuple[Outcome, Replay, Report]) -> None:
    rows = list(imported[1].rows())
    assert [row["_step"] for row in rows] == [*range(23), 1000]
    row = rows[3]
    assert (row["loss"], row["text"], row["flag"], row["none"], row["list"]) == (0.25, "word", True, None, [1, 2.5])
    assert row["nested"] == {"a": 3, "b": {"c": 6}}
    assert math.isnan(row["nan"])
    assert (row["inf"], row["minus"]) == (math.inf, -math.inf)
    times = [row["_timestamp"] for row in rows]
    assert times == sorted(times)
    assert 1794809782 < times[0] < times[-1] < 1794809782 + 60


def test_media_are_those_that_were_logged(imported: tuple[Outcome, Replay, Report]) -> None:
    run = imported[1]
    row = next(row for row in run.rows() if "image" in row)
    files = run.run_dir.files
    assert row["image"]["caption"] == "black"
    assert load(row["image"], files).to_numpy().shape == (8, 8, 3)
    assert [image.width for image in load(row["images"], files)] == [8, 8]
    assert sum(load(row["histogram"], files).histogram) == 4
    assert load(row["sound"], files).sample_rate == 8000
    assert b"<b>bold</b>" in (files / row["html"]["path"]).read_bytes()
    # The pictures of a table's cells lie in an artifact, which is not here; the table then has wandb's word for them.
    assert load(row["table"], files).data == [[1, "x", "Image"], [2, "y", None]]


def test_a_chart_is_a_chart(imported: tuple[Outcome, Replay, Report]) -> None:
    run = imported[1]
    chart = load(next(row["chart"] for row in run.rows() if "chart" in row), run.run_dir.files)
    assert chart.spec == {"kind": "line", "x": "x", "y": "y", "title": "A line"}
    assert chart.table.data == [[1, 2], [3, 4]]


def test_console_samples_alerts_and_files(imported: tuple[Outcome, Replay, Report]) -> None:
    outcome, run, report = imported
    text = "".join(event.text for event in run.console())
    assert text == "".join(f"step {step}\n" for step in range(20)) + "the end\n"
    samples = list(run.system_rows())
    assert len(samples) == outcome.samples > 3
    assert all("system.memory_percent" in sample for sample in samples)
    assert [(alert.title, alert.text, alert.level) for alert in run.alerts] == [("Look", "at this", "WARN")]
    assert set(run.files) == {"output.log", "kept.txt"}
    assert (run.run_dir.files / "kept.txt").read_text() == "kept"
    assert any("'dataset' was not brought over: 1 of its 1 files" in note for note in report.notes)


# -- what is not as it should be -----------------------------------------------------------------------------------


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the golden run that may be spoiled."""
    shutil.copytree(GOLDEN, tmp_path / "wandb")
    return next((tmp_path / "wandb").glob("*/*.wandb"))


def test_a_killed_run_has_everything_up_to_the_kill(home: Home, copied: Path) -> None:
    content = copied.read_bytes()
    copied.write_bytes(content[:20_000])
    _, run, report = bring(home, copied)
    rows = list(run.rows())
    assert 3 < len(rows) < 20
    assert [row["_step"] for row in rows] == list(range(len(rows)))
    assert run.state == "crashed"
    assert run.error == "the file has no end: the process was killed"
    assert [loss.is_torn for _, loss in report.losses] == [True]


def test_a_damaged_block_costs_its_rows_only(home: Home, copied: Path) -> None:
    content = bytearray(copied.read_bytes())
    content[20_000] ^= 0xFF
    copied.write_bytes(content)
    _, run, report = bring(home, copied)
    steps = [row["_step"] for row in run.rows()]
    assert (steps[0], steps[-1]) == (0, 1000)
    assert len(steps) >= 20
    assert run.state == "finished"
    assert [loss.is_torn for _, loss in report.losses] == [False]


def test_without_its_run_record_a_file_is_known_by_its_name(home: Home, tmp_path: Path) -> None:
    history = field(2, field(1, field(2, "loss") + field(16, "0.5")) + field(2, field(1, 3)))
    path = tmp_path / "run-abcd1234.wandb"
    path.write_bytes(wandb_file([field(1, 1) + history]))
    _, run, _ = bring(home, path)
    assert run.path == RunPath("local", "uncategorized", "abcd1234")
    assert [(row["_step"], row["loss"]) for row in run.rows()] == [(3, 0.5)]
    assert run.state == "crashed"


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run-abcd1234.wandb"
    path.write_bytes(b"PK\x03\x04 and more")
    refused: dict[Path, str] = {}
    assert find_runs([tmp_path], refused) == []
    assert "begins with b'PK\\x03\\x04 an', a .wandb file with b':W&B'" in refused[path]


def test_a_value_that_is_no_json_costs_its_row(home: Home, tmp_path: Path) -> None:
    def history(step: int, text: str) -> bytes:
        return field(2, field(1, field(2, "loss") + field(16, text)) + field(2, field(1, step)))

    path = tmp_path / "run-abcd1234.wandb"
    path.write_bytes(wandb_file([history(0, "1"), history(1, "{"), history(2, "3")]))
    _, run, report = bring(home, path)
    assert [(row["_step"], row["loss"]) for row in run.rows()] == [(0, 1), (2, 3)]
    assert "a value is no JSON: '{'" in report.notes[0]


def test_an_artifact_takes_no_file_that_it_did_not_hold(home: Home, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not yours")
    entry = field(1, "a.txt") + field(2, "SfaKXIST7CwL9ImCHCH8Ow==") + field(6, str(secret))
    artifact = field(8, field(4, "dataset") + field(5, "stolen") + field(12, field(4, entry)))
    path = tmp_path / "run-abcd1234.wandb"
    path.write_bytes(wandb_file([artifact]))
    outcome, _, report = bring(home, path)
    assert outcome.artifacts == 0
    assert "'stolen' was not brought over" in report.notes[0]


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (field(16, "NaN"), math.nan),
        (field(16, "-Infinity"), -math.inf),
        (field(16, "1180591620717411303424"), 2**70),
        (field(6, 2.5), 2.5),
        (field(5, 7), -4),  # zigzag
        (field(5, 8), 4),
        (field(7, "word"), "word"),
        (field(4, 1), True),
        (field(3, 0), None),
        (field(8, '{"a": [1]}'), {"a": [1]}),
    ],
)
def test_values_in_all_the_ways_that_wandb_writes_them(content: bytes, value: Any) -> None:
    found = value_of(Message(content))
    assert found == value or (isinstance(value, float) and math.isnan(value) and math.isnan(found))


def test_credentials_are_redacted(home: Home, tmp_path: Path) -> None:
    config = field(4, field(1, field(1, "api_key") + field(16, '"abcdef0123456789abcdef0123456789"')))
    path = tmp_path / "run-abcd1234.wandb"
    path.write_bytes(wandb_file([field(17, field(1, "abcd1234") + config)]))
    _, run, _ = bring(home, path)
    assert run.config == {"api_key": "[redacted]"}
    _, run, _ = bring(home, path, redact=False, replace=True)
    assert run.config["api_key"].startswith("abcdef")


def test_tags_that_were_taken_away_are_gone(home: Home, tmp_path: Path) -> None:
    tagged = field(1, "abcd1234") + field(8, "name") + field(9, "notes") + field(10, "tag")
    path = tmp_path / "run-abcd1234.wandb"
    path.write_bytes(wandb_file([field(17, tagged), field(17, field(1, "abcd1234") + field(8, "name"))]))
    _, run, _ = bring(home, path)
    assert (run.attributes["name"], run.attributes["notes"], run.attributes["tags"]) == ("name", None, [])


def test_starts_of_one_run_are_its_attempts(home: Home, tmp_path: Path) -> None:
    def write(start_s: int, steps: range, value: float) -> Path:
        run = field(17, field(1, "abcd1234") + field(3, "p") + field(17, field(1, start_s)))
        rows = [
            field(2, field(1, field(2, "loss") + field(16, str(value))) + field(2, field(1, step))) for step in steps
        ]
        path = tmp_path / f"run-{start_s}" / "run-abcd1234.wandb"
        path.parent.mkdir()
        path.write_bytes(wandb_file([run, *rows, field(18, field(2, 5))]))
        return path

    first = write(1_700_000_000, range(10), 1.0)
    assert bring(home, first)[0].status == "imported"
    write(1_700_000_100, range(6, 12), 2.0)
    outcome, run, _ = bring(home, tmp_path)
    assert outcome.status == "extended"
    assert [attempt.number for attempt in run.attempts] == [1, 2]
    assert [row["loss"] for row in run.rows()] == [1.0] * 6 + [2.0] * 6
    assert [row["loss"] for row in run.rows(attempt=1)] == [1.0] * 10
    assert bring(home, tmp_path)[0].status == "present"
