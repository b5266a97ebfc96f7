"""Records that check out and make no sense: whatever they say, the import comes to its end and keeps what is good."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.home import Home
from strobe.importers import Report, record, tensorboard, wandb
from strobe.importers.tensorboard import frames as event_frames
from strobe.importers.wandb import frames as log_frames
from strobe.journal import Replay
from tests.importers.encoding import field, scalar, tf_event, tf_record, wandb_file

GOLDEN = Path(__file__).parent / "golden"
LOG = list(log_frames.read_records(next((GOLDEN / "wandb").rglob("*.wandb")).open("rb"), print))
EVENTS = [
    payload
    for path in (GOLDEN / "tensorboard").rglob("*tfevents*")
    for payload in event_frames.read_records(io.BytesIO(path.read_bytes()), print)
    if len(payload) < 2000
]
#: (which record, at which of its bytes, what is put there in place of how many)
EDITS = st.lists(
    st.tuples(st.integers(0, 1 << 16), st.integers(0, 1 << 16), st.binary(max_size=12), st.integers(0, 12)), max_size=12
)


def spoiled(records: list[bytes], edits: list[tuple[int, int, bytes, int]]) -> list[bytes]:
    found = list(records)
    for which, place, content, length in edits:
        old = found[which % len(found)]
        at = place % (len(old) + 1)
        found[which % len(found)] = old[:at] + content + old[at + length :]
    return found


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example])
@given(start=st.integers(0, len(LOG) - 1), edits=EDITS)
def test_spoiled_records_of_wandb(start: int, edits: list[tuple[int, int, bytes, int]]) -> None:
    good = field(2, field(1, field(2, "good") + field(16, "1.5")) + field(2, field(1, 77)))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "run-fuzzed01.wandb"
        path.write_bytes(wandb_file([*spoiled(LOG[start : start + 40], edits), good]))
        refused: dict[Path, str] = {}
        for run in wandb.find_runs([path], refused):
            home = Home(Path(place) / "home")
            record(home, run, Report())
            replay = Replay(home.run_dir(run.path))
            replay.refresh()
            assert replay.damages == []
            assert [row["good"] for row in replay.rows() if "good" in row] == [1.5]
        assert refused or run


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example])
@given(start=st.integers(0, len(EVENTS) - 1), edits=EDITS)
def test_spoiled_events(start: int, edits: list[tuple[int, int, bytes, int]]) -> None:
    events = spoiled(EVENTS[start : start + 40], edits)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "events.out.tfevents.1.fuzz"
        path.write_bytes(b"".join(map(tf_record, events)) + tf_event(1.7e9, 77, scalar("good", 1.5)))
        (run,) = tensorboard.find_runs([path], {})
        home = Home(Path(place) / "home")
        record(home, run, Report())
        replay = Replay(home.run_dir(run.path))
        replay.refresh()
        assert replay.damages == []
        attempt = replay.attempts[-1].number
        assert [row["good"] for row in replay.rows(attempt=attempt) if "good" in row] == [1.5]
