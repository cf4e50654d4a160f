"""Integer convolution and SDP (``shim/native/int_layer.c``, ``int_sdp.c``).

What a layer shall compute is described once as a :class:`IntegerLayer`; running it costs one call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import lazy
from .compiled import array, ffi, lib
from .steps import Step

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy.module("numpy")

_NUMBER, _CHANNELS, _ELEMENTS = 0, 1, 2
NO_ALU = 4
_BLOCK = 16


class Kind(NamedTuple):
    """An implementation of the dot products. ``kernels`` is a block's size, ``group`` how many
    neighbouring elements are multiplied together, ``item`` their bytes, ``offset`` what is added
    to data. ``wide``: weights have 16 bits, sums 64; ``diagonal``: kernel k multiplies channel k
    only."""

    number: int
    name: str
    kernels: int
    group: int
    item: int
    offset: int
    wide: bool = False
    diagonal: bool = False


def _kinds(ask: Any, wide: bool = False, diagonal: bool = False) -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    kind = ffi.new("struct sim_dot_kind *")
    number = 0
    while status := ask(number, kind):
        if status > 0:
            name = ffi.string(kind.name).decode()
            parts = (kind.kernels, kind.group, kind.item, kind.offset)
            found[name] = Kind(number, name, *parts, wide, diagonal)
        number += 1
    return found


def kinds() -> dict[str, Kind]:
    """The implementations for 8-bit weights that this machine can run, fastest first."""
    return _kinds(lib.sim_dot_kind)


def wide_kinds() -> dict[str, Kind]:
    """Those for 16-bit weights, with sums of 64 bits."""
    return _kinds(lib.sim_wide_kind, wide=True)


def diagonal_kinds() -> dict[str, Kind]:
    """Those for 8-bit weights that kernel k has for channel k only."""
    return _kinds(lib.sim_diagonal_kind, diagonal=True)


@dataclass(frozen=True, slots=True)
class Weights:
    """Kernels as an implementation wants them: blocks of [run][group][kernel][element], or, if it
    is a wide one, of [run][group][low or high part][kernel][element], if a diagonal one, of [pair
    of runs][kernel][run]. No sum is further than ``bound`` from 0."""

    kind: Kind
    packed: NDArray[Any]
    start: NDArray[np.int32]
    kernels: int
    runs: int
    groups: int
    bound: int = (1 << 31) - 1

    @property
    def nbytes(self) -> int:
        return int(self.packed.nbytes + self.start.nbytes)


def pack(kind: Kind, weights: NDArray[np.integer[Any]]) -> Weights | None:
    """Arrange weights [kernel, run, element of the run] of int8, or of int8 or int16 for a wide
    implementation.

    None when sums of products with 8-bit data may exceed the 32 bits of one that is not wide.
    """
    kernels, runs, length = weights.shape
    flat = weights.reshape(kernels, -1)
    groups = -(-length // kind.group)
    rounded = -(-kernels // _BLOCK) * _BLOCK
    start, bound = np.zeros(rounded, np.int32), (1 << 31) - 1
    if not kind.wide:
        magnitude = np.abs(flat.astype(np.int16)).sum(axis=1, dtype=np.int64)
        bound = 128 * int(magnitude.max(initial=0))
        if bound >= 1 << 31:
            return None
        start[:kernels] = (-kind.offset * flat.sum(axis=1, dtype=np.int64)).astype(np.int32)
    dtype = np.int8 if kind.item == 1 else np.int16
    padded = np.zeros((rounded, runs, groups * kind.group), dtype)
    padded[:kernels, :, :length] = weights
    halves = [padded]
    if kind.wide:  # w = 256 * high + low
        low = padded.astype(np.int8).astype(np.int16)
        halves = [low, ((padded.astype(np.int32) - low) >> 8).astype(np.int16)]
    whole = np.stack([half.reshape(rounded, runs, groups, kind.group) for half in halves])
    parts = [
        whole[:, first : first + kind.kernels].transpose(2, 3, 0, 1, 4).reshape(-1)
        for first in range(0, rounded, kind.kernels)
    ]
    return Weights(kind, np.concatenate(parts), start, kernels, runs, groups, bound)


def pack_diagonal(kind: Kind, weights: NDArray[np.integer[Any]]) -> Weights | None:
    """Arrange int8 weights [kernel, tap, channel] for a diagonal implementation.

    None when a kernel has others than those of its own channel, or sums might exceed 32 bits.
    """
    kernels, taps, channels = weights.shape
    if kernels > channels:
        return None
    own = np.arange(kernels)
    found = weights[own, :, own]  # [kernel, tap]
    bound = 128 * int(np.abs(found.astype(np.int16)).sum(axis=1, dtype=np.int64).max())
    if np.count_nonzero(weights) != np.count_nonzero(found) or bound >= 1 << 31:
        return None
    rounded, even = -(-kernels // _BLOCK) * _BLOCK, taps + taps % 2
    padded = np.zeros((rounded, even), np.int16)
    padded[:kernels, :taps] = found
    parts = [
        padded[first : first + kind.kernels]
        .reshape(-1, even // 2, 2)
        .transpose(1, 0, 2)
        .reshape(-1)
        for first in range(0, rounded, kind.kernels)
    ]
    start = np.zeros(rounded, np.int32)
    return Weights(kind, np.concatenate(parts), start, kernels, even, 1, bound)


class Converter(NamedTuple):
    """Converter of 16-bit input, see ``struct sim_converter``."""

    offset: int
    factor: float
    limits: tuple[int, int]


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
    table: NDArray[np.int16] | None = None
    """What the input converter makes of each byte, by its pattern."""
    convert: Converter | None = None
    """The input converter for input of 16 bits."""


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


Pair = tuple[float, float]


class Lut(NamedTuple):
    """Look-up tables of SDP, or of CDP; see ``struct sim_lut``. In pairs LE comes first, or what is
    below the table. ``tables`` are the entries of both."""

    cdp: bool
    linear: bool
    under: bool
    over: bool
    hybrid: bool
    start: Pair
    scale: Pair
    exponent: float
    origin: tuple[Pair, Pair]
    slope: tuple[Pair, Pair]
    limit: float
    tables: list[NDArray[np.float64]]


def describe_lut(lut: Lut) -> Any:
    job = ffi.new("struct sim_lut *")
    job.cdp, job.linear = lut.cdp, lut.linear
    job.under, job.over, job.hybrid = lut.under, lut.over, lut.hybrid
    job.start, job.scale, job.exponent, job.limit = lut.start, lut.scale, lut.exponent, lut.limit
    job.origin, job.slope = lut.origin, lut.slope
    job.entries = [value for table in lut.tables for value in table.tolist()]
    job.steps = [step for table in lut.tables for step in (*np.diff(table).tolist(), 0.0)]
    return job


class LutCounts(NamedTuple):
    """Values below a table, above it, in both or in none, in LE, in LO, as the counters of the unit
    tell them apart."""

    under: int = 0
    over: int = 0
    hybrid: int = 0
    le_hit: int = 0
    lo_hit: int = 0


def counted_by(lut: Any) -> LutCounts:
    if lut is None:
        return LutCounts()
    counts = (lut.under_count, lut.over_count, lut.hybrid_count, lut.le_count, lut.lo_count)
    return LutCounts(*map(int, counts))


class Half(NamedTuple):
    """Settings of fp16: NaNs become zeros, those of the input and of the output are counted."""

    nan_to_zero: bool
    count_nan_inputs: bool
    count_nan: bool


class Sdp(NamedTuple):
    """SDP behind the input; ``size`` is (height, width, channels to the end of the last surface).

    ``output`` is [surface, y, x, channel] of int8 or int16. With ``half`` all inputs are halves,
    and the output is of halves or int16.
    """

    size: tuple[int, int, int]
    stages: list[Stage]
    offset: int
    factor: float
    round: bool
    count_saturation: bool
    limits: tuple[int, int]
    output: NDArray[Any]
    lut: Lut | None = None
    half: Half | None = None


def describe_cube(into: Any, view: NDArray[Any]) -> None:
    """Describe [surface, y, x, channel] or [y, x, channel]."""
    if view.ndim == 3:
        view = view[None]
    surfaces, _, _, atom = view.shape
    into.base = ffi.cast("uint8_t *", view.__array_interface__["data"][0])
    into.surface, into.line, into.pixel, into.element = view.strides
    into.atom, into.channels, into.item = atom, surfaces * atom, view.itemsize


@dataclass(slots=True)
class IntegerLayer:
    """One layer, ready to run as often as wanted on what its arrays then hold.

    It keeps none of them alive, neither weights nor memory: whoever runs it has to.
    """

    sdp: Any
    window: Any = None
    source: Any = None
    held: list[Any] = field(default_factory=list)
    lut: Any = None
    half: bool = False

    @property
    def odd(self) -> tuple[int, int, int]:
        """NaNs and infinities of the input of fp16, NaNs of its output, where they are counted."""
        sdp = self.sdp
        return int(sdp.nan_inputs), int(sdp.infinite_inputs), int(sdp.nan_outputs)

    @property
    def looked_up(self) -> LutCounts:
        """What the look-up tables counted."""
        return counted_by(self.lut)

    @property
    def clipped(self) -> int:
        """Values that the output could not hold."""
        return int(self.sdp.clipped)

    @property
    def saturated(self) -> int:
        """Values that exceeded 17 bits in the converter, where they are counted."""
        return int(self.sdp.saturated)

    @property
    def overflowed(self) -> int:
        """Sums of a convolution that 32 bits could not hold."""
        return 0 if self.window is None else int(self.window.saturated)

    @property
    def counted(self) -> list[int]:
        """All of these, as ``steps.COUNTED``."""
        return [self.clipped, self.saturated, self.overflowed, *self.looked_up, *self.odd]

    @property
    def step(self) -> Step:
        """What :meth:`run` calls."""
        if self.window is not None:
            return Step(lib.SIM_STEP_CONV, self.window, self.sdp)
        kind = lib.SIM_STEP_HALF_SDP if self.half else lib.SIM_STEP_SDP
        return Step(kind, self.source, self.sdp)

    def run(self) -> None:
        """Compute. The interpreter lock is free meanwhile. Raises MemoryError."""
        if self.window is not None:
            status = lib.sim_int_conv(self.window, self.sdp, ffi.NULL)
        elif self.half:
            status = lib.sim_half_sdp(self.source, self.sdp)
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
        describe_cube(into.cube, values)
        return
    into.kind = _CHANNELS
    cube = into.cube
    cube.base = ffi.cast("uint8_t *", values.__array_interface__["data"][0])
    cube.element, cube.item = values.strides[0], values.itemsize


def _layer(sdp: Sdp) -> IntegerLayer:
    """A layer with its SDP, but without input."""
    layer = IntegerLayer(_sdp(sdp))
    if sdp.lut is not None:
        layer.sdp.lut = layer.lut = describe_lut(sdp.lut)
    if sdp.half is not None:
        layer.half, job = True, layer.sdp
        job.output_half = sdp.output.dtype.kind == "f"
        job.nan_to_zero, job.count_nan_inputs, job.count_nan = sdp.half
    return layer


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
    describe_cube(job.output, sdp.output)
    return job


def _window(
    frame: Frame, weights: Weights, source: NDArray[np.integer[Any]], held: list[Any]
) -> Any:
    if source.strides[-1] != source.itemsize:  # lines are copied channel by channel
        source = np.ascontiguousarray(source)
    window = ffi.new("struct sim_window *")
    kind = weights.kind
    window.dot, window.wide, window.diagonal = kind.number, kind.wide, kind.diagonal
    window.bound = weights.bound
    window.kernels = weights.kernels
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
        window.table = array("int16_t", frame.table)
        held.append(frame.table)
    if frame.convert is not None:
        convert = window.convert
        convert.used, convert.offset, convert.factor = 1, *frame.convert[:2]
        convert.low, convert.high = frame.convert.limits
    describe_cube(window.input, source)
    held += (runs, start, source) if source.flags.owndata else (runs, start)
    return window


def same(host: int, values: NDArray[np.uint8]) -> bool:
    """Whether the bytes at a host address are those of a contiguous array."""
    return not lib.memcmp(ffi.cast("void *", host), array("uint8_t", values), values.nbytes)


class Ints:
    """Integer layers on one implementation of the dot products (default: the fastest).

    ``kind`` is for 8-bit weights, ``wide`` for others, ``diagonal`` for depthwise ones; a name that
    only some of them have leaves the others the fastest. Raises ValueError for one that this
    machine does not have.
    """

    def __init__(self, name: str = "") -> None:
        narrow, wide, diagonal = kinds(), wide_kinds(), diagonal_kinds()
        if name and name not in narrow and name not in wide:
            known = ", ".join(dict.fromkeys((*narrow, *wide)))
            raise ValueError(f"this machine cannot run {name!r}, only {known}")
        self.kind = narrow.get(name) or next(iter(narrow.values()))
        self.wide = wide.get(name) or next(iter(wide.values()))
        self.diagonal = diagonal.get(name) or next(iter(diagonal.values()))

    def pack(self, weights: NDArray[np.integer[Any]]) -> Weights:
        """Arrange weights [kernel, run, element of the run] of int8 or int16, for 64-bit sums where
        32 bits might not do."""
        found = pack(self.kind, weights) if weights.dtype == np.int8 else None
        if found is None:
            found = pack(self.wide, weights)
        assert found is not None
        return found

    def pack_diagonal(self, weights: NDArray[np.integer[Any]]) -> Weights | None:
        """As :func:`pack_diagonal`."""
        return pack_diagonal(self.diagonal, weights)

    def sums(
        self, frame: Frame, weights: Weights, source: NDArray[np.integer[Any]]
    ) -> tuple[NDArray[np.int32], int]:
        """Accumulators [y, x, kernel] of a convolution, and how many of them were cut to 32 bits.
        Raises MemoryError."""
        held: list[Any] = []
        window = _window(frame, weights, source, held)
        result = np.empty((frame.out_height, frame.out_width, weights.kernels), np.int32)
        if lib.sim_int_conv(window, ffi.NULL, array("int32_t", result)):
            raise MemoryError
        return result, int(window.saturated)

    def convolution(
        self, frame: Frame, weights: Weights, source: NDArray[np.integer[Any]], sdp: Sdp
    ) -> IntegerLayer:
        """A convolution of *source* ([surface, y, x, channel] or [y, x, channel]) with SDP."""
        layer = _layer(sdp)
        layer.window = _window(frame, weights, source, layer.held)
        return layer

    def pointwise(self, source: NDArray[Any], sdp: Sdp) -> IntegerLayer:
        """SDP on a cube in memory, int8 or int16, or halves (*sdp* says so)."""
        layer = _layer(sdp)
        layer.source = ffi.new("struct sim_cube *")
        describe_cube(layer.source, source)
        return layer
