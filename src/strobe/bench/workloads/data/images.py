"""Pictures and clips with the spectrum of natural ones: amplitude falls as 1 / frequency, colours go together.

White noise would not do: averaged over a picture it is the same grey for all, and a network's outputs would be, too;
then a wrong implementation passes for a right one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def draw_images(rng: np.random.Generator, count: int, size: int) -> NDArray[np.float32]:
    """Draw normalised pictures [count, 3, size, size]: zero mean and unit deviation over many, not within one."""
    frequency = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None, :])
    frequency[0, 0] = 1.0 / size
    spectrum = np.fft.rfft2(rng.standard_normal((count, 3, size, size))) / frequency
    pixels = np.fft.irfft2(spectrum, s=(size, size))
    # Most of a picture's variance is brightness, common to the three channels.
    pixels = 0.8 * pixels.mean(axis=1, keepdims=True) * np.sqrt(3) + 0.4 * pixels
    contrast = rng.uniform(0.5, 1.5, (count, 1, 1, 1))
    pixels *= contrast / pixels.std()
    return pixels.astype(np.float32)


def draw_clips(rng: np.random.Generator, count: int, frames: int, size: int) -> NDArray[np.float32]:
    """Draw clips [count, 3, frames, size, size]: a picture that a camera pans over, a few pixels per frame."""
    images = draw_images(rng, count, size)
    velocity = rng.integers(-3, 4, (count, 2))
    clips: NDArray[np.float32] = np.empty((count, 3, frames, size, size), np.float32)
    for clip, image, (down, right) in zip(clips, images, velocity, strict=True):
        for frame in range(frames):
            clip[:, frame] = np.roll(image, (down * frame, right * frame), axis=(1, 2))
    return clips
