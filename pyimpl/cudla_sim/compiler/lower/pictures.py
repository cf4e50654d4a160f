"""Convolutions that read a picture: interleaved pixels of four channels, or one.

Pixels are numbers of the network's precision, or 8-bit ones that CDMA converts on the way.

Weights are stored with their columns folded into channels; the fourth channel of a pixel has
weight 0. Only lines can be cut. Source: nvdla hardware manual "Image input".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla import layout
from cudla_sim.nvdla.descriptors import ConvOp, CvtParam, DataCube, MemoryType, OpType
from cudla_sim.nvdla.facts import cbuf
from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.limits import LARGEST
from cudla_sim.nvdla.facts.maps.enums import ENUMS
from cudla_sim.nvdla.facts.precisions import FP16, INT8, element_size
from cudla_sim.nvdla.loadable import DataType

from .. import graph as g
from ..errors import Refusal, Refused
from ..legalise.nodes import KernelConv
from ..pixels import Image
from . import conv, cuts, numbers, sdp
from .cbuf import Split
from .cubes import Buffer, Cube, Values
from .fit import Fit
from .onward import Lines, Pooling
from .task import Task
from .weights import prepared

_FORMATS = {
    (INT8, 4): "T_A8B8G8R8",
    (INT8, 1): "T_R8",
    (FP16, 4): "T_A16B16G16R16_F",
    (FP16, 1): "T_R16_F",
}
_TYPES = {INT8: DataType.INT8, FP16: DataType.HALF}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in memory; lines are multiples of *line_bytes*. *precision* is that of the
    processing, *scale* the real value of one step behind the converter; in fp16 what that leaves to
    weights."""

    config: HardwareConfig
    precision: int
    channels: int
    height: int
    width: int
    scale: float
    image: Image | None
    line_bytes: int = 64

    @property
    def element(self) -> int:
        """Bytes of one channel of a pixel."""
        return 1 if self.image else element_size(self.precision)

    @property
    def data_type(self) -> DataType:
        """Of the tensor."""
        return DataType.UINT8 if self.image else _TYPES[self.precision]

    @property
    def pixel(self) -> int:
        """Channels of a pixel in memory."""
        return 1 if self.channels == 1 else 4

    @property
    def line(self) -> int:
        """Bytes from line to line."""
        return -(-self.width * self.pixel * self.element // self.line_bytes) * self.line_bytes

    @property
    def size(self) -> int:
        """Bytes of the picture."""
        return self.line * self.height

    @property
    def format(self) -> int:
        """Number of the pixel format."""
        if self.image:
            return self.image.number
        return ENUMS["pixel_format"][_FORMATS[self.precision, self.pixel]]

    def read(self, operation: ConvOp) -> None:
        """Have CDMA read the picture, and convert it where it must. Columns of kernels are folded
        into channels."""
        operation.data_format = self.format
        operation.kernel_channel_csc *= operation.kernel_width_csc
        operation.kernel_width_csc = 1
        if self.image is None:
            return
        operation.pixel_override, operation.in_precision = 0, INT8
        operation.mean_format = 1
        means = (*self.image.mean, 0, 0, 0, 0)
        operation.mean_ry, operation.mean_gu, operation.mean_bv, operation.mean_ax = means[:4]
        operation.in_cvt = CvtParam(1, 0, 1, 0)
        if self.precision != FP16:
            operation.in_cvt = numbers.converter(self.image.factor / self.scale)


def of(
    config: HardwareConfig,
    precision: int,
    value: g.Value,
    scale: float,
    image: Image | None,
    line_bytes: int,
) -> Picture:
    """The picture of a network input; its lines are multiples of *line_bytes*."""
    _, channels, height, width = value.shape
    if image is not None and precision == FP16:
        scale = image.factor
    return Picture(config, precision, channels, height, width, scale, image, line_bytes)


def reason(node: g.Node, picture: Picture) -> str | None:
    """Why a node cannot read a picture."""
    if picture.image is None and (
        (picture.precision, picture.pixel) not in _FORMATS or picture.channels not in (1, 3, 4)
    ):
        return f"a picture has 1, 3 or 4 channels of int8 or fp16, not {picture.channels}"
    if not isinstance(node, KernelConv):
        return "only a convolution reads pictures"
    if node.weights.shape[1] != picture.channels or node.dilation != (1, 1):
        return "only a convolution without groups and dilation reads pictures"
    if node.weights.shape[3] * picture.pixel > LARGEST:
        return "the kernel is too wide"
    return None


def emit(
    task: Task,
    node: KernelConv,
    fit: Fit,
    picture: Picture,
    place: tuple[Buffer, int],
    target: Cube,
    values: Values,
    mean: NDArray[Any] | None = None,
    pooling: Pooling | None = None,
) -> bool:
    """Append the operations of a convolution that reads the picture at (buffer, offset), and of the
    *pooling* behind it if that can take their results on the fly; return whether it does."""
    weights = prepared(node, fit, picture.precision, picture.scale, mean)
    _, channels, rows, columns = node.weights.shape
    lookup = target.kernels()
    index, where = lookup[lookup >= 0], np.flatnonzero(lookup >= 0)
    dtype = np.float16 if picture.precision == FP16 else np.int16
    dense = np.zeros((target.channels, picture.pixel, rows, columns), dtype)
    dense[where, :channels] = weights.elements[index]
    packed = layout.pack_image_weights(dense, task.config, picture.precision)
    per_kernel = picture.pixel * rows * columns * element_size(picture.precision)
    entries = cbuf.image_entries(
        task.config, picture.width, node.pads[2:], picture.pixel, picture.precision
    )
    share = cbuf.share(
        task.config,
        entries=entries,
        lines=picture.height,
        kernels=target.channels,
        bytes_per_kernel=per_kernel,
        precision=picture.precision,
        least_lines=rows,
    )
    if share is None:
        why = f"a line of {picture.width} pixels does not fit into the convolution buffer"
        raise Refused([Refusal(node.name, "Conv", why, "take the chw32 or chw16 input format")])
    x = next(iter(cuts.pieces(picture.width, target.width, picture.width, node, 1)))
    size, split = (
        (picture.height, picture.width),
        Split(share.weights, share.lines, picture.width),
    )
    chunks = -(-picture.pixel * columns // task.config.atomic_c)
    atoms = rows * chunks * -(-target.channels // task.config.kernel_group(picture.precision))
    onward = (
        pooling is not None
        and pooling.columns(target.width)[0] == target.width
        and pooling.fits(task.config, node, split, size, target, atoms)
    )
    places: Iterable[tuple[cuts.Piece, Lines | None]]
    if pooling is not None and onward:
        places = [(y, p) for y, _, p in pooling.places(node, size, target, share.lines)]
    else:
        places = [
            (y, None) for y in cuts.pieces(picture.height, target.height, share.lines, node, 0)
        ]
    for y, pooled in places:
        operation = conv.operation(
            node,
            weights,
            picture.precision,
            picture.scale,
            0,
            y,
            x,
            channels=picture.pixel,
            entries=entries,
            banks=(cbuf.data_banks(task.config, entries, y.size), share.weights),
        )
        picture.read(operation)
        source = DataCube(
            type=MemoryType.MC,
            width=picture.width,
            height=y.size,
            channel=picture.pixel,
            line_stride=picture.line,
            size=picture.line * y.size,
        )
        source = task.at(source, place[0], place[1] + y.start * picture.line)
        flying = task.flying(target.channels, y.count, target.width)
        surface = conv.surface(task, node, (packed,), source, flying, picture.pixel)
        out = replace(target.box(y.first, y.count, 0, target.width), positions=where)
        whole = slice(0, target.width)
        part = cuts.restrict(fit, index, slice(y.first, y.first + y.count), whole)
        sums = sdp.Sums(target.channels, y.count, target.width, weights.step[index])
        block = cuts.Block(0, target.channels, 0, 0)
        operands = sdp.settled(task, part, cuts.within(values, block, y, x))
        task.append(OpType.CONV, operation, surface, {place[0], task.weights})
        sdp.emit(task, part, sums, out, operands, onward=pooled is not None)
        if pooling is not None and pooled is not None:
            pooling.append(task, out, 0, target.channels - 1, pooled)
    return onward
