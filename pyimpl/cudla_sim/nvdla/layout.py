"""Packing numpy arrays into the memory layouts of NVDLA and back.

Logical arrays are [n, c, h, w]. Layouts (nvdla hardware manual "In-memory data formats"):

* feature: channels are cut into atoms of 32 (or 16, 8) bytes; memory order is surface (group of
  channels), line, pixel, channel inside the atom; called x32, x16, x8 after the atom size;
* planar: channel, line, pixel;
* image: line, pixel, channel, in the channel order of the pixel format;
* weights: see :func:`pack_weights`; operands of SDP: ALU and MUL values interleaved per channel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import NvdlaError, Status
from .facts.cbuf import weight_bytes
from .facts.configs import HardwareConfig
from .facts.formats import FEATURE, FEATURE_X8
from .hw.memory import DTYPES
from .hw.units.conv.pixels import NAMES, TEN_BIT, channel_order, element_bytes
from .hw.units.conv.weights import WeightShape
from .hw.units.conv.weights import unpack_weights as _unpack_weights
from .loadable import DataType, TensorDesc
from .tables import DataCategory

Bytes = NDArray[np.uint8]
Array = NDArray[Any]

"""Pixel format numbers of feature tensors: 32-byte and 8-byte atoms."""

TENSOR_DTYPES: dict[int, np.dtype[Any]] = {
    DataType.FLOAT: np.dtype("<f4"),
    DataType.HALF: np.dtype("<f2"),
    DataType.INT16: np.dtype("<i2"),
    DataType.INT8: np.dtype("i1"),
    DataType.UINT8: np.dtype("u1"),
    DataType.UINT16: np.dtype("<u2"),
}


def feature_strides(
    shape: tuple[int, int, int, int], itemsize: int, atom: int
) -> tuple[int, int, int]:
    """Return (line, surface, batch) strides in bytes of a packed feature tensor."""
    _, channels, height, width = shape
    surfaces = -(-channels * itemsize // atom)
    return width * atom, height * width * atom, surfaces * height * width * atom


def _feature_view(
    buffer: Bytes,
    shape: tuple[int, int, int, int],
    dtype: np.dtype[Any],
    atom: int,
    strides: tuple[int, int, int],
) -> Array:
    """View a buffer as [n, surface, y, x, channel in atom]."""
    number, channels, height, width = shape
    per_atom = atom // dtype.itemsize
    surfaces = -(-channels // per_atom)
    line, surface, batch = strides
    full = (number, surfaces, height, width, per_atom)
    steps = (batch, surface, line, atom, dtype.itemsize)
    need = sum((n - 1) * s for n, s in zip(full, steps, strict=True)) + dtype.itemsize
    if len(buffer) < need:
        raise NvdlaError(
            f"a feature tensor {shape} of {dtype} needs {need} bytes, the buffer has {len(buffer)}",
            Status.INVALID_SIZE,
        )
    return np.ndarray(full, dtype, buffer, 0, steps)


def pack_feature(
    array: Array, atom: int, strides: tuple[int, int, int] | None = None, size: int = 0
) -> Bytes:
    """Pack [n, c, h, w] into feature layout; padding channels are 0.

    *strides* are (line, surface, batch) in bytes, packed by default; *size* is the least size of
    the result.
    """
    number, channels, height, width = array.shape
    shape = (number, channels, height, width)
    packed = feature_strides(shape, array.itemsize, atom)
    line, surface, batch = strides or packed
    surfaces = -(-channels * array.itemsize // atom)
    need = (number - 1) * batch + (surfaces - 1) * surface + (height - 1) * line + width * atom
    buffer = np.zeros(max(need, size), np.uint8)
    view = _feature_view(buffer, shape, array.dtype, atom, (line, surface, batch))
    per_atom = view.shape[4]
    moved = array.transpose(0, 2, 3, 1)
    whole = channels // per_atom
    split = whole * per_atom
    if whole:
        part = moved[..., :split].reshape(number, height, width, whole, per_atom)
        view[:, :whole] = part.transpose(0, 3, 1, 2, 4)
    if split < channels:
        view[:, whole, :, :, : channels - split] = moved[..., split:]
    return buffer


def unpack_feature(
    buffer: Bytes,
    shape: tuple[int, int, int, int],
    dtype: np.dtype[Any],
    atom: int,
    strides: tuple[int, int, int] | None = None,
) -> Array:
    """Return the valid elements of a feature tensor as [n, c, h, w]."""
    steps = strides or feature_strides(shape, dtype.itemsize, atom)
    view = _feature_view(buffer, shape, dtype, atom, steps)
    number, channels, height, width = shape
    flat = view.transpose(0, 1, 4, 2, 3).reshape(number, -1, height, width)
    return flat[:, :channels].copy(order="C")


def pack_planar(array: Array, line_stride: int = 0, plane_stride: int = 0) -> Bytes:
    """Pack [n, c, h, w] plane by plane."""
    number, channels, height, width = array.shape
    line = line_stride or width * array.itemsize
    plane = plane_stride or height * line
    buffer = np.zeros(number * channels * plane, np.uint8)
    strides = (channels * plane, plane, line, array.itemsize)
    np.ndarray(array.shape, array.dtype, buffer, 0, strides)[...] = array
    return buffer


def unpack_planar(
    buffer: Bytes,
    shape: tuple[int, int, int, int],
    dtype: np.dtype[Any],
    line_stride: int = 0,
    plane_stride: int = 0,
) -> Array:
    """Return a planar tensor as [n, c, h, w]."""
    _, channels, height, width = shape
    line = line_stride or width * dtype.itemsize
    plane = plane_stride or height * line
    strides = (channels * plane, plane, line, dtype.itemsize)
    need = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + dtype.itemsize
    if len(buffer) < need:
        raise NvdlaError(f"a planar tensor {shape} needs {need} bytes", Status.INVALID_SIZE)
    return np.ndarray(shape, dtype, buffer, 0, strides).copy()


def _pixels(pixel_format: int, channels: int) -> list[int]:
    """Position of each channel in a pixel of an interleaved format."""
    name = NAMES.get(pixel_format, str(pixel_format))
    order = channel_order(name)
    if order is None:
        raise NvdlaError(
            f"pixel format {name} has no packing for arrays here", Status.NOT_SUPPORTED
        )
    if channels > len(order):
        raise NvdlaError(f"pixel format {name} has {len(order)} channels, not {channels}")
    return list(order)


def pack_image(array: Array, pixel_format: int, line_stride: int = 0) -> Bytes:
    """Pack [1, c, h, w] (R, G, B, A order) into an interleaved image; missing channels are 0."""
    _, channels, height, width = array.shape
    order = _pixels(pixel_format, channels)
    item = array.itemsize
    line = line_stride or width * len(order) * item
    buffer = np.zeros(height * line, np.uint8)
    shape, strides = (height, width, len(order)), (line, len(order) * item, item)
    view = np.ndarray(shape, array.dtype, buffer, 0, strides)
    view[:, :, order[:channels]] = array[0].transpose(1, 2, 0)
    return buffer


def unpack_image(
    buffer: Bytes,
    shape: tuple[int, int, int, int],
    dtype: np.dtype[Any],
    pixel_format: int,
    line_stride: int = 0,
) -> Array:
    """Return an interleaved image as [1, c, h, w] in R, G, B, A order."""
    _, channels, height, width = shape
    order = _pixels(pixel_format, channels)
    pixel = len(order) * dtype.itemsize
    line = line_stride or width * pixel
    if len(buffer) < (height - 1) * line + width * pixel:
        raise NvdlaError(f"an image {shape} does not fit into {len(buffer)} bytes")
    full, strides = (height, width, len(order)), (line, pixel, dtype.itemsize)
    view = np.ndarray(full, dtype, buffer, 0, strides)[:, :, order[:channels]]
    return view.transpose(2, 0, 1)[None].copy()


def pack_ten_bit(array: Array, pixel_format: int, line_stride: int = 0) -> Bytes:
    """Pack [1, 4, h, w] (R, G, B of 10 bits, A of 2 bits) into 32-bit words."""
    name = NAMES.get(pixel_format, str(pixel_format))
    places = TEN_BIT.get(name)
    _, channels, height, width = array.shape
    if places is None or channels != 4:
        raise NvdlaError(f"{channels} channels cannot be packed as {name}")
    words = np.zeros((height, width), np.uint32)
    for channel, (place, limit) in enumerate(zip(places, (0x3FF, 0x3FF, 0x3FF, 3), strict=True)):
        words |= (array[0, channel].astype(np.uint32) & limit) << place
    line = line_stride or width * 4
    buffer = np.zeros(height * line, np.uint8)
    np.ndarray((height, width), "<u4", buffer, 0, (line, 4))[...] = words
    return buffer


def pack_two_planes(
    array: Array, pixel_format: int, line_stride: int = 0, uv_line_stride: int = 0
) -> tuple[Bytes, Bytes]:
    """Pack [1, 3, h, w] (Y, U, V) into a plane of Y and one of U and V."""
    name = NAMES.get(pixel_format, str(pixel_format))
    _, channels, height, width = array.shape
    if "___" not in name or channels != 3:
        raise NvdlaError(f"{channels} channels cannot be packed as {name}")
    item = element_bytes(name)
    moved = array[0].transpose(1, 2, 0).astype(f"<u{item}")
    order = [2, 1] if name.partition("___")[2].startswith("U") else [1, 2]
    planes = []
    for part, stride in ((moved[:, :, :1], line_stride), (moved[:, :, order], uv_line_stride)):
        pixel = part.shape[2] * item
        line = stride or width * pixel
        buffer = np.zeros(height * line, np.uint8)
        np.ndarray(part.shape, part.dtype, buffer, 0, (line, pixel, item))[...] = part
        planes.append(buffer)
    return planes[0], planes[1]


def _filled(data: Bytes, config: HardwareConfig) -> Bytes:
    """Fill up to whole entries of the convolution buffer."""
    return np.pad(data, (0, weight_bytes(config, len(data)) - len(data)))


def compress_weights(
    packed: Bytes, shape: tuple[int, int, int, int], config: HardwareConfig, precision: int
) -> tuple[Bytes, Bytes, Bytes]:
    """Leave zeros out of packed weights of [kernel, channel, row, column]: (weights, WMB, WGS).

    WMB has a bit for each element, WGS the bytes that remain of each kernel group. All three are
    filled up to entries of the convolution buffer.
    """
    kernels, per_kernel = shape[0], int(np.prod(shape[1:]))
    item = DTYPES[precision].itemsize
    elements = packed[: kernels * per_kernel * item].reshape(-1, item)
    present = np.asarray(elements.any(axis=1))
    group = config.kernel_group(precision) * per_kernel
    starts = np.arange(0, len(present), group)
    sizes = (np.add.reduceat(present.astype(np.int64), starts) * item).astype("<u4")
    parts = (elements[present].reshape(-1), np.packbits(present, bitorder="little"), sizes)
    bytes_of = [part.view(np.uint8) for part in parts]
    weights, mask, groups = (_filled(part, config) for part in bytes_of)
    return weights, mask, groups


def pack_winograd_weights(weights: Array, config: HardwareConfig, precision: int) -> Bytes:
    """Pack transformed kernels [kernel, channel, 4, 4], filled up to a buffer entry.

    Order: kernel group, block of 4 channels, kernel, row, column, channel.
    """
    kernels, channels, rows, columns = weights.shape
    if (rows, columns) != (4, 4) or channels % 4:
        raise NvdlaError(f"Winograd kernels are 4 x 4 of 4 n channels, not {weights.shape}")
    group = config.kernel_group(precision)
    moved = weights.astype(DTYPES[precision]).reshape(kernels, channels // 4, 4, 4, 4)
    parts = [
        moved[first : first + group].transpose(1, 0, 3, 4, 2).ravel()
        for first in range(0, kernels, group)
    ]
    return _filled(np.concatenate(parts).view(np.uint8), config)


def pack_weights(weights: Array, config: HardwareConfig, precision: int) -> Bytes:
    """Pack [kernel, channel, row, column] for direct convolution, filled up to a buffer entry.

    Order: kernel group, chunk of atomic-C channels, row, column, kernel, channel.
    """
    kernels, channels, rows, columns = weights.shape
    dtype = DTYPES[precision]
    group, chunk = config.kernel_group(precision), config.atomic_c
    size = weights.size * np.dtype(dtype).itemsize
    packed = np.zeros(weight_bytes(config, size), np.uint8)
    elements, at = packed[:size].view(dtype), 0
    for first in range(0, kernels, group):
        some = weights[first : first + group].astype(dtype).transpose(0, 2, 3, 1)
        moved = some.reshape(len(some), rows * columns, channels)
        for start in range(0, channels, chunk):
            block = moved[:, :, start : start + chunk].transpose(1, 0, 2)
            elements[at : at + block.size] = block.ravel()
            at += block.size
    return packed


def pack_image_weights(weights: Array, config: HardwareConfig, precision: int) -> Bytes:
    """Pack [kernel, channel, row, column] for image input: columns folded into channels."""
    kernels, channels, rows, columns = weights.shape
    folded = weights.transpose(0, 3, 1, 2).reshape(kernels, columns * channels, rows, 1)
    return pack_weights(folded, config, precision)


def unpack_weights(
    buffer: Bytes, shape: tuple[int, int, int, int], config: HardwareConfig, precision: int
) -> Array:
    """Return weights packed by :func:`pack_weights` as [kernel, channel, row, column]."""
    kernels, channels, rows, columns = shape
    wanted = WeightShape(kernels, rows, columns, channels, precision)
    data = _unpack_weights(buffer[: wanted.size], wanted, config, DTYPES[precision])
    return data.transpose(0, 3, 1, 2)


def pack_operands(*tables: Array) -> Bytes:
    """Interleave per-channel operand tables (ALU first, then MUL) of one dtype."""
    return np.stack(tables, axis=-1).ravel().view(np.uint8).copy()


def tensor_atom(tensor: TensorDesc) -> int:
    """Memory atom of a feature tensor (bytes), 0 for images.

    There is no pixel format for atoms of 16 bytes (nv_medium_512): lines shorter than atoms of 32
    bytes tell them.
    """
    if tensor.pixel_format == FEATURE:
        return 16 if 0 < tensor.strides[1] < 32 * tensor.w else 32
    return 8 if tensor.pixel_format == FEATURE_X8 else 0


def tensor_dtype(tensor: TensorDesc) -> np.dtype[Any]:
    """Element type of a tensor; NvdlaError if the descriptor leaves it open."""
    if tensor.data_type not in TENSOR_DTYPES:
        raise NvdlaError(f"tensor {tensor.name!r} has data type {tensor.data_type}")
    return TENSOR_DTYPES[tensor.data_type]


def _steps(tensor: TensorDesc) -> tuple[int, int, int]:
    return tensor.strides[1], tensor.strides[2], tensor.size // tensor.n


def pack_tensor(tensor: TensorDesc, array: Array) -> Bytes:
    """Pack [n, c, h, w] into the buffer layout of a network input or output."""
    shape = (tensor.n, tensor.c, tensor.h, tensor.w)
    if array.shape != shape:
        raise NvdlaError(f"tensor {tensor.name!r} is {shape}, the array is {array.shape}")
    data = np.ascontiguousarray(array, tensor_dtype(tensor))
    if tensor.data_category == DataCategory.PLANAR:
        return pack_planar(data, tensor.strides[1], tensor.strides[2])
    atom = tensor_atom(tensor)
    if atom:
        return pack_feature(data, atom, _steps(tensor), tensor.size)
    step = tensor.size // tensor.n
    buffer = np.zeros(tensor.size, np.uint8)
    for index in range(tensor.n):
        part = pack_image(data[index : index + 1], tensor.pixel_format, tensor.strides[1])
        buffer[index * step : index * step + len(part)] = part
    return buffer


def unpack_tensor(tensor: TensorDesc, buffer: Bytes) -> Array:
    """Return the valid elements of a network input or output buffer as [n, c, h, w]."""
    shape = (tensor.n, tensor.c, tensor.h, tensor.w)
    dtype = tensor_dtype(tensor)
    if tensor.data_category == DataCategory.PLANAR:
        return unpack_planar(buffer, shape, dtype, tensor.strides[1], tensor.strides[2])
    atom = tensor_atom(tensor)
    if atom:
        return unpack_feature(buffer, shape, dtype, atom, _steps(tensor))
    step = tensor.size // tensor.n
    single = (1, *shape[1:])
    parts = [
        unpack_image(buffer[index * step :], single, dtype, tensor.pixel_format, tensor.strides[1])
        for index in range(tensor.n)
    ]
    return np.concatenate(parts)


def element_offset(tensor: TensorDesc, n: int, c: int, h: int, w: int) -> int:
    """Return the byte offset of element (n, c, h, w) in the buffer of a tensor."""
    dtype, atom = tensor_dtype(tensor), tensor_atom(tensor)
    line, surface, batch = _steps(tensor)
    if tensor.data_category == DataCategory.PLANAR:
        return n * batch + c * surface + h * line + w * dtype.itemsize
    if atom:
        group, inner = divmod(c, atom // dtype.itemsize)
        return n * batch + group * surface + h * line + w * atom + inner * dtype.itemsize
    order = _pixels(tensor.pixel_format, tensor.c)
    return n * batch + h * line + (w * len(order) + order[c]) * dtype.itemsize


def picture(tensor: TensorDesc, n: int = 0, c: int = 0, h: int = 0, w: int = 0) -> str:
    """Say in text where element (n, c, h, w) of a tensor lies, and what lies around it."""
    dtype, atom = tensor_dtype(tensor), tensor_atom(tensor)
    line, surface, batch = _steps(tensor)
    item, offset = dtype.itemsize, element_offset(tensor, n, c, h, w)
    if atom:
        kind, group = f"feature x{atom}", c // (atom // item)
        first = group * (atom // item)
        inside = [f"c{i}" if i < tensor.c else "--" for i in range(first, first + atom // item)]
        place, pixel = c - first, atom
        terms = f"{n} * {batch} (image) + {group} * {surface} (surface) + "
    else:
        order = _pixels(tensor.pixel_format, tensor.c)
        kind = f"image {NAMES.get(tensor.pixel_format, tensor.pixel_format)}"
        inside = ["--"] * len(order)
        for channel in range(tensor.c):
            inside[order[channel]] = f"c{channel}"
        place, pixel, terms = order[c], len(order) * item, f"{n} * {batch} (image) + "
    inside[place] = f"[{inside[place]}]"
    terms += f"{h} * {line} (line) + {w} * {pixel} (pixel) + {place} * {item} (element)"
    return "\n".join(
        (
            f"{tensor.name}: {tensor.n} x {tensor.c} x {tensor.h} x {tensor.w} {dtype}, {kind},"
            f" {tensor.size} bytes",
            f"element n={n} c={c} h={h} w={w} is at byte {offset} = {terms}",
            f"pixel at byte {offset - place * item}: {' '.join(inside)}",
        )
    )
