"""Curves are made again when their run has changed, and only then; what is kept stays within its room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from strobe.server.curve_shelf import CurveShelf, EncodedCurve
from strobe.store.charts import Charts
from strobe.store.store import open_store
from strobe.wire.series import decode_series
from tests.server.conftest import Clock, Parts, Stage
from tests.server.test_ingest import HEADER, batch_of, send


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    store = open_store(f"sqlite:///{tmp_path}/strobe.db", tmp_path / "blobs")
    yield Stage(parts=cast(Parts, store), clock=Clock())
    store.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many curves the store was asked for, each time."""
    counts: list[int] = []
    query = Charts.query

    def counting(self: Charts, asks: Any, **options: Any) -> Any:
        counts.append(len(asks))
        return query(self, asks, **options)

    monkeypatch.setattr(Charts, "query", counting)
    return counts


def curves(stage: Stage, **changes: Any) -> list[list[float]]:
    body = {"runs": ["ann/p/a", "ann/p/b"], "keys": ["loss"], "pixels": 100, **changes}
    answer = stage.ask("POST", "/api/v1/series", json=body, key=stage.key("ann"))
    assert answer.status_code == 200, answer.text
    return [list(columns["value"]) for _, columns in decode_series(answer.content)]


def log(stage: Stage, run: str, first: int, values: list[float]) -> None:
    header = type(HEADER)(entity="local", project="p", run=run, writer="w1")
    answer = send(stage, batch_of([{"loss": found} for found in values], first=first, header=header))
    assert answer.json()["acks"][0]["status"] == "stored"


def test_only_what_has_changed_is_made_again(stage: Stage, asked: list[int]) -> None:
    log(stage, "a", 0, [1.0, 2.0])
    log(stage, "b", 0, [3.0])
    assert curves(stage) == [[1.0, 2.0], [3.0]]
    assert curves(stage) == [[1.0, 2.0], [3.0]]
    log(stage, "b", 1, [4.0])
    assert curves(stage) == [[1.0, 2.0], [3.0, 4.0]]
    assert curves(stage, runs=["ann/p/b", "ann/p/a"]) == [[3.0, 4.0], [1.0, 2.0]]
    assert asked == [2, 1]
    assert curves(stage, first=1) == [[2.0], [4.0]]
    assert asked == [2, 1, 2]


def test_what_nobody_may_read_is_not_told_from_what_is_kept(stage: Stage) -> None:
    log(stage, "a", 0, [1.0])
    log(stage, "b", 0, [2.0])
    assert curves(stage) == [[1.0], [2.0]]
    body = {"runs": ["ann/p/a"], "keys": ["loss"], "pixels": 100}
    assert stage.ask("POST", "/api/v1/series", json=body).status_code in (401, 404)


def test_what_was_not_used_for_longest_goes_first() -> None:
    def curve(size: int) -> list[EncodedCurve]:
        return [({}, {"min": ("f8", bytes(size))})]

    shelf = CurveShelf(max_bytes=100_000)
    for number in range(8):
        shelf.put(number, curve(10_000))
    assert shelf.find(0) is not None
    shelf.put(8, curve(10_000))
    assert [number for number in range(9) if shelf.find(number) is None] == [1]
    assert shelf.num_bytes <= 100_000
    shelf.put("too large", curve(50_000))
    assert shelf.find("too large") is None
