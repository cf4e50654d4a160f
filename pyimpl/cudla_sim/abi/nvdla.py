"""The NVDLA driver stack: attaches the handlers of all its layers."""

from __future__ import annotations

from . import nvdla_kmd, nvdla_runtime, nvdla_sim, nvdla_umd  # noqa: F401
