"""Pictures as inputs: how 8-bit pixels become real values.

Source: nvdla hardware manual "Image input" (the converter of CDMA subtracts a mean and multiplies).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.facts.maps.enums import ENUMS


@dataclass(frozen=True)
class Image:
    """How pixels become values: (pixel - mean) * factor; *format* is an 8-bit pixel format."""

    format: str = "A8B8G8R8"
    mean: tuple[int, ...] = (0, 0, 0, 0)
    factor: float = 1.0

    @property
    def number(self) -> int:
        """Number of the pixel format."""
        number = ENUMS["pixel_format"].get("T_" + self.format.removeprefix("T_"))
        if number is None:
            known = ", ".join(sorted(n[2:] for n in ENUMS["pixel_format"] if n.startswith("T_")))
            raise NvdlaError(f"pixel format {self.format!r} does not exist; there are {known}")
        return number

    def values(self, pixels: NDArray[Any]) -> NDArray[np.float32]:
        """Real values of pixels [n, c, h, w]."""
        mean = np.array(self.mean[: pixels.shape[1]], np.float32)
        return (np.asarray(pixels, np.float32) - mean[None, :, None, None]) * self.factor
