"""Random ONNX models: small graphs of all operators that the compiler reads, often wrong ones."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from ..mutate import INTERESTING

SHAPES = (
    (1, 3, 4, 4), (1, 1, 1, 1), (1, 4, 8, 8), (1, 8, 5, 7), (1, 3, 1, 9), (1, 16), (1, 4, 6),
    (1, 0, 4, 4), (0, 3, 4, 4), (2, 3, 4, 4), (), (3,), (1, 2, 3, 4, 5), (1, 1, 1, 1, 1, 1, 1),
    (4, 3, 3, 3), (1, 3, 65536, 65536), (1, 1 << 40, 1, 1), (1, -1, 4, 4), (8, 4), (1, 5000, 1, 1),
)  # fmt: skip
"""Of tensors; most are of use, some are not."""
COMMON = 5
"""So many of them are taken most often."""
LISTS = ("kernel_shape", "strides", "pads", "dilations", "output_padding", "output_shape", "perm",
         "axes", "shape", "split", "starts", "ends", "scales")  # fmt: skip
NUMBERS = ("axis", "group", "blocksize", "to", "keepdims", "ceil_mode", "count_include_pad",
           "storage_order", "num_outputs", "transA", "transB", "batch_dims", "start", "end",
           "allowzero", "noop_with_empty_axes", "num_groups", "p", "select_last_index", "channels",
           "size", "fmod", "antialias", "exclude_outside", "block_size", "saturate",
           "center_point_box", "stash_type", "training_mode", "spatial",
           "channels_last")  # fmt: skip
REALS = ("alpha", "beta", "gamma", "epsilon", "bias", "lambd", "min", "max", "value_float", "ratio",
         "momentum", "extrapolation_value", "cubic_coeff_a")  # fmt: skip
WORDS = {
    "auto_pad": ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", "odd"),
    "mode": ("nearest", "linear", "cubic", "constant", "reflect", "edge", "wrap", "DCR", "CRD", ""),
    "approximate": ("none", "tanh", "odd"),
    "direction": ("LEFT", "RIGHT", "odd"),
    "activation": ("Relu", "Sigmoid", "Clip", "odd"),
    "coordinate_transformation_mode": ("half_pixel", "asymmetric", "align_corners", "odd"),
    "nearest_mode": ("floor", "round_prefer_floor", "ceil", "odd"),
}
MATTERS = {
    "Conv": ("kernel_shape", "strides", "pads", "dilations", "group", "auto_pad"),
    "ConvTranspose": ("strides", "pads", "dilations", "group", "output_padding", "output_shape"),
    "MaxPool": ("kernel_shape", "strides", "pads", "dilations", "ceil_mode", "auto_pad"),
    "AveragePool": ("kernel_shape", "strides", "pads", "count_include_pad", "ceil_mode"),
    "LpPool": ("kernel_shape", "strides", "pads", "p"),
    "Transpose": ("perm",),
    "Split": ("axis", "split", "num_outputs"),
    "Concat": ("axis",),
    "Gather": ("axis",),
    "Flatten": ("axis",),
    "Softmax": ("axis",),
    "Cast": ("to",),
    "DepthToSpace": ("blocksize", "mode"),
    "SpaceToDepth": ("blocksize",),
    "Resize": ("mode", "coordinate_transformation_mode", "nearest_mode", "axes"),
    "Upsample": ("mode", "scales"),
    "LRN": ("size", "alpha", "beta", "bias"),
    "Gemm": ("alpha", "beta", "transA", "transB"),
    "Clip": ("min", "max"),
    "Pad": ("mode", "pads"),
    "Slice": ("starts", "ends", "axes"),
    "BatchNormalization": ("epsilon", "spatial", "training_mode"),
    "GroupNormalization": ("num_groups", "epsilon"),
}
"""Attributes that an operator really has."""
MANY = (
    "Loop", "Scan", "LSTM", "NonZero", "TopK", "Einsum", "Constant", "ConstantOfShape", "Range",
    "EyeLike", "CumSum", "RandomNormal", "Unique", "Trilu", "GridSample", "RoiAlign", "If",
    "SplitToSequence", "Optional", "StringNormalizer", "SequenceEmpty", "SequenceInsert",
    "Nobody", "Col2Im",
)  # fmt: skip
"""Operators that the compiler refuses, or folds."""


@functools.cache
def _operators() -> tuple[tuple[str, str], ...]:
    from cudla_sim.compiler.front import operators

    operators.load_all()
    known = sorted(operators.CONVERTERS)
    return (*known, *(("", name) for name in MANY))


class _Model:
    """One model in the making: names of tensors that nodes may read."""

    def __init__(self, random: Random) -> None:
        from onnx import TensorProto

        self.random = random
        self.types = TensorProto.DataType
        self.known: list[str] = []
        self.constants: list[Any] = []
        self.count = 0

    def shape(self) -> tuple[int, ...]:
        few = self.random.random() < 0.8
        return self.random.choice(SHAPES[:COMMON] if few else SHAPES)

    def name(self) -> str:
        self.count += 1
        odd = ("", "a b", "\x1b[31m", "x" * 300, "\u202e", "../../x", "%s")
        return f"t{self.count}" + (self.random.choice(odd) if self.random.random() < 0.05 else "")

    def value(self, name: str, shape: Sequence[int] | None = None, kind: int = 0) -> Any:
        from onnx import helper

        sizes: list[int | str] = list(self.shape() if shape is None else shape)
        if sizes and self.random.random() < 0.05:
            sizes[0] = "batch"
        return helper.make_tensor_value_info(name, kind or self.kind(), sizes)

    def kind(self) -> int:
        """FLOAT, mostly."""
        return 1 if self.random.random() < 0.9 else self.random.choice(list(self.types.values()))

    def constant(self) -> str:
        from onnx import numpy_helper

        name, random = self.name(), self.random
        which = random.random()
        array: Any
        if which < 0.35:  # weights
            shape = random.choice(((4, 3, 3, 3), (8, 3, 1, 1), (3, 1, 3, 3), (3,), (1, 3, 1, 1),
                                   (4, 4), (), (1,), (3, 4, 2, 2), (0,)))  # fmt: skip
            array = np.asarray(np.random.default_rng(random.randrange(99)).normal(size=shape))
            array = array.astype(random.choice((np.float32,) * 8 + (np.float64, np.float16)))
            if random.random() < 0.05 and array.size and array.dtype != np.float16:
                array.reshape(-1)[0] = random.choice((np.nan, np.inf, 1e38))
        elif which < 0.8:  # shapes, axes, paddings
            array = np.array(self.numbers(), np.int64)
            if random.random() < 0.1:
                array = array.astype(np.int32)
        elif which < 0.9:
            array = np.array(random.choice((0.0, 1.0, 0.5, -1.0, 2.0, 1e-30)), np.float32)
        else:
            array = np.array(
                random.choice((0, 3, [0, 1], True)), random.choice((np.int8, np.uint8, np.bool_))
            )
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def numbers(self) -> list[int]:
        random = self.random
        count = random.choice((0, 1, 1, 2, 2, 3, 4, 4, 5, 8))
        few = (0, 1, 1, 1, 2, 2, 3, 4, -1)
        return [
            random.choice(few) if random.random() < 0.95 else self.large() for _ in range(count)
        ]

    def large(self) -> int:
        return self.random.choice([n for n in INTERESTING if n < 1 << 63]) * self.random.choice(
            (1, -1)
        )

    def attributes(self, op: str) -> dict[str, Any]:
        random = self.random
        names = [n for n in MATTERS.get(op, ()) if random.random() < 0.5]
        if random.random() < 0.3:
            names.append(random.choice((*LISTS, *NUMBERS, *REALS, *WORDS)))
        return {name: self._attribute(name) for name in names}

    def _attribute(self, name: str) -> Any:
        from onnx import helper

        random = self.random
        if random.random() < 0.03:  # of another type
            return random.choice((1, 1.5, "word", [1, 2], [1.5], b"\xff\xfe",
                                  helper.make_tensor("t", 1, [1], [1.0])))  # fmt: skip
        if name in LISTS:
            return self.numbers() or [1]
        if name in NUMBERS:
            return random.choice((0, 1, 1, 2, 3, -1, 4)) if random.random() < 0.95 else self.large()
        if name in REALS:
            return random.choice((0.0, 1.0, 0.5, -1.0, 1e-5, 1e38, float("nan"), float("inf")))
        return random.choice(WORDS[name])

    def input(self) -> str:
        random = self.random
        if random.random() < 0.03:
            return random.choice(("", "nobody"))
        if not self.known or random.random() < 0.2:
            return self.constant()
        return self.known[-1] if random.random() < 0.6 else random.choice(self.known)

    def node(self, depth: int = 0) -> Any:
        from onnx import helper

        random = self.random
        domain, op = random.choice(_operators())
        inputs = [self.input()]
        inputs += [
            self.constant() if random.random() < 0.7 else self.input()
            for _ in range(random.choice((0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 8)))
        ]
        outputs = [self.name() for _ in range(random.choice((1, 1, 1, 1, 1, 2, 3)))]
        attributes = self.attributes(op)
        if op in ("If", "Loop", "Scan") and depth < 3:
            for name in {"If": ("then_branch", "else_branch")}.get(op, ("body",)):
                attributes[name] = self.graph(depth + 1)
        if random.random() < 0.02:
            domain = random.choice(("nobody", "ai.onnx", "my"))
        name = self.name() if random.random() < 0.9 else ""
        node = helper.make_node(op, inputs, outputs, name=name, domain=domain, **attributes)
        self.known += outputs
        return node

    def graph(self, depth: int = 0) -> Any:
        from onnx import helper

        random = self.random
        before, constants = list(self.known), self.constants
        self.constants = []
        inputs = [self.value(self.name()) for _ in range(random.choice((1, 1, 1, 2, 0)))]
        self.known += [item.name for item in inputs]
        nodes = [self.node(depth) for _ in range(random.choice((1, 1, 2, 3, 5)))]
        made = self.known[len(before) + len(inputs) :]
        outputs = [
            self.value(name)
            for name in random.sample(made, random.choice((1, 1, 1, min(2, len(made)))))
        ]
        for item in outputs:
            if random.random() < 0.8:
                item.ClearField("type")
                item.type.tensor_type.elem_type = 1
        found = helper.make_graph(nodes, "g", inputs, outputs, self.constants)
        self.known, self.constants = before, constants
        if random.random() < 0.02:
            random.shuffle(nodes)
        return found


def model(random: Random) -> Any:
    """A ModelProto."""
    from onnx import helper

    making = _Model(random)
    version = random.choice((17, 17, 13, 11, 9, 7, 18, 21, 22, 1, 99))
    opsets = [helper.make_opsetid("", version), helper.make_opsetid("com.microsoft", 1)]
    functions = []
    if random.random() < 0.1:
        opsets.append(helper.make_opsetid("my", 1))
        inside = _Model(random)
        inside.known = ["a"]
        nodes = [inside.node(3) for _ in range(2)]
        name = random.choice(("Relu", "f", nodes[0].op_type))
        functions = [helper.make_function("my", name, ["a"], [inside.known[-1]], nodes, opsets)]
    made = helper.make_model(making.graph(), opset_imports=opsets, functions=functions)
    if functions and random.random() < 0.7:
        made.graph.node[0].op_type, made.graph.node[0].domain = functions[0].name, "my"
    return made
