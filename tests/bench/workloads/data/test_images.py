"""Pictures differ from one another and have the spectrum of natural ones."""

from __future__ import annotations

import numpy as np
import pytest

from strobe.bench.workloads.data.images import draw_clips, draw_images


def test_amplitude_falls_with_frequency() -> None:
    images = draw_images(np.random.default_rng(1), 16, 64)
    amplitude = np.abs(np.fft.rfft2(images)).mean(axis=(0, 1))
    # From 4 to 16 periods per picture the amplitude falls to a quarter.
    assert amplitude[0, 16] / amplitude[0, 4] == pytest.approx(0.25, rel=0.25)


def test_pictures_differ_in_brightness_and_channels_go_together() -> None:
    images = draw_images(np.random.default_rng(1), 32, 32)
    assert images.shape == (32, 3, 32, 32)
    assert images.dtype == np.float32
    assert images.mean(axis=(1, 2, 3)).std() > 0.2
    assert np.corrcoef(images[:, 0].ravel(), images[:, 1].ravel())[0, 1] > 0.5


def test_a_clip_pans() -> None:
    clips = draw_clips(np.random.default_rng(4), 3, 5, 16)
    assert clips.shape == (3, 3, 5, 16, 16)
    assert any(not np.array_equal(clip[:, 0], clip[:, 1]) for clip in clips)
    # Panning moves pixels and makes no new ones.
    assert np.array_equal(np.sort(clips[0, :, 0], axis=None), np.sort(clips[0, :, 4], axis=None))
