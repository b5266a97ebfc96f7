"""Media added to an artifact come back equal."""

from __future__ import annotations

import datetime as dt
import json
import math
from pathlib import Path

import numpy as np
import pytest

from strobe.artifact import Artifact, store
from strobe.artifact.commit import commit
from strobe.data import Histogram, Image, Table
from strobe.errors import ArtifactNotLogged, UsageError
from strobe.home import Home
from tests.artifact.stage import draft, write


@pytest.fixture(autouse=True)
def _in_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")


def _back(home: Home, artifact: Artifact, name: str) -> object:
    commit(artifact, home, "local", "proj")
    return store.find(home, f"proj/{artifact.collection.name}").get(name)


def test_a_small_table_comes_back_with_its_images(home: Home) -> None:
    pixels: object = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    moment = dt.datetime(2025, 1, 2, 3, 4, 5)
    rows = [[math.nan, b"\x00\xff", moment, Image(pixels), 2**70, "ä"], [math.inf, None, None, None, 1, None]]
    artifact = Artifact("tables", "dataset")
    entry = artifact.add(Table(columns=["f", "b", "t", "i", "n", "s"], data=rows), "sub/t")
    assert entry.path == "sub/t.table.json"
    assert len(artifact.manifest) == 2
    table = _back(home, artifact, "sub/t")
    assert isinstance(table, Table)
    assert table.columns == ["f", "b", "t", "i", "n", "s"]
    assert math.isnan(table.data[0][0])
    assert table.data[0][1:3] == [b"\x00\xff", moment]
    assert isinstance(table.data[0][3], Image)
    assert table.data[0][4:] == [2**70, "ä"]
    assert table.data[1] == [math.inf, None, None, None, 1, None]


def test_a_big_table_is_a_record_and_a_file(home: Home) -> None:
    artifact = Artifact("tables", "dataset")
    artifact.add(Table(columns=["n"], data=[[number] for number in range(50_000)]), "big")
    assert sorted(path.split("/")[0] for path in artifact.manifest.entries) == ["big.table.json", "media"]
    table = _back(home, artifact, "big.table.json")
    assert isinstance(table, Table)
    assert table.get_column("n") == list(range(50_000))


def test_an_incremental_table_is_whole_in_an_artifact(home: Home) -> None:
    table = Table(columns=["n"], log_mode="INCREMENTAL")
    table.add_data(1)
    artifact = Artifact("tables", "dataset")
    artifact.add(table, "t")
    table.add_data(2)
    artifact.add(table, "t", overwrite=True)
    assert table.log_mode == "INCREMENTAL"
    back = _back(home, artifact, "t")
    assert isinstance(back, Table)
    assert back.data == [[1], [2]]


def test_images_and_histograms(home: Home) -> None:
    artifact = Artifact("mixed", "dataset")
    assert artifact.add(Image(np.zeros((2, 2, 3), np.uint8)), "img").path == "img.image-file.json"
    artifact.add(Histogram([1, 2, 2, math.nan]), "hist")
    commit(artifact, home, "local", "proj")
    assert isinstance(artifact.get("img"), Image)
    assert isinstance(artifact.get("hist"), Histogram)
    assert artifact.get("nothing") is None


def test_the_same_name_needs_overwrite(home: Home) -> None:
    artifact = Artifact("tables", "dataset")
    artifact.add(Table(columns=["n"], data=[[1]]), "t")
    with pytest.raises(UsageError, match="overwrite=True"):
        artifact.add(Table(columns=["n"], data=[[2]]), "t")


def test_what_is_no_media_is_refused(home: Home) -> None:
    with pytest.raises(UsageError, match="use add_file"):
        Artifact("a", "dataset").add(object(), "x")
    with pytest.raises(ArtifactNotLogged):
        Artifact("a", "dataset").get("x")


def test_other_json_files_are_no_media(home: Home, tmp_path: Path) -> None:
    artifact = draft({"x.json": "{}", "y.table.json": "not json", "z.conf.json": json.dumps([1])})
    commit(artifact, home, "local", "proj")
    assert [artifact.get(name) for name in ("x.json", "x", "y", "z")] == [None, None, None, None]


def test_a_dataframe_is_taken_as_a_table(home: Home) -> None:
    import pandas as pd

    artifact = Artifact("frames", "dataset")
    artifact.add(pd.DataFrame({"a": [1, 2]}), "df")
    table = _back(home, artifact, "df")
    assert isinstance(table, Table)
    assert table.get_column("a") == [1, 2]


def test_media_leave_nothing_staged(home: Home, tmp_path: Path) -> None:
    from strobe.artifact import staging

    artifact = Artifact("a", "dataset")
    artifact.add(Image(np.zeros((2, 2, 3), np.uint8)), "img")
    artifact.add_file(write(tmp_path / "x", "1"))
    commit(artifact, home, "local", "proj")
    assert list(staging.current().path.iterdir()) == []
