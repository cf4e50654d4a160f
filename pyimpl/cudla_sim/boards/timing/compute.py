"""Cycles that an operation keeps its engine busy, and milliseconds with its memory traffic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil

from .operations import BDMA
from .parameters import Parameters
from .work import Convolution, Work


@dataclass(frozen=True, slots=True)
class Setting:
    """Where it runs. *memory* is the memory clock over the fastest of the board."""

    generation: str
    clock_mhz: float
    memory: float = 1.0
    sparse: bool = False


def cycles(item: Work, setting: Setting, p: Parameters) -> float:
    """Of one picture."""
    if item.convolution is not None:
        return _convolution_cycles(item, item.convolution, setting, p)
    rule = _OTHERS.get(item.operation.main.kind)
    if rule is not None:
        return rule(item, setting, p)
    return 0.0 if item.operation.engine == BDMA else _pointwise(item, setting, p)


def milliseconds(item: Work, setting: Setting, p: Parameters) -> tuple[float, float]:
    """Of computing and of the memory; the larger one counts."""
    bandwidth = p.bandwidth * setting.memory
    return (
        cycles(item, setting, p) / setting.clock_mhz / 1e3,
        moved_bytes(item, p) / bandwidth / 1e6,
    )


def moved_bytes(item: Work, p: Parameters) -> float:
    """To and from DRAM. Weights that do not stay go through in parts, each with the whole input."""
    moved = item.traffic.tensors + item.traffic.weights
    if item.convolution is None:
        return moved
    parts = max(ceil(item.traffic.weights / p.weight_buffer), 1)
    return moved + item.traffic.again * (parts - 1)


def gap_ms(generation: str, p: Parameters) -> float:
    return (p.gap_us if generation == "orin" else p.xavier_gap_us) / 1e3


def _padded(count: float, atom: float) -> float:
    return ceil(count / atom) * atom


def _convolution_cycles(item: Work, conv: Convolution, setting: Setting, p: Parameters) -> float:
    if setting.generation != "orin":
        found = _xavier(item, conv, p)
        return max(found, item.output_elements / p.xavier_output_rate)
    out = item.output_elements / p.output_rate
    if conv.depthwise:
        return max(item.macs / p.depthwise_rate, out)
    if item.operation.precision == "fp16":
        return max(_rubik(item, conv, p), out)
    return _cpipe(item, conv, setting, p) + out  # published layers want the sum


def _expanded(item: Work, conv: Convolution, block: float) -> tuple[float, float, float]:
    """Multiplications, channels and kernels; a group takes at least *block* channels."""
    if conv.groups == 1:
        return item.macs, conv.c, conv.maps
    factor = min(max(block / conv.c, 1.0), conv.groups)
    return item.macs * factor, conv.c * factor, conv.maps * factor


def _cpipe(item: Work, conv: Convolution, setting: Setting, p: Parameters) -> float:
    macs, channels, kernels = _expanded(item, conv, p.group_block)
    wide = channels * conv.kernel_w if conv.image else _padded(channels, p.atom)
    waste = _padded(kernels, p.atom) / kernels * (1.0 if conv.image else wide / channels)
    found = macs * waste / p.orin_macs / min(1.0, wide / p.full_channels) ** p.channel_power
    if setting.sparse and conv.c > p.sparse_over:
        found /= p.sparse_speedup
    return found * (1.0 if conv.image else _strided(conv, p))


def _rubik(item: Work, conv: Convolution, p: Parameters) -> float:
    macs, channels, kernels = _expanded(item, conv, p.fp16_atom)
    waste = _padded(channels, p.fp16_atom) / channels * _padded(kernels, p.fp16_atom) / kernels
    return macs * waste / p.rubik_rate * _strided(conv, p)


def _strided(conv: Convolution, p: Parameters) -> float:
    """A stride costs where windows overlap."""
    return p.stride_factor if conv.stride > 1 and conv.kernel_w > 1 else 1.0


def _xavier(item: Work, conv: Convolution, p: Parameters) -> float:
    fp16 = item.operation.precision == "fp16"
    macs, channels, kernels = _expanded(item, conv, p.group_block)
    wide = channels * conv.kernel_w if conv.image else channels
    atom = p.fp16_atom if fp16 else p.atom
    waste = _padded(wide, p.atom) / wide * _padded(kernels, atom) / kernels
    return macs * waste / (p.xavier_macs / (2 if fp16 else 1)) / p.xavier_efficiency


def _pooling(item: Work, setting: Setting, p: Parameters) -> float:
    rate = p.pool_rate if setting.generation == "orin" else p.xavier_pool_rate
    return item.input_elements / rate


def _lrn(item: Work, setting: Setting, p: Parameters) -> float:
    return item.output_elements / p.xavier_pool_rate


def _softmax(item: Work, setting: Setting, p: Parameters) -> float:
    return item.output_elements * p.softmax_cycles


def _moved(item: Work, setting: Setting, p: Parameters) -> float:
    return 0.0  # the memory decides


def _pointwise(item: Work, setting: Setting, p: Parameters) -> float:
    rate = p.output_rate if setting.generation == "orin" else p.xavier_output_rate
    return item.output_elements / rate


_OTHERS: Mapping[str, Callable[[Work, Setting, Parameters], float]] = {
    "POOLING": _pooling,
    "REDUCE": _pooling,
    "LRN": _lrn,
    "SOFTMAX": _softmax,
    "SHUFFLE": _moved,
    "RESIZE": _moved,
}
