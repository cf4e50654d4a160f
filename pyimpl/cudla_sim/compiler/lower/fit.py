"""Which operations fit into one pass of SDP, and into which of its stages.

The stages work in a fixed order: X1 and X2 each an ALU, a multiplier and ReLU; Y (where the
configuration has it) a multiplier, an ALU and the look-up table; then the output converter.
A stage takes its ALU and multiplier operands from one place (registers, per channel, per element).
Source: nvdla hardware manual "SDP"; firmware interface (dla_sdp_op).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.precisions import FP16, INT8

from ..graph import Affine, Binary, Clip, Curve, Node, PRelu, Value

Real = NDArray[np.float64]


class Level(IntEnum):
    """How far a pass is filled: the last part of SDP that is used."""

    EMPTY = 0
    X1 = 1
    X1_RELU = 2
    X2 = 3
    X2_RELU = 4
    Y_MUL = 5
    Y_ALU = 6
    LUT = 7


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor operand: the value, and the node that wants it."""

    function: str
    value: Value
    node: Node


@dataclass(frozen=True, slots=True)
class Limit:
    """Minimum with a constant ("min") or maximum ("max")."""

    function: str
    bound: float


@dataclass(eq=False)
class Fit:
    """The operations of one pass, in their stages. Real numbers throughout.

    *scale* and *shift* (per channel, or per element as [c, h, w]) are X1's; behind memory a shift
    takes X2. *seen* are the least and the largest input of the table, and the largest magnitude of
    its results, where they were measured.
    *low* and *high* are limits that saturation of the output may stand for.
    """

    config: HardwareConfig
    precision: int
    conv: bool
    channels: int
    scale: Real | None = None
    shift: Real | None = None
    x1_relu: bool = False
    x1_limit: Limit | None = None
    x2: Operand | Limit | PRelu | None = None
    x2_shift: bool = False
    x2_relu: bool = False
    y_mul: Operand | PRelu | None = None
    y_alu: Operand | Limit | None = None
    lut: Curve | None = None
    seen: tuple[float, float, float] | None = None
    low: float = -np.inf
    high: float = np.inf
    level: Level = Level.EMPTY
    nodes: list[Node] = field(default_factory=list)

    @property
    def has_y(self) -> bool:
        """Y and its table come together."""
        return self.config.lut

    @property
    def operands(self) -> list[Operand]:
        """Tensor operands of the pass."""
        return [item for item in (self.x2, self.y_mul, self.y_alu) if isinstance(item, Operand)]

    def zero_at(self, operand: Operand) -> str | None:
        """Where the pass makes up for an operand whose integer for 0 is not 0: in the bias of the
        convolution ("x1"), in the operand's own converter ("y"), in the output's converter
        ("out"); None: nowhere."""
        per_element = self.scale is not None and self.scale.ndim == 3
        if self.precision != INT8 or per_element:
            return None
        if operand is not self.x2:
            return "y"
        if operand.function != "add":
            return None
        if self.conv and not self.x1_relu:
            return "x1"
        limited = np.isfinite(self.low) or np.isfinite(self.high)
        behind = self.x2_relu or self.y_mul is not None or self.y_alu is not None or self.lut
        return None if behind or limited else "out"

    def take(self, node: Node, main: Value) -> bool:
        """Add *node*, whose input *main* is what the pass has computed so far; False if it
        does not fit."""
        if self.level == Level.LUT or not self._settle(node):
            return False
        if isinstance(node, Affine):
            taken = self._affine(node)
        elif isinstance(node, Clip):
            taken = self._clip(node)
        elif isinstance(node, PRelu):
            taken = self._prelu(node)
        elif isinstance(node, Curve):
            taken = self.has_y and not isinstance(self.y_mul, PRelu)
            if taken:
                self.lut, self.level = node, Level.LUT
        elif isinstance(node, Binary):
            taken = self._binary(node, main)
        else:
            taken = False
        if taken:
            self.nodes.append(node)
        return taken

    def _settle(self, node: Node) -> bool:
        """Give limits left to the output a stage of their own if more follows."""
        if isinstance(node, Clip):
            return True
        for name, function in (("high", "min"), ("low", "max")):
            bound = float(getattr(self, name))
            if np.isfinite(bound):
                if not self.limit(Limit(function, bound)):
                    return False
                setattr(self, name, np.inf if name == "high" else -np.inf)
        return True

    def limit(self, limit: Limit) -> bool:
        """Give a limit a stage; False if none is left."""
        if not self.conv and self.level == Level.EMPTY and self.precision == FP16:
            self.x1_limit, self.level = limit, Level.X1_RELU
        elif self.level < Level.X2:
            self.x2, self.level = limit, Level.X2
        elif self.has_y and self.level < Level.Y_MUL:
            self.y_alu, self.level = limit, Level.Y_ALU
        else:
            return False
        return True

    def _relu(self) -> bool:
        if self.level <= Level.X1_RELU:
            self.x1_relu, self.level = True, Level.X1_RELU
        elif self.level <= Level.X2_RELU and not isinstance(self.x2, PRelu):
            self.x2_relu, self.level = True, Level.X2_RELU
        else:
            return self.limit(Limit("max", 0.0))
        return True

    def _clip(self, node: Clip) -> bool:
        before = (self.low, self.high)
        low, high = node.low, node.high
        if np.isfinite(low) and low == 0.0:
            if not self._relu():
                return False
            low = -np.inf
        if self.precision == FP16:
            for bound, function in ((low, "max"), (high, "min")):
                if np.isfinite(bound) and not self.limit(Limit(function, float(bound))):
                    return False
            return True
        self.low, self.high = max(before[0], low), min(before[1], high)
        return True

    def _affine(self, node: Affine) -> bool:
        scale, shift = (channels_of(item) for item in (node.scale, node.shift))
        if self.level > Level.X1:
            return False
        per_element = scale.ndim == 3 or shift.ndim == 3
        if self.level == Level.EMPTY and per_element:
            if self.conv and (np.any(shift) or self.shift is not None):
                return False
            self.scale = scale
            self.shift = shift if np.any(shift) else None
            self.level = Level.X2 if self.shift is not None else Level.X1_RELU
            self.x2_shift = self.shift is not None
            return True
        if per_element or (self.scale is not None and self.scale.ndim == 3):
            return False
        old_scale = np.ones(1) if self.scale is None else self.scale
        old_shift = np.zeros(1) if self.shift is None else self.shift
        self.scale = old_scale * scale
        total = old_shift * scale + shift
        self.shift = total if np.any(total) else None
        self.x2_shift = self.shift is not None and not self.conv
        self.level = Level.X2 if self.x2_shift else Level.X1
        return True

    def _used_x2(self) -> bool:
        return self.x2 is not None or self.x2_shift or self.level >= Level.X2

    def _prelu(self, node: PRelu) -> bool:
        if not self._used_x2():
            self.x2, self.level = node, Level.X2
        elif self.has_y and self.level < Level.Y_MUL:
            self.y_mul, self.level = node, Level.Y_MUL
        else:
            return False
        return True

    def _binary(self, node: Binary, main: Value) -> bool:
        other = node.inputs[1] if node.inputs[0] is main else node.inputs[0]
        function = node.function
        if other.shape[1:] not in (main.shape[1:], (main.shape[1], 1, 1)):
            return False
        if function == "sub":
            if node.inputs[1] is not main or self.level > Level.X1 or node.inputs[0] is main:
                return False
            self.scale = -(np.ones(1) if self.scale is None else self.scale)
            self.shift = None if self.shift is None else -self.shift
            self.level = Level.X1
            function = "add"
        operand = Operand(function, other, node)
        if not self._used_x2():
            self.x2, self.level = operand, Level.X2
        elif function == "mul" and self.has_y and self.level < Level.Y_MUL:
            self.y_mul, self.level = operand, Level.Y_MUL
        elif function != "mul" and self.has_y and self.level < Level.Y_MUL:
            self.y_alu, self.level = operand, Level.Y_ALU
        else:
            return False
        return True


def channels_of(array: NDArray[np.float32]) -> Real:
    """(1, c, h, w) that broadcasts -> [c] or [1], or [c, h, w] if it differs by pixel."""
    data = np.asarray(array, np.float64)
    data = data.reshape((1,) * (4 - data.ndim) + data.shape)[0]
    return data[:, 0, 0] if data.shape[1:] == (1, 1) else data
