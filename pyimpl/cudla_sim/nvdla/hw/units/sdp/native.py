"""SDP for the compiled functions.

They leave out: comparisons (EQL), integers that become fp16.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from .....constants.native_types import sim_sdp, sim_stage
from .....native import ints
from ....facts.precisions import FP16, RANGES
from ...memory import touch
from . import stages
from .registers import EwParams


def _operand(stage: stages.Stage, alu: bool, floating: bool) -> ints.Operand:
    p = stage.p
    shift = getattr(p, "alu_shift", 0) if alu else 0
    if not (p.alu_memory if alu else p.mul_memory):
        return ints.Operand(float(stage.number(alu, floating)), shift=shift)
    assert stage.operands is not None
    part = stage.operands.component(1 if alu else 0)
    convert = None
    if floating:
        return ints.Operand(0.0, stage.operands.view[..., part])
    if isinstance(p, EwParams):
        if alu and not p.alu_cvt_bypass:
            convert = (p.alu_offset, p.alu_scale, p.alu_truncate)
        elif not alu and not p.mul_cvt_bypass:
            convert = (p.mul_offset, p.mul_scale, p.mul_truncate)
    return ints.Operand(0.0, stage.operands.view[..., part], convert, shift)


def _stage(stage: stages.Stage, floating: bool) -> ints.Stage:
    p = stage.p
    job = sim_stage(
        y=stage.is_y,
        alu=ints.NO_ALU if p.alu_bypass else p.alu_algorithm,
        mul=not p.mul_bypass,
        prelu=bool(p.prelu),
        relu=not stage.is_y and not p.last_bypass,
        shift=p.shift,
    )
    return ints.Stage(
        job,
        ints.Operand() if p.alu_bypass else _operand(stage, True, floating),
        ints.Operand() if p.mul_bypass else _operand(stage, False, floating),
    )


def describe(
    processor: Any, stages: list[stages.Stage], target: NDArray[Any], source: Any
) -> ints.Sdp | None:
    """SDP for a layer that writes *target*; None when numpy has to do it.

    *source* is the input that lies in memory, if any. Elements are read just before those at their
    place are written, so inputs may share memory with the output only place by place.
    """
    p = processor.p
    active = [stage for stage in stages if not stage.p.bypass]
    if processor.equality or (processor.floating and target.itemsize != 2):
        return None
    if p.out_precision == FP16 and not processor.floating:
        return None
    described = [_stage(stage, processor.floating) for stage in active]
    inputs = [
        operand.values
        for stage in described
        for operand in (stage.alu_operand, stage.mul_operand)
        if operand.values is not None and operand.values.ndim > 1
    ]
    if source is not None:
        inputs.append(source)
    if any(touch(item, target) for item in inputs):
        return None
    low, high = RANGES[0 if p.out_precision == FP16 else p.out_precision]
    job = sim_sdp(
        height=p.height,
        width=p.width,
        channels=processor.padded_channels,
        offset=p.offset,
        factor=p.scale * 2.0**-p.shift,
        round=bool(p.shift),
        count_saturation=bool(p.count_saturation),
        low=low,
        high=high,
    )
    if processor.floating:
        rdma = processor.rdma
        job["nan_to_zero"] = bool(p.nan_to_zero)
        job["count_nan_inputs"] = bool(rdma and rdma.count_nan and source is not None)
        job["count_nan"] = bool(p.count_nan)
    lut = None if processor.lut is None else processor.lut.described()
    return ints.Sdp(job, described, target, lut, processor.floating)
