"""Event files that the real writers wrote (golden/tensorboard, by tensorboard_script.py), and others like them."""

from __future__ import annotations

import math
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.data.loading import load
from strobe.home import Home
from strobe.importers import Outcome, Report, record
from strobe.importers.tensorboard import find_runs
from strobe.importers.tensorboard.event import EventReader
from strobe.journal import Replay
from tests.importers.encoding import field, scalar, single, tf_event, tf_record

GOLDEN = Path(__file__).parent / "golden" / "tensorboard"
START = 1_700_000_000.0
VERSION = tf_record(field(1, START) + field(3, "brain.Event:2"))

Imported = dict[str, tuple[Outcome, Replay, Report]]


def bring(home: Home, *paths: Path) -> Imported:
    """Import what there is, by name."""
    found = {}
    for run in find_runs(paths, {}):
        report = Report()
        outcome = record(home, run, report)
        replay = Replay(home.run_dir(run.path))
        replay.refresh()
        found[run.name] = (outcome, replay, report)
    return found


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    return bring(Home(tmp_path_factory.mktemp("home")), GOLDEN)


def test_each_directory_is_a_run(imported: Imported) -> None:
    assert sorted(imported) == ["torch", "torch/hp", "x"]
    assert {run.path.project for _, run, _ in imported.values()} == {"tensorboard"}
    assert {run.attributes["name"] for _, run, _ in imported.values()} == set(imported)


def test_scalars_old_and_new_with_their_times(imported: Imported) -> None:
    _, run, _ = imported["torch"]
    rows = list(run.rows(attempt=1))
    loss = [(row["_step"], row["train/loss"]) for row in rows if "train/loss" in row]
    assert loss == [(step, pytest.approx(1 / (step + 1))) for step in range(20)]
    # To the first steps other things were added later.
    assert [row["_timestamp"] for row in rows[4:]] == [START + step for step in range(4, 20)]
    new = [(row["_step"], row["train/new"]) for row in rows if "train/new" in row]
    assert new == [(step, step * 2.0) for step in range(20)]
    # Written one after the other at one step, they are one row.
    assert all("train/new" in row for row in rows if "train/loss" in row)
    odd = [row["odd"] for row in rows if "odd" in row]
    assert math.isnan(odd[0])
    assert odd[1:] == [math.inf, -math.inf]


def test_a_restart_supersedes_what_came_after_its_step(imported: Imported) -> None:
    _, run, _ = imported["torch"]
    assert [(attempt.number, attempt.from_step) for attempt in run.attempts] == [(1, None), (2, 10)]
    loss = {row["_step"]: row["train/loss"] for row in run.rows() if "train/loss" in row}
    assert loss == {
        **{step: pytest.approx(1 / (step + 1)) for step in range(10)},
        **{s: 100.0 + s for s in range(10, 15)},
    }
    assert run.state == "finished"


def test_media(imported: Imported) -> None:
    _, run, report = imported["torch"]
    row = next(row for row in run.rows() if "image" in row)
    files = run.run_dir.files
    image = load(row["image"], files)
    assert (image.width, image.height) == (8, 8)
    histogram = load(row["histogram"], files)
    assert sum(histogram.histogram) == 100
    assert histogram.bins == sorted(histogram.bins)
    assert histogram.bins[0] <= 0
    assert histogram.bins[-1] >= 99
    assert row["text/text_summary"] == "hello **there**"
    assert load(row["audio"], files).sample_rate == 8000
    assert report.left_out == {"value of plugin pr_curves": 1}


def test_hparams_are_the_config(imported: Imported) -> None:
    _, run, _ = imported["torch/hp"]
    assert run.config == {"batch": 32, "lr": 0.1, "opt": "adam"}
    assert run.summary["hp/acc"] == 0.5
    assert run.state == "finished"


def test_tensorboardx(imported: Imported) -> None:
    _, run, _ = imported["x"]
    assert [row["loss"] for row in run.rows() if "loss" in row] == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert (run.started_ns, run.ended_ns) == (START * 1e9, (START + 5) * 1e9)
    assert sum(load(run.summary["histogram"], run.run_dir.files).histogram) == 100


# -- the same again, and growing ------------------------------------------------------------------------------------


def test_a_second_import_by_another_path_finds_the_first(home: Home) -> None:
    assert {outcome.status for outcome, _, _ in bring(home, GOLDEN).values()} == {"imported"}
    journal = {path: path.stat().st_mtime_ns for path in home.path.rglob("*") if path.is_file()}
    again = bring(home, GOLDEN / "torch", GOLDEN / "x")
    assert {outcome.status for outcome, _, _ in again.values()} == {"present"}
    assert {path: path.stat().st_mtime_ns for path in home.path.rglob("*") if path.is_file()} == journal


def test_a_cut_file_has_its_first_events(home: Home, tmp_path: Path) -> None:
    source = next((GOLDEN / "x").iterdir())
    place = tmp_path / "x" / source.name
    place.parent.mkdir()
    place.write_bytes(source.read_bytes()[:160])
    ((_, run, report),) = bring(home, tmp_path).values()
    assert [row["loss"] for row in run.rows()] == [0.0, 0.5]
    assert [loss.is_torn for _, loss in report.losses] == [True]


def write(directory: Path, *events: bytes, number: int = 0) -> Path:
    path = directory / f"events.out.tfevents.{1_700_000_000 + number}.host"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(events))
    return path


def losses(run: Replay) -> list[tuple[int, float]]:
    return [(row["_step"], row["loss"]) for row in run.rows() if "loss" in row]


def test_files_of_a_directory_are_read_in_the_order_of_time(home: Home, tmp_path: Path) -> None:
    late = [tf_event(START + 10 + step, step, scalar("loss", 2.0)) for step in range(3, 6)]
    early = [tf_event(START + step, step, scalar("loss", 1.0)) for step in range(3)]
    write(tmp_path / "run", tf_record(field(1, START + 10) + field(3, "brain.Event:2")), *late, number=0)
    write(tmp_path / "run", VERSION, *early, number=9)
    ((outcome, run, _),) = bring(home, tmp_path).values()
    assert outcome.rows == 6
    assert losses(run) == [(0, 1.0), (1, 1.0), (2, 1.0), (3, 2.0), (4, 2.0), (5, 2.0)]
    assert len(run.attempts) == 1


def test_before_version_two_a_step_that_goes_back_is_a_restart(home: Home, tmp_path: Path) -> None:
    events = [tf_event(START + n, step, scalar("loss", float(n))) for n, step in enumerate([0, 1, 2, 3, 1, 2])]
    other = tf_event(START + 2.5, 3, scalar("other", 5.0))
    write(tmp_path / "run", tf_record(field(1, START) + field(3, "brain.Event:1")), *events[:4], other, *events[4:])
    ((_, run, _),) = bring(home, tmp_path).values()
    assert losses(run) == [(0, 0.0), (1, 4.0), (2, 5.0)]
    # Only the tags that come again are superseded.
    assert [row["other"] for row in run.rows() if "other" in row] == [5.0]


def test_in_version_two_any_order_of_steps_is_one_attempt(home: Home, tmp_path: Path) -> None:
    events = [tf_event(START + n, step, scalar("loss", float(n))) for n, step in enumerate([0, 5, 3])]
    write(tmp_path / "run", VERSION, *events)
    ((_, run, _),) = bring(home, tmp_path).values()
    assert losses(run) == [(0, 0.0), (3, 2.0), (5, 1.0)]
    assert len(run.attempts) == 1


def test_values_of_one_step_are_counted_when_only_one_can_stay(home: Home, tmp_path: Path) -> None:
    write(tmp_path / "run", VERSION, *(tf_event(START + n, 0, scalar("loss", float(n))) for n in range(5)))
    ((_, run, report),) = bring(home, tmp_path).values()
    assert losses(run) == [(0, 4.0)]
    assert "4 values were written at the step that their tag had just before" in report.notes[0]


def test_negative_steps_and_several_values_in_an_event(home: Home, tmp_path: Path) -> None:
    both = field(5, field(1, field(1, "loss") + single(2, 1.0)) + field(1, field(1, "acc") + single(2, 2.0)))
    write(tmp_path / "run", VERSION, tf_event(START, -3, scalar("loss", 0.5)), tf_event(START, -2, both))
    ((_, run, _),) = bring(home, tmp_path).values()
    assert [(row["_step"], row["loss"], row.get("acc")) for row in run.rows()] == [(-3, 0.5, None), (-2, 1.0, 2.0)]


def test_files_without_values_are_no_run(home: Home, tmp_path: Path) -> None:
    write(tmp_path / "empty", number=1)
    write(tmp_path / "version", VERSION)
    ((outcome, _, _),) = bring(home, tmp_path).values()
    assert outcome.status == "empty"
    assert not list(home.iter_runs())


def tensor(dtype: int, shape: list[int], content: bytes, plugin: str = "") -> bytes:
    sizes = b"".join(field(2, field(1, size)) for size in shape)
    metadata = field(9, field(1, field(1, plugin))) if plugin else b""
    return field(8, field(1, dtype) + field(2, sizes) + content) + metadata


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (tensor(1, [], field(4, struct.pack("<f", 0.5)), "scalars"), 0.5),
        (tensor(2, [], field(4, struct.pack("<d", 0.1)), "scalars"), 0.1),
        (tensor(2, [], field(6, struct.pack("<d", 0.1)), "scalars"), 0.1),
        (tensor(9, [], field(10, b"\x07"), "scalars"), 7),
        (tensor(19, [], field(13, b"\x80\x78"), "scalars"), 1.0),  # half: the bits as a number
        (tensor(14, [], field(4, b"\x80\x3f"), "scalars"), 1.0),  # bfloat16
        (tensor(7, [], field(8, "words"), "text"), "words"),
        (tensor(7, [2], field(8, "two") + field(8, "words"), "text"), ["two", "words"]),
    ],
)
def test_tensors_of_newer_summaries(home: Home, tmp_path: Path, content: bytes, value: Any) -> None:
    write(tmp_path / "run", VERSION, tf_event(START, 1, field(5, field(1, field(1, "loss") + content))))
    ((_, run, _),) = bring(home, tmp_path).values()
    assert [row["loss"] for row in run.rows()] == [value]


def test_histograms_of_newer_summaries_and_a_plugin_said_once(home: Home, tmp_path: Path) -> None:
    rows = struct.pack("<6d", 0, 1, 3, 1, 2, 4)
    first = field(1, field(1, "h") + tensor(2, [2, 3], field(4, rows), "histograms"))
    later = field(1, field(1, "h") + tensor(2, [2, 3], field(4, rows)))
    write(tmp_path / "run", VERSION, tf_event(START, 0, field(5, first)), tf_event(START, 1, field(5, later)))
    ((_, run, _),) = bring(home, tmp_path).values()
    assert [row["h"] for row in run.rows()] == [{"_type": "histogram", "values": [3, 4], "bins": [0.0, 1.0, 2.0]}] * 2


def test_a_histogram_of_more_bins_than_there_may_be_is_joined(home: Home, tmp_path: Path) -> None:
    count = 1500
    content = field(6, struct.pack(f"<{count}d", *range(1, count + 1))) + field(
        7, struct.pack(f"<{count}d", *[1] * count)
    )
    histogram = field(1, 0.0) + field(2, float(count)) + content
    write(tmp_path / "run", VERSION, tf_event(START, 0, field(5, field(1, field(1, "h") + field(5, histogram)))))
    ((_, run, _),) = bring(home, tmp_path).values()
    found = run.summary["h"]
    assert sum(found["values"]) == count
    assert len(found["values"]) <= 512
    assert (found["bins"][0], found["bins"][-1]) == (0.0, count)


def test_a_session_that_failed_is_a_run_that_failed(home: Home, tmp_path: Path) -> None:
    ended = field(4, field(1, 2) + field(2, START + 100))
    value = field(1, "_hparams_/session_end_info") + field(9, field(1, field(1, "hparams") + field(2, ended)))
    write(
        tmp_path / "run",
        VERSION,
        tf_event(START, 0, scalar("loss", 1.0)),
        tf_event(START, 0, field(5, field(1, value))),
    )
    ((_, run, _),) = bring(home, tmp_path).values()
    assert run.state == "failed"
    assert run.ended_ns == (START + 100) * 1e9


def test_a_copy_of_the_tree_is_the_same_runs(home: Home, tmp_path: Path) -> None:
    bring(home, GOLDEN)
    shutil.copytree(GOLDEN, tmp_path / "elsewhere")
    assert {outcome.status for outcome, _, _ in bring(home, tmp_path / "elsewhere").values()} == {"present"}


@given(
    st.lists(
        st.tuples(
            st.floats(1, 1e9),
            st.integers(-(2**63), 2**63 - 1),
            st.sampled_from(["a", "b", "loss", "\x15", ""]),
            st.floats(width=32, allow_nan=False),
        ),
        max_size=30,
    )
)
def test_an_event_says_the_same_whether_its_like_was_read_before(
    events: list[tuple[float, int, str, float]],
) -> None:
    reader = EventReader()
    for wall_s, step, tag, value in events:
        payload = field(1, wall_s) + (field(2, step) if step else b"") + scalar(tag, value)
        known = reader.scalar(payload)
        assert known in (None, (wall_s, step, tag, value))
        read = reader.read(payload)
        assert read.values is not None
        (message,) = read.values
        assert (read.wall_s, read.step, message.text(1), message.single(2)) == (wall_s, step, tag, value)
        assert reader.scalar(payload) == (wall_s, step, tag, value)
