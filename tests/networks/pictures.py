"""Synthetic pictures: noise whose power falls with frequency, shapes and edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MEAN = np.array([0.485, 0.456, 0.406], np.float32)[:, None, None]
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)[:, None, None]


def picture(
    rng: np.random.Generator, channels: int, height: int, width: int
) -> NDArray[np.float32]:
    """One picture [c, h, w] with values from 0 to 1."""
    fy = np.fft.fftfreq(height)[:, None]
    fx = np.fft.fftfreq(width)[None]
    power = 1 / np.maximum(np.hypot(fy, fx), 1 / max(height, width))
    spectrum = np.fft.fft2(rng.normal(size=(channels, height, width))) * power
    image = np.real(np.fft.ifft2(spectrum))
    image = (image - image.min()) / np.ptp(image)
    y, x = np.mgrid[:height, :width]
    for _ in range(rng.integers(2, 6)):
        color = rng.random((channels, 1))
        cy, cx = rng.random() * height, rng.random() * width
        ry, rx = (0.05 + 0.25 * rng.random(2)) * (height, width)
        if rng.random() < 0.5:
            inside = (np.abs(y - cy) < ry) & (np.abs(x - cx) < rx)
        else:
            inside = ((y - cy) / ry) ** 2 + ((x - cx) / rx) ** 2 < 1
        image[:, inside] = 0.7 * color + 0.3 * image[:, inside]
    angle = rng.random() * np.pi
    edge = (x - width / 2) * np.cos(angle) + (y - height / 2) * np.sin(angle) > 0
    image[:, edge] *= 0.4 + 0.6 * rng.random()
    return image.astype(np.float32)


def pictures(seed: int, count: int, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """*count* pictures for an input [1, c, h, w]; colour ones normalised as ImageNet's are."""
    rng = np.random.default_rng(seed)
    _, channels, height, width = shape
    found = np.stack([picture(rng, channels, height, width) for _ in range(count)])
    return (found - MEAN) / DEVIATION if channels == 3 else found
