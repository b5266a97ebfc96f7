"""Sound: samples become a WAV file with the standard library, files are taken as they are."""

from __future__ import annotations

import array
import io
import os
import sys
from typing import Any

from strobe.data.array import is_array, to_numpy
from strobe.data.media import Media, MediaFiles
from strobe.data.source import Source, is_stream, read_stream

#: the sample types that WAV has: numpy's name, bytes per sample
_INTEGER_SAMPLES = {"uint8": 1, "int16": 2, "int32": 4}


class Audio(Media):
    """Sound from samples (floats in -1…1 or integers; (n,) or (n, channels)) and a sample rate, or from a file."""

    _log_type = "audio-file"

    def __init__(self, data_or_path: Any, sample_rate: int | None = None, caption: str | None = None) -> None:
        self.caption = None if caption is None else str(caption)
        self.sample_rate = sample_rate
        self.duration: float | None = None
        if isinstance(data_or_path, (str, os.PathLike)):
            self._source = Source.from_path(data_or_path, "Audio")
            self._read_header()
        elif isinstance(data_or_path, (bytes, bytearray)) or is_stream(data_or_path):
            content = bytes(data_or_path) if isinstance(data_or_path, (bytes, bytearray)) else read_stream(data_or_path)
            self._source = Source("wav" if content[:4] == b"RIFF" else "bin", content=content)
            self._read_header()
        else:
            self._source = Source("wav", content=self._encode(data_or_path, sample_rate))

    def _encode(self, samples: Any, sample_rate: int | None) -> bytes:
        if sample_rate is None or int(sample_rate) <= 0:
            raise ValueError(f"Audio from samples needs a sample_rate such as 44100, got {sample_rate!r}")
        if not is_array(samples) and not isinstance(samples, (list, tuple, array.array)):
            raise TypeError(f"Audio is made from samples, a path or bytes, got {type(samples).__name__}")
        if is_array(samples) or (len(samples) and isinstance(samples[0], (list, tuple))):
            frames, channels, width = _from_array(to_numpy(samples, "Audio with several channels"))
        else:
            frames, channels, width = _from_list(samples), 1, 2
        self.duration = len(frames) / (channels * width) / int(sample_rate)
        return _wav(frames, channels, width, int(sample_rate))

    def _read_header(self) -> None:
        """Take rate and duration from a WAV file; other formats need a decoder and go without."""
        import wave

        if self._source.suffix.lower() != "wav":
            return
        try:
            opened: Any = io.BytesIO(self._source.content or b"") if self._source.path is None else None
            with wave.open(opened or str(self._source.path), "rb") as file:
                self.sample_rate = file.getframerate()
                self.duration = file.getnframes() / file.getframerate()
        except (wave.Error, EOFError, ZeroDivisionError, RuntimeError):
            # Compressed or floating-point WAV: playable, but not for the standard library. Or a part of it claims to be
            # longer than the whole, which `wave` answers with a bare RuntimeError.
            return

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        record = {"_type": self._log_type, **self._source.store(files, "audio", key, step)}
        for name in ("caption", "sample_rate", "duration"):
            if getattr(self, name) is not None:
                record[name] = getattr(self, name)
        return record

    def read(self) -> bytes:
        """Return the bytes of the sound file."""
        return self._source.read()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Audio):
            return NotImplemented
        return self.caption == other.caption and self.read() == other.read()

    def __hash__(self) -> int:
        return hash((self.caption, self.duration))


def _from_array(samples: Any) -> tuple[bytes, int, int]:
    """Return little-endian frames, the number of channels, and bytes per sample."""
    import numpy as np

    if samples.ndim not in (1, 2) or (samples.ndim == 2 and not 1 <= samples.shape[1] <= 32):
        raise ValueError(f"samples must have the shape (n,) or (n, channels), got {samples.shape}; transpose them?")
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    if samples.dtype.name in _INTEGER_SAMPLES:
        width = _INTEGER_SAMPLES[samples.dtype.name]
        return np.ascontiguousarray(samples.astype(samples.dtype.newbyteorder("<"))).tobytes(), channels, width
    if samples.dtype.kind not in "f":
        raise TypeError(f"samples must be floats in -1…1, uint8, int16 or int32, got {samples.dtype}")
    scaled = np.nan_to_num(samples.astype(np.float64), nan=0.0).clip(-1, 1) * 32767
    return scaled.round().astype("<i2").tobytes(), channels, 2


def _from_list(samples: Any) -> bytes:
    try:
        frames = array.array("h", [round(min(1.0, max(-1.0, x if x == x else 0.0)) * 32767) for x in samples])
    except TypeError as exc:
        raise TypeError(f"samples must be numbers in -1…1, got {samples[:3]!r}…") from exc
    if sys.byteorder == "big":
        frames.byteswap()
    return frames.tobytes()


def _wav(frames: bytes, channels: int, width: int, sample_rate: int) -> bytes:
    import wave

    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(sample_rate)
        file.writeframes(frames)
    return target.getvalue()
