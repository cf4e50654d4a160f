"""Convolutions of 3 x 3 in Winograd mode, F(2 x 2, 3 x 3): 16 products for 4 outputs instead of 36.

Windows of the input are transformed by the hardware, kernels here. Neither is exact in the
hardware's numbers. A transformed window is a sum of four elements, of which the hardware keeps as
many bits as an element has; a transformed kernel has quarters and up to 9/4 of the largest weight.

Outputs are made four by four, so a cube is written with its lines and columns filled up to
multiples of four. Source: nvdla/sw ``ConvCoreNode.cpp`` (determineWinogradParams), nvdla/hw
``vmod/nvdla/csc/NV_NVDLA_CSC_sg.v`` (its assertions), hardware manual "Winograd".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla import layout
from cudla_sim.nvdla.descriptors import OpType
from cudla_sim.nvdla.facts import fields
from cudla_sim.nvdla.facts.cbuf import data_banks, share, winograd_entries
from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.precisions import FP16, element_size

from ..legalise.nodes import KernelConv
from . import at_once, cbuf, conv, sdp
from .cubes import Cube, Values
from .cuts import Piece
from .fit import Fit
from .task import Task
from .weights import RealWeights, Weights, absorb, correct, quantised

TILE = 4
"""Lines and columns of outputs that are made together; and of a transformed kernel."""

_G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
_DROPPED = 2
"""Bits of a transformed window that integers drop: it is a sum of four elements."""
_EVEN = 4.0
"""What a constant input counts in a transformed window, at [1, 1] and nowhere else."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a convolution goes: outputs (lines, columns) with their filling, channels with theirs,
    entries of a line, banks of weights, lines of one operation's input with their pads."""

    out: tuple[int, int]
    channels: int
    entries: int
    weight_banks: int
    lines: int


def filled(size: int) -> int:
    """Lines or columns up to the next multiple of a tile."""
    return -(-size // TILE) * TILE


def plan(
    config: HardwareConfig, precision: int, node: KernelConv, fit: Fit, source: tuple[int, int]
) -> Plan | None:
    """How the convolution of a source of (channels, columns) would go; None if it cannot, or if it
    takes no less time than a direct one."""
    kernels, span, rows, columns = node.weights.shape
    channels, width = source
    _, _, height, out_width = node.output.shape
    usual = (rows, columns, *node.stride, *node.dilation) == (3, 3, 1, 1, 1, 1)
    if not (config.winograd and usual and span == channels and not node.first.any()):
        return None
    if not at_once.possible(fit):  # operands come in the order of lines, results in that of tiles
        return None
    atom = config.channels_per_atom(precision)
    stored = -(-channels // atom) * atom
    out = filled(height), filled(out_width)
    entries = winograd_entries(config, out[1] + TILE, stored, precision)
    right = out[1] + TILE - node.pads[2] - width
    if not 0 <= right <= fields.most(config, "CDMA.D_ZERO_PADDING.PAD_RIGHT"):
        return None
    found = share(
        config,
        entries=entries,
        lines=out[0] + TILE,
        kernels=kernels,
        bytes_per_kernel=TILE * TILE * stored * element_size(precision),
        precision=precision,
        least_lines=2 * TILE,
    )
    if found is None or found.lines // TILE < 2:
        return None
    result = Plan(out, stored, entries, found.weights, found.lines // TILE * TILE)
    return result if _faster(config, precision, node, source, result) else None


def _faster(
    config: HardwareConfig, precision: int, node: KernelConv, source: tuple[int, int], found: Plan
) -> bool:
    """True if tiles take less time, with weights that each operation fetches anew."""
    kernels, channels, rows, columns = node.weights.shape
    _, _, height, width = node.output.shape
    lines = height + rows - 1 - sum(node.pads[:2])
    usual = cbuf.split(
        config,
        precision,
        (channels, lines, source[1]),
        kernels,
        rows * columns * channels * element_size(precision),
        (rows, min(columns, source[1])),
        node.stride,
    )
    if usual is None or usual.columns < source[1]:
        return True
    shape = channels, rows, columns
    core = at_once.core_cycles(config, precision, kernels, shape, (height, width))
    pieces = 1 if usual.lines >= lines else ceil(height / max(usual.lines - rows + 1, 1))
    size = kernels * prod(shape) * element_size(precision)
    direct = max(core, pieces * size / config.timing.port_bytes)
    shape, out = (TILE * TILE * found.channels, 1, 1), (found.out[0] // TILE, found.out[1])
    core = at_once.core_cycles(config, precision, kernels, shape, out)
    pieces = ceil(found.out[0] / (found.lines - TILE))
    size = kernels * prod(shape) * element_size(precision)
    return max(core, pieces * size / config.timing.port_bytes) < direct


def transformed(node: KernelConv, fit: Fit, source: Cube, mean: NDArray[Any] | None) -> Weights:
    """Weights [kernels, channels, 4, 4] with what of the pass goes into them."""
    real, bias = absorb(node, fit)
    moved = np.empty((*real.shape[:2], TILE, TILE), np.float32)
    for part, kernels in real.parts():
        moved[part] = _G @ kernels @ _G.T
    whole = RealWeights(moved, np.ones(len(moved)))
    found = quantised(whole, bias, source.precision, source.scale)
    if source.precision == FP16:
        return found
    correct(node, fit, whole, found, mean, source.scale, _constant)
    return replace(found, step=found.step * 2.0**_DROPPED)


def _constant(difference: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a constant input of 1 makes of transformed kernels."""
    return _EVEN * difference[:, :, 1, 1]


def _pieces(node: KernelConv, height: int, found: Plan) -> Iterator[Piece]:
    """Lines of the output, with the lines of the input that they read, and pads up to a tile."""
    most = found.lines - TILE
    for first in range(0, found.out[0], most):
        count = min(most, found.out[0] - first)
        low = first - node.pads[0]
        start, end = max(low, 0), min(low + count + TILE, height)
        yield Piece(first, count, start, end - start, start - low, low + count + TILE - end)


def emit(
    task: Task,
    node: KernelConv,
    fit: Fit,
    source: Cube,
    target: Cube,
    values: Values,
    found: Plan,
    mean: NDArray[Any] | None = None,
) -> None:
    """Append the operations of a convolution with its SDP pass; the target has room for *found*'s
    lines and columns."""
    config, precision = task.config, source.precision
    weights = transformed(node, fit, source, mean)
    kernels, width = target.channels, found.out[1]
    shape = kernels, found.channels, TILE, TILE
    dense = np.zeros(shape, np.float16 if precision == FP16 else np.int16)
    dense[target.positions[:, None], source.positions[None, :]] = weights.elements
    packed = layout.pack_winograd_weights(dense, config, precision)
    step = np.ones(kernels)
    step[target.positions] = weights.step
    left = node.pads[2]
    x = Piece(0, width, 0, source.width, left, width + TILE - left - source.width)
    for y in _pieces(node, source.height, found):
        lines = y.count + TILE
        banks = data_banks(config, found.entries, lines), found.weight_banks
        op = conv.operation(
            node, weights, precision, source.scale, source.zero, y, x,
            channels=found.channels, entries=found.entries, banks=banks,
        )  # fmt: skip
        op.conv_mode, op.pra_truncate = 1, 0 if precision == FP16 else _DROPPED
        op.input_width_csc, op.input_height_csc, op.release = width + TILE, lines, lines
        op.kernel_width_csc = op.kernel_height_csc = TILE
        op.bytes_per_kernel = TILE * TILE * found.channels * element_size(precision)
        piece = source.box(y.start, y.size, 0, source.width)
        flying = task.flying(kernels, y.count, width)
        cubes = conv.surface(task, node, (packed,), task.cube(piece), flying, found.channels)
        cubes.weight.width = cubes.weight.height = TILE
        task.append(OpType.CONV, op, cubes, {source.buffer, task.weights})
        sums = sdp.Sums(kernels, y.count, width, weights.step, winograd=True)
        out = target.box(y.first, y.count, 0, width)
        sdp.emit(task, fit, sums, out, values)
