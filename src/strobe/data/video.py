"""Video: frames are taken when the object is made and encoded when it is logged; files are taken as they are.

Encoding needs a library: Pillow for GIF, imageio (with its ffmpeg plugin) or moviepy for mp4, webm and ogg. A
missing one is reported when the object is made, not hours later.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from typing import Any

from strobe.data.array import is_array, numpy, to_numpy
from strobe.data.media import Media, MediaFiles
from strobe.data.pixels import grid, to_uint8
from strobe.data.source import Source, is_stream, read_stream
from strobe.errors import MissingExtra

_DEFAULT_FPS = 4


class Video(Media):
    """Moving pictures from (T, C, H, W) or (N, T, C, H, W) arrays, a file, or the bytes of one."""

    _log_type = "video-file"
    EXTS = ("gif", "mp4", "webm", "ogg")

    def __init__(
        self, data_or_path: Any, caption: str | None = None, fps: int | None = None, format: str | None = None
    ) -> None:
        self.caption = None if caption is None else str(caption)
        self.width: int | None = None
        self.height: int | None = None
        if format is not None and format not in self.EXTS:
            raise ValueError(f"a Video's format must be one of {', '.join(self.EXTS)}, got {format!r}")
        self._frames: Any = None
        self._source: Source | None = None
        self.fps = fps or _DEFAULT_FPS
        if isinstance(data_or_path, (str, os.PathLike)):
            self._source = Source.from_path(data_or_path, "Video", self.EXTS)
            self.format = self._source.suffix
        elif isinstance(data_or_path, (bytes, bytearray)) or is_stream(data_or_path):
            if format is None:
                raise ValueError(f"a Video from bytes needs format=, one of {', '.join(self.EXTS)}")
            content = bytes(data_or_path) if isinstance(data_or_path, (bytes, bytearray)) else read_stream(data_or_path)
            self._source = Source(format, content=content)
            self.format = format
        elif is_array(data_or_path):
            self.format = format or "gif"
            self._encoder = _find_encoder(self.format)
            self._frames = _frames(to_numpy(data_or_path, "A video from an array"))
            self.height, self.width = self._frames.shape[1:3]
        else:
            raise TypeError(f"a Video is made from an array, a path or bytes, got {type(data_or_path).__name__}")

    def encode(self) -> bytes:
        """Return the bytes of the video file, encoding the frames the first time."""
        if self._source is None:
            self._source = Source(self.format, content=self._encoder(self._frames, self.fps, self.format))
            self._frames = None
        return self._source.read()

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        if self._source is None:
            self.encode()
        assert self._source is not None
        record = {"_type": self._log_type, **self._source.store(files, "videos", key, step), "format": self.format}
        for name in ("width", "height", "caption"):
            if getattr(self, name) is not None:
                record[name] = getattr(self, name)
        return record


def _frames(video: Any) -> Any:
    """Return the frames as T×H×W×3 bytes; the videos of a batch side by side."""
    np = numpy("A video from an array")
    if video.ndim not in (4, 5) or video.shape[-3] not in (1, 3, 4) or not video.size:
        raise ValueError(f"a Video's array must be (T, C, H, W) or (N, T, C, H, W) with C 1, 3 or 4, got {video.shape}")
    video = to_uint8(video)
    video = np.moveaxis(video, -3, -1)[..., :3]
    if video.ndim == 5:
        video = np.stack([grid(video[:, moment]) for moment in range(video.shape[1])])
    return np.array(np.broadcast_to(video, (*video.shape[:3], 3)))


def _find_encoder(file_type: str) -> Any:
    def has(name: str) -> bool:
        return importlib.util.find_spec(name) is not None

    if file_type == "gif" and has("PIL"):
        return _encode_gif
    if file_type != "gif" and has("imageio") and has("imageio_ffmpeg"):
        return _encode_imageio
    if file_type != "gif" and has("moviepy"):
        return _encode_moviepy
    needed = "pillow" if file_type == "gif" else "'imageio[ffmpeg]'"
    raise MissingExtra(f"making a {file_type} video needs another library; run: pip install {needed}, or give a file")


def _encode_gif(frames: Any, fps: float, file_type: str) -> bytes:
    import io

    import PIL.Image

    first, *rest = [PIL.Image.fromarray(frame) for frame in frames]
    target = io.BytesIO()
    first.save(
        target, file_type.upper(), save_all=True, append_images=rest, duration=max(20, round(1000 / fps)), loop=0
    )
    return target.getvalue()


def _encode_imageio(frames: Any, fps: float, file_type: str) -> bytes:
    imageio = importlib.import_module("imageio.v2")
    with tempfile.TemporaryDirectory() as directory:
        target = Path(directory) / f"video.{file_type}"
        # macro_block_size=2: the codecs want even sizes, 16 (the default) would stretch small frames
        with imageio.get_writer(target, fps=fps, macro_block_size=2) as writer:
            for frame in frames:
                writer.append_data(frame)
        return target.read_bytes()


def _encode_moviepy(frames: Any, fps: float, file_type: str) -> bytes:
    moviepy = importlib.import_module("moviepy.video.io.ImageSequenceClip")
    with tempfile.TemporaryDirectory() as directory:
        target = Path(directory) / f"video.{file_type}"
        moviepy.ImageSequenceClip(list(frames), fps=fps).write_videofile(str(target), logger=None)
        return target.read_bytes()
