"""Memory, arrays, textures and surfaces by the driver's names."""

from __future__ import annotations

import numpy as np

from .conftest import Run, compiled

driver_arrays = compiled("driver_arrays")


def test_arrays_and_what_kernels_read_of_them(driver_arrays: Run) -> None:
    done = driver_arrays()
    assert done.returncode == 0, done.stdout + done.stderr
    image = np.arange(18.0).reshape(3, 6) ** 2
    # a quarter of the way to the next texel of the row, which wraps
    sampled = (0.75 * image + 0.25 * np.roll(image, -1, axis=1)).ravel()
    raised = 1000 + np.arange(24).reshape(2, 3, 4)[:, 1:3, 1:3].ravel()
    promoted = [f"{v / 255:g}" for v in [0, 0x33] * 4 + [255] * 8]
    assert done.stdout.splitlines() == [
        "flat 6 3 32 1",
        "back 0",
        "texture 1 1 2",
        "sampled " + " ".join(f"{v:g}" for v in sampled),
        "gone 400",  # CUDA_ERROR_INVALID_HANDLE
        "solid 4 3 2 10 1 2",
        "raised " + " ".join(map(str, raised)),
        "gone 400",
        "promoted " + " ".join(promoted),
        "pitched 14 1 1",
        "host 41 2",
        "wrong 1 1 1 1 500",  # CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_FOUND
    ]
