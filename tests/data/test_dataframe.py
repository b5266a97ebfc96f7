"""DataFrames and Series into tables and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from strobe.data import Table, coerce, load
from strobe.data.files import DirectoryFiles


def frame() -> Any:
    return pd.DataFrame(
        {
            "f": [0.5, math.nan, 2.0],
            "i": np.array([1, 2, 3], np.int32),
            "s": ["a", None, "c"],
            "b": [True, False, True],
            "t": pd.to_datetime(["2024-01-01T00:00:00", "2024-01-02T03:04:05", None]),
            "c": pd.Categorical(["x", "y", "x"]),
            "n": pd.array([1, None, 3], dtype="Int64"),
        }
    )


def test_a_dataframe_goes_there_and_back(files: DirectoryFiles) -> None:
    table = Table(dataframe=frame())
    record = table.record(files, "t", 0)
    assert record["types"] == ["float", "int", "string", "boolean", "timestamp", "string", "int"]
    back = load(record, files.directory)
    assert [type(cell) for cell in back.get_column("i")] == [int] * 3
    assert back.get_column("n") == [1, None, 3]
    assert back.get_column("t")[1] == pd.Timestamp("2024-01-02T03:04:05")
    assert back.get_column("t")[2] is None
    result = back.get_dataframe()
    assert list(result.columns) == list("fisbtcn")
    pd.testing.assert_series_equal(result["f"], frame()["f"])


def test_data_may_be_a_dataframe_and_its_columns_win() -> None:
    assert Table(columns=["other"], data=pd.DataFrame({"a": [1]})).columns == ["a"]


def test_names_of_columns() -> None:
    pairs = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert Table(dataframe=pairs).columns == ["('a', 'x')", "('a', 'y')"]
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert Table(dataframe=twice).data == [[1, 2]]
    assert Table(dataframe=pd.DataFrame([[1, 2]])).columns == [0, 1]


def test_an_empty_dataframe(files: DirectoryFiles) -> None:
    table = Table(dataframe=pd.DataFrame({"a": [], "b": []}))
    assert (len(table), table.columns) == (0, ["a", "b"])
    assert load(table.record(files, "t", 0), files.directory) == table


def test_logging_a_dataframe_or_series_makes_a_table() -> None:
    table = coerce(frame())
    assert isinstance(table, Table)
    assert len(table) == 3
    column = coerce(pd.Series([1, 2], name="loss"))
    assert isinstance(column, Table)
    assert (column.columns, column.data) == (["loss"], [[1], [2]])
    assert coerce(pd.Series([1.5])) == Table(columns=["value"], data=[[1.5]])


@pytest.mark.parametrize("value", [pd.Timestamp(0), pd.NaT, pd.Timedelta(1, "s"), pd.Index([1])])
def test_other_things_of_pandas_are_left_alone(value: Any) -> None:
    assert coerce(value) is None
