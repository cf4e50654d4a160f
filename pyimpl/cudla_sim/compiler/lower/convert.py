"""Between int8 and fp16 (nv_full): counting steps in fp16, then a factor.

SDP leaves int8 sums as fp16 integers; a second pass in fp16 multiplies with the scale. Back, fp16
leaves int16, which a pass in int8 rounds. Source: facts on precision change in SDP (7.5, 7.6).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cudla_sim.nvdla.descriptors import SdpOpType, SdpStage
from cudla_sim.nvdla.facts.precisions import FP16, INT8, INT16

from . import sdp
from .cubes import Cube, Values
from .fit import Fit
from .homes import Homes
from .layouts import Layout
from .task import Task


def count(task: Task, homes: Homes, source: Cube) -> Cube:
    """An integer cube as fp16 numbers that count its steps."""
    layout = Layout(source.channels, source.positions)
    size = (source.height, source.width)
    target = homes.temporary(f"{source.buffer.name} fp16", FP16, layout, size, source.scale)
    sdp.copy(task, source.whole(), target.whole())
    return target


def real(task: Task, source: Cube, target: Cube) -> None:
    """Multiply a counting fp16 cube with its scale."""
    fit = Fit(task.config, FP16, False, source.channels)
    fit.scale = np.array([1.0])
    values = Values(lambda _: source, lambda _: 0.0)
    whole = replace(target, channels=source.channels)
    sdp.emit(task, fit, source.whole(), whole.whole(), values)


def to_half(task: Task, homes: Homes, source: Cube) -> Cube:
    """An integer cube as real fp16 numbers."""
    counting = count(task, homes, source) if source.precision != FP16 else source
    if counting.scale == 1.0:
        return counting
    layout = Layout(source.channels, source.positions)
    size = (source.height, source.width)
    target = homes.temporary(f"{source.buffer.name} real", FP16, layout, size, 1.0)
    real(task, counting, target)
    return target


def to_integer(task: Task, homes: Homes, source: Cube, target: Cube) -> None:
    """Real fp16 numbers as integers of the target's scale (two roundings: 15 bits, then 8)."""
    spare = 8 if target.precision == INT8 else 0
    layout = Layout(source.channels, source.positions)
    size = (source.height, source.width)
    middle = target
    if spare:
        scale = target.scale / (1 << spare)
        middle = homes.temporary(f"{source.buffer.name} int16", INT16, layout, size, scale)
    elif target.loose:
        middle = task.packed(target)
    plain = Values(lambda _: source, lambda _: source.scale)
    whole = replace(middle, channels=source.channels).whole()
    fit = Fit(task.config, FP16, False, source.channels)
    stages = sdp.Stages(task, fit, source.whole(), whole, plain)
    # a factor beyond fp16's range is given in two stages
    factor = source.scale / middle.scale
    first = min(factor, 1024.0)
    stages.x1 = _product(stages, "x1", first)
    if factor != first:
        stages.x2 = _product(stages, "x2", factor / first)
    stages.append()
    if middle is not target:
        sdp.copy(task, middle.whole(), replace(target, channels=middle.channels).whole())


def _product(stages: sdp.Stages, name: str, factor: float) -> SdpStage:
    """An fp16 stage that multiplies every channel with a factor."""
    mode = stages.table(name, np.array([factor], np.float16))
    return SdpStage(enable=1, type=SdpOpType.MUL, mode=mode, precision=FP16)
