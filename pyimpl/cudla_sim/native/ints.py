"""Integer convolution and SDP (``shim/native/int_layer.c``, ``int_sdp.c``).

What a layer shall compute is described once as a :class:`Layer`; running it costs one call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiled import array, ffi, lib

_NUMBER, _CHANNELS, _ELEMENTS = 0, 1, 2
NO_ALU = 4
_BLOCK = 16


class Kind(NamedTuple):
    """An implementation of the dot products. ``kernels`` is a block's size, ``group`` how many
    neighbouring elements are multiplied together, ``item`` their bytes, ``offset`` what is added
    to data."""

    number: int
    name: str
    kernels: int
    group: int
    item: int
    offset: int


def kinds() -> dict[str, Kind]:
    """The implementations that this machine can run, fastest first."""
    found: dict[str, Kind] = {}
    kind = ffi.new("struct sim_dot_kind *")
    number = 0
    while status := lib.sim_dot_kind(number, kind):
        if status > 0:
            name = ffi.string(kind.name).decode()
            found[name] = Kind(number, name, kind.kernels, kind.group, kind.item, kind.offset)
        number += 1
    return found


@dataclass(frozen=True, slots=True)
class Weights:
    """Kernels as an implementation wants them: blocks of [run][group][kernel][element]."""

    packed: NDArray[Any]
    start: NDArray[np.int32]
    kernels: int
    runs: int
    groups: int

    @property
    def nbytes(self) -> int:
        return int(self.packed.nbytes + self.start.nbytes)


def pack(kind: Kind, weights: NDArray[np.int8]) -> Weights | None:
    """Arrange weights [kernel, run, element of the run].

    None when sums of products with 8-bit data may exceed 32 bits.
    """
    kernels, runs, length = weights.shape
    wide = weights.reshape(kernels, -1)
    magnitude = np.abs(wide.astype(np.int16)).sum(axis=1, dtype=np.int64)
    if magnitude.max(initial=0) * 128 >= 1 << 31:
        return None
    groups = -(-length // kind.group)
    rounded = -(-kernels // _BLOCK) * _BLOCK
    dtype = np.int8 if kind.item == 1 else np.int16
    padded = np.zeros((rounded, runs, groups * kind.group), dtype)
    padded[:kernels, :, :length] = weights
    start = np.zeros(rounded, np.int32)
    start[:kernels] = (-kind.offset * wide.sum(axis=1, dtype=np.int64)).astype(np.int32)
    parts = [
        padded[first : first + kind.kernels]
        .reshape(-1, runs, groups, kind.group)
        .transpose(1, 2, 0, 3)
        .reshape(-1)
        for first in range(0, rounded, kind.kernels)
    ]
    return Weights(np.concatenate(parts), start, kernels, runs, groups)


class Frame(NamedTuple):
    """A window over the padded input; see ``struct sim_window``. ``runs`` counts elements."""

    out_height: int
    out_width: int
    stride_y: int
    stride_x: int
    height: int
    width: int
    channels: int
    runs: NDArray[np.int64]
    pad: int
    top: int
    left: int
    step_y: int
    step_x: int
    truncate: int
    table: NDArray[np.int8] | None = None
    """What the input converter makes of each byte, by its pattern."""


class Operand(NamedTuple):
    """A number, or an array: [channel], or [surface, y, x, channel]. ``convert`` is (offset, scale,
    truncate) of the operand converter, ``shift`` goes left behind it."""

    number: float = 0.0
    values: NDArray[Any] | None = None
    convert: tuple[int, int, int] | None = None
    shift: int = 0


class Stage(NamedTuple):
    """A stage of SDP; see ``struct sim_stage``."""

    y: bool
    alu: int
    mul: bool
    prelu: bool
    relu: bool
    shift: int
    alu_operand: Operand = Operand()
    mul_operand: Operand = Operand()


class Sdp(NamedTuple):
    """SDP behind the input; ``size`` is (height, width, channels to the end of the last surface).

    ``output`` is [surface, y, x, channel] of int8 or int16.
    """

    size: tuple[int, int, int]
    stages: list[Stage]
    offset: int
    factor: float
    round: bool
    count_saturation: bool
    limits: tuple[int, int]
    output: NDArray[Any]


def _cube(into: Any, view: NDArray[Any]) -> None:
    """Describe [surface, y, x, channel] or [y, x, channel]."""
    if view.ndim == 3:
        view = view[None]
    surfaces, _, _, atom = view.shape
    into.base = ffi.cast("uint8_t *", view.__array_interface__["data"][0])
    into.surface, into.line, into.pixel, into.element = view.strides
    into.atom, into.channels, into.item = atom, surfaces * atom, view.itemsize


@dataclass(slots=True)
class Layer:
    """One layer, ready to run as often as wanted on what its arrays then hold.

    It keeps none of them alive, neither weights nor memory: whoever runs it has to.
    """

    sdp: Any
    window: Any = None
    source: Any = None
    held: list[Any] = field(default_factory=list)

    @property
    def clipped(self) -> int:
        """Values that the output could not hold."""
        return int(self.sdp.clipped)

    @property
    def saturated(self) -> int:
        """Values that exceeded 17 bits in the converter, where they are counted."""
        return int(self.sdp.saturated)

    def run(self) -> None:
        """Compute. The interpreter lock is free meanwhile. Raises MemoryError."""
        if self.window is not None:
            status = lib.sim_int_conv(self.window, self.sdp, ffi.NULL)
        else:
            status = lib.sim_int_sdp(self.source, self.sdp)
        if status:
            raise MemoryError


def _operand(into: Any, operand: Operand) -> None:
    into.number, into.shift = operand.number, operand.shift
    into.kind = _NUMBER
    if operand.convert is not None:
        into.convert = 1
        into.offset, into.scale, into.truncate = operand.convert
    values = operand.values
    if values is None:
        return
    if values.ndim > 1:
        into.kind = _ELEMENTS
        _cube(into.cube, values)
        return
    into.kind = _CHANNELS
    cube = into.cube
    cube.base = ffi.cast("uint8_t *", values.__array_interface__["data"][0])
    cube.element, cube.item = values.strides[0], values.itemsize


def _sdp(sdp: Sdp) -> Any:
    job = ffi.new("struct sim_sdp *")
    job.height, job.width, job.channels = sdp.size
    job.stage_count = len(sdp.stages)
    for number, stage in enumerate(sdp.stages):
        into = job.stages[number]
        into.y, into.alu, into.mul, into.prelu = stage.y, stage.alu, stage.mul, stage.prelu
        into.relu, into.shift = stage.relu, stage.shift
        _operand(into.alu_operand, stage.alu_operand)
        _operand(into.mul_operand, stage.mul_operand)
    job.offset, job.factor, job.round = sdp.offset, sdp.factor, sdp.round
    job.count_saturation = sdp.count_saturation
    job.low, job.high = sdp.limits
    _cube(job.output, sdp.output)
    return job


def _window(
    kind: Kind, frame: Frame, weights: Weights, source: NDArray[np.int8], held: list[Any]
) -> Any:
    if source.strides[-1] != 1:  # lines are copied channel by channel
        source = np.ascontiguousarray(source)
    window = ffi.new("struct sim_window *")
    window.dot, window.kernels = kind.number, weights.kernels
    window.out_height, window.out_width = frame.out_height, frame.out_width
    window.stride_y, window.stride_x = frame.stride_y, frame.stride_x
    window.height, window.width, window.channels = frame.height, frame.width, frame.channels
    window.groups, window.run_count = weights.groups, weights.runs
    runs, packed = array("int64_t", frame.runs), array("char", weights.packed)
    start = array("int32_t", weights.start)
    window.runs, window.weights, window.start = runs, packed, start
    window.pad, window.top, window.left = frame.pad, frame.top, frame.left
    window.in_height, window.in_width = source.shape[-3], source.shape[-2]
    window.step_y, window.step_x = frame.step_y, frame.step_x
    window.truncate = frame.truncate
    if frame.table is not None:
        window.table = array("int8_t", frame.table)
        held.append(frame.table)
    _cube(window.input, source)
    held += (runs, start, source) if source.flags.owndata else (runs, start)
    return window


class Pool(NamedTuple):
    """Pooling; see ``struct sim_pool``. ``pads``: what 0, 1, ... missing elements add to a sum."""

    method: int
    out_height: int
    out_width: int
    kernel_y: int
    kernel_x: int
    stride_y: int
    stride_x: int
    pad_top: int
    pad_left: int
    fill: int
    limits: tuple[int, int]
    reciprocal_y: int
    reciprocal_x: int
    pads: list[int]


class PoolLayer:
    """Pooling of *source* into *target*, both [surface, y, x, channel] of the same type, which it
    does not keep alive. It clips nothing that is counted."""

    clipped = saturated = 0

    def __init__(self, pool: Pool, source: NDArray[Any], target: NDArray[Any]) -> None:
        job = self._job = ffi.new("struct sim_pool *")
        _cube(job.input, source)
        _cube(job.output, target)
        job.height, job.width = source.shape[1:3]
        job.method, job.out_height, job.out_width = pool.method, pool.out_height, pool.out_width
        job.kernel_y, job.kernel_x = pool.kernel_y, pool.kernel_x
        job.stride_y, job.stride_x = pool.stride_y, pool.stride_x
        job.pad_top, job.pad_left, job.fill = pool.pad_top, pool.pad_left, pool.fill
        job.low, job.high = pool.limits
        job.reciprocal_y, job.reciprocal_x = pool.reciprocal_y, pool.reciprocal_x
        job.pads[0 : len(pool.pads)] = pool.pads

    def run(self) -> None:
        """Compute. The interpreter lock is free meanwhile."""
        if lib.sim_int_pool(self._job):
            raise ValueError("surfaces of more than 64 channels")


def same(host: int, values: NDArray[np.uint8]) -> bool:
    """Whether the bytes at a host address are those of a contiguous array."""
    return not lib.memcmp(ffi.cast("void *", host), array("uint8_t", values), values.nbytes)


class Ints:
    """Integer layers on one implementation of the dot products (default: the fastest).

    Raises ValueError for one that this machine does not have.
    """

    def __init__(self, name: str = "") -> None:
        known = kinds()
        if name and name not in known:
            raise ValueError(f"this machine cannot run {name!r}, only {', '.join(known)}")
        self.kind = known[name] if name else next(iter(known.values()))

    def pack(self, weights: NDArray[np.int8]) -> Weights | None:
        """As :func:`pack`."""
        return pack(self.kind, weights)

    def sums(self, frame: Frame, weights: Weights, source: NDArray[np.int8]) -> NDArray[np.int32]:
        """Accumulators [y, x, kernel] of a convolution. Raises MemoryError."""
        held: list[Any] = []
        window = _window(self.kind, frame, weights, source, held)
        result = np.empty((frame.out_height, frame.out_width, weights.kernels), np.int32)
        if lib.sim_int_conv(window, ffi.NULL, array("int32_t", result)):
            raise MemoryError
        return result

    def convolution(
        self, frame: Frame, weights: Weights, source: NDArray[np.int8], sdp: Sdp
    ) -> Layer:
        """A convolution of *source* ([surface, y, x, channel] or [y, x, channel]) with SDP."""
        layer = Layer(_sdp(sdp))
        layer.window = _window(self.kind, frame, weights, source, layer.held)
        return layer

    def pointwise(self, source: NDArray[Any], sdp: Sdp) -> Layer:
        """SDP on a cube in memory, int8 or int16."""
        layer = Layer(_sdp(sdp))
        layer.source = ffi.new("struct sim_cube *")
        _cube(layer.source, source)
        return layer
