"""Images: pixels are taken when the object is made, so that the array may be changed afterwards.

PNG files are made here (strobe.data.png), without an imaging library. A small image is compressed at once; a large
one is stored as a valid uncompressed PNG, which makes `log()` cheap and the pixels safe, and shrunk on the side
thread. Other formats, and unusual modes, go through Pillow.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from strobe.data import png
from strobe.data.annotation import BoundingBoxes2D, ImageMask
from strobe.data.array import is_array, is_tensor, numpy, to_numpy
from strobe.data.classes import Classes
from strobe.data.figure import draw, is_matplotlib
from strobe.data.media import Media, MediaFiles
from strobe.data.picture import identify
from strobe.data.pixels import Pixels
from strobe.errors import MissingExtra

#: raw bytes; above this, compressing would be felt in `log()`
LARGE = 64 * 1024
#: below this, a file takes one block of a disk either way, and starting zlib costs more than all the rest
TINY = 3 * 1024
_HEAD = 256 * 1024
_WRITTEN = {"png": "PNG", "jpg": "JPEG", "jpeg": "JPEG", "bmp": "BMP", "webp": "WEBP", "gif": "GIF"}
#: Pillow's modes that PNG has as they are
_PLAIN_MODES = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}


class Image(Media):
    """A picture from an array, tensor, PIL image, matplotlib figure, file or the bytes of a file."""

    _log_type = "image-file"

    def __init__(
        self,
        data_or_path: Any,
        mode: str | None = None,
        caption: str | None = None,
        grouping: int | None = None,
        classes: Classes | Iterable[Mapping[str, Any]] | None = None,
        boxes: Mapping[str, BoundingBoxes2D | Mapping[str, Any]] | None = None,
        masks: Mapping[str, ImageMask | Mapping[str, Any]] | None = None,
        file_type: str | None = None,
    ) -> None:
        if file_type is not None and file_type not in _WRITTEN:
            raise ValueError(f"file_type must be one of {', '.join(_WRITTEN)}, got {file_type!r}")
        self.format = file_type or "png"
        self.caption = None if caption is None else str(caption)
        self.grouping = grouping
        self.classes = classes if isinstance(classes, Classes) or classes is None else Classes(classes)
        self.boxes = {
            name: val if isinstance(val, BoundingBoxes2D) else BoundingBoxes2D(val, name)
            for name, val in (boxes or {}).items()
        }
        self.masks = {
            name: val if isinstance(val, ImageMask) else ImageMask(val, name) for name, val in (masks or {}).items()
        }
        self.width: int | None = None
        self.height: int | None = None
        # exactly one of these is set
        self._pixels: Pixels | None = None
        self._encoded: bytes | None = None
        self._path: Path | None = None
        self._take(data_or_path, mode)

    def _take(self, source: Any, mode: str | None) -> None:
        if isinstance(source, Image):
            self._take_image(source)
        elif isinstance(source, (str, os.PathLike)):
            self._take_path(Path(source))
        elif isinstance(source, (bytes, bytearray, memoryview)):
            self._take_encoded(bytes(source), "the content")
        elif is_matplotlib(source):
            self._take_encoded(draw(source, self.format), "the figure")
        elif _is_pillow(source):
            self._take_pixels(_from_pillow(source, mode))
        elif is_array(source) or isinstance(source, (list, tuple)):
            pixels = Pixels.from_array(to_numpy(source, "An image from an array"), channels_first=is_tensor(source))
            self._take_pixels(pixels if mode in (None, pixels.mode) else _from_pillow(_to_pillow(pixels), mode))
        elif callable(getattr(source, "read", None)):
            self._take_encoded(source.read(), "the file")
        else:
            raise TypeError(
                f"an Image is made from an array, tensor, PIL image, figure, path or bytes, got {type(source).__name__}"
            )

    def _take_image(self, other: Image) -> None:
        self._pixels, self._encoded, self._path = other._pixels, other._encoded, other._path
        self.width, self.height, self.format = other.width, other.height, other.format
        self.caption = other.caption if self.caption is None else self.caption
        self.grouping = other.grouping if self.grouping is None else self.grouping
        self.classes = self.classes or other.classes
        self.boxes = self.boxes or other.boxes
        self.masks = self.masks or other.masks

    def _take_path(self, path: Path) -> None:
        try:
            with open(path, "rb") as file:
                head = file.read(_HEAD)
        except OSError as exc:
            raise type(exc)(exc.errno, f"cannot read the image ({exc.strerror})", os.fspath(path)) from exc
        found = identify(head)
        suffix = path.suffix[1:].lower()
        if found.format is None and (suffix in _WRITTEN or not suffix):
            raise ValueError(f"{path} is not an image that can be recognised: it starts with {head[:8]!r}")
        self._path = path
        self.width, self.height, self.format = found.width, found.height, suffix or found.format or ""

    def _take_encoded(self, content: bytes, what: str) -> None:
        found = identify(content)
        if found.format is None:
            raise ValueError(f"{what} cannot be recognised as an image: it starts with {content[:8]!r}")
        self._encoded = content
        self.width, self.height, self.format = found.width, found.height, found.format

    def _take_pixels(self, pixels: Pixels) -> None:
        self._pixels = pixels
        self.width, self.height = pixels.width, pixels.height

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        record: dict[str, Any] = {"_type": self._log_type, "path": self._store(files, key, step), "format": self.format}
        if self.width is not None:
            record["width"], record["height"] = self.width, self.height
        if self.caption is not None:
            record["caption"] = self.caption
        if self.grouping is not None:
            record["grouping"] = self.grouping
        if self.classes is not None:
            record["classes"] = self.classes.record(files, key, step)
        if self.boxes:
            record["boxes"] = {name: boxes.record(files, key, step) for name, boxes in self.boxes.items()}
        if self.masks:
            record["masks"] = {name: mask.record(files, key, step) for name, mask in self.masks.items()}
        return record

    def _store(self, files: MediaFiles, key: str, step: int) -> str:
        if self._path is not None:
            return files.copy("images", key, step, self._path)
        if self._pixels is None:
            return files.write("images", key, step, self.format, self._encoded or b"")
        pixels = self._pixels
        shape = (pixels.content, pixels.width, pixels.height, pixels.channels)
        if self.format != "png":
            return files.write("images", key, step, self.format, _encode_pillow(pixels, self.format))
        if TINY < len(pixels.content) <= LARGE:
            return files.write("images", key, step, "png", png.encode(*shape))
        stored = png.encode_stored(*shape)
        path = files.write("images", key, step, "png", stored)
        if len(pixels.content) > LARGE:
            files.later(partial(_shrink, files, path, len(stored)))
        return path

    @property
    def image(self) -> Any:
        """The picture as a PIL image."""
        if self._pixels is not None:
            return _to_pillow(self._pixels)
        opened = _pillow().open(self._path if self._encoded is None else io.BytesIO(self._encoded))
        opened.load()
        return opened

    def to_numpy(self) -> Any:
        """The picture as a uint8 array, H×W or H×W×C."""
        np = numpy("Image.to_numpy")
        if self._pixels is None:
            return np.asarray(self.image)
        shape = (self._pixels.height, self._pixels.width, self._pixels.channels)
        array = np.frombuffer(self._pixels.content, np.uint8).reshape(shape)
        return array[:, :, 0] if shape[2] == 1 else array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Image):
            return NotImplemented
        facts = ("width", "height", "caption", "grouping", "classes")
        if any(getattr(self, name) != getattr(other, name) for name in facts):
            return False
        return bool(numpy("Comparing images").array_equal(self.to_numpy(), other.to_numpy()))

    def __hash__(self) -> int:
        return hash((self.width, self.height, self.caption))

    def __repr__(self) -> str:
        return f"Image({self.width}×{self.height} {self.format}{f', {self.caption!r}' if self.caption else ''})"


def _shrink(files: MediaFiles, path: str, stored_size: int) -> None:
    content = files.read(path)
    if len(content) == stored_size:  # else it was shrunk before: the same image was logged twice
        smaller = png.recompress(content)
        if len(smaller) < stored_size:
            files.replace(path, smaller)


def _is_pillow(source: object) -> bool:
    pillow: Any = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(source, pillow.Image)


def _pillow() -> Any:
    try:
        import PIL.Image
    except ImportError as exc:
        raise MissingExtra("this image format or mode needs Pillow; run: pip install 'strobe[media]'") from exc
    return PIL.Image


def _to_pillow(pixels: Pixels) -> Any:
    return _pillow().frombytes(pixels.mode, (pixels.width, pixels.height), pixels.content)


def _from_pillow(image: Any, mode: str | None) -> Pixels:
    if mode is not None and image.mode != mode:
        image = image.convert(mode)
    if image.mode == "F" or image.mode.startswith("I"):
        return Pixels.from_array(to_numpy(image, "A deep image"))
    if image.mode == "1":
        image = image.convert("L")
    elif image.mode not in _PLAIN_MODES:
        has_alpha = image.mode == "PA" or "transparency" in image.info or image.mode in ("La", "RGBa")
        image = image.convert("RGBA" if has_alpha else "RGB")
    width, height = image.size
    return Pixels(image.tobytes(), width, height, _PLAIN_MODES[image.mode])


def _encode_pillow(pixels: Pixels, file_type: str) -> bytes:
    image = _to_pillow(pixels)
    if _WRITTEN[file_type] == "JPEG" and pixels.channels in (2, 4):
        image = image.convert("RGB")
    target = io.BytesIO()
    image.save(target, format=_WRITTEN[file_type])
    return target.getvalue()
