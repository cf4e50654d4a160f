"""Many integer layers with one call (``shim/native/int_steps.c``)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiled import array, ffi, lib


class Step(NamedTuple):
    """A compiled function and what it is called with; ``sdp`` is NULL where it has none."""

    kind: int
    input: Any
    sdp: Any


_OURS = {"le": "le_hit", "lo": "lo_hit"}
COUNTED = tuple(
    _OURS.get(name, name) for name, _ in ffi.typeof("struct sim_step_result").fields[1:]
)
"""What steps count: results that the output could not hold, values past 17 bits in SDP's converter
(where they are counted), sums past 32 bits, what look-up tables count, and what is odd in fp16."""


class Copy:
    """Copies *size* bytes from a host address to the beginning of *target*, which it keeps."""

    counted = [0] * len(COUNTED)

    def __init__(self, host: int, target: NDArray[np.uint8], size: int) -> None:
        self._target = target
        job = self._job = ffi.new("struct sim_copy *")
        job.to, job.size = array("uint8_t", target), size
        job.source = ffi.cast("void *", host)

    @property
    def step(self) -> Step:
        """What :meth:`run` calls."""
        return Step(lib.SIM_STEP_COPY, self._job, ffi.NULL)

    def run(self) -> None:
        """Copy."""
        lib.sim_copy_bytes(self._job)


class Known(NamedTuple):
    """Weights: where they lie, and the bytes that they must be."""

    host: int
    raw: NDArray[np.uint8]


class End(IntEnum):
    """Why a run of steps ended."""

    DONE = lib.SIM_STEPS_DONE
    LATE = lib.SIM_STEPS_LATE
    CHANGED = lib.SIM_STEPS_CHANGED
    MEMORY = lib.SIM_STEPS_MEMORY


_ENDS = {int(end): end for end in End}
_RESULT = ffi.typeof("struct sim_step_result *")


class Steps:
    """Layers, each of some steps, behind weights that must not have changed.

    It keeps neither what steps are called with nor weights alive: whoever runs it has to.
    """

    def __init__(self, layers: Sequence[tuple[Sequence[Step], Known | None]]) -> None:
        self._starts = [0]
        for parts, _ in layers:
            self._starts.append(self._starts[-1] + len(parts))
        self._count = self._starts[-1]
        self._single = self._count == len(layers)
        self._layer_of = {start: number for number, start in enumerate(self._starts)}
        steps = self._steps = ffi.new("struct sim_step[]", self._count)
        self._why = ffi.new("int *")
        position = 0
        for parts, weights in layers:
            for number, step in enumerate(parts):
                into = steps[position]
                into.kind, into.input, into.sdp = step
                into.first = number == 0
                if number == 0 and weights is not None:
                    into.weights = ffi.cast("void *", weights.host)
                    into.known, into.size = array("uint8_t", weights.raw), weights.raw.nbytes
                position += 1

    def results(self) -> NDArray[np.int64]:
        """Where results go: [step, (end in nanoseconds, *COUNTED)]."""
        return np.empty((self._count, 1 + len(COUNTED)), np.int64)

    def run(self, first: int, until_ns: int, results: NDArray[np.int64]) -> tuple[int, End]:
        """Compute from layer *first* on; the next layer to compute, and why it is not.

        Ends behind the layer during which *until_ns* (``time.perf_counter_ns``) passes. The
        interpreter lock is free meanwhile. Raises MemoryError.
        """
        start = self._starts[first]
        done = lib.sim_int_steps(
            self._steps + start,
            self._count - start,
            until_ns,
            ffi.cast(_RESULT, ffi.from_buffer(results)) + start,
            self._why,
        )
        why = _ENDS[self._why[0]]
        if why == End.MEMORY:
            raise MemoryError
        return self._layer_of[start + done], why

    def of_layers(self, results: NDArray[np.int64], first: int, last: int) -> NDArray[np.int64]:
        """Results by layer, from *first* to *last* (not included): its end, and sums of what its
        steps counted."""
        if self._single:
            return results[first:last]
        starts = np.asarray(self._starts[first : last + 1])
        if first == last:
            return results[:0]
        sums = np.add.reduceat(results[: starts[-1]], starts[:-1], axis=0)
        sums[:, 0] = results[starts[1:] - 1, 0]
        return sums
