"""The convolution buffer: what data and weights take of its banks, and how they share them.

The input of a convolution stays in the data banks from its first line to its last: the scheduler
waits for all of its lines and gives them back at the end. Weights may pass through their banks,
but at least one kernel group must fit.
Source: nvdla/hw ``cmod/cdma``, ``cmod/csc`` (entries of a slice, space for a whole input);
nvdla/sw ``ConvCoreNode.cpp`` (banks).
"""

from __future__ import annotations

from dataclasses import dataclass

from .configs import HardwareConfig
from .precisions import element_size


def bank_bytes(config: HardwareConfig) -> int:
    """Bytes of one bank."""
    _, width, depth = config.cbuf
    return width * depth


def buffer_bytes(config: HardwareConfig) -> int:
    """Bytes of all banks."""
    return config.cbuf[0] * bank_bytes(config)


def entries_per_slice(hardware: HardwareConfig, width: int, channels: int, precision: int) -> int:
    """Convolution buffer entries that one line of a feature cube takes."""
    atoms = -(-channels * element_size(precision) // hardware.memory_atom)
    per_entry = max(hardware.cbuf[1] // hardware.memory_atom, 1)
    whole, rest = divmod(atoms, per_entry)
    if rest and rest * 2 > per_entry:
        rest = per_entry
    return whole * width + -(-width * rest // per_entry)


def image_entries(
    hardware: HardwareConfig, width: int, pads: tuple[int, int], channels: int, precision: int
) -> int:
    """Entries that one line of an image takes, with its pads (left, right).

    *channels* are those of a pixel in memory (1 or 4), *precision* that of the processing.
    """
    line = (pads[0] + width + pads[1]) * channels * element_size(precision)
    return -(-line // hardware.cbuf[1])


def winograd_entries(hardware: HardwareConfig, width: int, channels: int, precision: int) -> int:
    """Entries that one line takes in Winograd mode.

    *width* and *channels* are the extended ones: with pads, and channels * stride_x * stride_y
    over width / stride_x. Four lines are stored together; this is a quarter of them.
    """
    atoms = -(-channels * element_size(precision) // hardware.memory_atom)
    return -(-width * atoms * hardware.memory_atom // hardware.cbuf[1])


def data_banks(hardware: HardwareConfig, entries: int, lines: int, batch: int = 1) -> int:
    """Banks that hold *lines* lines of *entries* entries (of *batch* inputs)."""
    return -(-entries * lines * batch // hardware.cbuf[2])


def lines_that_fit(hardware: HardwareConfig, entries: int, banks: int, batch: int = 1) -> int:
    """Lines that fit into data banks; a convolution with more must be split."""
    return banks * hardware.cbuf[2] // (entries * batch)


def kernels_at_once(hardware: HardwareConfig, kernels: int, precision: int) -> int:
    """Kernels of a group, fewer if there are no more."""
    return min(kernels, hardware.kernel_group(precision))


def weight_bytes(hardware: HardwareConfig, size: int) -> int:
    """*size* bytes of weights (or of their mask) filled up to whole entries, as D_WEIGHT_BYTES.

    Neither more nor fewer: CDMA stores every entry of D_WEIGHT_BYTES, CSC takes those that the
    kernels fill, and both go on from there with the next convolution. Source: nvdla/hw
    ``vmod/nvdla/cdma/NV_NVDLA_CDMA_wt.v``, ``csc/NV_NVDLA_CSC_wl.v``.
    """
    entry = hardware.cbuf[1]
    return -(-size // entry) * entry


def weight_banks(hardware: HardwareConfig, size: int) -> int:
    """Banks that hold *size* bytes of weights."""
    entries = -(-size // hardware.cbuf[1])
    return max(-(-entries // hardware.cbuf[2]), 1)


def least_weight_banks(
    hardware: HardwareConfig, kernels: int, bytes_per_kernel: int, precision: int
) -> int:
    """Banks that hold one kernel group; with fewer a convolution never ends."""
    return weight_banks(hardware, kernels_at_once(hardware, kernels, precision) * bytes_per_kernel)


def usable_banks(hardware: HardwareConfig, compressed: bool = False) -> int:
    """Banks for data and weights; the mask of compressed weights takes the last one."""
    return hardware.cbuf[0] - compressed


@dataclass(frozen=True, slots=True)
class Share:
    """How a convolution uses the buffer: banks, and input lines of one operation."""

    data: int
    weights: int
    lines: int


def share(
    hardware: HardwareConfig,
    *,
    entries: int,
    lines: int,
    kernels: int,
    bytes_per_kernel: int,
    precision: int,
    least_lines: int,
    batch: int = 1,
    compressed: bool = False,
) -> Share | None:
    """Share the banks between data and weights, in the public compiler's order of preference.

    The whole input with all weights, with two kernel groups, with one; then as many of its
    *lines* as fit, at least *least_lines*, with all, two groups, one. None: not even that fits,
    the convolution must be split by width, kernels or channels.
    """
    banks = usable_banks(hardware, compressed)
    group = kernels_at_once(hardware, kernels, precision) * bytes_per_kernel
    choices = dict.fromkeys(
        weight_banks(hardware, size)
        for size in (kernels * bytes_per_kernel, min(2 * group, kernels * bytes_per_kernel), group)
    )
    whole = data_banks(hardware, entries, lines, batch)
    for weights in choices:
        if whole + weights <= banks:
            return Share(whole, weights, lines)
    for weights in choices:
        fit = lines_that_fit(hardware, entries, max(banks - weights, 0), batch)
        if fit >= min(least_lines, lines):
            return Share(banks - weights, weights, fit)
    return None
