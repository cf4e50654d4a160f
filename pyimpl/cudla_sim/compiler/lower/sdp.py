"""One SDP operation from a fitted pass: units, factors, shifts, tables.

Integers: X1 brings the sum of a convolution (or a tensor) to a common unit, the stages behind it
compute in that unit, and the output converter rounds to the output's scale. Where nothing but
ReLU follows X1, its unit is the output's scale itself: one rounding in all.
Source: nvdla hardware manual "SDP".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.descriptors import (
    Activation,
    CvtParam,
    DataCube,
    OpType,
    SdpMode,
    SdpOp,
    SdpOpType,
    SdpStage,
    SdpSurface,
)
from cudla_sim.nvdla.facts.limits import LARGEST
from cudla_sim.nvdla.facts.modes import Alu
from cudla_sim.nvdla.facts.precisions import FP16, FP16_TOP, INT8, INT8_TOP, INT16, INT16_TOP, TOPS

from ..graph import PRelu
from . import curve_tables, numbers
from .at_once import ALONE, Together
from .cubes import Buffer, Cube, Values
from .curve_tables import Inputs
from .cuts import boxes
from .fit import Fit, Limit, Operand, channels_of
from .task import Task

_ALU = {"max": Alu.MAX, "min": Alu.MIN, "add": Alu.SUM}
_SPARE = {INT8: 8, INT16: 3}
"""Fraction bits below the output's step while stages follow X1."""
_PASS = CvtParam(1, 0, 1, 0)
_SPARE_RESULTS = 2.0
"""Results of a curve may become this much larger than those that were measured."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What CACC delivers: *step* [kernels] is the real value of one of its integers, of how many
    *pictures* together; *winograd*: tile by tile."""

    kernels: int
    height: int
    width: int
    step: NDArray[np.float64]
    pictures: Together = ALONE
    winograd: bool = False


class Stages:
    """The stages of one operation while they are filled."""

    def __init__(
        self, task: Task, fit: Fit, source: Cube | Sums, target: Cube, values: Values
    ) -> None:
        self.task, self.fit, self.values = task, fit, values
        self.source, self.target = source, target
        self.precision = source.precision if isinstance(source, Cube) else fit.precision
        self.positions = target.positions
        self.reads: set[Buffer] = set()
        self.x1, self.x2, self.y = SdpStage(), SdpStage(), SdpStage()
        self.cubes = {name: DataCube(address=0) for name in ("x1", "x2", "y")}
        self.cvt = _PASS
        self.lut_index = -1

    # -- operands -----------------------------------------------------------------------------

    def table(self, name: str, *columns: NDArray[Any]) -> SdpMode:
        """Constant operands, per channel [c] or per element [c, h, w]; return their mode."""
        self.reads.add(self.task.weights)
        if columns[0].ndim == 3:
            self.cubes[name] = self._element_table(columns[0])
            return SdpMode.PER_POINT
        spread = [self._spread(column) for column in columns]
        self.cubes[name] = self.task.table(self.precision, *spread)
        return SdpMode.PER_KERNEL

    def _spread(self, column: NDArray[Any]) -> NDArray[Any]:
        whole = np.broadcast_to(column, (len(self.positions),))
        return self.target.spread(whole)

    def _element_table(self, table: NDArray[Any]) -> DataCube:
        """A cube of operands, two bytes each."""
        target = self.target
        shape = (len(self.positions), target.height, target.width)
        whole = np.broadcast_to(table, shape)
        atom = target.per_atom
        full = np.zeros((-(-target.channels // atom) * atom, *shape[1:]), table.dtype)
        full[self.positions] = whole
        moved = full.reshape(-1, atom, *shape[1:]).transpose(0, 2, 3, 1)
        data = np.ascontiguousarray(moved).reshape(-1).view(np.uint8)
        line = target.width * atom * table.itemsize
        cube = DataCube(
            size=len(data),
            width=target.width,
            height=target.height,
            channel=target.channels,
            line_stride=line,
            surf_stride=line * target.height,
        )
        return self.task.at(cube, self.task.weights, self.task.constant(data))

    def _tensor(self, name: str, operand: Operand) -> SdpMode:
        """An operand in memory: per element, or per channel from a 1 x 1 cube."""
        cube = self.values.cube(operand.value)
        self.cubes[name] = self.task.cube(cube)
        self.reads.add(cube.buffer)
        single = (cube.height, cube.width) == (1, 1)
        if single and (self.target.height, self.target.width) != (1, 1):
            return SdpMode.PER_KERNEL
        return SdpMode.PER_POINT

    # -- fp16 ---------------------------------------------------------------------------------

    def real(self) -> None:
        """Fill all stages for fp16."""
        fit = self.fit
        scale, shift = fit.scale, fit.shift
        if isinstance(self.source, Cube) and self.source.scale != 1.0:  # it counts steps
            scale = (np.ones(1) if scale is None else scale) * self.source.scale
        if fit.conv:
            if scale is not None:
                mode = self.table("x1", scale.astype(np.float16))
                self.x1 = SdpStage(enable=1, type=SdpOpType.MUL, mode=mode, precision=FP16)
            elif shift is not None:
                mode = self.table("x1", _finite(shift))
                self.x1 = self._alu_stage("add", mode, FP16)
        else:
            if scale is not None and np.any(scale != 1.0):
                mode = self.table("x1", _finite(scale))
                self.x1 = SdpStage(enable=1, type=SdpOpType.MUL, mode=mode, precision=FP16)
            if shift is not None:
                mode = self.table("x2", _finite(shift))
                self.x2 = self._alu_stage("add", mode, FP16)
        if fit.x1_limit is not None:
            self.x1 = self._half_limit(fit.x1_limit)
        if fit.x1_relu:
            self._relu(self.x1)
        if isinstance(fit.x2, Operand):
            self.x2 = self._operand_stage("x2", fit.x2)
        elif isinstance(fit.x2, Limit):
            self.x2 = self._half_limit(fit.x2)
        elif isinstance(fit.x2, PRelu):
            slopes = channels_of(fit.x2.slope)
            mode = self.table("x2", _finite(slopes))
            self.x2 = SdpStage(
                enable=1, type=SdpOpType.MUL, mode=mode, act=Activation.PRELU, precision=FP16
            )
        if fit.x2_relu:
            self._relu(self.x2)
        self._half_y()

    def _alu_stage(self, function: str, mode: SdpMode, precision: int) -> SdpStage:
        return SdpStage(
            enable=1, alu_type=_ALU[function], type=SdpOpType.ADD, mode=mode, precision=precision
        )

    def _half_limit(self, limit: Limit) -> SdpStage:
        stage = self._alu_stage(limit.function, SdpMode.PER_LAYER, FP16)
        stage.alu_operand = int(np.float16(limit.bound).view(np.uint16))
        return stage

    def _operand_stage(self, name: str, operand: Operand) -> SdpStage:
        """An X stage with a tensor operand."""
        mode = self._tensor(name, operand)
        precision = self.values.cube(operand.value).precision
        if operand.function == "mul":
            return SdpStage(enable=1, type=SdpOpType.MUL, mode=mode, precision=precision)
        return self._alu_stage(operand.function, mode, precision)

    @staticmethod
    def _relu(stage: SdpStage) -> None:
        stage.enable, stage.act = 1, Activation.RELU

    def _half_y(self) -> None:
        fit, y = self.fit, self.y
        self._y_operands(None)
        if isinstance(fit.y_alu, Limit):
            y.alu_operand = int(np.float32(fit.y_alu.bound).view(np.int32))
        if isinstance(fit.y_mul, PRelu):
            self._y_prelu(_finite(channels_of(fit.y_mul.slope)))
        if fit.lut is not None:
            self._y_lut(curve_tables.half(fit.lut, self._inputs()))

    # -- Y ------------------------------------------------------------------------------------

    def _y_operands(self, unit: float | None) -> float | None:
        """Enter the operands of Y; return the unit behind them (None in fp16)."""
        fit, y = self.fit, self.y
        y.precision = self.precision
        if fit.y_mul is None and fit.y_alu is None:
            return unit
        y.enable = 1
        if isinstance(fit.y_mul, Operand):
            y.type = SdpOpType.MUL
            y.mode = self._tensor("y", fit.y_mul)
            if zero := self.values.cube(fit.y_mul.value).zero:
                y.mul_cvt = replace(_PASS, offset=zero)
            if unit is not None:
                unit *= self.values.scale(fit.y_mul.value)
                y.truncate = self._product_shift()
                unit *= 2.0**y.truncate
        if fit.y_alu is not None:
            y.alu_type = _ALU[fit.y_alu.function]
            y.type = SdpOpType.ADD
        if isinstance(fit.y_alu, Operand):
            y.mode = self._tensor("y", fit.y_alu)
            if unit is not None:
                made = numbers.converter(self.values.scale(fit.y_alu.value) / unit)
                y.alu_cvt = replace(made, offset=self.values.cube(fit.y_alu.value).zero)
        return unit

    def _product_shift(self) -> int:
        """Bits to drop from a product so that it stays within 32."""
        return 0 if self.precision == INT8 else 12

    def _y_prelu(self, table: NDArray[Any], shift: int = 0) -> None:
        y = self.y
        y.enable, y.type, y.act, y.truncate = 1, SdpOpType.MUL, Activation.PRELU, shift
        y.mode = self.table("y", table)
        y.precision = FP16 if self.precision == FP16 else INT16

    def _y_lut(self, table: curve_tables.Table) -> None:
        self.y.enable, self.y.act = 1, Activation.LUT
        self.lut_index = self.task.lut(table.lut)
        self.task.curves[self.task.label] = table.decibels

    def _inputs(self) -> Inputs | None:
        """What is known of the table's inputs."""
        assert self.fit.lut is not None
        top = INT16_TOP if self.precision == INT16 else INT8_TOP
        largest = self.values.scale(self.fit.lut.inputs[0]) * top
        low, high, results = self.fit.seen or (-largest, largest, np.inf)
        if largest > 0:
            low, high = max(low, -largest), min(high, largest)
        elif self.fit.seen is None:
            return None
        precision = self.target.precision
        top = FP16_TOP if precision == FP16 else TOPS[precision] - self.target.zero
        held = top if precision == FP16 else top * self.target.scale
        # a scale alone does not say whether a pole lies within
        measured = self.precision != FP16 or self.fit.seen is not None
        return Inputs(low, high, min(held, _SPARE_RESULTS * results), measured)

    # -- integers -----------------------------------------------------------------------------

    def integer(self) -> None:
        """Fill all stages for int8 or int16."""
        step = self._step()
        direct = self._direct()
        unit = self._unit(step, direct)
        self._x1(step, unit)
        after = self._x2(unit)
        after = self._y_integer(after)
        self._converter(after)

    def _step(self) -> NDArray[np.float64]:
        """Real value of one integer that enters X1, per channel (with X1's own factor)."""
        source = self.source
        step = source.step if isinstance(source, Sums) else np.array([source.scale])
        scale = self.fit.scale
        if scale is None:
            return step
        if scale.ndim == 3:
            return step.reshape(-1, 1, 1) * scale
        return step * scale

    def _direct(self) -> bool:
        """True if X1 is nothing but a tensor passing through: no factor, no sum, no ReLU."""
        fit = self.fit
        plain = fit.scale is None and fit.shift is None
        return isinstance(self.source, Cube) and plain and not fit.x1_relu

    def _unit(self, step: NDArray[np.float64], direct: bool) -> float:
        """Choose the unit behind X1."""
        fit, out = self.fit, self.target.scale
        spare = 2.0 ** _SPARE[self.precision]
        if isinstance(fit.x2, Operand) and fit.x2.function != "mul":
            other = self.values.scale(fit.x2.value)
            bits = ceil(log2(max(other / (out / spare), 1.0)))
            return other / 2.0 ** min(max(bits, 4), 14 if self.precision == INT8 else 4)
        if isinstance(fit.x2, Operand):
            if direct:
                return float(step[0])
            before = fit.x2.node.inputs
            main = before[0] if before[0] is not fit.x2.value else before[-1]
            return self.values.scale(main) / spare
        if fit.lut is not None and fit.y_mul is None and not isinstance(fit.y_alu, Operand):
            if direct and fit.x2 is None and not fit.x2_shift:
                return float(step[0])
            return self._table_unit(step)
        if fit.y_mul is None and fit.y_alu is None and fit.x2 is None and not fit.x2_shift:
            return out
        if direct and fit.x2 is None and not fit.x2_shift:
            return float(step[0])
        return out / spare

    def _table_unit(self, step: NDArray[np.float64]) -> float:
        """The finest unit for the curve that X1's factors reach."""
        assert self.fit.lut is not None
        inputs = self._inputs()
        assert inputs is not None
        unit = curve_tables.best_unit(self.fit.lut, inputs)
        largest = float(np.abs(step).max())
        while largest / unit > INT16_TOP:
            unit *= 2
        return unit

    def _x1(self, step: NDArray[np.float64], unit: float) -> None:
        fit = self.fit
        tensor = isinstance(self.source, Cube) and fit.scale is None
        zero = self.source.zero if isinstance(self.source, Cube) else 0
        if tensor and np.isclose(float(step[0]), unit, rtol=1e-12):
            if zero:
                self.x1 = self._alu_stage("add", SdpMode.PER_LAYER, INT16)
                self.x1.alu_operand = -zero
            if fit.x1_relu:
                self._relu(self.x1)
            return
        factor = numbers.factors(step / unit)
        stage = SdpStage(enable=1, precision=INT16, truncate=factor.shift)
        if isinstance(self.source, Sums) and fit.shift is not None:
            # step 0 only where weights are 0: their factor is 1 output step a unit of the bias
            bias = numbers.sums(np.rint(fit.shift / np.where(step == 0, unit, step)))
            stage.type, stage.alu_type, stage.shift_value = SdpOpType.BOTH, _ALU["add"], bias.shift
            mode = self.table("x1", bias.values, factor.values)
        elif factor.values.size == 1 and not fit.conv:
            stage.type, mode = SdpOpType.MUL, SdpMode.PER_LAYER
            stage.mul_operand = int(factor.values[0])
            if zero:
                stage.type, stage.alu_type = SdpOpType.BOTH, _ALU["add"]
                stage.alu_operand = -zero
        elif zero:
            stage.type, stage.alu_type = SdpOpType.BOTH, _ALU["add"]
            mode = self.table("x1", np.full(1, -zero, np.int16), factor.values)
        else:
            stage.type = SdpOpType.MUL
            mode = self.table("x1", factor.values)
        stage.mode = mode
        if fit.x1_relu:
            stage.act = Activation.RELU
        self.x1 = stage

    def _x2(self, unit: float) -> float:
        """Fill X2; return the unit behind it."""
        fit = self.fit
        if isinstance(fit.x2, Operand):
            self.x2 = self._operand_stage("x2", fit.x2)
            other = self.values.scale(fit.x2.value)
            if fit.x2.function == "mul":
                self.x2.truncate = self._product_shift()
                unit *= other * 2.0**self.x2.truncate
            else:
                self.x2.shift_value = round(log2(other / unit))
        elif isinstance(fit.x2, Limit):
            self.x2 = self._integer_limit(fit.x2, unit)
        elif isinstance(fit.x2, PRelu):
            slope = numbers.factors(channels_of(fit.x2.slope))
            mode = self.table("x2", slope.values)
            self.x2 = SdpStage(
                enable=1,
                type=SdpOpType.MUL,
                mode=mode,
                act=Activation.PRELU,
                truncate=slope.shift,
                precision=INT16,
            )
        elif fit.x2_shift and fit.shift is not None:
            total = numbers.sums(np.rint(fit.shift / unit))
            mode = self.table("x2", total.values)
            self.x2 = self._alu_stage("add", mode, INT16)
            self.x2.shift_value = total.shift
        if fit.x2_relu:
            self._relu(self.x2)
        return unit

    def _integer_limit(self, limit: Limit, unit: float) -> SdpStage:
        bound = numbers.sums(np.rint(limit.bound / unit))
        stage = self._alu_stage(limit.function, SdpMode.PER_LAYER, INT16)
        stage.alu_operand, stage.shift_value = int(bound.values[0]), bound.shift
        return stage

    def _y_integer(self, unit: float) -> float:
        fit, y = self.fit, self.y
        result = self._y_operands(unit)
        assert result is not None
        unit = result
        if isinstance(fit.y_mul, PRelu):
            slope = numbers.factors(channels_of(fit.y_mul.slope))
            self._y_prelu(slope.values, slope.shift)
        if isinstance(fit.y_alu, Limit):
            y.alu_operand = int(np.clip(np.rint(fit.y_alu.bound / unit), -(2**31), 2**31 - 1))
        if fit.lut is None:
            return unit
        source = self.source
        exact = (
            isinstance(source, Cube)
            and unit == source.scale
            and self.precision == INT8
            and not self.x1.enable
            and not self.x2.enable
        )
        inputs = self._inputs()
        assert inputs is not None
        table = curve_tables.integer(fit.lut, unit, inputs, exact)
        self._y_lut(table)
        return table.unit

    def _converter(self, unit: float) -> None:
        out = self.target.scale
        same = np.isclose(unit, out, rtol=1e-12)
        self.cvt = _PASS if same else numbers.converter(unit / out)
        offset = -self.target.zero * out
        operand = self.fit.x2
        if isinstance(operand, Operand) and self.fit.zero_at(operand) == "out":
            zero = self.values.cube(operand.value).zero
            offset += zero * self.values.scale(operand.value)
        if offset:  # the converter subtracts before it multiplies
            self.cvt = replace(self.cvt, offset=round(offset / unit))

    # -- the operation ------------------------------------------------------------------------

    def append(self, onward: bool = False) -> None:
        """Append the operation with the stages as they are filled; *onward*: its result goes to PDP
        and into no memory."""
        task, source, target = self.task, self.source, self.target
        if isinstance(source, Cube):
            src = task.cube(source)
            self.reads.add(source.buffer)
        else:
            src = task.flying(source.kernels, source.height, source.width)
        operation = SdpOp(
            src_precision=self.precision,
            dst_precision=target.precision,
            lut_index=self.lut_index,
            out_cvt=self.cvt,
            x1=self.x1,
            x2=self.x2,
            y=self.y,
        )
        if isinstance(source, Sums):
            operation.conv_mode = int(source.winograd)
            if source.pictures.count > 1:
                operation.batch_num = source.pictures.count
                operation.batch_stride = source.pictures.target
        if onward:
            dst = task.flying(target.channels, target.height, target.width)
        else:
            dst = task.cube(target)
        surface = SdpSurface(src=src, dst=dst, **self.cubes)
        task.append(OpType.SDP, operation, surface, self.reads, () if onward else {target.buffer})


def emit(
    task: Task,
    fit: Fit,
    source: Cube | Sums,
    target: Cube,
    values: Values,
    onward: bool = False,
) -> None:
    """Append the SDP operation of a pass (behind a convolution: right after it, with *values* of
    :func:`settled`); *onward*: PDP takes what it makes."""
    if isinstance(source, Cube):
        if max(target.height, target.width) > LARGEST:
            for part in boxes(fit, source, target, values):
                emit(task, *part)
            return
        source, values = gathered(task, source), settled(task, fit, values)
    if target.loose and not onward:
        together = task.packed(target)
        emit(task, fit, source, together, values)
        copy(task, together.whole(), target.whole())
        return
    stages = Stages(task, fit, source, target, values)
    if stages.precision == FP16:
        stages.real()
    else:
        stages.integer()
    stages.append(onward)


def copy(task: Task, source: Cube, target: Cube) -> None:
    """Append a copy of everything, to the target's scale."""
    if (source.scale, source.zero) == (target.scale, target.zero):  # the integers themselves
        source, target = replace(source, zero=0), replace(target, zero=0)
    if (source.loose or target.loose) and source.per_atom == target.per_atom:
        source, target = source.as_lines(), target.as_lines()
    fit = Fit(task.config, source.precision, False, source.channels)
    same = Values(lambda _: source, lambda _: source.scale)
    emit(task, fit, source, target, same)


def gathered(task: Task, cube: Cube) -> Cube:
    """The cube, or a copy of it where SDP would not read it as it lies."""
    if not cube.loose:
        return cube
    together = task.packed(cube)
    copy(task, cube.whole(), together.whole())
    return together


def settled(task: Task, fit: Fit, values: Values) -> Values:
    """Values whose cubes SDP reads as they lie; appends the copies that this takes."""
    cubes = {item.value: gathered(task, values.cube(item.value)) for item in fit.operands}
    return Values(cubes.__getitem__, values.scale)


def _finite(array: NDArray[np.float64]) -> NDArray[np.float16]:
    return np.clip(array, -FP16_TOP, FP16_TOP).astype(np.float16)
