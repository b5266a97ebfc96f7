"""results.csv has the seed's columns and is appended to."""

from __future__ import annotations

import csv
from pathlib import Path

from strobe.bench.load import results
from strobe.bench.records import Record


def _record(**changes: object) -> Record:
    fields: dict[str, object] = {
        "benchmark": "load-v1-empty/strobe/time_load/offline",
        "model": "load-v1-empty",
        "subject": "strobe",
        "subject_version": "0.1.0",
        "variant": {"mode": "offline", "stats": "on"},
        "metric": "time_load",
        "unit": "s",
        "samples": (0.3, 0.1, 0.2),
        **changes,
    }
    return Record(**fields)  # type: ignore[arg-type]


def test_columns_and_medians(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    assert results.append(path, [_record()], test_name="night") == 1
    header, line = path.read_text().splitlines()
    assert header == (
        "version,test_name,test_profile,test_variant,client_version,client_type,server_version,server_type,metric,seconds"
    )
    assert line == 'v1-2024-04-11-0,night,v1-empty,"mode=offline,stats=on",0.1.0,strobe,,,time_load,0.2'


def test_the_server_of_an_online_measurement_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    results.append(path, [_record(server="strobe 0.2.0", variant={"mode": "online"})])
    assert (
        path.read_text().splitlines()[1]
        == "v1-2024-04-11-0,,v1-empty,mode=online,0.1.0,strobe,0.2.0,strobe,time_load,0.2"
    )


def test_the_header_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    results.append(path, [_record()])
    results.append(path, [_record(samples=(1.0,))])
    with path.open(newline="") as stream:
        assert [line["seconds"] for line in csv.DictReader(stream)] == ["0.2", "1.0"]


def test_only_times_that_were_measured_are_written(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    assert results.append(path, [_record(unit="B"), _record(samples=(), error="failed")]) == 0
