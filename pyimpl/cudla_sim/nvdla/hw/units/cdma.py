"""CDMA: fetches feature or image data and weights, converts them, keeps them in the CBUF.

Source: nvdla/hw ``cmod/cdma/NV_NVDLA_cdma.cpp``; nvdla hardware manual "Convolution DMA" and
"In-memory data formats" (weights, pixel formats).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.errors import HardwareFault, UnsupportedOperation
from cudla_sim.nvdla.hw.arithmetic import RANGES, scaled
from cudla_sim.nvdla.hw.configs import FP16, HardwareConfig, element_size
from cudla_sim.nvdla.hw.fields import Params, address, bits
from cudla_sim.nvdla.hw.memory import DTYPES, Memory
from cudla_sim.nvdla.hw.units import pixels


@dataclass(slots=True)
class Cdma(Params):
    """Registers of CDMA that matter for the result."""

    _block = "CDMA"

    conv_mode: int = bits("D_MISC_CFG.CONV_MODE")
    in_precision: int = bits("D_MISC_CFG.IN_PRECISION")
    proc_precision: int = bits("D_MISC_CFG.PROC_PRECISION")
    data_reuse: int = bits("D_MISC_CFG.DATA_REUSE")
    weight_reuse: int = bits("D_MISC_CFG.WEIGHT_REUSE")
    image: int = bits("D_DATAIN_FORMAT.DATAIN_FORMAT")
    pixel_format: int = bits("D_DATAIN_FORMAT.PIXEL_FORMAT")
    sign_override: int = bits("D_DATAIN_FORMAT.PIXEL_SIGN_OVERRIDE")
    width: int = bits("D_DATAIN_SIZE_0.DATAIN_WIDTH", plus=1)
    height: int = bits("D_DATAIN_SIZE_0.DATAIN_HEIGHT", plus=1)
    channels: int = bits("D_DATAIN_SIZE_1.DATAIN_CHANNEL", plus=1)
    x_offset: int = bits("D_PIXEL_OFFSET.PIXEL_X_OFFSET")
    data_mc: int = bits("D_DAIN_RAM_TYPE.DATAIN_RAM_TYPE")
    data_address: int = address("D_DAIN_ADDR_HIGH_0", "D_DAIN_ADDR_LOW_0")
    uv_address: int = address("D_DAIN_ADDR_HIGH_1", "D_DAIN_ADDR_LOW_1")
    line_stride: int = bits("D_LINE_STRIDE")
    uv_line_stride: int = bits("D_LINE_UV_STRIDE")
    surface_stride: int = bits("D_SURF_STRIDE")
    batches: int = bits("D_BATCH_NUMBER.BATCHES", plus=1)
    batch_stride: int = bits("D_BATCH_STRIDE")
    compressed: int = bits("D_WEIGHT_FORMAT.WEIGHT_FORMAT")
    weight_mc: int = bits("D_WEIGHT_RAM_TYPE.WEIGHT_RAM_TYPE")
    weight_address: int = address("D_WEIGHT_ADDR_HIGH", "D_WEIGHT_ADDR_LOW")
    weight_bytes: int = bits("D_WEIGHT_BYTES")
    mean_enable: int = bits("D_MEAN_FORMAT.MEAN_FORMAT")
    mean_ry: int = bits("D_MEAN_GLOBAL_0.MEAN_RY", signed=True)
    mean_gu: int = bits("D_MEAN_GLOBAL_0.MEAN_GU", signed=True)
    mean_bv: int = bits("D_MEAN_GLOBAL_1.MEAN_BV", signed=True)
    mean_ax: int = bits("D_MEAN_GLOBAL_1.MEAN_AX", signed=True)
    convert: int = bits("D_CVT_CFG.CVT_EN")
    truncate: int = bits("D_CVT_CFG.CVT_TRUNCATE")
    offset: int = bits("D_CVT_OFFSET.CVT_OFFSET", signed=True)
    scale: int = bits("D_CVT_SCALE.CVT_SCALE", signed=True)
    pad_left: int = bits("D_ZERO_PADDING.PAD_LEFT")
    pad_right: int = bits("D_ZERO_PADDING.PAD_RIGHT")


def convert(p: Cdma, data: NDArray[Any], offset: Any) -> NDArray[Any]:
    """Apply the input converter: sat17(RS((x - offset) * scale, truncate)), then saturate."""
    values = scaled(data, offset, p.scale, p.truncate)
    if p.proc_precision == FP16:
        np.clip(values, -(1 << 16), (1 << 16) - 1, out=values)
        return np.clip(values, -65504, 65504).astype(np.float16)
    low, high = RANGES[p.proc_precision]
    return np.clip(values, low, high, out=values).astype(DTYPES[p.proc_precision])


def fetch_feature(p: Cdma, config: HardwareConfig, memory: Memory, batch: int) -> NDArray[Any]:
    """Return input *batch* as [surface, y, x, channel] in the processing precision."""
    cube = memory.cube(
        "CDMA data",
        p.data_address + batch * p.batch_stride,
        p.in_precision,
        (p.channels, p.height, p.width),
        p.line_stride,
        p.surface_stride,
        config.memory_atom,
    )
    if p.convert and p.in_precision != FP16:
        return convert(p, cube, p.offset)
    if p.in_precision != p.proc_precision:
        raise UnsupportedOperation("CDMA", "precision conversion without converter")
    return cube


def fetch_image(p: Cdma, memory: Memory) -> NDArray[Any]:
    """Return the picture as [y, x, channel] in R, G, B, A order and processing precision."""
    data, floating = pixels.unpack(p, memory)
    if floating:
        if p.proc_precision != FP16:
            raise HardwareFault("CDMA", "a floating-point image needs fp16 processing")
        return data
    if not p.convert:
        return data.astype(DTYPES[p.proc_precision])
    offset: Any = p.offset
    if p.mean_enable:
        offset = np.array([p.mean_ry, p.mean_gu, p.mean_bv, p.mean_ax])[: data.shape[-1]]
    return convert(p, data, offset)


@dataclass(frozen=True, slots=True)
class WeightShape:
    """Kernels, rows, columns and channels of a weight surface, and its precision.

    ``lines`` rows lie together for each kernel (post-extension, image input only).
    """

    kernels: int
    rows: int
    columns: int
    channels: int
    precision: int
    lines: int = 1

    @property
    def size(self) -> int:
        """Bytes without padding."""
        return (
            self.kernels * self.rows * self.columns * self.channels * element_size(self.precision)
        )


def unpack_weights(
    raw: NDArray[np.uint8], shape: WeightShape, config: HardwareConfig, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return weights as [kernel, row, column, channel] of *dtype*.

    In memory they are ordered by kernel group, chunk of atomic-C channels, row, column, kernel,
    channel; the last group has fewer kernels, the last chunk fewer channels.
    """
    source = raw.view(DTYPES[shape.precision])
    group, chunk = config.kernel_group(shape.precision), config.atomic_c
    taps = shape.rows * shape.columns
    result = np.empty((shape.kernels, taps, shape.channels), dtype)
    per_kernel = taps * shape.channels
    full_groups = shape.kernels // group
    done = full_groups * group
    for first, groups, count in ((0, full_groups, group), (done, 1, shape.kernels - done)):
        if groups == 0 or count == 0:
            continue
        stop = first + groups * count
        part = source[first * per_kernel : stop * per_kernel].reshape(groups, count * per_kernel)
        target = result[first:stop].reshape(groups, count, taps, shape.channels)
        if shape.lines > 1:
            _unpack_extended(part, target, shape.lines)
            continue
        chunks = shape.channels // chunk
        split = chunks * chunk
        if chunks:
            view = part[:, : taps * count * split].reshape(groups, chunks, taps, count, chunk)
            target[..., :split].reshape(groups, count, taps, chunks, chunk, copy=False)[...] = (
                view.transpose(0, 3, 2, 1, 4)
            )
        if split < shape.channels:
            rest = shape.channels - split
            view = part[:, taps * count * split :].reshape(groups, taps, count, rest)
            target[..., split:] = view.transpose(0, 2, 1, 3)
    return result.reshape(shape.kernels, shape.rows, shape.columns, shape.channels)


def _unpack_extended(part: NDArray[Any], target: NDArray[Any], lines: int) -> None:
    """Weights with post-extension: steps of *lines* rows, in a step kernel, row, channel."""
    groups, count, rows, channels = target.shape
    whole = rows - rows % lines
    size = count * channels
    if whole:
        view = part[:, : whole * size].reshape(groups, whole // lines, count, lines, channels)
        inner = target[:, :, :whole].reshape(
            groups, count, whole // lines, lines, channels, copy=False
        )
        inner[...] = view.transpose(0, 2, 1, 3, 4)
    if whole < rows:
        view = part[:, whole * size :].reshape(groups, count, rows - whole, channels)
        target[:, :, whole:] = view


class WeightCache:
    """Unpacked weights of recent layers, keyed by content.

    An entry is used only if shape and every byte of weight memory are equal to what it was made
    from, so stale entries cannot be seen. Holds at most *limit* bytes.
    """

    def __init__(self, limit: int = 384 << 20) -> None:
        self.limit = limit
        self._used = 0
        self._entries: OrderedDict[Any, tuple[NDArray[np.uint8], Any, int]] = OrderedDict()

    def find(self, key: Any, raw: NDArray[np.uint8]) -> Any:
        """Return the value stored for these bytes, or None."""
        entry = self._entries.get(key)
        if entry is None or not np.array_equal(entry[0], raw):
            return None
        self._entries.move_to_end(key)
        return entry[1]

    def store(self, key: Any, raw: NDArray[np.uint8], value: Any, size: int) -> None:
        """Keep *value* (of *size* bytes), made from *raw*."""
        old = self._entries.pop(key, None)
        if old is not None:
            self._used -= old[2]
        size += raw.nbytes
        if size > self.limit:
            return
        self._entries[key] = (raw.copy(), value, size)
        self._used += size
        while self._used > self.limit:
            _, (_, _, dropped) = self._entries.popitem(last=False)
            self._used -= dropped


def fetch_weights(
    p: Cdma, shape: WeightShape, config: HardwareConfig, memory: Memory
) -> NDArray[np.uint8]:
    """Return the raw bytes of an uncompressed weight surface."""
    if p.compressed:
        raise UnsupportedOperation("CDMA", "compressed weights")
    group = config.kernel_group(shape.precision)
    slack = min(group * shape.size // shape.kernels, shape.size) + 128
    return memory.read_padded("CDMA weights", p.weight_address, shape.size, slack)
