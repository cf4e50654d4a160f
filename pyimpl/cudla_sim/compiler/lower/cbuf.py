"""How a convolution shares the buffer between data and weights, and where it must be cut.

The banks are shared as :mod:`cudla_sim.nvdla.facts.cbuf` says. Where that finds nothing, columns
are cut, and an operation may have less than a group of kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

from cudla_sim.nvdla.facts.cbuf import (
    data_banks,
    entries_per_slice,
    share,
    weight_banks,
    weight_bytes,
)
from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.limits import LARGEST


@dataclass(frozen=True, slots=True)
class Split:
    """Banks of weights, and the largest piece of input that one operation may read."""

    weight_banks: int
    lines: int
    columns: int


def most_kernels(
    config: HardwareConfig, precision: int, per_kernel: int, window: int, width: int, channels: int
) -> int:
    """Kernels (up to a group) with which an operation fits; 0 if not even one does.

    *per_kernel* are bytes of a kernel, *window* lines that one output line reads, *width* the
    narrowest piece of them.
    """
    entries = entries_per_slice(config, width, channels, precision)
    banks = config.cbuf[0] - data_banks(config, entries, window)
    kernels = config.kernel_group(precision)
    while kernels and weight_banks(config, weight_bytes(config, kernels * per_kernel)) > banks:
        kernels -= 1
    return kernels


def split(
    config: HardwareConfig,
    precision: int,
    shape: tuple[int, int, int],
    kernels: int,
    per_kernel: int,
    window: tuple[int, int],
    stride: tuple[int, int],
    compressed: bool = False,
    batch: int = 1,
) -> Split | None:
    """Banks and piece size for an input (channels, height, width); None if nothing fits.

    *window* are the (lines, columns) that one output pixel reads. The mask of *compressed*
    weights takes a bank. *batch* inputs lie in the buffer together.
    """
    channels, height, width = shape

    def piece(columns: int) -> Split | None:
        entries = entries_per_slice(config, columns, channels, precision)
        for least in dict.fromkeys((window[0] + stride[0], window[0])):
            found = share(
                config,
                entries=entries,
                lines=min(height, LARGEST),
                kernels=kernels,
                bytes_per_kernel=per_kernel,
                precision=precision,
                least_lines=least,
                compressed=compressed,
                batch=batch,
            )
            if found is not None:
                return Split(found.weights, found.lines, columns)
        return None

    columns = min(width, LARGEST)
    found = piece(columns)
    while found is None and columns > window[1]:
        columns = max(columns * 3 // 4, window[1])
        found = piece(columns)
    return found
