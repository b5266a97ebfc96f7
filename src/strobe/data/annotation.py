"""What is drawn over an image: boxes and masks, each under a name such as "predictions".

Checked when the image is made, so that a mistake points at the line that made it. Recorded with the image.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strobe.data import png
from strobe.data.array import numpy, to_numpy
from strobe.data.classes import check_labels, label_record
from strobe.data.media import INLINE_LIMIT, Media, MediaFiles

_CORNERS = ("minX", "maxX", "minY", "maxY")


class BoundingBoxes2D(Media):
    """Boxes: {"box_data": [{"position", "class_id", "box_caption", "domain", "scores"}, …], "class_labels": …}."""

    _log_type = "boxes2D"

    def __init__(self, val: Mapping[str, Any], key: str) -> None:
        if not isinstance(val, Mapping) or not isinstance(val.get("box_data"), (list, tuple)):
            raise TypeError(f"boxes {key!r} must be {{'box_data': [box, …]}}, got {val!r:.80}")
        self._key = key
        self._boxes = [_box(box, key) for box in val["box_data"]]
        if "class_labels" in val:
            self._labels = check_labels(val["class_labels"], f"boxes {key!r}")
        else:
            ids = sorted({box["class_id"] for box in self._boxes if "class_id" in box})
            self._labels = {number: f"class_{number}" for number in ids}

    @property
    def boxes(self) -> list[dict[str, Any]]:
        return self._boxes

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        import msgspec

        body = {"box_data": self._boxes, "class_labels": label_record(self._labels)}
        content = msgspec.json.encode(body)
        if len(content) <= INLINE_LIMIT:
            return {"_type": self._log_type, **body}
        path = files.write("metadata/boxes2D", f"{key}_{self._key}", step, "boxes2D.json", content)
        return {"_type": self._log_type, "path": path, "size": len(content)}


def _box(box: object, key: str) -> dict[str, Any]:
    if not isinstance(box, Mapping):
        raise TypeError(f"a box of {key!r} must be a dict with a position, got {type(box).__name__}")
    checked = {name: _plain(value) for name, value in box.items()}
    position = checked.get("position")
    if not isinstance(position, dict) or not _is_position(position):
        raise TypeError(
            f"a box of {key!r} needs a position of minX, maxX, minY, maxY"
            f" or middle, width, height (numbers), got {position!r:.120}"
        )
    if not isinstance(checked.get("class_id", 0), int):
        raise TypeError(f"class_id of a box of {key!r} must be a whole number, got {checked['class_id']!r}")
    if not isinstance(checked.get("box_caption", ""), str):
        raise TypeError(f"box_caption of a box of {key!r} must be text, got {checked['box_caption']!r}")
    scores = checked.get("scores")
    if scores is not None and not (isinstance(scores, dict) and all(map(_is_number, scores.values()))):
        raise TypeError(f"scores of a box of {key!r} must be a dict of numbers, got {scores!r:.80}")
    return checked


def _is_position(position: dict[str, Any]) -> bool:
    if all(_is_number(position.get(name)) for name in _CORNERS):
        return True
    middle = position.get("middle")
    return (
        isinstance(middle, list)
        and len(middle) == 2
        and all(map(_is_number, (*middle, position.get("width"), position.get("height"))))
    )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    """Return numbers and lists in place of scalars and arrays of numpy, torch and the like."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value


class ImageMask(Media):
    """A class number for each pixel: {"mask_data": 2-D array of 0…255 or "path": file, "class_labels": {0: "road"}}."""

    _log_type = "mask"

    def __init__(self, val: Mapping[str, Any], key: str) -> None:
        if not isinstance(val, Mapping) or not ("mask_data" in val or "path" in val):
            raise TypeError(f"mask {key!r} must be {{'mask_data': 2-D array}} or {{'path': file}}, got {val!r:.80}")
        self._key = key
        self._path: Path | None = None
        self._png = b""
        labels = val.get("class_labels")
        if "path" in val:
            self._path = Path(val["path"])
            if not self._path.is_file():
                raise FileNotFoundError(f"mask {key!r}: there is no file {self._path}")
        else:
            array = _mask_array(val["mask_data"], key)
            height, width = array.shape
            self._png = png.encode(array.tobytes(), width, height, 1)
            if labels is None:
                labels = {number: f"class_{number}" for number in sorted(set(array.tobytes()))}
        self._labels = check_labels(labels or {}, f"mask {key!r}")

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        name = f"{key}_{self._key}"
        if self._path is not None:
            path = files.copy("images/mask", name, step, self._path)
        else:
            path = files.write("images/mask", name, step, "png", self._png)
        return {"_type": self._log_type, "path": path, "class_labels": label_record(self._labels)}


def _mask_array(value: Any, key: str) -> Any:
    np = numpy("An image mask")
    array = to_numpy(value, "An image mask")
    if array.ndim != 2 or not array.size:
        raise TypeError(f"mask_data of {key!r} must be a 2-D array with pixels in it, got shape {array.shape}")
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    if array.dtype.kind not in "iuf" or array.min() < 0 or array.max() > 255 or (array % 1 != 0).any():
        raise TypeError(f"mask_data of {key!r} must hold class numbers from 0 to 255 ({array.dtype} given)")
    return np.ascontiguousarray(array.astype(np.uint8))
