"""crt/driver_tensor_maps.h: what the device is too old for."""

from __future__ import annotations

from .driver import driver

driver.unsupported(
    "cuTensorMapEncodeTiled",
    "cuTensorMapEncodeIm2col",
    "cuTensorMapReplaceAddress",
    because="tensor maps are for devices of compute capability 9.0, and this one has 8.x",
)
