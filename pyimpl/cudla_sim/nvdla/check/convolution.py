"""Rules for convolutions: geometry, convolution buffer, weights, images.

Source: nvdla/hw ``cmod/cdma``, ``cmod/csc`` (their checks); nvdla/sw ``conv.c`` and
``ConvCoreNode.cpp``; nvdla hardware manual "Convolution".
"""

from __future__ import annotations

import numpy as np

from ..descriptors import ConvOp, ConvSurface, DataCube, MemoryType
from ..facts import cbuf, limits
from ..facts.formats import FEATURE
from ..facts.precisions import INT8, element_size
from ..facts.windows import output_size
from ..hw.units.conv.pixels import NAMES, TEN_BIT, channel_count, element_bytes
from ..target import memory_part
from .extent import Extent
from .inspection import Accesses, Inspection, accesses

_IMAGE_ALIGNMENT = 32
_WINOGRAD_TILE = 4


def inspect(look: Inspection, op: ConvOp, surface: ConvSurface) -> Accesses:
    """Check one convolution; return what it reads (SDP writes)."""
    image = op.data_format != FEATURE
    _modes(look, op, image)
    _sizes(look, op, surface)
    if image:
        _image(look, op, surface)
    else:
        look.cube("surface.src", surface.src, op.in_precision)
        _feature(look, op, surface)
    _output(look, op, surface, image)
    weights = _weights(look, op, surface)
    _buffer(look, op, surface, image)
    source: list[tuple[str, Extent | None]]
    if image:
        source = _image_extents(look, op, surface)
    else:
        batch = (op.batch, op.batch_stride)
        extent = look.feature(
            "surface.src", surface.src, op.in_precision, batch=batch[0], batch_stride=batch[1]
        )
        source = [("surface.src", extent)]
    if op.data_reuse:
        source = []
    return accesses(source + weights, [])


def _modes(look: Inspection, op: ConvOp, image: bool) -> None:
    config = look.config
    for name in ("in_precision", "out_precision"):
        look.precision(name, getattr(op, name))
    if op.conv_mode:
        look.require(config.winograd, "conv_mode", f"{config.name} has no Winograd")
        look.require(not image, "conv_mode", "Winograd reads feature cubes only")
        look.require(op.batch == 1, "batch", "Winograd has no batches")
    if op.batch != 1:
        look.require(config.batch, "batch", f"{config.name} has no batches")
        look.require(not image, "batch", "images have no batches")
        look.stored("batch", op.batch, "CDMA.D_BATCH_NUMBER.BATCHES", 1)
        look.aligned("batch_stride", op.batch_stride)
    if op.weight_format:
        look.require(
            config.compression, "weight_format", f"{config.name} has no weight compression"
        )
    look.between("pra_truncate", op.pra_truncate, 0, 2)
    look.stored("out_cvt.truncate", op.out_cvt.truncate, "CACC.D_CLIP_CFG.CLIP_TRUNCATE")
    look.require(op.out_cvt.scale == 1, "out_cvt.scale", f"{op.out_cvt.scale}; 1 is possible")
    look.require(op.out_cvt.offset == 0, "out_cvt.offset", f"{op.out_cvt.offset}; 0 is possible")
    look.stored("in_cvt.truncate", op.in_cvt.truncate, "CDMA.D_CVT_CFG.CVT_TRUNCATE")
    look.signed("in_cvt.offset", op.in_cvt.offset, 16)
    if op.out_precision == INT8:
        look.signed("pad_val", op.pad_val, 8)


def _sizes(look: Inspection, op: ConvOp, surface: ConvSurface) -> None:
    look.stored(
        "kernel_width_csc", op.kernel_width_csc, "CSC.D_WEIGHT_SIZE_EXT_0.WEIGHT_WIDTH_EXT", 1
    )
    look.stored(
        "kernel_height_csc", op.kernel_height_csc, "CSC.D_WEIGHT_SIZE_EXT_0.WEIGHT_HEIGHT_EXT", 1
    )
    for name in ("kernel_channel_csc", "input_width_csc", "input_height_csc", "input_channel_csc"):
        look.between(name, getattr(op, name), 1, limits.LARGEST)
    for axis in "xy":
        upper = axis.upper()
        look.stored(
            f"conv_stride_{axis}", getattr(op, f"conv_stride_{axis}"),
            f"CDMA.D_CONV_STRIDE.CONV_{upper}_STRIDE", 1,
        )  # fmt: skip
        look.stored(
            f"dilation_{axis}", getattr(op, f"dilation_{axis}"),
            f"CSC.D_DILATION_EXT.{upper}_DILATION_EXT", 1,
        )  # fmt: skip
    for name, field in (
        ("pad_x_left", "PAD_LEFT"),
        ("pad_x_right", "PAD_RIGHT"),
        ("pad_y_top", "PAD_TOP"),
        ("pad_y_bottom", "PAD_BOTTOM"),
    ):
        look.stored(name, getattr(op, name), f"CDMA.D_ZERO_PADDING.{field}")
    look.stored("bytes_per_kernel", op.bytes_per_kernel, "CDMA.D_WEIGHT_SIZE_0.BYTE_PER_KERNEL", 1)
    look.stored("fetch_grain", op.fetch_grain, "CDMA.D_FETCH_GRAIN.GRAINS", 1)
    packed = surface.src.line_stride == surface.src.width * look.config.memory_atom
    if op.fetch_grain > 1 and op.data_format == FEATURE:
        look.require(packed, "fetch_grain", "more than 1 needs packed lines")
        look.between("fetch_grain", op.fetch_grain, 1, max(surface.src.height, 1))
    look.between("release", op.release, 1, max(op.input_height_csc, 1))


def _feature(look: Inspection, op: ConvOp, surface: ConvSurface) -> None:
    src = surface.src
    look.require(src.type != MemoryType.HW, "surface.src.type", "a convolution reads memory")
    if op.conv_mode:
        return
    for name, size in (("width", src.width), ("height", src.height), ("channel", src.channel)):
        value = getattr(op, f"input_{name}_csc")
        look.require(value == size, f"input_{name}_csc", f"{value}; the source has {size}")
    look.require(
        op.kernel_channel_csc == src.channel,
        "kernel_channel_csc",
        f"{op.kernel_channel_csc}; the source has {src.channel} channels",
    )
    look.require(op.post_extension == 0, "post_extension", "is for images")


def _pixel(op: ConvOp) -> tuple[int, int] | None:
    """Channels and bytes of a pixel in memory; None for formats that do not exist."""
    name = NAMES.get(op.data_format)
    if name is None:
        return None
    if name in TEN_BIT:
        return 4, 4
    count = channel_count(name)
    return count, count * element_bytes(name)


def _image(look: Inspection, op: ConvOp, surface: ConvSurface) -> None:
    src = surface.src
    pixel = _pixel(op)
    if pixel is None:
        look.bad("data_format", f"pixel format {op.data_format} does not exist")
        return
    name = NAMES[op.data_format]
    channels, size = pixel
    look.require(
        src.channel == channels, "surface.src.channel", f"{src.channel}; {name} has {channels}"
    )
    for label in ("width", "height"):
        look.between(f"surface.src.{label}", getattr(src, label), 1, limits.LARGEST)
    look.require(op.pixel_mapping == 0, "pixel_mapping", "only pitch linear pictures can be read")
    look.require(op.kernel_width_csc == 1, "kernel_width_csc", "1 for images: columns are channels")
    look.require(
        op.kernel_channel_csc % channels == 0,
        "kernel_channel_csc",
        f"{op.kernel_channel_csc} is no multiple of the {channels} channels of a pixel",
    )
    for axis in "xy":
        step = getattr(op, f"dilation_{axis}")
        look.require(step == 1, f"dilation_{axis}", "images are read without dilation")
    unit = max(look.config.memory_atom, _IMAGE_ALIGNMENT if look.config.line == "v1" else 0)
    look.aligned("surface.src.line_stride", src.line_stride, unit)
    if "___" not in name:
        look.require(
            src.line_stride >= src.width * size or src.height == 1,
            "surface.src.line_stride",
            f"{src.line_stride} for {src.width} pixels of {size} bytes",
        )
    look.at("surface.src", src)
    limit = look.config.atomic_c >> op.post_extension if op.post_extension <= 2 else 0
    look.require(
        op.post_extension == 0 or op.kernel_channel_csc <= limit,
        "post_extension",
        f"{1 << op.post_extension} lines at once need at most {limit} channels,"
        f" there are {op.kernel_channel_csc}",
    )
    if element_size(op.in_precision) == 1:
        look.require(size // channels == 1 or name in TEN_BIT, "in_precision", f"int8, but {name}")


def _image_extents(
    look: Inspection, op: ConvOp, surface: ConvSurface
) -> list[tuple[str, Extent | None]]:
    pixel, src = _pixel(op), surface.src
    if pixel is None:
        return []
    planes = "___" in NAMES[op.data_format]
    size = pixel[1] // 3 if planes else pixel[1]
    rows = (src.height, src.line_stride)
    first = look.surface(src, src.width * size)
    if first is None:
        return []
    found: list[tuple[str, Extent | None]] = [
        ("surface.src", Extent(first.memory, first.start, first.run, (rows,)))
    ]
    if planes:
        second = (src.height, surface.in_line_uv_stride)
        start = first.start + surface.offset_u
        found.append(("surface.offset_u", Extent(first.memory, start, 2 * first.run, (second,))))
    return found


def _output(look: Inspection, op: ConvOp, surface: ConvSurface, image: bool) -> None:
    dst = surface.dst
    for name in ("width", "height", "channel"):
        look.between(f"surface.dst.{name}", getattr(dst, name), 1, limits.LARGEST)
    look.require(
        dst.type == MemoryType.HW, "surface.dst.type", "the result of a convolution goes to SDP"
    )
    if dst.width == 1 and dst.height == 1:
        look.require(
            dst.line_stride == look.config.memory_atom,
            "surface.dst.line_stride",
            f"{dst.line_stride}; the firmware wants {look.config.memory_atom} for 1 x 1",
        )
    for name, value, made in (
        ("input_width_cmac", op.input_width_cmac, dst.width),
        ("input_height_cmac", op.input_height_cmac, dst.height),
    ):
        look.require(value == made, name, f"{value}; the destination has {made}")
    if op.conv_mode:
        _winograd(look, op, surface)
        return
    columns = op.kernel_width_csc
    pixel = _pixel(op) if image else None
    if pixel is not None:
        columns = op.kernel_channel_csc // pixel[0]
    src = surface.src
    axes = (
        (
            "width", src.width, columns, op.dilation_x, op.conv_stride_x,
            op.pad_x_left, op.pad_x_right,
        ),
        (
            "height", src.height, op.kernel_height_csc, op.dilation_y, op.conv_stride_y,
            op.pad_y_top, op.pad_y_bottom,
        ),
    )  # fmt: skip
    for name, size, kernel, dilation, stride, before, after in axes:
        if stride < 1:
            continue
        reach = (kernel - 1) * dilation + 1
        expected = output_size(size, reach, stride, before, after)
        made = getattr(dst, name)
        look.require(
            made == expected,
            f"surface.dst.{name}",
            f"{made}; {size} with pads {before} and {after}, kernel {kernel}, dilation {dilation}"
            f" and stride {stride} give {expected}",
        )
        look.require(
            before < reach and (made - 1) * stride - before < size,
            f"pad_{'x_left' if name == 'width' else 'y_top'}",
            f"with pads {before} and {after} some windows of {reach} lie outside the {size} of the"
            " input",
        )


def _winograd(look: Inspection, op: ConvOp, surface: ConvSurface) -> None:
    """What the sizes of a Winograd convolution must be multiples of."""
    src, dst = surface.src, surface.dst
    tile = _WINOGRAD_TILE
    look.require(
        op.kernel_width_csc == op.kernel_height_csc == 4,
        "kernel_width_csc",
        f"{op.kernel_width_csc} x {op.kernel_height_csc}; transformed kernels are 4 x 4",
    )
    look.aligned("kernel_channel_csc", op.kernel_channel_csc, 4)
    look.require(
        op.kernel_channel_csc == op.input_channel_csc,
        "kernel_channel_csc",
        f"{op.kernel_channel_csc}; the input has {op.input_channel_csc}",
    )
    for label, size, before, after, stride in (
        ("x", src.width, op.pad_x_left, op.pad_x_right, op.conv_stride_x),
        ("y", src.height, op.pad_y_top, op.pad_y_bottom, op.conv_stride_y),
    ):
        look.require(
            (before + size + after) % (tile * stride) == 0,
            f"pad_{'x_left' if label == 'x' else 'y_top'}",
            f"{size} with pads {before} and {after} is no multiple of 4 * stride {stride}",
        )
    atom = look.config.channels_per_atom(op.out_precision)
    channels = -(-src.channel // atom) * atom * op.conv_stride_x * op.conv_stride_y
    width = (op.pad_x_left + src.width + op.pad_x_right) // max(op.conv_stride_x, 1)
    height = (op.pad_y_top + src.height + op.pad_y_bottom) // max(op.conv_stride_y, 1)
    for name, value, expected in (
        ("input_width_csc", op.input_width_csc, width),
        ("input_height_csc", op.input_height_csc, height),
        ("input_channel_csc", op.input_channel_csc, channels),
        ("surface.dst.width", dst.width, width - tile),
        ("surface.dst.height", dst.height, height - tile),
    ):
        look.require(value == expected, name, f"{value}; Winograd makes it {expected}")


def _weights(look: Inspection, op: ConvOp, surface: ConvSurface) -> list[tuple[str, Extent | None]]:
    """Sizes of the weight surfaces; returns what is read."""
    weight = surface.weight
    item = element_size(op.out_precision)
    per_kernel = op.kernel_width_csc * op.kernel_height_csc * op.kernel_channel_csc * item
    look.require(
        op.bytes_per_kernel == per_kernel,
        "bytes_per_kernel",
        f"{op.bytes_per_kernel}; {op.kernel_width_csc} x {op.kernel_height_csc} x"
        f" {op.kernel_channel_csc} elements are {per_kernel}",
    )
    kernels = surface.dst.channel
    look.require(weight.size > 0, "surface.weight.size", "there are no weights")
    look.aligned("surface.weight.size", weight.size, look.config.cbuf[1])
    look.at("surface.weight", weight)
    if not op.weight_format:
        wanted = cbuf.weight_bytes(look.config, kernels * per_kernel)
        look.require(
            weight.size == wanted,
            "surface.weight.size",
            f"{weight.size}; {kernels} kernels of {per_kernel} bytes fill entries of the"
            f" convolution buffer with {wanted}: what is over or missing shifts the weights of the"
            " next convolution",
        )
    found: list[tuple[str, Extent | None]] = []
    if not op.weight_reuse:
        found.append(("surface.weight", look.surface(weight, weight.size)))
    if op.weight_format:
        found += _compressed(look, op, surface, kernels * per_kernel // item)
    return found


def _compressed(
    look: Inspection, op: ConvOp, surface: ConvSurface, elements: int
) -> list[tuple[str, Extent | None]]:
    """Mask and group sizes must say what the packed weights are."""
    for name, cube in (("wmb", surface.wmb), ("wgs", surface.wgs)):
        look.at(f"surface.{name}", cube)
    entry = look.config.cbuf[1]
    look.aligned("surface.wmb.size", surface.wmb.size, entry)
    look.aligned("surface.wgs.size", surface.wgs.size, 4)
    groups = -(-surface.dst.channel // look.config.kernel_group(op.out_precision))
    wanted = cbuf.weight_bytes(look.config, -(-elements // 8))
    enough = look.require(
        surface.wmb.size == wanted,
        "surface.wmb.size",
        f"{surface.wmb.size}; a bit for each of {elements} elements and filling are {wanted}",
    )
    enough &= look.require(
        surface.wgs.size >= 4 * groups,
        "surface.wgs.size",
        f"{surface.wgs.size}; {groups} kernel groups have {4 * groups} bytes",
    )
    mask, sizes = _constant(look, surface.wmb), _constant(look, surface.wgs)
    if enough and mask is not None and sizes is not None and not op.weight_reuse:
        present = np.unpackbits(mask, bitorder="little")[:elements]
        per_group = elements // surface.dst.channel * look.config.kernel_group(op.out_precision)
        starts = np.arange(0, elements, per_group)
        counts = np.add.reduceat(present, starts, dtype=np.int64) * element_size(op.out_precision)
        said = sizes[: 4 * groups].view("<u4").astype(np.int64)
        if (counts != said).any():
            first = int(np.flatnonzero(counts != said)[0])
            look.bad(
                "surface.wgs",
                f"kernel group {first} has {said[first]} bytes, its mask says {counts[first]}",
            )
        total = cbuf.weight_bytes(look.config, int(counts.sum()))
        look.require(
            surface.weight.size == max(total, entry),
            "surface.weight.size",
            f"{surface.weight.size}; the mask leaves {total} bytes",
        )
    if op.weight_reuse:
        return []
    return [
        ("surface.wmb", look.surface(surface.wmb, surface.wmb.size)),
        ("surface.wgs", look.surface(surface.wgs, surface.wgs.size)),
    ]


def _constant(
    look: Inspection, cube: DataCube
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]] | None:
    """The bytes of a surface, None if the loadable does not hold them."""
    extent = look.surface(cube, cube.size)
    if extent is None:
        return None
    image = memory_part(look.loadable, extent.memory, extent.start, extent.end)
    return np.frombuffer(image, np.uint8) if len(image) == cube.size else None


def _buffer(look: Inspection, op: ConvOp, surface: ConvSurface, image: bool) -> None:
    """Banks and entries of the convolution buffer."""
    config, src = look.config, surface.src
    look.stored("entry_per_slice", op.entry_per_slice, "CDMA.D_ENTRY_PER_SLICE.ENTRIES", 1)
    precision = op.out_precision
    lines = src.height
    if op.conv_mode:
        expected = cbuf.winograd_entries(
            config, op.input_width_csc, op.input_channel_csc, precision
        )
        lines = op.input_height_csc
    elif image:
        pixel = _pixel(op)
        if pixel is None:
            return
        pads = (op.pad_x_left, op.pad_x_right)
        expected = cbuf.image_entries(config, src.width, pads, pixel[0], precision)
    else:
        expected = cbuf.entries_per_slice(config, src.width, src.channel, precision)
    look.require(
        op.entry_per_slice == expected,
        "entry_per_slice",
        f"{op.entry_per_slice}; a line takes {expected} entries on {config.name}",
    )
    banks = cbuf.usable_banks(config, bool(op.weight_format))
    for name in ("data_bank", "weight_bank"):
        look.between(name, getattr(op, name), 1, banks - 1)
    total = op.data_bank + op.weight_bank
    mask = " beside the mask of compressed weights" if op.weight_format else ""
    look.require(
        total <= banks,
        "data_bank",
        f"{op.data_bank} data and {op.weight_bank} weight banks; {config.name} has {banks}{mask}",
    )
    need = cbuf.data_banks(config, expected, lines, op.batch)
    look.require(
        need <= op.data_bank,
        "data_bank",
        f"{op.data_bank}; {lines} lines of {expected} entries"
        f"{f' of {op.batch} inputs' if op.batch > 1 else ''} take {need}",
    )
    per_kernel = op.kernel_width_csc * op.kernel_height_csc * op.kernel_channel_csc
    per_kernel *= element_size(precision)
    least = cbuf.least_weight_banks(config, surface.dst.channel, per_kernel, precision)
    if op.weight_format:
        least = cbuf.weight_banks(config, min(surface.weight.size, least * cbuf.bank_bytes(config)))
    look.require(
        least <= op.weight_bank,
        "weight_bank",
        f"{op.weight_bank}; one kernel group of {per_kernel} bytes a kernel takes {least}",
    )
    if op.weight_reuse or op.skip_weight_rls:
        whole = cbuf.weight_banks(config, surface.weight.size)
        look.require(
            whole <= op.weight_bank,
            "weight_bank",
            f"{op.weight_bank}; weights that stay for the next operation take {whole}",
        )


def follows(look: Inspection, op: ConvOp, before: Inspection | None) -> None:
    """Check reuse of what the convolution before left in the buffer."""
    last = None if before is None else before.layer.operation
    for what in ("data", "weight"):
        if not getattr(op, f"{what}_reuse"):
            continue
        field = f"{what}_reuse"
        skip = f"skip_{'data' if what == 'data' else 'weight'}_rls"
        if not isinstance(last, ConvOp) or not getattr(last, skip):
            look.bad(field, f"the convolution before does not keep its {what}s ({skip})")
            continue
        for name in ("conv_mode", "out_precision", "data_bank", "weight_bank", "weight_format"):
            mine, other = getattr(op, name), getattr(last, name)
            look.require(mine == other, field, f"{name} is {mine}, it was {other}")
        if what == "weight" and before is not None:
            sizes = [_weight_size(each) for each in (look, before)]
            look.require(
                sizes[0] == sizes[1],
                field,
                f"its weights have {sizes[0]} bytes, those that stayed have {sizes[1]}",
            )


def _weight_size(look: Inspection) -> int:
    surface = look.layer.surface
    assert isinstance(surface, ConvSurface)
    return surface.weight.size
