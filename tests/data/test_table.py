"""Tables: what goes in comes out, what does not fit together says so, and only new rows are written."""

from __future__ import annotations

import copy
import math
import pickle
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.data import Classes, Histogram, Image, Table, load
from strobe.data.files import DirectoryFiles
from strobe.data.media import INLINE_LIMIT


def there_and_back(table: Table, files: DirectoryFiles, key: str = "t", step: int = 0) -> Table:
    record = table.record(files, key, step)
    wire = msgspec.msgpack.decode(msgspec.msgpack.encode(record), strict=False)
    loaded = load(wire, files.directory)
    assert isinstance(loaded, Table)
    return loaded


def test_a_small_table_stays_in_the_row(files: DirectoryFiles) -> None:
    table = Table(columns=["name", "loss", "epoch"], data=[["a", 0.5, 1], ["b", math.nan, 300]])
    record = table.record(files, "t", 0)
    assert record["_type"] == "table"
    assert record["columns"] == ["name", "loss", "epoch"]
    assert (record["nrows"], record["ncols"]) == (2, 3)
    assert record["types"] == ["string", "float", "int"]
    assert record["data"][0] == ["a", "b"]
    assert record["data"][1] == np.array([0.5, math.nan]).tobytes()
    assert record["data"][2] == np.array([1, 300], "<i2").tobytes()
    assert not files.directory.exists()
    assert there_and_back(table, files) == table


def test_a_big_table_becomes_a_file(files: DirectoryFiles) -> None:
    table = Table(columns=["x", "text"], data=[[i / 3, f"row {i}"] for i in range(10_000)])
    record = table.record(files, "t", 3)
    assert record["_type"] == "table-file"
    assert record["path"].startswith("media/table/t_3_")
    assert record["path"].endswith(".table")
    assert record["size"] == (files.directory / record["path"]).stat().st_size > INLINE_LIMIT
    assert (record["nrows"], record["ncols"], record["log_mode"]) == (10_000, 2, "IMMUTABLE")
    assert there_and_back(table, files) == table


cells_of_a_kind = st.sampled_from(
    [
        st.floats(allow_nan=True, allow_infinity=True),
        st.integers(-(2**80), 2**80),
        st.integers(-128, 127),
        st.integers() | st.floats(),
        st.text(max_size=8),
        st.text(st.characters(), max_size=3),  # lone surrogates too
        st.booleans(),
        st.binary(max_size=8),
        st.datetimes(timezones=st.just(timezone.utc) | st.none()),
        st.dates(),
        st.timedeltas(timedelta(-1000), timedelta(1000)),
        st.decimals(allow_nan=False),
        st.lists(st.integers() | st.text(max_size=3) | st.none(), max_size=3),
        st.dictionaries(st.text(max_size=3), st.floats() | st.booleans(), max_size=3),
    ]
)


@st.composite
def tables(draw: Any) -> Table:
    num_rows = draw(st.integers(0, 8))
    columns = []
    for _ in range(draw(st.integers(1, 4))):
        cells = draw(cells_of_a_kind)
        if draw(st.booleans()):
            cells = cells | st.none()
        columns.append(draw(st.lists(cells, min_size=num_rows, max_size=num_rows)))
    return Table(columns=[f"c{i}" for i in range(len(columns))], data=[list(row) for row in zip(*columns, strict=True)])


@given(tables())
def test_any_table_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, table: Table) -> None:
    files = DirectoryFiles(tmp_path_factory.getbasetemp() / "tables")
    loaded = there_and_back(table, files)
    assert loaded.columns == table.columns
    assert loaded == table
    for before, after in zip(table.data, loaded.data, strict=True):
        assert [type(cell) for cell in before] == [type(cell) for cell in after]


@given(tables(), st.data())
def test_mixed_columns_come_back_when_allowed(
    tmp_path_factory: pytest.TempPathFactory, table: Table, data: st.DataObject
) -> None:
    row = [data.draw(st.text(max_size=3) | st.booleans() | st.datetimes()) for _ in table.columns]
    mixed = Table(columns=table.columns, data=[*table.data, row], allow_mixed_types=True)
    files = DirectoryFiles(tmp_path_factory.getbasetemp() / "tables")
    assert there_and_back(mixed, files) == mixed


class Colour(Enum):
    RED = "red"


class Name(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("cell", "kind", "loaded"),
    [
        (np.float32(0.5), "float", 0.5),
        (np.int8(-3), "int", -3),
        (np.bool_(True), "boolean", True),
        (np.longdouble(0.5), "float", 0.5),
        (np.str_("x"), "string", "x"),
        (Name("n"), "string", "n"),
        (np.datetime64("2024-01-02T03:04:05.123456789"), "timestamp", datetime(2024, 1, 2, 3, 4, 5, 123456)),
        (np.timedelta64(1500, "ms"), "duration", timedelta(seconds=1.5)),
        (np.array(2.5), "float", 2.5),
        ((1, "a"), "list", [1, "a"]),
        (frozenset({1}), "list", [1]),
        ({1: {"a": np.float32(1)}}, "dict", {"1": {"a": 1.0}}),
        (Colour.RED, "string", "red"),
        (PurePosixPath("a/b"), "string", "a/b"),
        (UUID(int=1), "string", "00000000-0000-0000-0000-000000000001"),
        (bytearray(b"x"), "bytes", b"x"),
        (Decimal("1.10"), "decimal", Decimal("1.10")),
        (date(2024, 2, 29), "timestamp", date(2024, 2, 29)),
        (2**100, "int", 2**100),
        (-(2**63), "int", -(2**63)),
        ("\ud800", "string", "\ud800"),
    ],
)
def test_cells_of_other_types(files: DirectoryFiles, cell: Any, kind: str, loaded: Any) -> None:
    table = Table(columns=["c"], data=[[cell], [cell]])
    assert table.record(files, "t", 0)["types"] == [kind]
    assert there_and_back(table, files).data == [[loaded], [loaded]]


@pytest.mark.parametrize("dtype", ["f4", "i8", "?", "c16", ">i4", "U3", "u1"])
def test_arrays_in_cells(files: DirectoryFiles, dtype: str) -> None:
    cells: list[Any] = [np.arange(6).reshape(2, 3).astype(dtype), np.zeros((0, 2), dtype), np.arange(3).astype(dtype)]
    table = Table(columns=["a"], data=[[cell] for cell in cells])
    assert table.record(files, "t", 0)["types"] == ["ndarray"]
    back = there_and_back(table, files)
    assert back == table
    assert [cell.shape for cell in back.get_column("a")] == [(2, 3), (0, 2), (3,)]
    assert back.get_column("a")[0].flags.writeable


def test_arrays_of_times_and_objects_are_lists(files: DirectoryFiles) -> None:
    times = np.array(["2024-01-01", "2024-01-02"], "datetime64[D]")
    table = Table(columns=["a"], data=[[times], [np.array([1, "x"], object)]])
    assert there_and_back(table, files).data == [[[datetime(2024, 1, 1), datetime(2024, 1, 2)]], [[1, "x"]]]


def test_media_in_cells(files: DirectoryFiles) -> None:
    pixels: Any = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    table = Table(columns=["picture", "counts", "many"])
    table.add_data(Image(pixels, caption="one"), Histogram([1, 2, 3]), [Image(pixels // 2)])
    table.add_data(Image(pixels + 1), Histogram([1.0]), [])
    record = table.record(files, "eval/table", 5)
    assert record["types"] == ["image-file", "histogram", "list"]
    assert record["data"][0][0]["path"].startswith("media/images/eval_table.picture_5_")
    back = there_and_back(table, files)
    assert back == table
    assert isinstance(back.data[0][2][0], Image)


def test_mixed_types_name_column_row_and_value(files: DirectoryFiles) -> None:
    table = Table(columns=["id", "loss"], data=[[1, 0.5], [2, None], [3, "oops"]])
    with pytest.raises(TypeError, match=r"column 'loss': row 2: holds string \('oops'\).*float.*allow_mixed_types"):
        table.record(files, "t", 0)


def test_values_that_cannot_be_stored_name_column_row_and_type(files: DirectoryFiles) -> None:
    table = Table(columns=["model"], data=[[None], [object()]])
    with pytest.raises(TypeError, match=r"column 'model': row 1: a builtins.object cannot be stored"):
        table.record(files, "t", 0)
    with pytest.raises(TypeError, match="complex cannot be stored"):
        Table(columns=["z"], data=[[1j]]).record(files, "t", 0)


@pytest.mark.parametrize("row", [[True, 1], [1, "a"], ["a", b"a"], [[1], "a"], [{}, []]])
def test_kinds_that_do_not_go_together(files: DirectoryFiles, row: list[Any]) -> None:
    with pytest.raises(TypeError, match="column 'c': row 1: holds"):
        Table(columns=["c"], data=[[cell] for cell in row]).record(files, "t", 0)


def test_ints_and_floats_go_together_and_stay_what_they_are(files: DirectoryFiles) -> None:
    table = Table(columns=["c"], data=[[1], [2.0], [None]])
    assert table.record(files, "t", 0)["types"] == ["number"]
    assert [type(cell) for cell in there_and_back(table, files).get_column("c")] == [int, float, type(None)]


def test_nan_between_strings_is_a_missing_cell_as_in_pandas(files: DirectoryFiles) -> None:
    table = Table(columns=["c"], data=[["a"], [math.nan], ["b"]])
    assert table.record(files, "t", 0)["types"] == ["string"]
    assert there_and_back(table, files) == table


@pytest.mark.parametrize(
    ("values", "width"), [([0, 127], 1), ([-129], 2), ([40_000], 4), ([2**31], 8), ([-(2**63), 2**63 - 1], 8)]
)
def test_integers_take_the_width_they_need(files: DirectoryFiles, values: list[int], width: int) -> None:
    table = Table(columns=["c"], data=[[value] for value in values])
    assert len(table.record(files, "t", 0)["data"][0]) == width * len(values)
    assert there_and_back(table, files) == table


def test_what_was_given_is_what_is_logged_even_if_changed_since(files: DirectoryFiles) -> None:
    rows = [[1], [2]]
    table = Table(columns=["x"], data=rows)
    rows[0][0] = 99
    rows.append([3])
    assert table.data == [[1], [2]]
    table.add_column("y", [5, 6])
    assert rows == [[99], [2], [3]]


def test_rows_may_be_changed_in_place(files: DirectoryFiles) -> None:
    table = Table(columns=["x"], data=[[1], [2]])
    table.data[0][0] = 10
    table.data.append([3])
    assert len(table) == 3
    assert there_and_back(table, files).data == [[10], [2], [3]]
    table.data = [[7]]
    assert table.get_column("x") == [7]
    table.data.append([1, 2])
    with pytest.raises(ValueError, match="row 1 has 2 cells for 1 columns"):
        table.record(files, "t", 0)


def test_empty_tables(files: DirectoryFiles) -> None:
    assert Table().columns == ["Input", "Output", "Expected"]
    assert there_and_back(Table(columns=["a", "b"]), files) == Table(columns=["a", "b"])
    assert there_and_back(Table(columns=[]), files) == Table(columns=[])
    assert bool(Table())
    assert len(Table()) == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"columns": "abc"}, TypeError, "columns must be a list of names"),
        ({"columns": [1.5]}, TypeError, "name must be text or a whole number"),
        ({"columns": ["a"], "data": 5}, TypeError, "data must be a list of rows"),
        ({"columns": ["a"], "data": {"a": [1]}}, TypeError, "data must be a list of rows"),
        ({"columns": ["a"], "data": ["x"]}, TypeError, "row 0 must be a list of cells, got 'x'"),
        ({"columns": ["a"], "data": [[1], [1, 2]]}, ValueError, r"row 1 has 2 cells for 1 columns \('a'\)"),
        ({"data": [[1, 2]]}, ValueError, "row 0 has 2 cells for 3 columns"),
        ({"columns": ["a"], "data": np.zeros(3)}, ValueError, "array of 2 dimensions"),
        ({"log_mode": "SOMETIMES"}, ValueError, "log_mode must be one of IMMUTABLE"),
        ({"columns": ["a", "b"], "dtype": [int]}, ValueError, "dtype has 1 entries for 2 columns"),
    ],
)
def test_mistakes_in_the_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Table(**arguments)


def test_sources_of_rows() -> None:
    expected = [[1, 2], [3, 4]]
    assert Table(columns=["a", "b"], rows=expected).data == expected
    assert Table(columns=["a", "b"], data=np.array(expected)).data == expected
    assert Table(columns=["a", "b"], data=[np.array([1, 2]), (3, 4)]).data == expected
    assert Table(columns=["a", "b"], data=(row for row in expected)).data == expected
    assert Table(columns=[0, 1], data=expected).get_column(1) == [2, 4]


def test_adding_rows_and_columns(files: DirectoryFiles) -> None:
    table = Table(columns=["a"])
    table.add_data(1)
    table.add_row(2)
    table.add_column("b", np.array([0.5, 1.5]))
    table.add_column("v", np.ones((2, 3)))
    assert table.data[0][:2] == [1, 0.5]
    assert table.get_column("v")[1].shape == (3,)
    table.add_computed_columns(lambda index, row: {"sum": row["a"] + row["b"], "i": index})
    assert table.get_column("sum") == [1.5, 3.5]
    assert list(table.iterrows())[1][0] == 1
    assert table.get_index() == [0, 1]
    assert there_and_back(table, files) == table
    with pytest.raises(ValueError, match="has 2 cells for 5 columns"):
        table.add_data(1, 2)
    with pytest.raises(ValueError, match="column 'c' has 1 values for 2 rows"):
        table.add_column("c", [1])
    with pytest.raises(ValueError, match="has a column 'a' already"):
        table.add_column("a", [1, 2])
    with pytest.raises(ValueError, match="fn returned"):
        table.add_computed_columns(lambda index, row: {f"c{index}": 1})


def test_columns_can_come_first() -> None:
    for table in (Table(columns=[]), Table()):
        table.add_column("x", [1, 2])
        table.add_column("y", ["a", "b"])
        assert table.columns == ["x", "y"]
        assert table.data == [[1, "a"], [2, "b"]]


def test_get_column() -> None:
    table = Table(columns=["n", "s", "m"], data=[[1, "a", [1]], [2, "b", [1, 2]]])
    assert table.get_column("n", convert_to="numpy").dtype.kind == "i"
    assert table.get_column("s", convert_to="numpy").tolist() == ["a", "b"]
    assert table.get_column("m", convert_to="numpy").dtype == object
    with pytest.raises(ValueError, match="no column 'x'; it has 'n', 's', 'm'"):
        table.get_column("x")
    with pytest.raises(ValueError, match="convert_to must be"):
        table.get_column("n", convert_to="torch")
    stacked = Table(columns=["a"], data=[[np.zeros(2)], [np.ones(2)]]).get_column("a", convert_to="numpy")
    assert stacked.shape == (2, 2)


def test_declared_types(files: DirectoryFiles) -> None:
    Table(columns=["a"], data=[[1]], dtype=float).record(files, "t", 0)
    Table(columns=["a", "b"], data=[["x", True]], dtype=[str, bool]).record(files, "t", 0)
    Table(columns=["a"], data=[[1], ["x"]], dtype=object).record(files, "t", 0)
    with pytest.raises(TypeError, match="column 'a': holds int cells, but was declared as string"):
        Table(columns=["a"], data=[[1]], dtype=str).record(files, "t", 0)
    with pytest.raises(TypeError, match="column 'a': row 1: is missing, but the column was declared with optional"):
        Table(columns=["a"], data=[[1], [None]], optional=False).record(files, "t", 0)
    with pytest.raises(TypeError, match="cannot be declared as builtin_function"):
        Table(columns=["a"], dtype=type(len))
    Table(columns=["a", "b"], data=[[1, None]], optional=[False, True]).record(files, "t", 0)


@pytest.mark.parametrize(
    ("dtype", "good", "bad"),
    [
        (int, 1, "x"),
        (np.float32, 0.5, "x"),
        (np.dtype("int64"), 1, "x"),
        ("string", "x", 1),
        (datetime, datetime(2024, 1, 1), 1),
        (np.ndarray, np.zeros(2), 1),
        (Image, Image(np.zeros((2, 2))), 1),
        (Image(np.zeros((2, 2))), Image(np.zeros((2, 2))), "x"),
        (0.5, 1, "x"),
        (list, [1], 1),
    ],
)
def test_cast_checks_what_is_there_and_what_comes(files: DirectoryFiles, dtype: Any, good: Any, bad: Any) -> None:
    table = Table(columns=["a"], data=[[good]])
    table.cast("a", dtype)
    table.record(files, "t", 0)
    table.data[0][0] = bad
    with pytest.raises(TypeError, match="column 'a'"):
        table.record(files, "t", 0)
    with pytest.raises(TypeError, match="column 'a'"):
        Table(columns=["a"], data=[[bad]]).cast("a", dtype)
    with pytest.raises(TypeError, match="row 0: is missing"):
        Table(columns=["a"], data=[[None]]).cast("a", dtype)
    Table(columns=["a"], data=[[None]]).cast("a", dtype, optional=True)


def test_cast_to_classes(files: DirectoryFiles) -> None:
    classes = Classes([{"id": 0, "name": "cat"}, {"id": 1, "name": "dog"}])
    table = Table(columns=["label"], data=[[0], [1]])
    table.cast("label", classes.get_type())
    assert table.record(files, "t", 0)["classes"] == {"label": {"0": "cat", "1": "dog"}}
    assert there_and_back(table, files).record(files, "t", 0) == table.record(files, "t", 0)
    with pytest.raises(ValueError, match=r"row 1: 7 is not one of the class ids \[0, 1\]"):
        Table(columns=["label"], data=[[0], [7]]).cast("label", classes)


def test_keys(files: DirectoryFiles) -> None:
    people = Table(columns=["id", "age"], data=[["ann", 30], ["bob", 40]])
    people.set_pk("id")
    people.record(files, "people", 0)
    visits = Table(columns=["who"], data=[["ann"], ["ann"]])
    visits.set_fk("who", people, "id")
    assert people.record(files, "people", 0)["keys"] == {"id": {"kind": "primary"}}
    assert visits.record(files, "visits", 0)["keys"]["who"] == {"kind": "foreign", "table": "people", "column": "id"}
    with pytest.raises(ValueError, match="cannot be the primary key"):
        visits.set_pk("who")
    with pytest.raises(ValueError, match="no column 'name'"):
        visits.set_fk("who", people, "name")


def test_each_log_records_what_the_table_holds_then(files: DirectoryFiles) -> None:
    for log_mode in ("IMMUTABLE", "MUTABLE"):
        table = Table(columns=["a"], data=[["x" * 100_000]], log_mode=log_mode)
        first = table.record(files, "t", 0)
        assert table.record(files, "t", 1)["path"] == first["path"]
        table.add_data("y")
        second = table.record(files, "t", 2)
        assert second["path"] != first["path"]
        assert len(load(first, files.directory)) == 1
        assert len(load(second, files.directory)) == 2


def test_an_incremental_table_writes_only_new_rows(files: DirectoryFiles) -> None:
    table = Table(columns=["step", "text"], log_mode="INCREMENTAL")
    records = []
    for step in range(4):
        for _ in range(50):
            table.add_data(len(table), "some text" * 5)
        records.append(table.record(files, "t", step))
    sizes = [record["size"] for record in records]
    assert max(sizes) < 1.2 * min(sizes)
    assert [record["increment_num"] for record in records] == [0, 1, 2, 3]
    assert [record["nrows"] for record in records] == [50, 100, 150, 200]
    assert [record["previous"] for record in records] == [None, *(record["path"] for record in records[:-1])]
    for record in records:
        loaded = load(record, files.directory)
        assert loaded.data == table.data[: record["nrows"]]
        assert loaded.log_mode == "INCREMENTAL"
    assert table.record(files, "t", 9) == records[-1]


def test_incremental_tables_may_only_grow(files: DirectoryFiles) -> None:
    table = Table(columns=["a"], data=[[1], [2]], log_mode="INCREMENTAL")
    table.record(files, "t", 0)
    with pytest.raises(ValueError, match="column 'b' comes too late"):
        table.add_column("b", [1, 2])
    table.add_data("three")
    with pytest.raises(TypeError, match="column 'a': the rows from 2 on hold string, those logged before int"):
        table.record(files, "t", 1)
    del table.data[1:]
    with pytest.raises(ValueError, match="2 rows of this INCREMENTAL table were logged and it has 1 now"):
        table.record(files, "t", 1)


def test_incremental_tables_may_mix_when_allowed(files: DirectoryFiles) -> None:
    table = Table(columns=["a"], data=[[1]], log_mode="INCREMENTAL", allow_mixed_types=True)
    table.record(files, "t", 0)
    table.add_data("two")
    assert load(table.record(files, "t", 1), files.directory) == table


def test_an_incremental_table_starts_anew_in_another_run_or_under_another_key(
    files: DirectoryFiles, tmp_path_factory: pytest.TempPathFactory
) -> None:
    table = Table(columns=["a"], data=[[1]], log_mode="INCREMENTAL")
    table.record(files, "t", 0)
    table.add_data(2)
    elsewhere = DirectoryFiles(tmp_path_factory.mktemp("other"))
    for where, key in ((elsewhere, "t"), (files, "other")):
        record = table.record(where, key, 1)
        assert (record["increment_num"], record["nrows"]) == (0, 2)
        assert load(record, where.directory) == table


def test_tables_can_be_copied_and_pickled(files: DirectoryFiles) -> None:
    table = Table(columns=["a"], data=[[1]], log_mode="INCREMENTAL")
    table.record(files, "t", 0)
    for twin in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert twin == table
        assert twin.record(files, "t", 1)["increment_num"] == 0


def test_equality() -> None:
    first = Table(columns=["a"], data=[[np.array([1.0, math.nan])], [math.nan]])
    assert first == Table(columns=["a"], data=[[np.array([1.0, math.nan])], [math.nan]])
    assert first != Table(columns=["a"], data=[[np.array([1.0, 2.0])], [math.nan]])
    assert first != Table(columns=["b"], data=first.data)
    assert first != "table"
    assert Table(columns=["a"], data=[[{"x": [1]}]]) == Table(columns=["a"], data=[[{"x": [1]}]])


def test_damaged_files_are_errors_not_wrong_values(files: DirectoryFiles) -> None:
    table = Table(columns=["a"], data=[[i] for i in range(10_000)], log_mode="INCREMENTAL")
    record = table.record(files, "t", 0)
    for content in (b"", b"\x00", files.read(record["path"])[:-5], msgspec.msgpack.encode([1])):
        files.replace(record["path"], content)
        with pytest.raises(ValueError, match="not a table file"):
            load(record, files.directory)
    inline = Table(columns=["a"], data=[[1], [2], [3]]).record(files, "t", 0)
    with pytest.raises(ValueError, match="not a packed int column of 3 rows"):
        load({**inline, "data": [b"12"]}, files.directory)
