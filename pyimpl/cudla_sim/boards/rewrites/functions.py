"""Functions of elements as pieces that the DLA has: Scale, ReLU, clipped ReLU, products."""

from __future__ import annotations

from math import ceil, inf, isfinite, log2
from typing import TYPE_CHECKING, Any

import numpy as np

from .edit import Edit, NotPossible
from .registry import rewrites

if TYPE_CHECKING:
    import onnx

LEAST_TOP, MOST_TOP = 1.0, 127.0
"""Developer guide 8.4, Activation: clipped ReLU has an upper value of 1 to 127."""


class _Row:
    """Nodes one behind the other in the place of one."""

    def __init__(self, edit: Edit, node: onnx.NodeProto, value: str) -> None:
        self.edit, self.node, self.value = edit, node, value
        self.made: list[Any] = []
        self._like = value

    def _hint(self, word: str) -> str:
        return f"{self.node.name}/{word}"

    def _add(self, node: Any) -> None:
        self.made.append(node)
        self.value = node.output[0]

    def times(self, factor: float) -> None:
        if factor != 1:
            name = self.edit.constant(factor, self._hint("factor"), self._like)
            self._add(self.edit.make("Mul", [self.value, name], self._hint("mul")))

    def plus(self, term: float) -> None:
        if term != 0:
            name = self.edit.constant(term, self._hint("term"), self._like)
            self._add(self.edit.make("Add", [self.value, name], self._hint("add")))

    def by(self, other: str) -> None:
        self._add(self.edit.make("Mul", [self.value, other], self._hint("mul")))

    def relu(self) -> None:
        self._add(self.edit.make("Relu", [self.value], self._hint("relu")))

    def up_to(self, top: float) -> None:
        """Clipped ReLU; a power of two brings *top* to where it may be, and rounds nothing."""
        shift = 0
        if top < LEAST_TOP:
            shift = ceil(-log2(top))
        elif top > MOST_TOP:
            shift = -ceil(log2(top / MOST_TOP))
        self.times(2.0**shift)
        clipped = self.edit.clip(self.value, top * 2.0**shift, self._hint("clip"), self._like)
        self._add(clipped)
        self.times(2.0**-shift)

    def put(self) -> None:
        self.made[-1].output[0] = self.node.output[0]
        self.edit.put([self.node], self.made)


@rewrites("hard-swish", "HardSwish", "HardSigmoid")
def hard(edit: Edit, node: onnx.NodeProto) -> str:
    """HardSigmoid(x) is x * alpha + beta, held in 0 to 1; HardSwish multiplies it by x."""
    row = _Row(edit, node, node.input[0])
    if node.op_type == "HardSwish":
        row.plus(3.0)
        row.up_to(6.0)
        row.times(1 / 6)
        row.by(node.input[0])
        row.put()
        return "Add 3, Clip to 0..6, Mul by 1/6, Mul"
    row.times(edit.attribute(node, "alpha", 0.2))
    row.plus(edit.attribute(node, "beta", 0.5))
    row.up_to(1.0)
    row.put()
    return "Mul, Add, Clip to 0..1"


@rewrites("clip", "Clip")
def clip(edit: Edit, node: onnx.NodeProto) -> str:
    low, high = _limits(edit, node)
    if edit.kind(node.input[0]).kind != "f" or low >= high:
        raise NotPossible(f"a Clip of {edit.kind(node.input[0])} from {low:g} to {high:g}")
    row = _Row(edit, node, node.input[0])
    if low == -inf and high == inf:
        raise NotPossible("it limits nothing; leave the node out")
    if low == -inf:  # high - max(high - x, 0)
        row.times(-1)
        row.plus(high)
        row.relu()
        row.times(-1)
        row.plus(high)
        text = "ReLU between Scales"
    elif high == inf:
        row.plus(-low)
        row.relu()
        row.plus(low)
        text = "ReLU between Scales" if low else "ReLU"
    else:
        row.plus(-low)
        row.up_to(high - low)
        row.plus(low)
        text = "clipped ReLU between Scales"
    row.put()
    return text


def _limits(edit: Edit, node: onnx.NodeProto) -> tuple[float, float]:
    found = []
    for index, name, default in ((1, "min", -inf), (2, "max", inf)):
        if edit.input(node, index):
            array = edit.given(node, index)
            if array is None:
                raise NotPossible(f"its {name} is computed at run time")
            found.append(float(array.reshape(-1)[0]))
        else:
            found.append(float(edit.attribute(node, name, default)))
    low, high = (v if isfinite(v) and abs(v) < 3e38 else d
                 for v, d in zip(found, (-inf, inf), strict=True))  # fmt: skip
    return low, high


@rewrites("divide-by-constant", "Div")
def divide(edit: Edit, node: onnx.NodeProto) -> str:
    divisor = edit.given(node, 1)
    if divisor is None or edit.given(node, 0) is not None:
        raise NotPossible("its divisor is computed at run time")
    if not np.all(divisor):
        raise NotPossible("it divides by 0")
    factor = (1 / divisor.astype(np.float64)).astype(divisor.dtype)
    name = edit.constant(factor, f"{node.name}/factor")
    edit.put([node], [edit.make("Mul", [node.input[0], name], f"{node.name}/mul", node.output)])
    return "Mul by the reciprocal"


@rewrites("square", "Pow")
def square(edit: Edit, node: onnx.NodeProto) -> str:
    power = edit.given(node, 1)
    value = edit.varying(node)
    if power is None or not np.all(power == power.reshape(-1)[0]):
        raise NotPossible("its exponent is not one constant")
    times = float(power.reshape(-1)[0])
    if times not in (2.0, 3.0, 4.0):
        raise NotPossible(f"its exponent is {times:g}; 2, 3 and 4 are products")
    row = _Row(edit, node, value)
    row.by(value)
    if times == 3.0:
        row.by(value)
    elif times == 4.0:
        row.by(row.value)
    row.put()
    return f"a product of {times:g}" if times == 3.0 else "Mul of it by itself"


@rewrites("negate", "Neg")
def negate(edit: Edit, node: onnx.NodeProto) -> str:
    row = _Row(edit, node, node.input[0])
    row.times(-1)
    row.put()
    return "Mul by -1"


@rewrites("leave-out", "Identity", "Dropout")
def leave_out(edit: Edit, node: onnx.NodeProto) -> str:
    """Identity and Dropout: who read the result reads the input."""
    edit.remove(node)
    return "nothing: it changes nothing"


@rewrites("sum-and-scale", "Mean")
def mean_of_tensors(edit: Edit, node: onnx.NodeProto) -> str:
    """Mean of several tensors."""
    hint = f"{node.name}/sum"
    total = edit.make("Sum", list(node.input), hint)
    factor = edit.constant(1 / len(node.input), f"{node.name}/factor", node.input[0])
    scale = edit.make("Mul", [total.output[0], factor], f"{node.name}/mul", node.output)
    edit.put([node], [total, scale])
    return "Sum, Mul"
