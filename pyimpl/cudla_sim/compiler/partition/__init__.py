"""Networks that the hardware can do in part: the rest runs in onnxruntime on the host.

The ONNX model is cut into partitions that follow each other; those for the hardware become
loadables, those for the host stay ONNX models. A ``nvdla.parts.Package`` holds them in order.
"""

from __future__ import annotations

from cudla_sim.nvdla.parts.package import MAGIC, Package
from cudla_sim.nvdla.parts.part import Part

from .compile import compile_partitions

__all__ = ["MAGIC", "Package", "Part", "compile_partitions"]
