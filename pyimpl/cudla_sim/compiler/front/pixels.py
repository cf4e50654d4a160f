"""8-bit pictures in front of a network that wants real numbers: (pixel - mean) * scale.

The nodes that this takes go in front of the model as its exporter would have put them there; the
first convolution takes them into its weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CompileError

if TYPE_CHECKING:
    import onnx

LAYOUTS = ("nchw", "nhwc")


@dataclass(frozen=True, slots=True)
class Pixels:
    """Inputs that are pictures, with the order of their axes (of LAYOUTS); *mean* and *scale* are
    one number or one a channel, none for 0 and 1."""

    layouts: Mapping[str, str] = field(default_factory=dict)
    mean: Sequence[float] = ()
    scale: Sequence[float] = ()

    def __bool__(self) -> bool:
        return bool(self.layouts)

    def shapes(self, given: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
        """Shapes that were given for the model, as the pictures have them."""
        found = {name: tuple(shape) for name, shape in given.items()}
        for name, layout in self.layouts.items():
            if layout == "nhwc" and len(found.get(name, ())) == 4:
                n, c, h, w = found[name]
                found[name] = n, h, w, c
        return found


def put_in_front(model: onnx.ModelProto, pixels: Pixels) -> onnx.ModelProto:
    """A model whose inputs are pictures. Raises CompileError for inputs that cannot be."""
    from onnx import ModelProto, helper, numpy_helper

    made = ModelProto()
    made.CopyFrom(model)
    graph = made.graph
    stored = {tensor.name for tensor in graph.initializer}
    ports = {port.name: port for port in graph.input if port.name not in stored}
    taken = set(_names(graph))
    front: list[onnx.NodeProto] = []
    for name, layout in pixels.layouts.items():
        if name not in ports:
            raise CompileError(
                f"--pixels: no input is called {name!r}; there are {', '.join(ports)}"
            )
        port = ports[name]
        tensor = port.type.tensor_type
        channels = _channels(name, tensor)
        last = _fresh(f"{name}/real", taken)
        for node in graph.node:
            for place, read in enumerate(node.input):
                if read == name:
                    node.input[place] = last
        steps: list[tuple[str, list[str], dict[str, Any]]] = []
        if layout == "nhwc":
            steps.append(("Transpose", [], {"perm": [0, 3, 1, 2]}))
        steps.append(("Cast", [], {"to": tensor.elem_type}))
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        for op, numbers in (("Sub", pixels.mean), ("Mul", pixels.scale)):
            if numbers:
                array = _each(op, numbers, channels).astype(dtype)
                constant = _fresh(f"{name}/{'mean' if op == 'Sub' else 'scale'}", taken)
                graph.initializer.append(numpy_helper.from_array(array, constant))
                steps.append((op, [constant], {}))
        at = name
        for number, (op, more, attributes) in enumerate(steps):
            to = last if number == len(steps) - 1 else _fresh(f"{name}/{op.lower()}", taken)
            front.append(helper.make_node(op, [at, *more], [to], name=to, **attributes))
            at = to
        tensor.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(np.uint8))
        if layout == "nhwc":
            dims = [tensor.shape.dim[axis] for axis in (0, 2, 3, 1)]
            moved = [type(dim).FromString(dim.SerializeToString()) for dim in dims]
            del tensor.shape.dim[:]
            tensor.shape.dim.extend(moved)
    rest = list(graph.node)
    del graph.node[:]
    graph.node.extend([*front, *rest])
    return made


def _channels(name: str, tensor: onnx.TypeProto.Tensor) -> int:
    from onnx import helper

    dims = tensor.shape.dim
    if len(dims) != 4:
        raise CompileError(f"--pixels: input {name!r} has {len(dims)} dimensions, pictures have 4")
    if helper.tensor_dtype_to_np_dtype(tensor.elem_type).kind != "f":
        raise CompileError(f"--pixels: input {name!r} is one of integers already")
    channels = dims[1].dim_value
    if channels < 1:
        raise CompileError(f"--pixels: the model does not say how many channels {name!r} has")
    return int(channels)


def _each(
    op: str, numbers: Sequence[float], channels: int
) -> np.ndarray[tuple[int, ...], np.dtype]:
    if len(numbers) not in (1, channels):
        word = "--mean" if op == "Sub" else "--scale"
        raise CompileError(f"{word} has {len(numbers)} numbers for {channels} channels")
    return np.asarray(numbers, np.float64).reshape(1, -1, 1, 1)


def _names(graph: onnx.GraphProto) -> Iterable[str]:
    yield from (tensor.name for tensor in graph.initializer)
    yield from (port.name for port in graph.input)
    for node in graph.node:
        yield from node.output


def _fresh(name: str, taken: set[str]) -> str:
    """A name that nothing has; it is taken then."""
    while name in taken:
        name += "'"
    taken.add(name)
    return name
