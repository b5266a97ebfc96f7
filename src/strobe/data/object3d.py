"""3-D objects: point clouds, scenes of points, boxes and vectors, and model files.

Point clouds and scenes become `.pts.json` in wandb's "lidar/beta" layout, so that its readers can draw them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from strobe.data.array import is_array, to_numpy
from strobe.data.media import Media, MediaFiles
from strobe.data.source import Source, is_stream, read_stream

_SCENE_TYPE = "lidar/beta"


class Object3D(Media):
    """A point cloud (n×3 xyz, n×4 with a category, n×6 with a colour), a scene dict, or a model file."""

    _log_type = "object3D-file"
    SUPPORTED_TYPES = ("obj", "gltf", "glb", "babylon", "stl", "pts.json")

    def __init__(self, data_or_path: Any, caption: str | None = None, *, file_type: str | None = None) -> None:
        self.caption = None if caption is None else str(caption)
        name = getattr(data_or_path, "name", None)
        if isinstance(data_or_path, (str, os.PathLike)):
            self._source = Source.from_path(data_or_path, "Object3D", self.SUPPORTED_TYPES)
        elif is_stream(data_or_path):
            if file_type is None and isinstance(name, str):
                file_type = Source.from_path(name, "Object3D", self.SUPPORTED_TYPES).suffix
            if file_type not in self.SUPPORTED_TYPES:
                raise ValueError(
                    f"an Object3D from an open file needs file_type=, one of {', '.join(self.SUPPORTED_TYPES)},"
                    f" got {file_type!r}"
                )
            self._source = Source(file_type, content=read_stream(data_or_path))
        elif isinstance(data_or_path, Mapping):
            self._source = Source("pts.json", content=_encode(_scene(data_or_path)))
        elif is_array(data_or_path) or isinstance(data_or_path, (list, tuple)):
            self._source = Source("pts.json", content=_encode(_points(data_or_path)))
        else:
            raise TypeError(
                f"an Object3D is made from points, a dict, a path or an open file, got {type(data_or_path).__name__}"
            )

    @classmethod
    def from_file(cls, data_or_path: Any, file_type: str | None = None) -> Object3D:
        """Return the object in a file; `file_type` is needed for an open file without a name."""
        return cls(data_or_path, file_type=file_type)

    @classmethod
    def from_numpy(cls, data: Any) -> Object3D:
        """Return a point cloud of n×3, n×4 or n×6 numbers."""
        return cls(to_numpy(data, "A point cloud"))

    @classmethod
    def from_point_cloud(
        cls, points: Any, boxes: Any = (), vectors: Any = None, point_cloud_type: str = _SCENE_TYPE
    ) -> Object3D:
        """Return a scene of points, boxes (see `box3d`) and vectors ({"start": xyz, "end": xyz})."""
        return cls({"type": point_cloud_type, "points": points, "boxes": boxes, "vectors": vectors or []})

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        record = {"_type": self._log_type, **self._source.store(files, "object3D", key, step)}
        if self.caption is not None:
            record["caption"] = self.caption
        return record

    def read(self) -> bytes:
        """Return the bytes of the object's file."""
        return self._source.read()


def _points(points: Any) -> list[Any]:
    listed = points.tolist() if is_array(points) else [list(point) for point in points]
    widths = set(map(len, listed)) if all(isinstance(point, list) for point in listed) else {0}
    if not widths <= {3, 4, 6} or len(widths) > 1:
        shape = tuple(points.shape) if is_array(points) else f"rows of {sorted(widths)} numbers"
        raise ValueError(f"points must be n×3 (xyz), n×4 (xyz, category) or n×6 (xyz, rgb), got {shape}")
    return listed


def _scene(scene: Mapping[str, Any]) -> dict[str, Any]:
    if scene.get("type") != _SCENE_TYPE:
        raise ValueError(f"a scene's type must be {_SCENE_TYPE!r}, got {scene.get('type')!r}")
    return {"type": _SCENE_TYPE, **{part: _plain(scene.get(part, [])) for part in ("vectors", "points", "boxes")}}


def _plain(value: Any) -> Any:
    if is_array(value) or hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def _encode(value: Any) -> bytes:
    import msgspec

    return msgspec.json.encode(value)


def box3d(
    *,
    center: Sequence[float],
    size: Sequence[float],
    orientation: Sequence[float],
    color: tuple[float, float, float],
    label: str | None = None,
    score: float | None = None,
) -> dict[str, Any]:
    """Return a box for `Object3D.from_point_cloud`, by its centre, size and orientation.

    `orientation` is the quaternion (r, x, y, z) that turns global axes into the box's; `color` is 0…1 per channel.
    """
    r, x, y, z = (float(part) for part in orientation)
    norm = math.hypot(r, x, y, z)
    if not norm:
        raise ValueError("the orientation (0, 0, 0, 0) turns nothing; give a quaternion such as (1, 0, 0, 0)")
    r, x, y, z = r / norm, x / norm, y / norm, z / norm
    # where the box's own axes point in global coordinates
    axes = (
        (1 - 2 * (y * y + z * z), 2 * (x * y + z * r), 2 * (x * z - y * r)),
        (2 * (x * y - z * r), 1 - 2 * (x * x + z * z), 2 * (y * z + x * r)),
        (2 * (x * z + y * r), 2 * (y * z - x * r), 1 - 2 * (x * x + y * y)),
    )
    corners = []
    for signs in ((a, b, c) for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)):
        local = [sign * float(length) for sign, length in zip(signs, size, strict=True)]
        corners.append(
            [
                float(middle) + sum(part * axes[axis][i] for axis, part in enumerate(local))
                for i, middle in enumerate(center)
            ]
        )
    box: dict[str, Any] = {"corners": corners, "color": [float(part) for part in color]}
    if label is not None:
        box["label"] = label
    if score is not None:
        box["score"] = float(score)
    return box
