"""Exports hold every row and every value, and never half a file."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from strobe.api import Run
from strobe.api.export import export
from strobe.errors import MissingExtra, UsageError
from strobe.home import Home
from strobe.journal.value import bigint

from .conftest import MakeRun, run_of

MOMENT = datetime(2024, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
ROWS: list[tuple[int, dict[str, Any]]] = [
    (
        0,
        {
            "f": 1.5,
            "i": 1,
            "b": True,
            "s": "x",
            "when": MOMENT,
            "mixed": 1,
            "n": {"a": 1},
            "img": {"_type": "image-file"},
        },
    ),
    (1, {"f": math.nan, "i": 2, "b": False, "s": 'a,\n"b"', "mixed": "two", "n": {"a": 2.5}, "big": bigint(2**80)}),
    (2, {"f": math.inf, "none": None, "list": [1, [2]], "mixed": math.nan}),
]


@pytest.fixture
def run(home: Home, make_run: MakeRun) -> Run:
    return run_of(home, make_run("r1", rows=ROWS))


def test_csv_reads_back(run: Run) -> None:
    stream = io.StringIO()
    assert export([run], "csv", output=None, stdout=stream) == 3
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert [row["f"] for row in rows] == ["1.5", "NaN", "inf"]
    assert rows[1]["s"] == 'a,\n"b"'
    assert rows[0]["img"] == '{"_type": "image-file"}'
    assert rows[1]["big"] == str(2**80)
    assert rows[2]["none"] == ""
    frame = pd.read_csv(io.StringIO(stream.getvalue()))
    assert math.isinf(frame["f"][2])


def test_jsonl_is_strict_json(run: Run) -> None:
    stream = io.StringIO()
    export([run], "jsonl", output=None, stdout=stream)
    rows = [json.loads(line, parse_constant=pytest.fail) for line in stream.getvalue().splitlines()]
    assert rows[1]["f"] == "NaN"
    assert rows[1]["big"] == 2**80
    assert rows[2]["none"] is None
    assert "none" not in rows[0]
    assert rows[0]["when"] == "2024-01-02T03:04:05+00:00"


def test_parquet_has_typed_columns(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "x.parquet"
    assert export([run], "parquet", output=target, stdout=sys.stdout) == 3
    table = pq.read_table(target)
    types = {field.name: str(field.type) for field in table.schema}
    assert types["f"] == "double"
    assert types["i"] == types["_step"] == "int64"
    assert types["n.a"] == "double"
    assert types["b"] == "bool"
    assert types["when"] == "timestamp[us, tz=UTC]"
    assert types["mixed"] == types["big"] == types["img"] == "string"
    values = table.to_pydict()
    assert values["mixed"] == ["1", '"two"', "NaN"]
    assert values["when"][0] == MOMENT
    assert math.isnan(values["f"][1])
    assert values["s"] == ["x", 'a,\n"b"', None]


def test_several_runs_in_one_table(home: Home, make_run: MakeRun, tmp_path: Path) -> None:
    runs = [run_of(home, make_run(name, rows=[(0, {"loss": 1.0})])) for name in ("a", "b")]
    stream = io.StringIO()
    assert export(runs, "csv", output=None, stdout=stream) == 2
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("run,_step")
    assert lines[2].startswith("local/proj/b,0")


def test_a_failure_leaves_no_half_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")

    def broken(value: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("strobe.api.export._cell", broken)
    with pytest.raises(OSError, match="No space"):
        export([run], "csv", output=target, stdout=sys.stdout)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["out.csv"]
    assert target.read_text() == "old"


def test_mistakes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="is not one of"):
        export([run], "xml", output=None, stdout=sys.stdout)
    with pytest.raises(UsageError, match="no directory"):
        export([run], "csv", output=tmp_path / "a" / "b.csv", stdout=sys.stdout)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"strobe\[parquet\]"):
        export([run], "parquet", output=tmp_path / "x.parquet", stdout=sys.stdout)
