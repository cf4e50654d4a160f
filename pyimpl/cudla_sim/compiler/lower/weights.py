"""Weights of a convolution as hardware takes them: quantised per kernel, packed, compressed.

What the pass behind multiplies each kernel by goes into the weights, what it adds into X1; the
rounding of weights is taken from the bias.
Source: nvdla hardware manual "Convolution", "Sparse compression".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, log2, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla import layout
from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.precisions import FP16, FP16_TOP, INT8, INT16, TOPS

from ..legalise.nodes import KernelConv
from .fit import Fit

_BIAS_BITS = {INT8: 20, INT16: 35}
"""A bias may be 2**bits steps of its kernel's sums: beyond, its kernel gets coarser weights."""

_SPARSE, _WORTH = 0.6, 0.75
"""Compression is tried below this share of weights that are not zero, and kept below this share
of the bytes."""

_ELEMENTS = 1 << 22
"""Of real weights at once: whole layers in float64 would need gigabytes."""


@dataclass(frozen=True, slots=True)
class RealWeights:
    """Weights [kernels, channels, rows, columns] as they are stored, times a factor per kernel."""

    stored: NDArray[Any]
    factor: NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the weights."""
        return self.stored.shape

    def parts(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Some kernels after the other, with what they are in float64."""
        count = max(_ELEMENTS // max(prod(self.shape[1:]), 1), 1)
        for first in range(0, len(self.stored), count):
            part = slice(first, first + count)
            yield part, self.stored[part].astype(np.float64) * self.factor[part, None, None, None]


@dataclass(frozen=True, slots=True)
class Weights:
    """Elements as hardware takes them [kernels, channels, rows, columns], the real value of one
    step of each kernel's sums, and how many bits CACC drops."""

    elements: NDArray[np.generic]
    step: NDArray[np.float64]
    truncate: int = 0


def absorb(node: KernelConv, fit: Fit) -> tuple[RealWeights, NDArray[np.float64]]:
    """Move X1's factor per kernel into the weights, the bias into X1; return both.

    A factor per element stays in X1.
    """
    factor = np.ones(len(node.weights))
    bias = node.bias.astype(np.float64)
    if fit.scale is not None and fit.scale.ndim == 1:
        factor = np.broadcast_to(fit.scale, bias.shape)
        bias = bias * factor
        fit.scale = None
    if fit.shift is not None:
        bias = bias + fit.shift
    fit.shift = bias if np.any(bias) else None
    return RealWeights(node.weights, factor), bias


def quantised(
    weights: RealWeights,
    bias: NDArray[np.float64],
    precision: int,
    input_scale: float,
    given: NDArray[np.float64] | None = None,
) -> Weights:
    """Weights per kernel as integers (or halves)."""
    kernels = weights.shape[0]
    if precision == FP16:
        halves = np.empty(weights.shape, np.float16)
        for part, real in weights.parts():
            # -0 would be stored by compression
            halves[part] = np.clip(real * input_scale, -FP16_TOP, FP16_TOP) + 0.0
        return Weights(halves, np.ones(kernels))
    limit = TOPS[precision]
    largest, plain = np.zeros(kernels), np.zeros(kernels, bool)
    for part, real in weights.parts():
        flat = np.abs(real).reshape(len(real), -1)
        largest[part] = flat.max(axis=1)
        # kernels of zeros and one magnitude (copies, sums) need no steps in between: are exact
        plain[part] = ((flat == 0) | (flat == largest[part, None])).all(axis=1)
    if precision != INT8 and not plain.all():
        plain[:] = False  # CACC drops the same bits of all kernels
    scale = np.where(plain, largest, largest / limit)
    if given is not None and precision == INT8:
        scale = np.where(given > 0, given, scale)
    floor = np.abs(bias) / (input_scale * 2.0 ** _BIAS_BITS[precision])
    live = scale[scale > 0]
    usual = float(np.median(live)) if len(live) else 1.0
    scale = np.maximum(np.where(scale > 0, scale, usual), floor)
    elements = np.empty(weights.shape, np.int16)
    top = 0.0
    for part, real in weights.parts():
        steps = np.clip(np.rint(real / scale[part, None, None, None]), -limit, limit)
        elements[part] = steps
        top = max(top, float(np.abs(steps).reshape(len(steps), -1).sum(axis=1).max()))
    top *= limit + 1
    # CACC keeps 32 bits; X1's summand has 32 bits, too
    top = max(top / 2**31, float(np.max(np.abs(bias) / (scale * input_scale))) / 2**30)
    truncate = max(ceil(log2(top)), 0) if top > 0 else 0
    step = scale * input_scale * 2.0**truncate
    return Weights(elements, step, truncate)


def _taps(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    summed: NDArray[np.float64] = weights.sum(axis=(2, 3))
    return summed


def correct(
    node: KernelConv,
    fit: Fit,
    real: RealWeights,
    weights: Weights,
    mean: NDArray[Any] | None,
    scale: float,
    taps_of: Callable[[NDArray[np.float64]], NDArray[np.float64]] = _taps,
) -> None:
    """Take what the rounding of weights adds to the mean of the output from the bias.

    *mean* [channels] is the average of the input, *scale* its step; *taps_of* makes of weights what
    a constant input of 1 makes of them [kernels, channels]. Source: Nagel et al.,
    "Data-Free Quantization Through Weight Equalization and Bias Correction", 4.2.
    """
    if mean is None or (fit.scale is not None and fit.scale.ndim == 3):
        return
    unit = weights.step / (scale * 2.0**weights.truncate)
    taps = np.zeros(real.shape[:2])
    for part, wanted in real.parts():
        stored = weights.elements[part].astype(np.float64) * unit[part, None, None, None]
        taps[part] = taps_of(stored - wanted)
    reads = np.asarray(mean, np.float64)[node.first[:, None] + np.arange(taps.shape[1])[None, :]]
    total = (np.zeros(len(taps)) if fit.shift is None else fit.shift) - (taps * reads).sum(axis=1)
    fit.shift = total if np.any(total) else None


def prepared(
    node: KernelConv,
    fit: Fit,
    precision: int,
    scale: float,
    mean: NDArray[Any] | None,
    zero: int = 0,
) -> Weights:
    """Weights for inputs of a scale, with what of the pass goes into them; the rest stays in X1.

    *zero* is the input's integer that means 0: what it adds to every sum is taken from the bias.
    """
    real, bias = absorb(node, fit)
    weights = quantised(real, bias, precision, scale, node.weight_scale)
    if precision != FP16:
        correct(node, fit, real, weights, mean, scale)
    if zero:
        total = weights.elements.sum(axis=(1, 2, 3), dtype=np.int64)
        constant = zero * total * weights.step / 2.0**weights.truncate
        fit.shift = (np.zeros(len(total)) if fit.shift is None else fit.shift) - constant
    return weights


def compressed(
    config: HardwareConfig,
    packed: NDArray[np.uint8],
    dense: NDArray[Any],
    precision: int,
    wanted: bool | None,
) -> tuple[NDArray[np.uint8], ...]:
    """Weights without zeros, with mask and group sizes, where that is *wanted*; if nobody says so,
    where it is clearly less to read."""
    if not config.compression or wanted is False:
        return ()
    if wanted is None and np.count_nonzero(dense) > _SPARSE * dense.size:
        return ()
    shape = (dense.shape[0], dense.shape[1], dense.shape[2], dense.shape[3])
    parts = layout.compress_weights(packed, shape, config, precision)
    worth = len(parts[0]) > 0 and sum(map(len, parts)) < _WORTH * len(packed)
    return parts if worth or wanted else ()
