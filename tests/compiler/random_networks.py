"""Random small networks: chains of operators that fit together, with a few joins."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Maker:
    """Grows a network node by node; *random* decides everything."""

    def __init__(self, random: np.random.Generator, shape: tuple[int, ...]) -> None:
        self.random = random
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.input = shape
        self.shapes: dict[str, tuple[int, ...]] = {"x": shape}

    def constant(self, array: Any) -> str:
        """A name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def normal(self, *shape: int) -> str:
        """A constant of small numbers."""
        return self.constant((self.random.normal(size=shape) / 2).astype(np.float32))

    def integers(self, *numbers: int) -> str:
        """A constant of indices."""
        return self.constant(np.array(numbers, np.int64))

    def node(self, op: str, inputs: list[str], shape: tuple[int, ...], **attributes: Any) -> str:
        """A node whose output has *shape*."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        self.shapes[name] = shape
        return name

    def pick(self, *choices: Any) -> Any:
        """One of them."""
        return choices[int(self.random.integers(len(choices)))]

    def model(self, *outputs: str) -> onnx.ModelProto:
        """What has grown."""
        graph = helper.make_graph(
            self.nodes,
            "random",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.input)],
            [helper.make_tensor_value_info(o, TensorProto.FLOAT, self.shapes[o]) for o in outputs],
            self.constants,
        )
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(graph, opset_imports=[opset], ir_version=8)


def network(seed: int, length: int) -> onnx.ModelProto:
    """A network of about *length* nodes."""
    random = np.random.default_rng(seed)
    sizes = [int(random.integers(1, 9)) for _ in range(3)]
    shape = (1, *sizes[: random.choice([1, 3, 3, 3])])
    maker = Maker(random, shape)
    name = "x"
    for _ in range(length):
        step = _STEPS[int(random.integers(len(_STEPS)))]
        grown = step(maker, name)
        name = grown or name
    if not maker.nodes:
        name = maker.node("Relu", [name], maker.shapes[name])
    return maker.model(name)


def _unary(m: Maker, x: str) -> str:
    op = m.pick("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Neg", "HardSwish", "Abs", "Identity")
    return m.node(op, [x], m.shapes[x])


def _conv(m: Maker, x: str) -> str | None:
    shape = m.shapes[x]
    if len(shape) != 4 or shape[0] != 1:
        return None
    _, c, h, w = shape
    group = m.pick(1, 1, c, *(g for g in (2, 3) if c % g == 0))
    kernels = group * int(m.random.integers(1, 4))
    size = [int(m.random.integers(1, min(4, n + 1))) for n in (h, w)]
    pads = [int(m.random.integers(0, k)) for k in (*size, *size)]
    strides = [m.pick(1, 1, 2) for _ in size]
    out = [(n + pads[i] + pads[i + 2] - size[i]) // strides[i] + 1 for i, n in enumerate((h, w))]
    inputs = [x, m.normal(kernels, c // group, *size)]
    if m.pick(True, False):
        inputs.append(m.normal(kernels))
    return m.node("Conv", inputs, (1, kernels, *out), pads=pads, strides=strides, group=int(group))


def _deconv(m: Maker, x: str) -> str | None:
    shape = m.shapes[x]
    if len(shape) != 4 or shape[0] != 1 or max(shape) > 24:
        return None
    _, c, h, w = shape
    group = m.pick(1, 1, c)
    per = int(m.random.integers(1, 4))
    size, stride = m.pick(1, 2, 3, 4), m.pick(1, 2)
    pad = int(m.random.integers(0, size // 2 + 1))
    out = [stride * (n - 1) + size - 2 * pad for n in (h, w)]
    if min(out) < 1:
        return None
    return m.node(
        "ConvTranspose",
        [x, m.normal(c, per, size, size)],
        (1, per * group, *out),
        pads=[pad] * 4,
        strides=[stride] * 2,
        group=int(group),
    )


def _pool(m: Maker, x: str) -> str | None:
    shape = m.shapes[x]
    if len(shape) != 4:
        return None
    size = [int(m.random.integers(1, min(4, n + 1))) for n in shape[2:]]
    pads = [int(m.random.integers(0, k)) for k in (*size, *size)]
    out = [n + pads[i] + pads[i + 2] - size[i] + 1 for i, n in enumerate(shape[2:])]
    op = m.pick("MaxPool", "AveragePool")
    more = {"count_include_pad": m.pick(0, 1)} if op == "AveragePool" else {}
    return m.node(op, [x], (*shape[:2], *out), kernel_shape=size, pads=pads, **more)


def _transpose(m: Maker, x: str) -> str:
    shape = m.shapes[x]
    order = [0, *(1 + m.random.permutation(len(shape) - 1))]
    if m.pick(False, False, True):
        order = list(m.random.permutation(len(shape)))
    order = [int(i) for i in order]
    return m.node("Transpose", [x], tuple(shape[i] for i in order), perm=order)


def _reshape(m: Maker, x: str) -> str:
    rest = int(np.prod(m.shapes[x]))
    sizes = [1] if m.pick(True, True, False) else []
    while rest > 1 and len(sizes) < 4:
        size = int(m.random.choice([d for d in range(2, rest + 1) if rest % d == 0]))
        sizes.append(size)
        rest //= size
    if rest > 1 or not sizes:
        sizes.append(rest)
    return m.node("Reshape", [x, m.integers(*sizes)], tuple(sizes))


def _broadcasts(small: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    pairs = zip(small[::-1], shape[::-1], strict=False)
    return len(small) <= len(shape) and all(a in (1, b) for a, b in pairs)


def _binary(m: Maker, x: str) -> str:
    shape = m.shapes[x]
    op = m.pick("Add", "Sub", "Mul", "Max", "Min")
    fits = [name for name, other in m.shapes.items() if _broadcasts(other, shape)]
    other = m.pick(*fits)
    pair = [x, other] if m.pick(True, False) else [other, x]
    return m.node(op, pair, shape)


def _constant(m: Maker, x: str) -> str:
    shape = m.shapes[x]
    op = m.pick("Add", "Sub", "Mul")
    part = tuple(m.pick(1, size) for size in shape)[int(m.random.integers(len(shape) + 1)) :]
    pair = [x, m.normal(*part)]
    return m.node(op, pair if m.pick(True, False) else pair[::-1], shape)


def _joins(one: tuple[int, ...], two: tuple[int, ...], axis: int) -> bool:
    sizes = zip(range(len(two)), one, two, strict=False)
    return len(one) == len(two) and all(a == b or i == axis for i, a, b in sizes)


def _concat(m: Maker, x: str) -> str:
    shape = m.shapes[x]
    axis = int(m.random.integers(len(shape) > 1, len(shape)))
    fits = [name for name, other in m.shapes.items() if _joins(other, shape, axis)]
    parts = [x, m.pick(*fits)]
    total = sum(m.shapes[p][axis] for p in parts)
    return m.node("Concat", parts, (*shape[:axis], total, *shape[axis + 1 :]), axis=axis)


def _slice(m: Maker, x: str) -> str:
    shape = m.shapes[x]
    axis = int(m.random.integers(len(shape)))
    start = int(m.random.integers(shape[axis]))
    end = int(m.random.integers(start + 1, shape[axis] + 1))
    step = m.pick(1, 1, 2)
    count = len(range(start, end, step))
    words = [m.integers(v) for v in (start, end, axis, step)]
    return m.node("Slice", [x, *words], (*shape[:axis], count, *shape[axis + 1 :]))


def _gather(m: Maker, x: str) -> str:
    shape = m.shapes[x]
    axis = int(m.random.integers(len(shape) > 1, len(shape)))
    index = [int(i) for i in m.random.integers(0, shape[axis], int(m.random.integers(1, 6)))]
    result = (*shape[:axis], len(index), *shape[axis + 1 :])
    return m.node("Gather", [x, m.integers(*index)], result, axis=axis)


def _pad(m: Maker, x: str) -> str | None:
    shape = m.shapes[x]
    if len(shape) != 4:
        return None
    pads = [0, int(m.random.integers(2)), *(int(p) for p in m.random.integers(0, 2, 2))] * 2
    result = tuple(s + pads[i] + pads[i + 4] for i, s in enumerate(shape))
    mode = m.pick("constant", "constant", "edge")
    return m.node("Pad", [x, m.integers(*pads)], result, mode=mode)


def _reduce(m: Maker, x: str) -> str | None:
    shape = m.shapes[x]
    if len(shape) < 3:
        return None
    axes = sorted({int(a) for a in m.random.integers(1, len(shape), 2)})
    keep = m.pick(0, 1)
    result = [1 if i in axes else s for i, s in enumerate(shape) if keep or i not in axes]
    op = m.pick("ReduceMean", "ReduceMax", "ReduceMin")
    return m.node(op, [x], tuple(result), axes=axes, keepdims=keep)


def _matmul(m: Maker, x: str) -> str:
    shape = m.shapes[x]
    columns = int(m.random.integers(1, 7))
    return m.node("MatMul", [x, m.normal(shape[-1], columns)], (*shape[:-1], columns))


def _softmax(m: Maker, x: str) -> str:
    axis = int(m.random.integers(len(m.shapes[x]) > 1, len(m.shapes[x])))
    return m.node("Softmax", [x], m.shapes[x], axis=axis)


def _resize(m: Maker, x: str) -> str | None:
    shape = m.shapes[x]
    if len(shape) != 4 or max(shape) > 16:
        return None
    mode = m.pick("nearest", "linear")
    scale = m.pick(1.0, 2.0, 3.0)
    scales = m.constant(np.array([1, 1, scale, m.pick(1.0, scale)], np.float32))
    array = numpy_helper.to_array(m.constants[-1])
    result = tuple(int(s * f) for s, f in zip(shape, array, strict=True))
    coordinates = m.pick("half_pixel", "asymmetric", "align_corners")
    return m.node(
        "Resize",
        [x, "", scales],
        result,
        mode=mode,
        coordinate_transformation_mode=coordinates,
        nearest_mode=m.pick("floor", "round_prefer_floor"),
    )


def _blocks(m: Maker, x: str) -> str | None:
    shape = m.shapes[x]
    if len(shape) != 4 or shape[0] != 1:
        return None
    n, c, h, w = shape
    if c % 4 == 0 and m.pick(True, False):
        mode = m.pick("DCR", "CRD")
        return m.node("DepthToSpace", [x], (n, c // 4, h * 2, w * 2), blocksize=2, mode=mode)
    if h % 2 == 0 and w % 2 == 0:
        return m.node("SpaceToDepth", [x], (n, c * 4, h // 2, w // 2), blocksize=2)
    return None


def _norm(m: Maker, x: str) -> str | None:
    shape = m.shapes[x]
    if len(shape) < 2:
        return None
    parts = [m.normal(shape[1]) for _ in range(3)]
    variance = m.constant((np.abs(m.random.normal(size=shape[1])) + 0.5).astype(np.float32))
    return m.node("BatchNormalization", [x, *parts, variance], shape)


def _squeeze(m: Maker, x: str) -> str | None:
    shape = m.shapes[x]
    ones = [i for i, s in enumerate(shape) if s == 1 and i]
    if ones and m.pick(True, False):
        axis = m.pick(*ones)
        return m.node("Squeeze", [x, m.integers(axis)], (*shape[:axis], *shape[axis + 1 :]))
    if len(shape) > 4:
        return None
    axis = int(m.random.integers(1, len(shape) + 1))
    return m.node("Unsqueeze", [x, m.integers(axis)], (*shape[:axis], 1, *shape[axis:]))


_STEPS = [
    _unary, _conv, _conv, _deconv, _pool, _transpose, _reshape, _binary, _constant, _concat,
    _slice, _gather, _pad, _reduce, _matmul, _softmax, _resize, _blocks, _norm, _squeeze,
]  # fmt: skip
