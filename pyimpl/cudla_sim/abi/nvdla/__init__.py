"""The NVDLA driver stack: attaches the handlers of all its layers."""

from __future__ import annotations

from . import driver, firmware, registers, runtime  # noqa: F401
