"""``include/cuda/``: the CUDA runtime subset and a little of the driver interface."""

from __future__ import annotations

from . import device, driver, events, external, memory, streams, transfer  # noqa: F401  (attach)
