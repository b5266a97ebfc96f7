"""Images: every source gives the right pixels; large ones are safe at once and small later."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.data import Classes, Image, load, record_list
from strobe.data.files import DirectoryFiles
from strobe.data.picture import identify
from strobe.data.pixels import to_uint8


def picture(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def seen(image: Image, files: DirectoryFiles) -> Any:
    """What a reader of the file sees."""
    path = image.record(files, "k", 0)["path"]
    with PIL.Image.open(files.directory / path) as opened:
        return np.asarray(opened)


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 1), (5, 7, 2), (5, 7, 3), (5, 7, 4), (1, 1, 3), (200, 300, 3)])
def test_uint8_arrays_are_kept(files: DirectoryFiles, shape: tuple[int, ...]) -> None:
    array = picture(*shape)
    image = Image(array)
    expected = array[:, :, 0] if shape[2:] == (1,) else array
    assert (seen(image, files) == expected).all()
    assert files.drain(10)
    assert (seen(image, files) == expected).all()
    record = image.record(files, "k", 0)
    assert (record["_type"], record["width"], record["height"], record["format"]) == (
        "image-file",
        shape[1],
        shape[0],
        "png",
    )


def test_a_large_image_is_stored_at_once_and_shrunk_later(
    files: DirectoryFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = np.tile(np.arange(256, dtype=np.uint8), (300, 1))
    waiting: list[Callable[[], None]] = []
    monkeypatch.setattr(files, "later", waiting.append)
    path = files.directory / Image(array).record(files, "k", 0)["path"]
    assert path.stat().st_size > array.size
    assert (np.asarray(PIL.Image.open(path)) == array).all()
    assert Image(array).record(files, "other", 1)["path"] == str(path.relative_to(files.directory))
    for work in waiting:
        work()
    assert path.stat().st_size < array.size / 20
    assert (np.asarray(PIL.Image.open(path)) == array).all()


def test_pixels_are_taken_when_the_image_is_made(files: DirectoryFiles) -> None:
    array: Any = np.zeros((4, 4), np.uint8)
    image = Image(array)
    array[:] = 255
    assert not seen(image, files).any()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([True, False]), [255, 0]),
        (np.array([0.0, 0.5, 1.0]), [0, 128, 255]),
        (np.array([0.0, 0.5, 1.0], np.float16), [0, 128, 255]),
        (np.array([-1.0, 0.0, 1.0], np.float32), [0, 128, 255]),
        (np.array([0.0, 2.4, 254.6]), [0, 2, 255]),
        (np.array([0, 1, 255]), [0, 1, 255]),
        (np.array([0, 1, 1]), [0, 1, 1]),
        (np.array([0, 255, 65535], np.uint16), [0, 0, 255]),
        (np.array([0, 200], np.uint16), [0, 200]),
        (np.array([-10, 0, 10]), [0, 128, 255]),
        (np.array([0.0, 500.0, 1000.0]), [0, 128, 255]),
        (np.array([0.0, math.nan, 1.0, math.inf, -math.inf]), [0, 0, 255, 255, 0]),
        (np.array([math.nan]), [0]),
        (np.array([-1e308, 0, 1e308]), [0, 128, 255]),
        (np.array([7000, 7000]), [0, 0]),
    ],
)
def test_other_numbers_follow_the_documented_rule(values: Any, expected: list[int]) -> None:
    assert to_uint8(values).tolist() == expected


@given(st.lists(st.floats(), min_size=1, max_size=20))
def test_any_floats_can_be_drawn(values: list[float]) -> None:
    assert to_uint8(np.array(values)).dtype == np.uint8


def test_channels_first_is_understood_where_it_is_clear(files: DirectoryFiles) -> None:
    array = picture(3, 10, 12)
    assert (seen(Image(array), files) == array.transpose(1, 2, 0)).all()


def test_a_batch_becomes_a_grid(files: DirectoryFiles) -> None:
    batch = picture(5, 4, 6, 3)
    grid = seen(Image(batch), files)
    assert grid.shape == (8, 18, 3)
    assert (grid[:4, :6] == batch[0]).all()
    assert (grid[4:, 6:12] == batch[4]).all()
    assert not grid[4:, 12:].any()


@pytest.mark.parametrize("shape", [(3,), (5, 4, 7), (0, 4), (2, 3, 4, 5, 6), (0, 4, 4, 3)])
def test_shapes_that_are_no_images(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"is not an image|batch of 0"):
        Image(np.zeros(shape))


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA", "1", "P", "I;16", "I", "F", "CMYK", "YCbCr"])
def test_images_of_pillow(files: DirectoryFiles, mode: str) -> None:
    source = PIL.Image.fromarray(picture(6, 8, 3)).convert("L" if mode in ("I;16", "F") else "RGB").convert(mode)
    pixels = seen(Image(source), files)
    if mode in ("L", "LA", "RGB", "RGBA"):
        assert (pixels == np.asarray(source)).all()
    assert pixels.shape[:2] == (6, 8)


def test_mode_converts(files: DirectoryFiles) -> None:
    array = picture(6, 8, 3)
    grey = np.asarray(PIL.Image.fromarray(array).convert("L"))
    assert (seen(Image(array, mode="L"), files) == grey).all()
    assert seen(Image(array[:, :, 0], mode="RGB"), files).shape == (6, 8, 3)
    assert seen(Image(PIL.Image.fromarray(array), mode="L"), files).shape == (6, 8)


@pytest.mark.parametrize("file_type", ["png", "jpg", "jpeg", "bmp", "webp", "gif"])
def test_file_types_and_reading_them_back(files: DirectoryFiles, file_type: str) -> None:
    image = Image(picture(20, 30, 4), file_type=file_type, caption="c")
    record = image.record(files, "k", 0)
    assert record["path"].endswith(f".{file_type}")
    back = load(record, files.directory)
    assert (back.width, back.height, back.caption, back.format) == (30, 20, "c", file_type)


def test_unknown_file_type() -> None:
    with pytest.raises(ValueError, match="file_type must be one of png"):
        Image(picture(2, 2), file_type="tga")


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.gif", "a.bmp", "a.webp", "a.tiff"])
def test_files_and_bytes(files: DirectoryFiles, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    PIL.Image.fromarray(picture(20, 30, 3)).save(path)
    for source in (path, str(path), path.read_bytes(), io.BytesIO(path.read_bytes())):
        image = Image(source)
        assert files.read(image.record(files, "k", 0)["path"]) == path.read_bytes()
        if name != "a.tiff":
            assert (image.width, image.height) == (30, 20)
        assert image.to_numpy().shape == (20, 30, 3) or name == "a.gif"


@pytest.mark.parametrize(
    "options", [{"progressive": True}, {"exif": b"Exif\0\0" + bytes(30_000)}, {"comment": b"x" * 500}]
)
def test_sizes_of_odd_jpegs(options: dict[str, Any]) -> None:
    target = io.BytesIO()
    PIL.Image.fromarray(picture(20, 30, 3)).save(target, "JPEG", **options)
    assert identify(target.getvalue()) == ("jpg", 30, 20)


@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 50}, {"lossless": True, "exif": b"Exif\0\0MM"}])
def test_sizes_of_webp(options: dict[str, Any]) -> None:
    target = io.BytesIO()
    PIL.Image.fromarray(picture(20, 30, 3)).save(target, "WEBP", **options)
    assert identify(target.getvalue()) == ("webp", 30, 20)


@given(
    st.binary(max_size=60), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"BM", b"RIFF1234WEBPVP8 "])
)
def test_identify_takes_any_bytes(content: bytes, head: bytes) -> None:
    identify(head + content)


def test_sources_that_are_no_images(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("hello there")
    with pytest.raises(ValueError, match="is not an image that can be recognised"):
        Image(tmp_path / "text.png")
    with pytest.raises(FileNotFoundError, match="cannot read the image"):
        Image(tmp_path / "none.png")
    with pytest.raises(ValueError, match="cannot be recognised as an image"):
        Image(b"hello")
    with pytest.raises(TypeError, match=r"an Image is made from .* got int"):
        Image(5)
    with pytest.raises(TypeError, match="pixels of type"):
        Image(np.array([["a"]]))


def test_an_image_of_an_image(files: DirectoryFiles) -> None:
    first = Image(picture(3, 3), caption="first", grouping=1)
    second = Image(first, caption="second")
    assert (second.caption, second.grouping) == ("second", 1)
    assert (seen(second, files) == seen(first, files)).all()


def test_equality(files: DirectoryFiles) -> None:
    image = Image(picture(4, 5, 3), caption="c")
    assert image == Image(picture(4, 5, 3), caption="c")
    assert image == load(image.record(files, "k", 0), files.directory)
    assert image != Image(picture(4, 5, 3))
    assert image != Image(picture(4, 5, 3, seed=1), caption="c")
    assert image != "image"
    assert len({image, Image(picture(4, 5, 3), caption="c")}) == 1


def boxes() -> dict[str, Any]:
    return {
        "box_data": [
            {
                "position": {"minX": 0.1, "maxX": np.float32(0.5), "minY": 0.3, "maxY": 0.4},
                "class_id": np.int64(1),
                "box_caption": "a cat",
                "scores": {"acc": np.float64(0.9)},
            },
            {"position": {"middle": np.array([150, 20]), "width": 68, "height": 112}, "domain": "pixel", "class_id": 0},
        ],
        "class_labels": {0: "dog", 1: "cat"},
    }


def test_boxes_masks_and_classes_go_there_and_back(files: DirectoryFiles) -> None:
    mask = np.arange(12).reshape(3, 4)
    image = Image(
        picture(3, 4, 3),
        classes=[{"id": 0, "name": "dog"}, {"id": 1, "name": "cat"}],
        boxes={"predictions": boxes()},
        masks={"truth": {"mask_data": mask, "class_labels": {0: "road"}}},
    )
    record = image.record(files, "k", 2)
    found = record["boxes"]["predictions"]
    assert found["_type"] == "boxes2D"
    assert found["box_data"][1]["position"] == {"middle": [150, 20], "width": 68, "height": 112}
    assert found["class_labels"] == {"0": "dog", "1": "cat"}
    assert record["masks"]["truth"]["_type"] == "mask"
    assert record["masks"]["truth"]["path"].startswith("media/images/mask/k_truth_2_")
    with PIL.Image.open(files.directory / record["masks"]["truth"]["path"]) as opened:
        assert (np.asarray(opened) == mask).all()
    back = load(record, files.directory)
    assert back.record(files, "k", 2) == record
    assert back.classes == Classes([{"id": 0, "name": "dog"}, {"id": 1, "name": "cat"}])


def test_many_boxes_become_a_file(files: DirectoryFiles) -> None:
    many = {"box_data": boxes()["box_data"] * 500}
    record = Image(picture(3, 4), boxes={"p": many}).record(files, "k", 0)
    assert record["boxes"]["p"]["path"].startswith("media/metadata/boxes2D/k_p_0_")
    assert len(load(record, files.directory).boxes["p"].boxes) == 1000


def test_default_class_labels(files: DirectoryFiles) -> None:
    image = Image(
        picture(2, 2),
        boxes={"p": {"box_data": [{**boxes()["box_data"][0], "class_id": 7}]}},
        masks={"m": {"mask_data": np.array([[0, 3], [3, 0]])}},
    )
    record = image.record(files, "k", 0)
    assert record["boxes"]["p"]["class_labels"] == {"7": "class_7"}
    assert record["masks"]["m"]["class_labels"] == {"0": "class_0", "3": "class_3"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"position": {"minX": 0}}, "needs a position"),
        ({"position": {"middle": [1], "width": 1, "height": 1}}, "needs a position"),
        ({"class_id": "cat"}, "class_id of a box"),
        ({"box_caption": 5}, "box_caption of a box"),
        ({"scores": {"acc": "high"}}, "scores of a box"),
    ],
)
def test_mistakes_in_boxes(change: dict[str, Any], message: str) -> None:
    box = {**boxes()["box_data"][0], **change}
    with pytest.raises(TypeError, match=message):
        Image(picture(2, 2), boxes={"p": {"box_data": [box]}})


@pytest.mark.parametrize(
    "mask",
    [
        {},
        "mask",
        {"mask_data": np.zeros(3)},
        {"mask_data": np.array([[300]])},
        {"mask_data": np.array([[0.5]])},
        {"mask_data": np.array([[1]]), "class_labels": {"cat": 1}},
        {"mask_data": np.array([[1]]), "class_labels": ["cat"]},
    ],
)
def test_mistakes_in_masks(mask: Any) -> None:
    with pytest.raises(TypeError, match=r"mask"):
        Image(picture(2, 2), masks={"m": mask})


def test_masks_from_files_and_of_bools(files: DirectoryFiles, tmp_path: Path) -> None:
    PIL.Image.fromarray(picture(2, 2)).save(tmp_path / "m.png")
    record = Image(picture(2, 2), masks={"m": {"path": tmp_path / "m.png"}}).record(files, "k", 0)
    assert files.read(record["masks"]["m"]["path"]) == (tmp_path / "m.png").read_bytes()
    with pytest.raises(FileNotFoundError, match="mask 'm': there is no file"):
        Image(picture(2, 2), masks={"m": {"path": tmp_path / "none.png"}})
    Image(picture(2, 2), masks={"m": {"mask_data": np.array([[True, False]])}})


def test_classes_are_checked() -> None:
    with pytest.raises(TypeError, match="a class is"):
        Image(picture(2, 2), classes=[{"name": "cat"}])


def test_a_list_of_images_is_one_record(files: DirectoryFiles) -> None:
    images = [Image(picture(3, 4, seed=i), caption=None if i else "first") for i in range(3)]
    record = record_list(images, files, "samples", 4)
    assert isinstance(record, dict)
    assert record["_type"] == "images/separated"
    assert (record["count"], record["width"], record["height"], record["format"]) == (3, 4, 3, "png")
    assert len(set(record["filenames"])) == 3
    assert record["captions"] == ["first", "", ""]
    assert "sizes" not in record
    back = load(record, files.directory)
    assert [(image.to_numpy() == picture(3, 4, seed=i)).all() for i, image in enumerate(back)] == [True] * 3


def test_a_list_of_images_of_different_sizes_with_extras(files: DirectoryFiles) -> None:
    images = [Image(picture(3, 4), grouping=1), Image(picture(5, 6), boxes={"p": boxes()}), Image(picture(3, 4))]
    record = record_list(images, files, "samples", 4)
    assert isinstance(record, dict)
    assert record["sizes"] == [[4, 3], [6, 5], [4, 3]]
    assert [bool(entry) for entry in record["all_boxes"]] == [False, True, False]
    back = load(record, files.directory)
    assert back[0].grouping == 1
    assert back[1].boxes["p"].boxes == images[1].boxes["p"].boxes
