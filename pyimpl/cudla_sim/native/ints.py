"""Integer convolution and SDP (``shim/native/int_layer.c``, ``int_sdp.c``).

What a layer shall compute is described once as a :class:`IntegerLayer`; running it costs one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import lazy
from .compiled import array, ffi, lib
from .steps import Step

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..constants.native_types import (
        sim_converter,
        sim_cube,
        sim_lut,
        sim_operand,
        sim_sdp,
        sim_stage,
        sim_window,
    )
else:
    np = lazy.module("numpy")

NO_ALU: int = lib.SIM_ALU_NONE
_BLOCK = 16


class Kind(NamedTuple):
    """An implementation of the dot products. ``block`` is how many kernels' weights lie together,
    ``group`` how many neighbouring elements are multiplied together, ``item`` their bytes,
    ``offset`` what is added to data. ``wide``: weights have 16 bits, sums 64, and weights are
    ``whole`` or in two parts; ``diagonal``: kernel k multiplies channel k only."""

    number: int
    name: str
    block: int
    group: int
    item: int
    offset: int
    whole: bool = False
    wide: bool = False
    diagonal: bool = False


def _kinds(ask: Any, wide: bool = False, diagonal: bool = False) -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    kind = ffi.new("struct sim_dot_kind *")
    number = 0
    while status := ask(number, kind):
        if status > 0:
            name = ffi.string(kind.name).decode()
            parts = (kind.block, kind.group, kind.item, kind.offset, bool(kind.whole))
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
    is a wide one, of [run][group][low or high part][kernel][element], if that has them whole, of
    [run][group][pair][kernel][element of the pair] and what :func:`_apart` says, if a diagonal one,
    of [pair of runs][kernel][run]. No sum is further than ``bound`` from 0."""

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


def _apart(kind: Kind, padded: NDArray[np.int16]) -> NDArray[np.uint8]:
    """For each [block, run, group] of weights [kernel, run, group, element] whether a sum of the
    group's products may exceed 32 bits (1), or that of a pair (2); of all groups of a run, if there
    are many, as changing between them takes time."""
    shape = (-1, kind.block, *padded.shape[1:3], 2, 2)
    pairs = np.abs(padded.astype(np.int64)).reshape(shape).sum(axis=-1).max(axis=1) << 15
    sums = np.abs(padded.astype(np.int64)).sum(axis=3).reshape(shape[:4]).max(axis=1) << 15
    found = (sums >= 1 << 31).astype(np.uint8)
    many = found.mean(axis=2, keepdims=True) > 1 / 8
    return np.maximum(np.maximum(found, many), 2 * (pairs.max(axis=-1) >= 1 << 31)).astype(np.uint8)


def _aligned(parts: list[NDArray[Any]]) -> NDArray[np.uint8]:
    """Their bytes one after the other, from where vectors lie in one line of a cache each."""
    size = sum(part.nbytes for part in parts)
    room = np.empty(size + 64, np.uint8)
    first = -room.__array_interface__["data"][0] % 64
    return np.concatenate([part.view(np.uint8) for part in parts], out=room[first : first + size])


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
    halves, group = [padded], kind.group
    if kind.whole:
        pairs = padded.reshape(rounded, -1, 2, 2)
        halves, group = [pairs[:, :, 0], pairs[:, :, 1]], 2
    elif kind.wide:  # w = 256 * high + low
        low = padded.astype(np.int8).astype(np.int16)
        halves = [low, ((padded.astype(np.int32) - low) >> 8).astype(np.int16)]
    whole = np.stack([half.reshape(rounded, runs, groups, group) for half in halves])
    parts = [
        whole[:, first : first + kind.block].transpose(2, 3, 0, 1, 4).reshape(-1)
        for first in range(0, rounded, kind.block)
    ]
    if kind.whole:
        apart = _apart(kind, padded.reshape(rounded, runs, groups, kind.group))
        parts += [apart.reshape(-1), np.zeros(7, np.uint8)]
    return Weights(kind, _aligned(parts), start, kernels, runs, groups, bound)


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
        padded[first : first + kind.block].reshape(-1, even // 2, 2).transpose(1, 0, 2).reshape(-1)
        for first in range(0, rounded, kind.block)
    ]
    start = np.zeros(rounded, np.int32)
    return Weights(kind, np.concatenate(parts), start, kernels, even, 1, bound)


class Frame(NamedTuple):
    """A window over the padded input. ``job`` is what numbers say of it (``struct sim_window``);
    ``runs`` counts elements."""

    job: sim_window
    runs: NDArray[np.int64]
    table: NDArray[np.int16] | None = None
    """What the input converter makes of each byte, by its pattern."""
    convert: sim_converter | None = None
    """The input converter for input of 16 bits."""


class Operand(NamedTuple):
    """A number, or an array: [channel], or [surface, y, x, channel]. ``convert`` is (offset, scale,
    truncate) of the operand converter, ``shift`` goes left behind it."""

    number: float = 0.0
    values: NDArray[Any] | None = None
    convert: tuple[int, int, int] | None = None
    shift: int = 0


class Stage(NamedTuple):
    """A stage of SDP. ``job`` is what numbers say of it (``struct sim_stage``)."""

    job: sim_stage
    alu_operand: Operand = Operand()
    mul_operand: Operand = Operand()


Pair = tuple[float, float]


def entries(tables: Sequence[NDArray[np.float64]]) -> sim_lut:
    """The tables of ``struct sim_lut``, LE first: their entries and the steps between them."""
    return {
        "entries": [value for table in tables for value in table.tolist()],
        "steps": [step for table in tables for step in (*np.diff(table).tolist(), 0.0)],
    }


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


class Sdp(NamedTuple):
    """SDP behind the input. ``job`` is what numbers say of it (``struct sim_sdp``, where channels
    go to the end of the last surface).

    ``output`` is [surface, y, x, channel] of int8 or int16. With ``half`` all inputs are halves,
    and the output is of halves or int16.
    """

    job: sim_sdp
    stages: list[Stage]
    output: NDArray[Any]
    lut: sim_lut | None = None
    half: bool = False


def cube(view: NDArray[Any]) -> sim_cube:
    """[surface, y, x, channel] or [y, x, channel]."""
    if view.ndim == 3:
        view = view[None]
    surfaces, _, _, atom = view.shape
    surface, line, pixel, element = view.strides
    return {
        "base": ffi.cast("uint8_t *", view.__array_interface__["data"][0]),
        "surface": surface,
        "line": line,
        "pixel": pixel,
        "element": element,
        "atom": atom,
        "channels": surfaces * atom,
        "item": view.itemsize,
    }


def between(source: NDArray[Any], target: NDArray[Any]) -> dict[str, Any]:
    """What pooling and normalisation know of their input and output."""
    height, width = source.shape[1:3]
    return {"input": cube(source), "output": cube(target), "height": height, "width": width}


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


def _operand(operand: Operand) -> sim_operand:
    into: sim_operand = {"kind": lib.SIM_NUMBER, "number": operand.number, "shift": operand.shift}
    if operand.convert is not None:
        into["convert"] = 1
        into["offset"], into["scale"], into["truncate"] = operand.convert
    values = operand.values
    if values is None:
        return into
    if values.ndim > 1:
        into["kind"], into["cube"] = lib.SIM_ELEMENTS, cube(values)
        return into
    into["kind"] = lib.SIM_CHANNELS
    into["cube"] = {
        "base": ffi.cast("uint8_t *", values.__array_interface__["data"][0]),
        "element": values.strides[0],
        "item": values.itemsize,
    }
    return into


def _layer(sdp: Sdp) -> IntegerLayer:
    """A layer with its SDP, but without input."""
    stages = [
        {
            **stage.job,
            "alu_operand": _operand(stage.alu_operand),
            "mul_operand": _operand(stage.mul_operand),
        }
        for stage in sdp.stages
    ]
    lut = ffi.NULL if sdp.lut is None else ffi.new("struct sim_lut *", sdp.lut)
    described = {
        **sdp.job,
        "stage_count": len(stages),
        "stages": stages,
        "lut": lut,
        "output": cube(sdp.output),
        "output_half": sdp.half and sdp.output.dtype.kind == "f",
    }
    layer = IntegerLayer(ffi.new("struct sim_sdp *", described), half=sdp.half)
    if sdp.lut is not None:
        layer.lut = lut
    return layer


def _window(
    frame: Frame, weights: Weights, source: NDArray[np.integer[Any]], held: list[Any]
) -> Any:
    if source.strides[-1] != source.itemsize:  # lines are copied channel by channel
        source = np.ascontiguousarray(source)
    kind = weights.kind
    runs, start = array("int64_t", frame.runs), array("int32_t", weights.start)
    described = {
        **frame.job,
        "dot": kind.number,
        "wide": kind.wide,
        "diagonal": kind.diagonal,
        "bound": weights.bound,
        "kernels": weights.kernels,
        "groups": weights.groups,
        "run_count": weights.runs,
        "runs": runs,
        "weights": array("char", weights.packed),
        "start": start,
        "in_height": source.shape[-3],
        "in_width": source.shape[-2],
        "input": cube(source),
    }
    if frame.table is not None:
        described["table"] = array("int16_t", frame.table)
        held.append(frame.table)
    if frame.convert is not None:
        described["convert"] = frame.convert
    held += (runs, start, source) if source.flags.owndata else (runs, start)
    return ffi.new("struct sim_window *", described)


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
        job = frame.job
        result = np.empty((job["out_height"], job["out_width"], weights.kernels), np.int32)
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
        """SDP on a cube in memory, int8 or int16, or halves (*sdp* says so).

        What look-up tables make of a number is kept for the layer's next runs."""
        layer = _layer(sdp)
        layer.source = ffi.new("struct sim_cube *", cube(source))
        if layer.lut is not None and source.itemsize <= 2:
            known = np.zeros(1 << 8 * source.itemsize, np.uint32)
            layer.sdp.map = array("uint32_t", known)
            layer.held.append(known)
        return layer
