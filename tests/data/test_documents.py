"""Html, 3-D objects, molecules, Plotly figures and graphs: kept as they are, refused with a reason."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from strobe.data import Graph, Html, Molecule, Object3D, Plotly, box3d, load, record_list
from strobe.data.files import DirectoryFiles
from strobe.errors import MissingExtra


def test_html_goes_there_and_back(files: DirectoryFiles, tmp_path: Path) -> None:
    page = Html("<p>grüße</p>", inject=False)
    record = page.record(files, "h", 0)
    assert record["_type"] == "html-file"
    assert files.read(record["path"]).decode() == "<p>grüße</p>"
    assert load(record, files.directory) == page
    (tmp_path / "page.html").write_text("<p>file</p>")
    for source in (
        tmp_path / "page.html",
        str(tmp_path / "page.html"),
        io.StringIO("<p>file</p>"),
        b"<p>file</p>".decode(),
    ):
        assert Html(source, inject=False).html == "<p>file</p>"
    assert Html(str(tmp_path / "page.html"), inject=False, data_is_not_path=True).html == str(tmp_path / "page.html")
    assert Html("lone \ud800", inject=False).record(files, "h", 1)["size"] > 0
    assert len({page, Html("<p>grüße</p>", inject=False)}) == 1


@pytest.mark.parametrize(
    ("page", "before"),
    [
        ("<p>x</p>", ""),
        ("<!DOCTYPE html><p>x</p>", "<!DOCTYPE html>"),
        ("<html lang='en'><body>x</body></html>", "<html lang='en'><head>"),
        ("<HTML><HEAD><title>t</title></HEAD></HTML>", "<HTML><HEAD>"),
    ],
)
def test_injection_keeps_the_page_whole(page: str, before: str) -> None:
    html = Html(page).html
    assert html.startswith(before + '<meta charset="utf-8"><base target="_blank">')


def test_mistakes_in_html(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no \.html file"):
        Html(tmp_path / "none.html")
    with pytest.raises(TypeError, match="got int"):
        Html(5)


@pytest.mark.parametrize("width", [3, 4, 6])
def test_point_clouds(files: DirectoryFiles, width: int) -> None:
    points: Any = np.arange(2 * width, dtype=np.float32).reshape(2, width)
    for source in (points, points.tolist()):
        record = Object3D(source, caption="c").record(files, "p", 0)
        assert (record["_type"], record["caption"]) == ("object3D-file", "c")
        assert record["path"].endswith(".pts.json")
        assert json.loads(files.read(record["path"])) == points.tolist()
        assert load(record, files.directory).read() == files.read(record["path"])
    assert Object3D.from_numpy(points).read() == Object3D(points).read()


def test_scenes(files: DirectoryFiles) -> None:
    box = box3d(center=(0, 0, 0), size=(2, 4, 6), orientation=(1, 0, 0, 0), color=(1, 0.5, 0), label="b", score=0.5)
    scene = Object3D.from_point_cloud(
        points=np.zeros((2, 3)), boxes=[box], vectors=[{"start": [0, 0, 0], "end": [1, 1, 1]}]
    )
    body = json.loads(scene.read())
    assert body["type"] == "lidar/beta"
    assert body["points"] == [[0, 0, 0], [0, 0, 0]]
    assert body["boxes"][0]["label"] == "b"
    assert sorted(body["boxes"][0]["corners"])[0] == [-1, -2, -3]
    assert json.loads(Object3D({"type": "lidar/beta"}).read()) == {
        "type": "lidar/beta",
        "vectors": [],
        "points": [],
        "boxes": [],
    }


def test_a_box_is_turned_by_its_quaternion() -> None:
    half = math.sqrt(0.5)
    box = box3d(center=(10, 0, 0), size=(2, 4, 6), orientation=(half, 0, 0, half), color=(0, 0, 0))
    corners = np.array(box["corners"])
    # a quarter turn about z: what was 2 long in x is so in y
    np.testing.assert_allclose(corners.max(0) - corners.min(0), [4, 2, 6])
    np.testing.assert_allclose(corners.mean(0), [10, 0, 0], atol=1e-12)
    # the corner at +x, +y goes to -y, +x
    first = np.array(box3d(center=(0, 0, 0), size=(2, 4, 6), orientation=(1, 0, 0, 0), color=(0, 0, 0))["corners"][6])
    np.testing.assert_allclose(corners[6] - [10, 0, 0], [-first[1], first[0], first[2]], atol=1e-12)
    with pytest.raises(ValueError, match="turns nothing"):
        box3d(center=(0, 0, 0), size=(1, 1, 1), orientation=(0, 0, 0, 0), color=(0, 0, 0))


@pytest.mark.parametrize("name", ["a.obj", "a.gltf", "a.glb", "a.stl", "a.pts.json", "A.OBJ"])
def test_model_files(files: DirectoryFiles, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"model")
    record = Object3D(tmp_path / name).record(files, "m", 0)
    assert files.read(record["path"]) == b"model"
    with open(tmp_path / name, "rb") as file:
        assert Object3D.from_file(file).read() == b"model"
    assert Object3D(io.BytesIO(b"model"), file_type="stl").read() == b"model"


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (np.zeros((2, 5)), ValueError, r"n×3 .*got \(2, 5\)"),
        (np.zeros(3), ValueError, r"got \(3,\)"),
        ([[1, 2, 3], [1, 2, 3, 4]], ValueError, r"rows of \[3, 4\] numbers"),
        ({"type": "other"}, ValueError, "must be 'lidar/beta', got 'other'"),
        (io.BytesIO(b""), ValueError, "needs file_type="),
        ("a.txt", ValueError, "Object3D cannot be a .txt"),
        ("a.obj", FileNotFoundError, "there is no file a.obj"),
        (5, TypeError, "got int"),
    ],
)
def test_mistakes_in_3d(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Object3D(value)


def test_lists_of_documents(files: DirectoryFiles) -> None:
    for values, name in (([Html("a"), Html("b")], "html"), ([Object3D(np.zeros((1, 3)))], "object3D")):
        record = record_list(values, files, "k", 0)
        assert isinstance(record, dict)
        assert record["_type"] == name
        assert len(load(record, files.directory)) == len(values)
    mixed = record_list([Html("a"), Object3D(np.zeros((1, 3)))], files, "k", 0)
    assert isinstance(mixed, list)
    assert [record["_type"] for record in mixed] == ["html-file", "object3D-file"]
    assert record_list([], files, "k", 0) == []


def test_molecules(files: DirectoryFiles, tmp_path: Path) -> None:
    (tmp_path / "m.pdb").write_text("ATOM")
    for source in (
        Molecule(tmp_path / "m.pdb", caption="c"),
        Molecule(io.StringIO("ATOM"), caption="c", file_type="pdb"),
    ):
        record = source.record(files, "m", 0)
        assert (record["_type"], record["caption"]) == ("molecule-file", "c")
        assert load(record, files.directory).read() == b"ATOM"
    with open(tmp_path / "m.pdb") as file:
        assert Molecule(file).read() == b"ATOM"
    with pytest.raises(ValueError, match="needs file_type="):
        Molecule(io.StringIO("ATOM"))
    with pytest.raises(ValueError, match=r"cannot be a \.xyz"):
        Molecule("m.xyz")
    with pytest.raises(TypeError, match="got int"):
        Molecule(5)
    with pytest.raises(MissingExtra, match="pip install rdkit"):
        Molecule.from_smiles("CCO")


def test_plotly_dicts_and_json(files: DirectoryFiles) -> None:
    figure = {"data": [{"type": "scatter", "y": np.array([1, 2])}], "layout": {"title": "t"}}
    plot = Plotly(figure)
    record = plot.record(files, "p", 0)
    assert record["_type"] == "plotly-file"
    assert record["path"].endswith(".plotly.json")
    back = load(record, files.directory)
    assert back == plot
    assert back.figure["data"][0]["y"] == [1, 2]
    assert Plotly(json.dumps(back.figure)).figure == back.figure
    assert hash(back) == hash(plot)
    wrong: Any
    for wrong in (5, "text", "[1]", {"layout": {}}, {"data": object()}):
        with pytest.raises(TypeError, match=r"Plotly takes|a figure cannot hold"):
            Plotly(wrong)


def test_graphs(files: DirectoryFiles) -> None:
    graph = Graph()
    first = graph.add_node(name="conv", class_name="Conv2d", output_shape=[1, 2])
    graph.add_edge(first, graph.add_node(id="out", name="linear"))
    record = graph.record(files, "g", 0)
    assert record["_type"] == "graph-file"
    back = load(record, files.directory)
    assert back["out"].attributes == {"id": "out", "name": "linear"}
    assert [(a.id, b.id) for a, b in back.edges] == [(0, "out")]
    with pytest.raises(ValueError, match="has a node 'out' already"):
        graph.add_node(id="out")
    with pytest.raises(TypeError, match="a Node has no colour"):
        graph.add_node(colour="red")
