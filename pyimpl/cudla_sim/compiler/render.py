"""The graph as an ONNX model: the float reference, for every value of it.

The model is written in opset 17 with tensors [n, c, h, w] in float32, so that onnxruntime
computes exactly what the graph says; tests compare it with the original model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .graph import (
    Affine,
    Binary,
    ChannelGather,
    Clip,
    Concat,
    Conv,
    Curve,
    Deconv,
    DepthToSpace,
    Graph,
    Lrn,
    Node,
    Pad,
    Pool,
    PRelu,
    Reshape,
    Resize,
    Slice,
    Softmax,
    SpaceToDepth,
    Transpose,
    Value,
)

if TYPE_CHECKING:
    import onnx

OPSET = 17
LARGE = 2**20


def model(
    graph: Graph,
    outputs: Sequence[Value] | None = None,
    large: dict[str, NDArray[Any]] | None = None,
) -> onnx.ModelProto:
    """*graph* in ONNX; its outputs are the values *outputs*, or those of the network.

    Inputs and outputs are [n, c, h, w] in float32 and named as the values (not as the ports);
    values that are inputs are no outputs. Constants of a MiB and more go into *large*, where it is
    given, instead of the model, as :func:`.runtime.session` takes them.
    """
    from onnx import TensorProto, helper

    wanted = list(outputs) if outputs is not None else [port.value for port in graph.outputs]
    writer = _Writer(large)
    for node in graph.nodes:
        _WRITERS[type(node)](writer, node)
    inputs = [port.value for port in graph.inputs]
    results = [value for value in dict.fromkeys(wanted) if value not in inputs]
    proto = helper.make_graph(
        writer.nodes,
        graph.name,
        [helper.make_tensor_value_info(v.name, TensorProto.FLOAT, v.shape) for v in inputs],
        [helper.make_tensor_value_info(v.name, TensorProto.FLOAT, v.shape) for v in results],
        writer.constants,
    )
    opset = helper.make_opsetid("", OPSET)
    return helper.make_model(proto, opset_imports=[opset], ir_version=8)


class _Writer:
    """Collects ONNX nodes and constants."""

    def __init__(self, large: dict[str, NDArray[Any]] | None) -> None:
        self.large = large
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, array: Any, dtype: Any = np.float32) -> str:
        """A constant's name."""
        from onnx import TensorProto, helper, numpy_helper

        name = f"constant:{len(self.constants)}"
        found = np.asarray(array, dtype, order="C")
        if self.large is None or found.nbytes < LARGE:
            self.constants.append(numpy_helper.from_array(found, name))
            return name
        self.large[name] = found
        kind = helper.np_dtype_to_tensor_dtype(found.dtype)
        tensor = TensorProto(name=name, data_type=kind, dims=found.shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=name)
        self.constants.append(tensor)
        return name

    def add(self, op: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        """A node; its output's name."""
        from onnx import helper

        output = output or f"inner:{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], **attributes))
        return output


def _window(node: Conv | Deconv | Pool) -> dict[str, Any]:
    top, bottom, left, right = node.pads
    return {"strides": list(node.stride), "pads": [top, left, bottom, right]}


def _conv(write: _Writer, node: Conv) -> None:
    x = node.inputs[0].name
    window = _window(node)
    if node.pad_value and any(node.pads):
        top, bottom, left, right = node.pads
        pads = write.constant([0, 0, top, left, 0, 0, bottom, right], np.int64)
        x = write.add("Pad", [x, pads, write.constant(node.pad_value)])
        window["pads"] = [0, 0, 0, 0]
    write.add(
        "Conv",
        [x, write.constant(node.weights), write.constant(node.bias)],
        node.output.name,
        dilations=list(node.dilation),
        group=node.groups,
        **window,
    )


def _deconv(write: _Writer, node: Deconv) -> None:
    """Without output_padding: onnxruntime limits it; a longer result that is cropped does not."""
    top, bottom, left, right = node.pads
    extra = [node.output_padding[0] - bottom, node.output_padding[1] - right]
    result = node.output.name
    after = [max(extra[0], 0), max(extra[1], 0)]
    full = write.add(
        "ConvTranspose",
        [node.inputs[0].name, write.constant(node.weights)],
        strides=list(node.stride),
        dilations=list(node.dilation),
        group=node.groups,
        pads=[top, left, max(-extra[0], 0), max(-extra[1], 0)],
    )
    if any(after):
        full = write.add("Pad", [full, write.constant([0] * 6 + after, np.int64)])
    write.add("Add", [full, write.constant(node.bias.reshape(-1, 1, 1))], result)


def _affine(write: _Writer, node: Affine) -> None:
    scaled = write.add("Mul", [node.inputs[0].name, write.constant(node.scale)])
    write.add("Add", [scaled, write.constant(node.shift)], node.output.name)


def _binary(write: _Writer, node: Binary) -> None:
    op = {"add": "Add", "sub": "Sub", "mul": "Mul", "max": "Max", "min": "Min"}[node.function]
    write.add(op, [value.name for value in node.inputs], node.output.name)


def _clip(write: _Writer, node: Clip) -> None:
    x = node.inputs[0].name
    if (node.low, node.high) == (0, np.inf):
        write.add("Relu", [x], node.output.name)
        return
    limits = [write.constant(v) if np.isfinite(v) else "" for v in (node.low, node.high)]
    write.add("Clip", [x, *limits], node.output.name)


def _prelu(write: _Writer, node: PRelu) -> None:
    slope = write.constant(node.slope)
    write.add("PRelu", [node.inputs[0].name, slope], node.output.name)


def _pool(write: _Writer, node: Pool) -> None:
    x = node.inputs[0].name
    window = {"kernel_shape": list(node.kernel), **_window(node)}
    if node.mode == "max":
        _max_pool(write, node, x, node.output.name)
    elif node.mode == "min":
        lowest = _max_pool(write, node, write.add("Neg", [x]), "")
        write.add("Neg", [lowest], node.output.name)
    else:
        # padded here: onnxruntime leaves windows out that lie in its own padding
        top, bottom, left, right = node.pads
        if any(node.pads):
            pads = write.constant([0, 0, top, left, 0, 0, bottom, right], np.int64)
            x = write.add("Pad", [x, pads])
        window["pads"] = [0, 0, 0, 0]
        mean = write.add("AveragePool", [x], **window)
        count = node.kernel[0] * node.kernel[1]
        factor = write.constant(count / np.asarray(node.divisor, np.float64))
        write.add("Mul", [mean, factor], node.output.name)


def _max_pool(write: _Writer, node: Pool, x: str, output: str) -> str:
    top, bottom, left, right = node.pads
    pads = write.constant([0, 0, top, left, 0, 0, bottom, right], np.int64)
    x = write.add("Pad", [x, pads, write.constant(np.finfo(np.float32).min)])
    return write.add(
        "MaxPool", [x], output, kernel_shape=list(node.kernel), strides=list(node.stride)
    )


def _concat(write: _Writer, node: Concat) -> None:
    write.add("Concat", [v.name for v in node.inputs], node.output.name, axis=node.axis)


def _slice(write: _Writer, node: Slice) -> None:
    size = node.output.shape[1:]
    ends = [
        start + (count - 1) * step + 1
        for start, count, step in zip(node.starts, size, node.steps, strict=True)
    ]
    words = [write.constant(v, np.int64) for v in (node.starts, ends, (1, 2, 3), node.steps)]
    write.add("Slice", [node.inputs[0].name, *words], node.output.name)


def _gather(write: _Writer, node: ChannelGather) -> None:
    index = write.constant(node.channels, np.int64)
    write.add("Gather", [node.inputs[0].name, index], node.output.name, axis=1)


def _depth_to_space(write: _Writer, node: DepthToSpace) -> None:
    mode = "CRD" if node.crd else "DCR"
    write.add(
        "DepthToSpace", [node.inputs[0].name], node.output.name, blocksize=node.block, mode=mode
    )


def _space_to_depth(write: _Writer, node: SpaceToDepth) -> None:
    write.add("SpaceToDepth", [node.inputs[0].name], node.output.name, blocksize=node.block)


def _resize(write: _Writer, node: Resize) -> None:
    if node.mode == "nearest":  # exact for any numbers, infinite ones too
        rows = write.constant(node.rows.argmax(1), np.int64)
        columns = write.constant(node.columns.argmax(1), np.int64)
        x = write.add("Gather", [node.inputs[0].name, rows], axis=2)
        write.add("Gather", [x, columns], node.output.name, axis=3)
        return
    x = write.add("MatMul", [write.constant(node.rows), node.inputs[0].name])
    write.add("MatMul", [x, write.constant(node.columns.T)], node.output.name)


def _pad(write: _Writer, node: Pad) -> None:
    top, bottom, left, right = node.pads
    before, after = node.channels
    x = node.inputs[0].name
    pads = write.constant([0, before, top, left, 0, after, bottom, right], np.int64)
    inputs = [x, pads] if node.mode != "constant" else [x, pads, write.constant(node.value)]
    write.add("Pad", inputs, node.output.name, mode=node.mode)


def _lrn(write: _Writer, node: Lrn) -> None:
    write.add(
        "LRN",
        [node.inputs[0].name],
        node.output.name,
        size=node.size,
        alpha=node.alpha,
        beta=node.beta,
        bias=node.k,
    )


def _softmax(write: _Writer, node: Softmax) -> None:
    write.add("Softmax", [node.inputs[0].name], node.output.name, axis=node.axis)


def _transpose(write: _Writer, node: Transpose) -> None:
    write.add("Transpose", [node.inputs[0].name], node.output.name, perm=list(node.order))


def _reshape(write: _Writer, node: Reshape) -> None:
    shape = write.constant(node.output.shape, np.int64)
    write.add("Reshape", [node.inputs[0].name, shape], node.output.name)


_AS_THEY_ARE = {
    "Sigmoid", "Tanh", "Softplus", "Softsign", "Exp", "Log", "Sqrt", "Reciprocal", "Erf", "Sin",
    "Cos", "Abs", "Floor", "Ceil", "Round", "Elu", "Selu", "Celu", "ThresholdedRelu", "HardSwish",
}  # fmt: skip


def _curve(write: _Writer, node: Curve) -> None:
    x, y, function, given = node.inputs[0].name, node.output.name, node.function, node.parameters
    if function in _AS_THEY_ARE:
        write.add(function, [x], y, **given)
    elif function == "HardSigmoid":
        write.add(function, [x], y, alpha=given.get("alpha", 0.2), beta=given.get("beta", 0.5))
    elif function == "Pow":
        write.add("Pow", [x, write.constant(given.get("exponent", 2.0))], y)
    else:
        _COMPOSED[function](write, x, y, given)


def _silu(write: _Writer, x: str, y: str, given: dict[str, float]) -> None:
    scaled = write.add("Mul", [x, write.constant(given.get("beta", 1.0))])
    write.add("Mul", [x, write.add("Sigmoid", [scaled])], y)


def _gelu(write: _Writer, x: str, y: str, given: dict[str, float]) -> None:
    del given
    inner = write.add("Erf", [write.add("Mul", [x, write.constant(1 / sqrt(2))])])
    _half_plus(write, x, y, inner)


def _gelu_tanh(write: _Writer, x: str, y: str, given: dict[str, float]) -> None:
    del given
    cube = write.add("Mul", [write.add("Mul", [x, x]), x])
    sum_ = write.add("Add", [x, write.add("Mul", [cube, write.constant(0.044715)])])
    inner = write.add("Tanh", [write.add("Mul", [sum_, write.constant(sqrt(2 / pi))])])
    _half_plus(write, x, y, inner)


def _half_plus(write: _Writer, x: str, y: str, inner: str) -> None:
    factor = write.add("Add", [inner, write.constant(1.0)])
    write.add("Mul", [write.add("Mul", [x, write.constant(0.5)]), factor], y)


def _mish(write: _Writer, x: str, y: str, given: dict[str, float]) -> None:
    del given
    write.add("Mul", [x, write.add("Tanh", [write.add("Softplus", [x])])], y)


_COMPOSED: dict[str, Callable[[_Writer, str, str, dict[str, float]], None]] = {
    "SiLU": _silu,
    "GELU": _gelu,
    "GELUTanh": _gelu_tanh,
    "Mish": _mish,
}
_WRITERS: dict[type[Node], Callable[[_Writer, Any], None]] = {
    Conv: _conv,
    Deconv: _deconv,
    Affine: _affine,
    Binary: _binary,
    Clip: _clip,
    PRelu: _prelu,
    Curve: _curve,
    Pool: _pool,
    Concat: _concat,
    Slice: _slice,
    ChannelGather: _gather,
    DepthToSpace: _depth_to_space,
    SpaceToDepth: _space_to_depth,
    Resize: _resize,
    Pad: _pad,
    Lrn: _lrn,
    Softmax: _softmax,
    Transpose: _transpose,
    Reshape: _reshape,
}
