"""Whether two models compute the same: by onnxruntime, on random inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DlaError

if TYPE_CHECKING:
    import onnx

FP16_STEP = 2.0**-10
"""Of the largest value of a tensor: what FP16 can tell apart there."""


_CHOOSES = {
    "ArgMax", "ArgMin", "Ceil", "Equal", "Floor", "Greater", "GreaterOrEqual", "Less",
    "LessOrEqual", "NonMaxSuppression", "NonZero", "QuantizeLinear", "Round", "Sign", "TopK",
}  # fmt: skip
"""Operators that make much of little: the least difference of their inputs may change all."""


def difference(first: onnx.ModelProto, second: onnx.ModelProto, seed: int = 0) -> float:
    """The largest difference of a result of two models, as a share of that result's largest value.

    Results are compared element by element whatever their shapes; instead of what depends on a
    choice (TopK, Round, a comparison) the tensors that it chooses by. Inputs are drawn by *seed*:
    normal numbers, small integers. Raises DlaError where onnxruntime takes one of them not.
    """
    feeds = _inputs(first, seed)
    worst = 0.0
    names = compared(first, second)
    left, right = (_run(_ending_at(model, names), feeds) for model in (first, second))
    for a, b in zip(left, right, strict=True):
        if a.size != b.size:
            raise DlaError(f"the rewritten model has a result of {b.shape} instead of {a.shape}")
        if not a.size:
            continue
        left, right = a.astype(np.float64).reshape(-1), b.astype(np.float64).reshape(-1)
        largest = max(float(np.abs(left).max()), np.finfo(np.float32).tiny)
        worst = max(worst, float(np.abs(left - right).max()) / largest)
    return worst


def compared(first: onnx.ModelProto, second: onnx.ModelProto) -> list[str]:
    """Names of tensors of both models by which they are compared."""
    from ...compiler.front.protos import read_by

    known = {name for node in second.graph.node for name in node.output}
    chosen: set[str] = set()
    names = []
    for node in first.graph.node:
        behind = not chosen.isdisjoint(read_by(node))
        if node.op_type in _CHOOSES and not behind and node.input[0] in known:
            names.append(node.input[0])
        if behind or node.op_type in _CHOOSES:
            chosen.update(node.output)
    ends = [port.name for port in first.graph.output]
    found = [*(name for name in ends if name not in chosen), *dict.fromkeys(names)]
    return found or ends


def _ending_at(model: onnx.ModelProto, names: list[str]) -> onnx.ModelProto:
    """The model with these tensors as its results."""
    import onnx

    ports = {port.name: port for port in model.graph.output}
    if list(ports) == names:
        return model
    cut = onnx.ModelProto()
    cut.CopyFrom(model)
    del cut.graph.output[:]
    cut.graph.output.extend(ports.get(name, onnx.ValueInfoProto(name=name)) for name in names)
    return cut


def _inputs(model: onnx.ModelProto, seed: int) -> dict[str, Any]:
    from onnx import helper

    random = np.random.default_rng(seed)
    constants = {tensor.name for tensor in model.graph.initializer}
    feeds = {}
    for port in model.graph.input:
        if port.name in constants:
            continue
        kind = helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type)
        shape = [dim.dim_value or 1 for dim in port.type.tensor_type.shape.dim]
        values = random.normal(size=shape) if kind.kind == "f" else random.integers(0, 2, shape)
        feeds[port.name] = values.astype(kind)
    return feeds


def _run(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return list(session.run(None, feeds))
    except Exception as error:  # onnxruntime has one class for each status, without a common base
        raise DlaError(f"onnxruntime does not take the model: {error}") from None
