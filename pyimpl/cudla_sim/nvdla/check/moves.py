"""Rules for CDP, RUBIK and BDMA.

Source: nvdla/sw ``cdp.c``, ``rubik.c``, ``bdma.c``; nvdla hardware manual.
"""

from __future__ import annotations

from ..descriptors import (
    BdmaSurface,
    CdpOp,
    CdpSurface,
    DataCube,
    MemoryType,
    RubikOp,
    RubikSurface,
)
from ..facts import fields, limits
from ..facts.modes import Rubik
from ..facts.precisions import element_size
from .extent import Extent
from .inspection import Accesses, Inspection, accesses

_RUBIK_ATOM = _BDMA_ATOM = 32


def normalisation(look: Inspection, op: CdpOp, surface: CdpSurface) -> Accesses:
    """CDP."""
    look.precision("in_precision", op.in_precision)
    look.require(
        op.in_precision == op.out_precision, "out_precision", "CDP does not convert precisions"
    )
    src, dst = surface.src, surface.dst
    for name, cube in (("surface.src", src), ("surface.dst", dst)):
        look.cube(name, cube, op.in_precision)
        look.require(cube.type != MemoryType.HW, f"{name}.type", "CDP works on memory")
    for name in ("width", "height", "channel"):
        mine, made = getattr(src, name), getattr(dst, name)
        look.require(
            mine == made, f"surface.dst.{name}", f"{made}; the source has {mine}, CDP keeps sizes"
        )
    # no rule for local_size: the register keeps two bits of what the firmware makes of it, and the
    # public compiler leaves it undefined for all but the first image of a batch
    look.stored("in_cvt.truncate", op.in_cvt.truncate, "CDP.D_DATIN_SHIFTER.DATIN_SHIFTER")
    look.stored("out_cvt.truncate", op.out_cvt.truncate, "CDP.D_DATOUT_SHIFTER.DATOUT_SHIFTER")
    look.require(op.lut_index >= 0, "lut_index", "CDP looks up, but no table is named")
    return accesses(
        [("surface.src", look.feature("surface.src", src, op.in_precision))],
        [("surface.dst", look.feature("surface.dst", dst, op.in_precision))],
    )


def _planes(look: Inspection, cube: DataCube, item: int) -> Extent | None:
    """A planar cube; lines are filled up to 32 bytes."""
    start = look.surface(cube, -(-cube.width * item // _RUBIK_ATOM) * _RUBIK_ATOM)
    if start is None:
        return None
    levels = ((cube.height, cube.line_stride), (cube.channel, cube.plane_stride))
    return Extent(start.memory, start.start, start.run, levels)


def reshape(look: Inspection, op: RubikOp, surface: RubikSurface) -> Accesses:
    """RUBIK."""
    look.require(look.config.rubik, "mode", f"{look.config.name} has no RUBIK")
    look.precision("precision", op.precision)
    src, dst = surface.src, surface.dst
    item = element_size(op.precision)
    for name, cube, planar in (
        ("surface.src", src, op.mode == Rubik.MERGE),
        ("surface.dst", dst, op.mode == Rubik.SPLIT),
    ):
        look.require(cube.type != MemoryType.HW, f"{name}.type", "RUBIK works on memory")
        if not planar:
            look.cube(name, cube, op.precision)
            continue
        for label in ("width", "height", "channel"):
            look.between(f"{name}.{label}", getattr(cube, label), 1, limits.LARGEST)
        look.at(name, cube)
        for label in ("line_stride", "plane_stride"):
            look.aligned(f"{name}.{label}", getattr(cube, label), _RUBIK_ATOM)
    if not look.between("mode", op.mode, 0, 2):
        return Accesses()
    sizes = {"width": src.width, "height": src.height, "channel": dst.channel}
    reads = look.feature("surface.src", src, op.precision)
    if op.mode == Rubik.CONTRACT:
        for axis in "xy":
            look.between(f"stride_{axis}", getattr(op, f"stride_{axis}"), 1, limits.RUBIK_STRIDE)
        sizes = {"width": src.width * op.stride_x, "height": src.height * op.stride_y}
        per_atom = _RUBIK_ATOM // item
        needed = -(-dst.channel // per_atom) * per_atom * op.stride_x * op.stride_y
        look.require(
            -(-src.channel // per_atom) * per_atom >= needed,
            "surface.src.channel",
            f"{src.channel}; {op.stride_x} x {op.stride_y} positions of {dst.channel} channels are"
            f" {needed}",
        )
    elif op.mode == Rubik.MERGE:
        reads = _planes(look, src, item)
    for name, size in sizes.items():
        made = getattr(dst, name)
        look.require(made == size, f"surface.dst.{name}", f"{made}; RUBIK makes {size}")
    written = (
        _planes(look, dst, item)
        if op.mode == Rubik.SPLIT
        else look.feature("surface.dst", dst, op.precision)
    )
    return accesses([("surface.src", reads)], [("surface.dst", written)])


def copies(look: Inspection, surface: BdmaSurface) -> Accesses:
    """BDMA."""
    look.require(look.config.bdma, "num_transfers", f"{look.config.name} has no BDMA")
    count = surface.num_transfers
    if not look.between("surface.num_transfers", count, 0, len(surface.transfers)):
        return Accesses()
    reads: list[tuple[str, Extent | None]] = []
    writes: list[tuple[str, Extent | None]] = []
    for number, item in enumerate(surface.transfers[:count]):
        where = f"surface.transfers.{number}"
        look.aligned(f"{where}.line_size", item.line_size, _BDMA_ATOM)
        most = fields.most(look.config, "BDMA.CFG_LINE.SIZE", 1) * _BDMA_ATOM
        look.between(f"{where}.line_size", item.line_size, _BDMA_ATOM, most)
        for name in ("line_repeat", "surface_repeat"):
            look.between(f"{where}.{name}", getattr(item, name), 1, limits.LARGEST)
        for side, list_of in (("source", reads), ("destination", writes)):
            line, plane = getattr(item, f"{side}_line"), getattr(item, f"{side}_surface")
            label = f"{where}.{side}"
            for name, value in (("line", line), ("surface", plane)):
                look.aligned(f"{label}_{name}", value, _BDMA_ATOM)
            look.require(line >= item.line_size, f"{label}_line", f"{line} is less than a line")
            look.require(
                plane >= line * item.line_repeat,
                f"{label}_surface",
                f"{plane} is less than a surface",
            )
            place = look.place(label, getattr(item, f"{side}_address"), 0)
            if place is None:
                continue
            look.aligned(f"{label}_address", place[1], _BDMA_ATOM)
            levels = ((item.line_repeat, line), (item.surface_repeat, plane))
            list_of.append((label, Extent(*place, item.line_size, levels)))
    return accesses(reads, writes)
