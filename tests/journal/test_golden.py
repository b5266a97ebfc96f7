"""Golden files: the format of version 1 is fixed. A change here is a change of the format and needs a new version.

`python -m tests.journal.test_golden` writes the files anew (only ever for a new version).
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import math
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec

from strobe.home import Home, RunPath
from strobe.journal import Header, SegmentReader, Writer
from strobe.journal import event as ev
from strobe.journal.entry import Noted, Row
from strobe.journal.value import HOLE_VALUE, Array, bigint

GOLDEN = Path(__file__).parent / "golden"
NAME = "0001-goldenwr-000000.strobe"


def write_everything(home: Path) -> bytes:
    """Write one of each kind of record with a clock that ticks by itself."""
    clock = itertools.count(1_700_000_000_000_000_000, 1_000_000)
    # The real clock would make every file different.
    with mock.patch("strobe.journal.writer.time_ns", side_effect=clock):
        run_dir = Home(home).run_dir(RunPath("local", "golden", "run1"))
        header = Header(entity="local", project="golden", run="run1", writer="goldenwr", host="h", strobe="0.1.0")
        writer = Writer(run_dir.journal, header, check_ns=10**18)
        writer.event(ev.Started(time_ns=1, pid=7, pid_started=1.5, host="h", attributes={"name": "golden"}))
        writer.event(ev.Config(time_ns=2, changes={"lr": 0.1, "nested": {"a": [1, 2]}}, removed=["old"]))
        writer.event(ev.Metric(time_ns=3, name="val/*", summary=["min"], step_metric="epoch"))
        writer.row({"loss": 0.25, "acc": 1}, 0)
        writer.row({"loss": math.inf, "acc": -3}, 1)
        hole = writer.row({"loss": HOLE_VALUE, "text": "ünï", "none": None, "flag": True}, 2)
        writer.row({"big": bigint(2**70), "array": Array("<f4", (2, 1), b"\0\0\x80?\0\0\0@"), "bytes": b"\x01"}, 3)
        writer.row({"when": dt.datetime(2026, 1, 2, tzinfo=dt.timezone.utc), "map": {"a": {"b": 1.5}}}, 2**40)
        writer.fill(hole, 2, 5, {"loss": 0.125})
        writer.event(ev.Summary(time_ns=4, changes={"best": 0.125}))
        writer.event(ev.Console(time_ns=5, stream="stdout", text="hello\n"))
        writer.event(ev.Ended(time_ns=6, state="finished", exit_code=0))
        path = writer.segment
        writer.close()
    return path.read_bytes()


def read_everything(directory: Path, content: bytes) -> list[Any]:
    path = directory / "local" / "golden" / "run1" / "journal" / NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    reader = SegmentReader(path)
    found = [describe(entry) for entry in reader.poll()]
    assert not reader.damages
    assert reader.seal is not None
    return found


def describe(entry: Row | Noted) -> Any:
    if isinstance(entry, Noted):
        # Without fields at their default: a later version may have more of those.
        return [entry.sequence, type(entry.event).__name__, repr(msgspec.to_builtins(entry.event))]
    values = {key: repr(value) for key, value in entry.items()}
    return [entry.sequence, entry.step, entry.time_ns, values]


def test_version_1_is_still_read(tmp_path: Path) -> None:
    expected = json.loads((GOLDEN / "v1.json").read_text())
    assert read_everything(tmp_path, (GOLDEN / "v1.strobe").read_bytes()) == expected


def test_version_1_is_still_written(tmp_path: Path) -> None:
    assert write_everything(tmp_path) == (GOLDEN / "v1.strobe").read_bytes()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        content = write_everything(Path(first))
        (GOLDEN / "v1.strobe").write_bytes(content)
        (GOLDEN / "v1.json").write_text(json.dumps(read_everything(Path(second), content), indent=1) + "\n")
