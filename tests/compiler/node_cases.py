"""ONNX's own node tests as networks: the inputs after the first become constants."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest import mock

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

OPERATORS = [
    "Conv", "ConvTranspose", "Gemm", "MatMul", "BatchNormalization", "Relu", "LeakyRelu",
    "PRelu", "Clip", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Elu", "Selu", "Celu",
    "Gelu", "Softplus", "Softsign", "Mish", "ThresholdedRelu", "Abs", "Neg", "Add", "Sub",
    "Mul", "Div", "Max", "Min", "Sum", "Mean", "MaxPool", "AveragePool", "GlobalAveragePool",
    "GlobalMaxPool", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "LRN", "Softmax",
    "Concat", "Split", "Slice", "Resize", "Upsample", "Reshape", "Flatten", "Transpose",
    "Squeeze", "Unsqueeze", "Identity", "Dropout", "Pad", "SpaceToDepth", "DepthToSpace",
    "QuantizeLinear", "DequantizeLinear", "QLinearConv", "Exp", "Log", "Sqrt", "Reciprocal",
    "Erf", "Sin", "Cos", "Floor", "Ceil", "Round", "Pow", "Gather", "Expand",
    "ReduceL1", "ReduceL2", "ReduceSumSquare", "Tile", "Swish",
]  # fmt: skip
"""Operators that a static network of four dimensions can have (facts of the node tests)."""

RUN_TIME_INPUTS = {"Add": 2, "Sub": 2, "Mul": 2, "Max": 9, "Min": 9, "Sum": 9, "Mean": 9,
                   "Concat": 9}  # fmt: skip
"""Operators of tensors: so many inputs stay inputs, of the others one."""


@dataclass(frozen=True)
class Case:
    """One case; *inputs* by name, *expected* in the order of the model's outputs."""

    name: str
    operator: str
    model: onnx.ModelProto
    inputs: dict[str, NDArray[Any]]
    expected: list[NDArray[Any]]


@cache
def _package() -> Any:
    """onnx's package of cases with the modules of all OPERATORS imported, which makes them.

    All at once: some modules make cases of other operators, too.
    """
    import onnx.backend.test.case.node as package
    from onnx.reference.ops import op_pool_common as pooling

    pool = pooling.pool

    def of_planes(padded: Any, shape: Any, *rest: Any, **more: Any) -> Any:
        """The results of pools in three dimensions take seconds, and no such case is wanted."""
        return np.zeros(shape) if len(shape) > 4 else pool(padded, shape, *rest, **more)

    # collect_testcases would make those of all operators of ONNX
    names = [info.name for info in pkgutil.iter_modules(package.__path__)]
    wanted = {operator.lower() for operator in OPERATORS}
    wanted.add("batchnorm")  # BatchNormalization's in older releases of onnx
    with warnings.catch_warnings(), mock.patch.object(pooling, "pool", of_planes):
        warnings.simplefilter("ignore")
        for name in names:
            if name.replace("_", "") in wanted:
                importlib.import_module(f"{package.__name__}.{name}")
    return package


@cache
def cases(operator: str) -> tuple[Case, ...]:
    """All float32 cases of an operator that have arrays of at most four dimensions."""
    package = _package()
    found = [t for t in package._NodeTestCases if t.model.graph.node[0].op_type == operator]
    return tuple(case for case in map(_case, found) if case is not None)


def all_cases() -> Iterator[Case]:
    """Those of all operators."""
    for operator in OPERATORS:
        yield from cases(operator)


def _case(test: Any) -> Case | None:
    model: onnx.ModelProto = test.model
    if len(model.graph.node) != 1 or not test.data_sets:
        return None  # expansions into functions
    operator = model.graph.node[0].op_type
    inputs, outputs = test.data_sets[0]
    arrays = [*inputs, *outputs]
    if any(not isinstance(array, np.ndarray | np.generic) for array in arrays):
        return None
    if any(np.ndim(array) > 4 or np.size(array) == 0 for array in [*inputs[:1], *outputs]):
        return None
    integers = operator in ("QuantizeLinear", "DequantizeLinear", "QLinearConv")
    first = np.asarray(inputs[0]).dtype
    if not integers and first != np.float32:
        return None
    if integers and first not in (np.float32, np.int8, np.uint8):
        return None
    if integers and np.asarray(outputs[0]).dtype not in (np.float32, np.int8, np.uint8):
        return None
    names = [port.name for port in model.graph.input]
    stay = RUN_TIME_INPUTS.get(operator, 1)
    return Case(
        test.name.removeprefix("test_"),
        operator,
        bound(model, dict(zip(names[stay:], inputs[stay:], strict=True))),
        dict(zip(names[:stay], inputs[:stay], strict=False)),
        [np.asarray(array) for array in outputs],
    )


def bound(model: onnx.ModelProto, constants: dict[str, NDArray[Any]]) -> onnx.ModelProto:
    """The model with these inputs as constants."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph = copy.graph
    kept = [port for port in graph.input if port.name not in constants]
    del graph.input[:]
    graph.input.extend(kept)
    for name, array in constants.items():
        graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    return copy


def one_node(op: str, inputs: dict[str, Any], outputs: list[str], **attributes: Any) -> Any:
    """A model of one node; arrays in *inputs* are constants, tuples shapes of float inputs."""
    node = helper.make_node(op, list(inputs), outputs, **attributes)
    ports = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in inputs.items()
        if isinstance(shape, tuple)
    ]
    constants = [
        numpy_helper.from_array(np.asarray(array), name)
        for name, array in inputs.items()
        if not isinstance(array, tuple)
    ]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    return helper.make_model(helper.make_graph([node], op, ports, results, constants))
