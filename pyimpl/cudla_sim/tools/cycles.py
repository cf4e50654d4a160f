"""An estimate of hardware cycles per layer. It is an estimate: no memory, no stalls.

Convolution: every cycle one pixel of one kernel group meets atomic-C channels, so

    cycles = MACs / (C * K) * ceil(C / atomic_c) * ceil(K / atomic_k)

with C input and K output channels. Everything else streams its larger cube, ``throughput`` elements
a cycle (NVDLA hardware manual, "Specification": SDP, PDP and CDP throughput of the configuration).
"""

from __future__ import annotations

from math import ceil, prod

from ..nvdla.hw.configs import HardwareConfig
from ..nvdla.task_report import LayerRecord

_PRECISIONS = {"int8": 0, "int16": 1, "fp16": 2}
_THROUGHPUT = {32: 16, 16: 4, 8: 1}  # elements a cycle, by memory atom


def estimate(layer: LayerRecord, config: HardwareConfig) -> int:
    """Cycles of one layer; 0 for software layers."""
    if layer.unit.startswith("EMU"):
        return 0
    if layer.macs:
        channels, kernels = layer.input_shape[0], layer.output_shape[0]
        atomic_k = config.kernel_group(_PRECISIONS[layer.precision])
        passes = ceil(channels / config.atomic_c) * ceil(kernels / atomic_k)
        return ceil(layer.macs / (channels * kernels)) * passes
    elements = max(prod(layer.input_shape), prod(layer.output_shape))
    return ceil(elements / _THROUGHPUT.get(config.memory_atom, 1))
