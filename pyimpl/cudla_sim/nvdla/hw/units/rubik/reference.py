"""RUBIK: rearranges cubes in memory (deconvolution contract, split to planes, merge of planes).

Source: nvdla/hw ``cmod/rubik/NV_NVDLA_rbk.cpp``. Atoms have 32 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ....errors import HardwareFault
from ....facts.configs import HardwareConfig
from ....facts.modes import Rubik as Mode
from ....facts.precisions import element_size
from ...memory import DTYPES, Memory
from .registers import Rubik

Shape = tuple[int, int, int]

ATOM = 32


def _contract(p: Rubik, source: Memory, target: Memory) -> Shape:
    """Spread groups of input surfaces over the pixels of an enlarged output."""
    surfaces = -(-p.out_channels * element_size(p.precision) // ATOM)
    sy, sx = p.stride_y, p.stride_x
    shape = (sy, sx, surfaces, p.height, p.width, ATOM)
    byte, plane = np.dtype(np.uint8), p.surface_stride
    strides = (sx * surfaces * plane, surfaces * plane, plane, p.line_stride, ATOM, 1)
    data = source.strided("RUBIK", p.source, byte, shape, strides)
    out = (p.out_line_stride, ATOM, p.out_surface_stride, p.contract_stride, sx * ATOM, 1)
    target.strided("RUBIK", p.destination, byte, shape, out, write=True)[...] = data.copy()
    return p.out_channels, p.height * sy, p.width * sx


def _split(p: Rubik, source: Memory, target: Memory) -> Shape:
    """Feature cube to planes; lines are filled with zeros to 32 bytes."""
    dtype = DTYPES[p.precision]
    size = (p.out_channels, p.height, p.width)
    cube = source.cube("RUBIK", p.source, p.precision, size, p.line_stride, p.surface_stride, ATOM)
    line = -(-p.width * dtype.itemsize // ATOM) * ATOM // dtype.itemsize
    planes = target.strided(
        "RUBIK",
        p.destination,
        dtype,
        (p.out_channels, p.height, line),
        (p.out_planar_stride, p.out_line_stride, dtype.itemsize),
        write=True,
    )
    flat = cube.transpose(0, 3, 1, 2).reshape(-1, p.height, p.width)
    planes[:, :, : p.width] = flat[: p.out_channels]
    planes[:, :, p.width :] = 0
    return size


def _merge(p: Rubik, source: Memory, target: Memory) -> Shape:
    """Planes to feature cube; missing channels of the last surface are 0."""
    dtype = DTYPES[p.precision]
    size = (p.channels, p.height, p.width)
    strides = (p.planar_stride, p.line_stride, dtype.itemsize)
    planes = source.strided("RUBIK", p.source, dtype, size, strides)
    cube = target.cube(
        "RUBIK",
        p.destination,
        p.precision,
        size,
        p.out_line_stride,
        p.out_surface_stride,
        ATOM,
        write=True,
    )
    surfaces, _, _, atom = cube.shape
    padded = np.zeros((surfaces * atom, p.height, p.width), dtype)
    padded[: p.channels] = planes
    cube[...] = padded.reshape(surfaces, atom, p.height, p.width).transpose(0, 2, 3, 1)
    return size


MODES: dict[int, Callable[[Rubik, Memory, Memory], Shape]] = {
    Mode.CONTRACT: _contract,
    Mode.SPLIT: _split,
    Mode.MERGE: _merge,
}


def run(
    groups: Mapping[str, Sequence[int]],
    config: HardwareConfig,
    memory: tuple[Memory, Memory],
) -> tuple[Shape, Shape, int]:
    """Compute one layer; return input shape, output shape, precision."""
    p = Rubik.decode(groups["RBK"])
    if not config.rubik:
        raise HardwareFault("RUBIK", f"{config.name} has none")
    if p.precision not in config.precisions:
        raise HardwareFault("RUBIK", f"precision {p.precision} does not exist")
    if p.mode not in MODES:
        raise HardwareFault("RUBIK", f"mode {p.mode} does not exist")
    out = MODES[p.mode](p, memory[p.source_mc], memory[p.destination_mc])
    return (p.channels, p.height, p.width), out, p.precision
