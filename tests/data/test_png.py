"""The PNG encoder: what Pillow reads is what was given, compressed, stored or recompressed."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.data import png

MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


@st.composite
def pictures(draw: Any) -> tuple[bytes, int, int, int]:
    width, height, channels = draw(st.integers(1, 40)), draw(st.integers(1, 40)), draw(st.integers(1, 4))
    seed, is_smooth = draw(st.integers(0, 2**32)), draw(st.booleans())
    values = np.random.default_rng(seed).integers(0, 256, (height, width, channels))
    if is_smooth:
        values = np.cumsum(values % 5, axis=1) % 256
    return values.astype(np.uint8).tobytes(), width, height, channels


def decoded(content: bytes) -> tuple[bytes, int, int, str]:
    with PIL.Image.open(io.BytesIO(content)) as image:
        image.load()
        return image.tobytes(), *image.size, image.mode


@given(pictures(), st.integers(0, 9))
def test_pillow_reads_what_was_encoded(picture: tuple[bytes, int, int, int], level: int) -> None:
    pixels, width, height, channels = picture
    expected = (pixels, width, height, MODES[channels])
    assert decoded(png.encode(*picture, level=level)) == expected
    stored = png.encode_stored(*picture)
    assert decoded(stored) == expected
    smaller = png.recompress(stored)
    assert decoded(smaller) == expected
    assert len(smaller) <= len(stored)


def test_stored_files_span_many_blocks() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, 300 * 300 * 3, dtype=np.uint8).tobytes()
    assert decoded(png.encode_stored(pixels, 300, 300, 3)) == (pixels, 300, 300, "RGB")


@pytest.mark.parametrize("size", [65535, 65536, 131070, 131071])
def test_stored_files_at_the_edge_of_a_block(size: int) -> None:
    pixels = bytes(size - 1)
    assert decoded(png.encode_stored(pixels, size - 1, 1, 1))[0] == pixels


def test_filtering_shrinks_photos() -> None:
    y, x = np.mgrid[:128, :128]
    noise = np.random.default_rng(0).normal(0, 2, (128, 128))
    pixels = (x + y / 2 + noise).clip(0, 255).astype(np.uint8).tobytes()
    stored = png.encode_stored(pixels, 128, 128, 1)
    assert len(png.recompress(stored)) < 0.75 * len(png.encode(pixels, 128, 128, 1, level=6))


def test_recompressing_works_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = bytes(range(256)) * 16
    stored = png.encode_stored(pixels, 64, 64, 1)
    monkeypatch.delitem(sys.modules, "numpy")
    assert png._filtered(b"abc", 1, 1, 1) == b"abc"
    smaller = png.recompress(stored)
    monkeypatch.undo()
    assert decoded(smaller)[0] == pixels
    assert len(smaller) < len(stored)


@pytest.mark.parametrize(("size", "channels"), [(11, 3), (12, 5), (0, 3)])
def test_a_wrong_number_of_bytes_is_refused(size: int, channels: int) -> None:
    with pytest.raises(ValueError, match="bytes are not 2×2 pixels"):
        png.encode(bytes(size), 2, 2, channels)


def test_only_our_kind_of_file_is_recompressed() -> None:
    with pytest.raises(ValueError, match="not an 8-bit"):
        png.recompress(b"GIF89a" + bytes(40))
