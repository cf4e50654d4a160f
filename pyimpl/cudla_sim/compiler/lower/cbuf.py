"""How a convolution shares the buffer between data and weights, and where it must be cut.

The order of preference is that of the public compiler: all data and all weights; all data and two
kernel groups, then one; part of the lines and all weights, two groups, one. Beyond it, columns are
cut, and an operation may have less than a group of kernels.
Source: facts on CBUF banks (public compiler and nvdla hardware manual "Convolution buffer").
"""

from __future__ import annotations

from dataclasses import dataclass

from cudla_sim.nvdla.hw.configs import HardwareConfig
from cudla_sim.nvdla.limits.cbuf import entries_per_slice


@dataclass(frozen=True, slots=True)
class Split:
    """Banks, and the largest piece of input that one operation may read."""

    data_banks: int
    weight_banks: int
    lines: int
    columns: int


def weight_banks(config: HardwareConfig, nbytes: int) -> int:
    """Banks that weights take."""
    _, entry, depth = config.cbuf
    whole = -(-nbytes // 128) * 128
    return -(-whole // (entry * depth))


def data_banks(config: HardwareConfig, entries: int, lines: int) -> int:
    """Banks that lines of so many entries take."""
    return -(-entries * lines // config.cbuf[2])


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
    while kernels and weight_banks(config, kernels * per_kernel) > banks:
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
) -> Split | None:
    """Banks and piece size for an input (channels, height, width); None if nothing fits.

    *window* are the (lines, columns) that one output pixel reads. The mask of *compressed*
    weights takes a bank.
    """
    channels, height, width = shape
    banks, _, depth = config.cbuf
    banks -= compressed
    group = min(config.kernel_group(precision), kernels)
    sizes = [kernels * per_kernel, min(2 * group, kernels) * per_kernel, group * per_kernel]
    options = [weight_banks(config, size) for size in sizes]

    def piece(columns: int) -> Split | None:
        entries = entries_per_slice(config, columns, channels, precision)
        for wanted in options:
            if data_banks(config, entries, height) + wanted <= banks:
                return Split(data_banks(config, entries, height), wanted, height, columns)
        for wanted in options:
            lines = max(banks - wanted, 0) * depth // entries
            if lines >= window[0] + (stride[0] if height > window[0] else 0):
                lines = min(lines, height)
                return Split(data_banks(config, entries, lines), wanted, lines, columns)
        lines = max(banks - options[-1], 0) * depth // entries
        if lines >= window[0]:
            return Split(data_banks(config, entries, window[0]), options[-1], window[0], columns)
        return None

    found = piece(width)
    columns = width
    while found is None and columns > window[1]:
        columns = max(columns * 3 // 4, window[1])
        found = piece(columns)
    return found
