"""What nodes, and tensors that go to the hardware and back, cost about: to choose between cuts.

Host times are no part of any model of ours; these are rough figures of one core of a host beside
the accelerator, good enough to see that two transfers for a handful of additions do not pay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from cudla_sim.nvdla.facts.configs import config
from cudla_sim.nvdla.parts.part import Tensor
from cudla_sim.nvdla.parts.transfers import transfers

from .split import Cut, reads

if TYPE_CHECKING:
    import onnx

HOST_MACS = 10e9
"""Multiply-accumulates a second of the host."""
HOST_BYTES = 4e9
"""Bytes a second that the host's simple operations read and write."""
HARDWARE_HERTZ = 1e9
HARDWARE_SHARE = 0.5
"""Of the multipliers that work, on average."""
HARDWARE_BYTES = 8e9
"""Bytes a second of the hardware's simple operations."""
TRANSFER = 20e-6
"""Seconds of a transfer beside its bytes: a task begins or ends, caches are flushed."""
TRANSFER_BYTES = 1e9
"""Bytes of floats a second that the host turns into a layout of the hardware, or back."""

_WEIGHTS = {"Conv": (0, 1), "ConvTranspose": (0, 1), "ConvInteger": (0, 1), "QLinearConv": (0, 3)}
_PRODUCTS = {"MatMul": 0, "MatMulInteger": 0, "QLinearMatMul": 0, "Gemm": 0}


def macs_of(node: onnx.NodeProto, shapes: Mapping[str, Sequence[int]]) -> int:
    """Multiply-accumulates of a node; 0 for what has none, or where shapes are not known."""
    if not node.output or any(name and name not in shapes for name in node.output[:1]):
        return 0
    result = prod(shapes[node.output[0]])
    try:
        if node.op_type in _WEIGHTS:
            data, weights = (shapes[node.input[place]] for place in _WEIGHTS[node.op_type])
            if node.op_type == "ConvTranspose":
                result = prod(data)
            return result * prod(weights[1:])
        if node.op_type in _PRODUCTS:
            left = shapes[node.input[_PRODUCTS[node.op_type]]]
            turned = any(a.name == "transA" and a.i for a in node.attribute)
            return result * (left[-2] if turned else left[-1])
    except (KeyError, IndexError):
        return 0
    return 0


class Costs:
    """Of the nodes of a model on a configuration; *tensors*: all that is known of shapes."""

    def __init__(self, model: onnx.ModelProto, tensors: Mapping[str, Tensor], hardware: str):
        self._nodes = model.graph.node
        self._tensors = tensors
        shapes = {name: tensor.shape for name, tensor in tensors.items()}
        for item in model.graph.initializer:
            shapes.setdefault(item.name, tuple(item.dims))
        self._macs = [macs_of(node, shapes) for node in model.graph.node]
        self._rate = config(hardware).macs_per_cycle() * HARDWARE_HERTZ * HARDWARE_SHARE

    def macs(self, numbers: Iterable[int]) -> int:
        """Multiply-accumulates of nodes."""
        return sum(self._macs[number] for number in numbers)

    def host(self, numbers: Iterable[int]) -> float:
        """Seconds of nodes on the host."""
        return sum(self._macs[n] / HOST_MACS + self._touched(n) / HOST_BYTES for n in numbers)

    def hardware(self, numbers: Iterable[int]) -> float:
        """Seconds of nodes on the hardware."""
        return sum(
            max(self._macs[n] / self._rate, self._touched(n) / HARDWARE_BYTES) for n in numbers
        )

    def of(self, cuts: Sequence[Cut]) -> float:
        """Seconds of a network in parts."""
        moved = sum(
            TRANSFER + self._bytes(item.tensor) / TRANSFER_BYTES for item in transfers(cuts)
        )
        return moved + sum((self.host if c.host else self.hardware)(c.nodes) for c in cuts)

    def _touched(self, number: int) -> int:
        node = self._nodes[number]
        return sum(self._bytes(name) for name in (*reads(node), *node.output))

    def _bytes(self, name: str) -> int:
        found = self._tensors.get(name)
        return 0 if found is None else found.size
