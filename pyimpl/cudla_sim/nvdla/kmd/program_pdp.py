"""Register programming of a PDP operation: PDP_RDMA if the input is in memory, then PDP.

Source: nvdla/sw firmware, PDP processor; nvdla hardware manual, register descriptions.
"""

from __future__ import annotations

from ..descriptors import DataCube, MemoryType, PdpOp, PdpSurface, Precision
from ..facts.limits import LARGEST, POOLING_KERNEL, POOLING_STRIDE
from ..facts.modes import Pooling
from ..facts.pooling import MOST_STRIPES
from .context import Context, Program, Writes, high_low
from .port import check_choice, require

_RECIPROCAL = (0x10000, 0x8000, 0x5555, 0x4000, 0x3333, 0x2AAA, 0x2492, 0x2000)
"""1/1 … 1/8 in units of 2^-16, for integers."""

_RECIPROCAL_FP17 = (0x7C00, 0x7800, 0x7555, 0x7400, 0x7266, 0x7155, 0x7092, 0x7000)
"""1/1 … 1/8 as FP17 patterns."""


def _check_cube(name: str, cube: DataCube) -> None:
    for label in ("width", "height", "channel"):
        value = getattr(cube, label)
        require(value <= LARGEST, f"PDP {name} {label} = {value}: at most {LARGEST}")
    check_choice(f"PDP {name} memory type", cube.type, 3)


def _check(op: PdpOp, surface: PdpSurface) -> None:
    require(surface.dst.type != MemoryType.HW, "PDP writes to memory only")
    _check_cube("source", surface.src)
    _check_cube("destination", surface.dst)
    check_choice("PDP precision", op.precision, 3)
    for axis, stride in (("x", op.stride_x), ("y", op.stride_y)):
        require(
            1 <= stride <= POOLING_STRIDE,
            f"PDP stride_{axis} = {stride}: 1..{POOLING_STRIDE} expected",
        )
    require(op.split_num <= MOST_STRIPES, f"PDP split_num = {op.split_num}: at most {MOST_STRIPES}")
    check_choice("PDP pool_width", op.pool_width, POOLING_KERNEL)
    check_choice("PDP pool_height", op.pool_height, POOLING_KERNEL)
    check_choice("PDP pool_mode", op.pool_mode, len(Pooling))
    if surface.src.type == MemoryType.HW:
        require(op.split_num == 1, f"PDP split_num = {op.split_num} without memory input")
    if op.precision == Precision.FP16:
        require(not any(op.padding_value), "PDP padding values must be 0 in fp16")


def _partial(first: int, mid: int, last: int) -> int:
    """Widths of the stripes, each minus 1 unless 0."""
    return max(first - 1, 0) | max(last - 1, 0) << 10 | max(mid - 1, 0) << 20


def _rdma(op: PdpOp, surface: PdpSurface, source: int, context: Context) -> Writes:
    src = surface.src
    high, low = high_low(source)
    return [
        ("D_DATA_CUBE_IN_WIDTH", src.width - 1),
        ("D_DATA_CUBE_IN_HEIGHT", src.height - 1),
        ("D_DATA_CUBE_IN_CHANNEL", src.channel - 1),
        ("D_SRC_BASE_ADDR_HIGH", high),
        ("D_SRC_BASE_ADDR_LOW", low),
        ("D_SRC_LINE_STRIDE", src.line_stride),
        ("D_SRC_SURFACE_STRIDE", src.surf_stride),
        ("D_DATA_FORMAT", op.precision),
        ("D_SRC_RAM_CFG", context.ram_type("source", src)),
        ("D_OPERATION_MODE_CFG", op.split_num - 1),
        ("D_POOLING_KERNEL_CFG", op.pool_width | (op.stride_x - 1) << 4),
        ("D_POOLING_PADDING_CFG", op.pad_left),
        (
            "D_PARTIAL_WIDTH_IN",
            _partial(op.partial_in_width_first, op.partial_in_width_mid, op.partial_in_width_last),
        ),
    ]


def _pdp(op: PdpOp, surface: PdpSurface, context: Context) -> Writes:
    src, dst = surface.src, surface.dst
    in_memory = src.type != MemoryType.HW
    reciprocal = _RECIPROCAL_FP17 if op.precision == Precision.FP16 else _RECIPROCAL
    high, low = high_low(context.optional_address("destination", dst))
    writes: Writes = [
        ("D_DATA_CUBE_IN_WIDTH", src.width - 1),
        ("D_DATA_CUBE_IN_HEIGHT", src.height - 1),
        ("D_DATA_CUBE_IN_CHANNEL", src.channel - 1),
        ("D_DATA_CUBE_OUT_WIDTH", dst.width - 1),
        ("D_DATA_CUBE_OUT_HEIGHT", dst.height - 1),
        ("D_DATA_CUBE_OUT_CHANNEL", dst.channel - 1),
        ("D_OPERATION_MODE_CFG", op.pool_mode | int(in_memory) << 4 | (op.split_num - 1) << 8),
        (
            "D_PARTIAL_WIDTH_IN",
            _partial(op.partial_in_width_first, op.partial_in_width_mid, op.partial_in_width_last),
        ),
        (
            "D_PARTIAL_WIDTH_OUT",
            _partial(op.partial_width_first, op.partial_width_mid, op.partial_width_last),
        ),
        (
            "D_POOLING_KERNEL_CFG",
            op.pool_width | op.pool_height << 8 | (op.stride_x - 1) << 16 | (op.stride_y - 1) << 20,
        ),
        ("D_RECIP_KERNEL_WIDTH", reciprocal[op.pool_width]),
        ("D_RECIP_KERNEL_HEIGHT", reciprocal[op.pool_height]),
        (
            "D_POOLING_PADDING_CFG",
            op.pad_left | op.pad_top << 4 | op.pad_right << 8 | op.pad_bottom << 12,
        ),
    ]
    for number, value in enumerate(op.padding_value, 1):
        writes.append((f"D_POOLING_PADDING_VALUE_{number}_CFG", value))
    if in_memory:
        writes += [
            ("D_SRC_LINE_STRIDE", src.line_stride),
            ("D_SRC_SURFACE_STRIDE", src.surf_stride),
        ]
    writes += [
        ("D_DST_BASE_ADDR_LOW", low),
        ("D_DST_BASE_ADDR_HIGH", high),
        ("D_DST_LINE_STRIDE", dst.line_stride),
        ("D_DST_SURFACE_STRIDE", dst.surf_stride),
        ("D_DST_RAM_CFG", context.ram_type("destination", dst)),
        ("D_DATA_FORMAT", op.precision),
    ]
    return writes


def program(op: PdpOp, surface: PdpSurface, context: Context) -> Program:
    """Return the register writes of one PDP operation."""
    _check(op, surface)
    source = context.input_address("source", surface.src, 1)
    result: Program = []
    if surface.src.type != MemoryType.HW:
        result.append(("PDP_RDMA", _rdma(op, surface, source, context)))
    result.append(("PDP", _pdp(op, surface, context)))
    return result
