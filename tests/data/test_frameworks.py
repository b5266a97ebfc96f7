"""Values of torch, matplotlib and plotly, with the real libraries."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from strobe.data import Audio, Histogram, Image, Object3D, Plotly, Table, Video, coerce, load
from strobe.data.files import DirectoryFiles

pytestmark = pytest.mark.frameworks


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture
def pyplot() -> Any:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_tensors_are_images_with_channels_first(torch: Any) -> None:
    tensor = torch.arange(3 * 4 * 3, dtype=torch.uint8).reshape(3, 4, 3)
    assert (Image(tensor).to_numpy() == tensor.permute(1, 2, 0).numpy()).all()
    assert Image(torch.rand(1, 5, 6)).to_numpy().shape == (5, 6)
    assert Image(torch.rand(5, 6)).to_numpy().shape == (5, 6)
    assert Image(torch.rand(5, 6, 3)).to_numpy().shape == (5, 6, 3)
    assert Image(torch.rand(4, 3, 5, 6)).to_numpy().shape == (10, 12, 3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "uint8", "int64", "bool"])
def test_tensors_of_any_type_and_with_gradients(torch: Any, dtype: str) -> None:
    tensor = torch.ones(3, 4, 4).to(getattr(torch, dtype))
    if tensor.is_floating_point():
        tensor.requires_grad_()
    expected = 1 if dtype in ("uint8", "int64") else 255
    assert (Image(tensor).to_numpy() == expected).all()
    assert sum(Histogram(tensor).histogram) == 48


def test_tensors_in_tables(torch: Any, files: DirectoryFiles) -> None:
    table = Table(columns=["scalar", "vector"], data=[[torch.tensor(1.5), torch.arange(3)]])
    record = table.record(files, "t", 0)
    assert record["types"] == ["float", "ndarray"]
    scalar, vector = load(record, files.directory).data[0]
    assert (scalar, vector.tolist()) == (1.5, [0, 1, 2])
    assert Table(columns=["a", "b"], data=torch.ones(2, 2)).data == [[1.0, 1.0], [1.0, 1.0]]
    assert Histogram([torch.tensor(1.0), torch.tensor(2.0)]).bins[0] == 1.0


def test_tensors_as_sound_video_points_and_masks(torch: Any, files: DirectoryFiles) -> None:
    assert Audio(torch.zeros(80), sample_rate=8000).duration == 0.01
    assert Video(torch.zeros(2, 3, 4, 6)).width == 6
    assert Object3D(torch.zeros(2, 3)).read() == b"[[0.0,0.0,0.0],[0.0,0.0,0.0]]"
    box = {"position": {"middle": torch.tensor([1, 2]), "width": torch.tensor(3), "height": 4}, "class_id": 0}
    image = Image(
        torch.zeros(3, 4, 4),
        masks={"m": {"mask_data": torch.zeros(4, 4)}},
        boxes={"b": {"box_data": [box]}},
    )
    assert image.record(files, "k", 0)["boxes"]["b"]["box_data"][0]["position"]["middle"] == [1, 2]


def test_histogram_of_a_special_tensor(torch: Any) -> None:
    sparse = torch.eye(3).to_sparse()
    assert sum(Histogram(sparse).histogram) == 9


def test_figures_are_drawn(pyplot: Any, files: DirectoryFiles) -> None:
    figure, axes = pyplot.subplots(figsize=(2, 1), dpi=50)
    (line,) = axes.plot([1, 2])
    for source in (figure, axes, line, pyplot, sys.modules["matplotlib.pyplot"]):
        image = coerce(source)
        assert isinstance(image, Image)
        assert (image.width, image.height, image.format) == (100, 50, "png")
    jpeg = Image(figure, file_type="jpg").record(files, "f", 0)
    assert jpeg["path"].endswith(".jpg")
    assert jpeg["format"] == "jpg"
    assert np.asarray(load(jpeg, files.directory).image).shape == (50, 100, 3)


def test_an_artist_without_a_figure(pyplot: Any) -> None:
    from matplotlib.lines import Line2D

    with pytest.raises(ValueError, match="this Line2D is not part of a figure"):
        Image(Line2D([0], [0]))


def test_colours_and_modules_of_matplotlib_are_left_alone(pyplot: Any) -> None:
    import matplotlib.colors

    assert coerce(matplotlib.colors.Normalize()) is None
    assert coerce(matplotlib) is None


def test_plotly_figures(files: DirectoryFiles) -> None:
    go = pytest.importorskip("plotly.graph_objects")
    figure = go.Figure(go.Scatter(x=np.array([1, 2]), y=[3, 4]), layout={"title": "t"})
    media = coerce(figure)
    assert isinstance(media, Plotly)
    back = load(media.record(files, "p", 0), files.directory)
    assert back.figure["layout"]["title"]["text"] == "t"
    assert go.Figure(back.figure).data[0].y == (3, 4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # plotly's, of matplotlib's names
def test_pyplot_as_plotly(pyplot: Any) -> None:
    pytest.importorskip("plotly")
    figure, axes = pyplot.subplots()
    axes.plot([1, 2], [3, 4])
    assert Plotly(figure).figure["data"]
