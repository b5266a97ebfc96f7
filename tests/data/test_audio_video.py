"""Sound and moving pictures: encoded with what is there, and said at once when it is not."""

from __future__ import annotations

import array
import io
import math
import struct
import wave
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from strobe.data import Audio, Video, load, record_list
from strobe.data.files import DirectoryFiles
from strobe.errors import MissingExtra


def samples(content: bytes) -> tuple[Any, int, int]:
    with wave.open(io.BytesIO(content)) as file:
        width = file.getsampwidth()
        frames = np.frombuffer(file.readframes(file.getnframes()), {1: "u1", 2: "<i2", 4: "<i4"}[width])
        return frames, file.getnchannels(), file.getframerate()


def test_floats_become_16_bit_samples(files: DirectoryFiles) -> None:
    audio = Audio(np.array([0.0, 0.5, -1.0, 2.0, math.nan]), sample_rate=8000, caption="tone")
    record = audio.record(files, "a", 1)
    assert record["_type"] == "audio-file"
    assert record["path"].startswith("media/audio/a_1_")
    assert (record["caption"], record["sample_rate"], record["duration"]) == ("tone", 8000, 5 / 8000)
    frames, channels, rate = samples(files.read(record["path"]))
    assert (frames.tolist(), channels, rate) == ([0, 16384, -32767, 32767, 0], 1, 8000)
    back = load(record, files.directory)
    assert back == audio
    assert back.duration == audio.duration
    assert hash(back) == hash(audio)


@pytest.mark.parametrize("values", [[0.0, 0.5, -1.5, math.nan], (0, 0.5, -1.5, 0), array.array("d", [0, 0.5, -1, 0])])
def test_lists_need_no_numpy(values: Any) -> None:
    assert samples(Audio(values, sample_rate=8000).read())[0].tolist() == [0, 16384, -32767, 0]


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", ">i2"])
def test_integer_samples_are_kept(dtype: str) -> None:
    values: Any = np.arange(10).reshape(5, 2).astype(dtype)
    frames, channels, _ = samples(Audio(values, sample_rate=8000).read())
    assert channels == 2
    assert frames.tolist() == values.ravel().tolist()


def test_channels_in_lists() -> None:
    assert samples(Audio([[0.0, 1.0], [1.0, 0.0]], sample_rate=10).read())[1] == 2


def test_files_and_bytes_are_kept(files: DirectoryFiles, tmp_path: Path) -> None:
    content = Audio([0.0] * 100, sample_rate=50).read()
    (tmp_path / "a.wav").write_bytes(content)
    (tmp_path / "a.mp3").write_bytes(b"ID3...")
    (tmp_path / "odd.wav").write_bytes(b"RIFF????")
    for source in (tmp_path / "a.wav", content, io.BytesIO(content)):
        audio = Audio(source)
        assert (audio.duration, audio.sample_rate) == (2.0, 50)
        assert files.read(audio.record(files, "a", 0)["path"]) == content
    assert Audio(tmp_path / "a.mp3").record(files, "a", 0)["path"].endswith(".mp3")
    assert Audio(tmp_path / "odd.wav").duration is None


@pytest.mark.parametrize(
    ("values", "rate", "error", "message"),
    [
        ([0.0], None, ValueError, "needs a sample_rate such as 44100"),
        ([0.0], 0, ValueError, "needs a sample_rate"),
        (np.zeros((2, 3, 4)), 1, ValueError, r"shape \(n,\) or \(n, channels\)"),
        (np.zeros((2, 8000)), 1, ValueError, "transpose"),
        (np.zeros(3, "u4"), 1, TypeError, "got uint32"),
        (["a"], 1, TypeError, "samples must be numbers"),
        (5, 1, TypeError, "made from samples, a path or bytes, got int"),
        ("none.wav", 1, FileNotFoundError, "there is no file none.wav"),
    ],
)
def test_mistakes_in_audio(values: Any, rate: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Audio(values, sample_rate=rate)


def test_a_list_of_sounds(files: DirectoryFiles) -> None:
    record = record_list([Audio([0.0], 10, caption="x"), Audio([1.0] * 10, 10)], files, "a", 0)
    assert isinstance(record, dict)
    assert (record["_type"], record["count"], record["captions"]) == ("audio", 2, ["x", ""])
    assert (record["sampleRates"], record["durations"]) == ([10, 10], [0.1, 1.0])
    assert load(record, files.directory)[1].duration == 1.0


def frames(*shape: int) -> Any:
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize(
    ("shape", "size"),
    [((3, 3, 8, 10), (10, 8)), ((3, 1, 8, 10), (10, 8)), ((2, 4, 8, 10), (10, 8)), ((5, 3, 3, 8, 10), (30, 16))],
)
def test_arrays_become_gifs(files: DirectoryFiles, shape: tuple[int, ...], size: tuple[int, int]) -> None:
    clip = Video(frames(*shape), fps=10, caption="c")
    record = clip.record(files, "v", 2)
    assert record["_type"] == "video-file"
    assert record["path"].startswith("media/videos/v_2_")
    assert (record["width"], record["height"], record["format"], record["caption"]) == (*size, "gif", "c")
    with PIL.Image.open(files.directory / record["path"]) as opened:
        assert opened.size == size
        assert opened.n_frames == shape[-4]
        assert opened.info["duration"] == 100
    back = load(record, files.directory)
    assert (back.width, back.height, back.caption) == (*size, "c")
    assert clip.record(files, "v", 3)["path"] == record["path"]


def test_frames_are_taken_when_the_video_is_made() -> None:
    array_: Any = np.zeros((2, 3, 4, 4), np.uint8)
    clip = Video(array_)
    array_[:] = 255
    with PIL.Image.open(io.BytesIO(clip.encode())) as opened:
        assert not np.asarray(opened.convert("RGB")).any()


def test_floats_are_scaled() -> None:
    with PIL.Image.open(io.BytesIO(Video(np.ones((1, 1, 4, 4))).encode())) as opened:
        assert (np.asarray(opened.convert("L")) == 255).all()


def test_files_and_bytes_of_videos(files: DirectoryFiles, tmp_path: Path) -> None:
    (tmp_path / "a.MP4").write_bytes(b"film")
    assert files.read(Video(tmp_path / "a.MP4").record(files, "v", 0)["path"]) == b"film"
    assert files.read(Video(io.BytesIO(b"film"), format="webm").record(files, "v", 0)["path"]) == b"film"
    assert Video(b"film", format="ogg").encode() == b"film"


def test_a_missing_encoder_is_reported_when_the_video_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"making a mp4 video needs .*pip install 'imageio\[ffmpeg\]'"):
        Video(frames(1, 3, 4, 4), format="mp4")
    with pytest.raises(MissingExtra, match="pip install pillow"):
        Video(frames(1, 3, 4, 4), format="gif")


@pytest.mark.parametrize(
    ("value", "form", "error", "message"),
    [
        (np.zeros((3, 4, 4)), None, ValueError, r"must be \(T, C, H, W\)"),
        (np.zeros((3, 2, 4, 4)), None, ValueError, "with C 1, 3 or 4"),
        (b"film", None, ValueError, "from bytes needs format="),
        (b"film", "avi", ValueError, "format must be one of gif, mp4"),
        ("a.avi", None, ValueError, "cannot be a .avi"),
        ("none.mp4", None, FileNotFoundError, "there is no file none.mp4"),
        (5, None, TypeError, "got int"),
    ],
)
def test_mistakes_in_video(value: Any, form: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Video(value, format=form)


def test_a_list_of_videos(files: DirectoryFiles) -> None:
    record = record_list([Video(b"a", format="mp4"), Video(b"b", format="mp4")], files, "v", 0)
    assert isinstance(record, dict)
    assert (record["_type"], record["count"]) == ("videos", 2)
    assert [clip.encode() for clip in load(record, files.directory)] == [b"a", b"b"]


def test_a_wav_file_with_a_part_longer_than_the_whole_is_kept_without_its_facts() -> None:
    parts = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16) + b"LIST" + struct.pack("<I", 8020)
    spoiled = b"RIFF" + struct.pack("<I", 4 + len(parts) + 4) + b"WAVE" + parts + b"INFO"
    audio = Audio(spoiled)
    assert (audio.sample_rate, audio.duration) == (None, None)
    assert audio.read() == spoiled
