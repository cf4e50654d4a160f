"""Rules for PDP: windows, line buffer, stripes.

Source: nvdla/sw ``pdp.c`` and ``PDPNode.cpp``; nvdla/hw ``NV_NVDLA_PDP_CORE_cal2d.v``.
"""

from __future__ import annotations

from ..descriptors import DataCube, MemoryType, PdpOp, PdpSurface
from ..facts import limits
from ..facts.modes import Pooling
from ..facts.pooling import MOST_STRIPES, begun, pending, spoils, widest
from ..facts.precisions import FP16
from ..facts.windows import output_size
from .inspection import Accesses, Inspection, accesses


def inspect(look: Inspection, op: PdpOp, surface: PdpSurface) -> Accesses:
    """Check one operation; return what it reads and writes."""
    src, dst = surface.src, surface.dst
    look.precision("precision", op.precision)
    look.cube("surface.src", src, op.precision)
    look.cube("surface.dst", dst, op.precision)
    look.require(dst.type != MemoryType.HW, "surface.dst.type", "PDP writes to memory")
    look.require(
        src.channel == dst.channel,
        "surface.dst.channel",
        f"{dst.channel}; the source has {src.channel}",
    )
    look.between("pool_mode", op.pool_mode, 0, max(Pooling))
    for name in ("pool_width", "pool_height"):
        look.between(name, getattr(op, name), 0, limits.POOLING_KERNEL - 1)
    for name in ("stride_x", "stride_y"):
        look.between(name, getattr(op, name), 1, limits.POOLING_STRIDE)
    for name in ("pad_left", "pad_right", "pad_top", "pad_bottom"):
        look.between(name, getattr(op, name), 0, limits.POOLING_PAD)
    for number, value in enumerate(op.padding_value):
        look.signed(f"padding_value.{number}", value, 19)
        if op.precision == FP16:
            look.require(value == 0, f"padding_value.{number}", f"{value}; 0 in fp16")
    _windows(look, op, surface)
    _count(look, op, surface)
    _width(look, op, surface)
    return accesses(
        [("surface.src", look.feature("surface.src", src, op.precision))],
        [("surface.dst", look.feature("surface.dst", dst, op.precision))],
    )


def _windows(look: Inspection, op: PdpOp, surface: PdpSurface) -> None:
    src, dst = surface.src, surface.dst
    for name, size, made, kernel, stride, before, after in (
        ("width", src.width, dst.width, op.pool_width + 1, op.stride_x, op.pad_left, op.pad_right),
        (
            "height", src.height, dst.height, op.pool_height + 1, op.stride_y,
            op.pad_top, op.pad_bottom,
        ),
    ):  # fmt: skip
        if stride < 1:
            continue
        expected = output_size(size, kernel, stride, before, after)
        look.require(
            made == expected,
            f"surface.dst.{name}",
            f"{made}; {size} with pads {before} and {after}, window {kernel} and stride {stride}"
            f" give {expected}",
        )
        label = "pad_left" if name == "width" else "pad_top"
        look.require(
            before < kernel and after < kernel,
            label,
            f"pads {before} and {after} of {name}; less than the window's {kernel} is possible",
        )


def _count(look: Inspection, op: PdpOp, surface: PdpSurface) -> None:
    """PDP must not lose count of its windows."""
    src, dst = surface.src, surface.dst
    if min(op.stride_x, op.stride_y) < 1:
        return
    vertical = (src.height, op.pool_height + 1, op.stride_y, op.pad_top, op.pad_bottom)
    horizontal = (src.width, op.pool_width + 1, op.stride_x, op.pad_left, op.pad_right)
    several = src.channel > look.config.channels_per_atom(op.precision)
    for name, axis, matters in (
        ("pad_bottom", vertical, several),
        ("pad_right", horizontal, op.split_num == 1 and (several or src.height > 1)),
    ):
        there, expected = pending(*axis)
        look.require(
            not matters or there == expected,
            name,
            f"{axis[4]}; the last window takes less, and PDP expects {expected} windows behind the"
            f" input where there are {there}",
        )
    look.require(
        not several or not begun(dst.height, op.stride_y, op.pad_top),
        "pad_top",
        f"{op.pad_top}; more windows begin in it than the {dst.height} lines of the output",
    )
    look.require(
        not spoils(vertical, dst.height, horizontal, dst.width),
        "surface.src.height",
        f"{src.height}; the last lines belong to no window, and as the last column ends one, the"
        " poolings that follow go wrong",
    )


def _width(look: Inspection, op: PdpOp, surface: PdpSurface) -> None:
    """The line buffer holds a limited width; wider poolings run in stripes."""
    limit = widest(op.pool_height + 1, max(op.stride_y, 1))
    output = surface.dst.width
    lines = f"{limit} columns of windows with height {op.pool_height + 1}, stride {op.stride_y}"
    if op.split_num <= 1:
        look.require(op.split_num == 1, "split_num", "0; 1 is a pooling in one piece")
        look.require(
            output <= limit,
            "surface.dst.width",
            f"{output}; the line buffer holds {lines}, more needs stripes (split_num)",
        )
        return
    look.between("split_num", op.split_num, 1, MOST_STRIPES)
    look.require(
        surface.src.type != MemoryType.HW, "split_num", "stripes need their input in memory"
    )
    middles = op.split_num - 2
    made = (op.partial_width_first, op.partial_width_mid * (middles > 0), op.partial_width_last)
    read = (
        op.partial_in_width_first,
        op.partial_in_width_mid * (middles > 0),
        op.partial_in_width_last,
    )
    names = ("first", "mid", "last")
    kernel, stride = op.pool_width + 1, op.stride_x
    shared = kernel - stride
    needed = (
        (made[0] - 1) * stride + kernel - op.pad_left,
        made[1] * stride,
        made[2] * stride - op.pad_right,
    )
    for place, name in enumerate(names):
        if name == "mid" and not middles:
            continue
        look.between(f"partial_width_{name}", made[place], 1, limit)
        look.stored(
            f"partial_in_width_{name}", read[place],
            f"PDP.D_PARTIAL_WIDTH_IN.PARTIAL_WIDTH_IN_{name.upper()}", 1,
        )  # fmt: skip
        look.require(
            read[place] == needed[place],
            f"partial_in_width_{name}",
            f"{read[place]}; {made[place]} windows of {kernel} with stride {stride} need"
            f" {needed[place]}",
        )
        if name != "last":
            look.require(
                read[place] >= shared,
                f"partial_in_width_{name}",
                f"{read[place]}; the next stripe shares {shared} columns",
            )
        if name != "first":
            look.require(
                read[place] > -shared,
                f"partial_in_width_{name}",
                f"{read[place]}; {-shared} columns between windows are skipped",
            )
    for what, parts, size in (("in_", read, surface.src.width), ("", made, output)):
        total = parts[0] + parts[1] * middles + parts[2]
        look.require(
            total == size,
            f"partial_{what}width_first",
            f"{op.split_num} stripes have {total} columns, the cube {size}",
        )


def behind(look: Inspection, surface: PdpSurface, given: DataCube) -> None:
    """What PDP takes on the fly must be what SDP gives."""
    for name in ("width", "height", "channel"):
        mine, made = getattr(surface.src, name), getattr(given, name)
        look.require(mine == made, f"surface.src.{name}", f"{mine}; SDP before gives {made}")
