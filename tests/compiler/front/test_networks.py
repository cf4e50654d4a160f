"""Networks as exporters write them: the graph computes the same, with the nodes expected."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, parser

from cudla_sim.compiler import front
from cudla_sim.compiler.errors import Refused
from cudla_sim.compiler.graph import Binary, Clip, Conv, Curve, Graph, Pool
from tests.compiler.reference import assert_same, run_graph

RANDOM = np.random.default_rng(11)


def model(text: str, opset: int = 17, **constants: Any) -> onnx.ModelProto:
    """A model from ONNX's textual syntax; arrays become constants."""
    proto = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}')
    for name, array in constants.items():
        found = np.asarray(array)
        if found.dtype == np.float64:
            found = found.astype(np.float32)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(found, name))
    return proto


def normal(*shape: int) -> Any:
    return (RANDOM.normal(size=shape) / 3).astype(np.float32)


def kinds(graph: Graph) -> Counter[str]:
    return Counter(
        node.function if isinstance(node, Curve | Binary) else node.kind for node in graph.nodes
    )


def checked(proto: onnx.ModelProto, **expected: int) -> Graph:
    """The graph, after it has computed the same; its nodes are those of *expected*."""
    graph = front.load(proto)
    assert_same(graph, proto)
    assert kinds(graph) == Counter(expected)
    return graph


def test_a_flattened_cube_becomes_the_kernel() -> None:
    proto = model(
        """net (float[1,3,6,6] x) => (float[1,5] y) {
            a = Conv <pads = [1,1,1,1]> (x, w)
            b = Relu (a)
            c = MaxPool <kernel_shape = [2,2], strides = [2,2]> (b)
            d = Flatten (c)
            y = Gemm <transB = 1> (d, g, h)
        }""",
        w=normal(4, 3, 3, 3), g=normal(5, 36), h=normal(5),
    )  # fmt: skip
    graph = checked(proto, Conv=2, Clip=1, Pool=1)
    last = graph.nodes[-1]
    assert isinstance(last, Conv)
    assert last.weights.shape == (5, 4, 3, 3)
    assert graph.outputs[0].shape == (1, 5)


def test_a_tensorflow_network_moves_nothing() -> None:
    """Channels last, transposes around each convolution, Pad, Clip, ReduceMean, MatMul."""
    proto = model(
        """net (float[b,8,8,3] x) => (float[b,7] y) {
            x1 = Sub (x, mean)
            x2 = Transpose <perm = [0,3,1,2]> (x1)
            p = Pad (x2, pads)
            a = Conv <strides = [2,2]> (p, w)
            b1 = Add (a, bias)
            c = Clip (b1, zero, six)
            d = Transpose <perm = [0,2,3,1]> (c)
            e = Mul (d, scale)
            f = ReduceMean <axes = [1,2], keepdims = 0> (e)
            g = MatMul (f, m)
            y = Add (g, n)
        }""",
        13,
        mean=normal(3), pads=np.array([0, 0, 0, 0, 0, 0, 1, 1]), w=normal(4, 3, 3, 3),
        bias=normal(4, 1, 1), zero=np.float32(0), six=np.float32(6), scale=normal(4),
        m=normal(4, 7), n=normal(7),
    )  # fmt: skip
    graph = front.load(proto)
    fixed = onnx.ModelProto()
    fixed.CopyFrom(proto)
    fixed.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    assert_same(graph, fixed)
    assert kinds(graph) <= Counter(Affine=2, Pad=1, Conv=2, Clip=1, Pool=1)
    assert graph.inputs[0].order == (0, 2, 3, 1)
    assert graph.inputs[0].value.shape == (1, 3, 8, 8)


def test_batch_normalization_joins_the_convolution_in_front() -> None:
    proto = model(
        """net (float[1,3,5,5] x) => (float[1,4,11,11] y) {
            a = ConvTranspose <strides = [2,2]> (x, w)
            b = BatchNormalization (a, s, t, m, v)
            y = Mul (b, two)
        }""",
        w=normal(3, 4, 3, 3), s=normal(4), t=normal(4), m=normal(4), v=np.abs(normal(4)) + 1,
        two=np.float32(2),
    )  # fmt: skip
    checked(proto, Deconv=1)


def test_an_affine_joins_the_convolution_behind() -> None:
    text = """net (float[1,3,5,5] x) => (float[1,4,5,5] y) {{
            a = Sub (x, mean)
            b = Mul (a, factor)
            y = Conv <pads = [1,1,1,1]> (b, w)
        }}"""
    w = normal(4, 3, 3, 3)
    same = model(text.format(), mean=np.float32(0.3), factor=np.float32(2), w=w)
    conv = checked(same, Conv=1).nodes[0]
    assert isinstance(conv, Conv)
    assert conv.pad_value == pytest.approx(0.3)
    other = model(text.format(), mean=normal(3, 1, 1), factor=np.float32(2), w=w)
    checked(other, Affine=1, Conv=1)


ACTIVATIONS = {
    "SiLU": "s = Sigmoid (x) y = Mul (x, s)",
    "HardSwish": "a = Add (x, three) b = Clip (a, zero, six) c = Mul (x, b) y = Div (c, six)",
    "HardSwish ": "a = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x) y = Mul (a, x)",
    "GELU": "a = Div (x, root) b = Erf (a) c = Add (b, one) d = Mul (x, c) y = Mul (d, half)",
    "GELU ": "a = Div (x, root) b = Erf (a) c = Add (b, one) d = Mul (c, half) y = Mul (x, d)",
    "GELUTanh": "a = Mul (x, x) b = Mul (a, x) c = Mul (b, k) d = Add (x, c) e = Mul (d, q)"
    " f = Tanh (e) g = Add (f, one) h = Mul (half, x) y = Mul (h, g)",
    "Mish": "a = Softplus (x) b = Tanh (a) y = Mul (x, b)",
    "Mish ": "a = Exp (x) b = Add (one, a) c = Log (b) d = Tanh (c) y = Mul (d, x)",
    "Softplus": "a = Exp (x) b = Add (a, one) y = Log (b)",
    "Softplus ": "g = Greater (x, twenty) a = Exp (x) b = Add (a, one) c = Log (b)"
    " y = Where (g, x, c)",
    "Sigmoid": "a = Neg (x) b = Exp (a) c = Add (b, one) y = Reciprocal (c)",
    "Softsign": "a = Abs (x) b = Add (a, one) y = Div (x, b)",
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_in_pieces(name: str) -> None:
    proto = model(
        f"net (float[1,3,5,5] x) => (float[1,3,5,5] y) {{ {ACTIVATIONS[name]} }}",
        three=np.float32(3), zero=np.float32(0), six=np.float32(6), root=np.sqrt(2),
        one=np.float32(1), half=np.float32(0.5), k=np.float32(0.044715),
        q=np.float32(np.sqrt(2 / np.pi)), twenty=np.float32(15),
    )  # fmt: skip
    checked(proto, **{name.strip(): 1})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = Mul (x, tenth) y = Max (x, a)", {"PRelu": 1}),
        ("a = Neg (x) y = Max (a, x)", {"PRelu": 1}),
        ("a = Max (x, zero) y = Min (a, six)", {"Clip": 1}),
        ("a = Relu (x) y = Clip (a, , six)", {"Clip": 1}),
        ("g = Less (x, zero) a = Mul (x, tenth) y = Where (g, a, x)", {"PRelu": 1}),
    ],
)
def test_what_needs_no_table(text: str, expected: dict[str, int]) -> None:
    proto = model(
        f"net (float[1,3,5,5] x) => (float[1,3,5,5] y) {{ {text} }}",
        zero=np.float32(0), six=np.float32(0.5), tenth=np.float32(0.1),
    )  # fmt: skip
    checked(proto, **expected)


def test_a_channel_shuffle_in_any_form() -> None:
    shuffle = """net (float[1,12,4,4] x) => (float[1,12,4,4] y) {
            a = Reshape (x, s1)
            b = Transpose <perm = [0,2,1,3,4]> (a)
            y = Reshape (b, s2)
        }"""
    proto = model(shuffle, s1=np.array([1, 3, 4, 4, 4]), s2=np.array([1, -1, 4, 4]))
    gather = checked(proto, ChannelGather=1).nodes[0]
    expected = tuple(int(i) for i in np.arange(12).reshape(3, 4).T.reshape(-1))
    assert gather.channels == expected  # type: ignore[attr-defined]
    flat = """net (float[1,12,4,4] x) => (float[1,12,4,4] y) {
            a = Reshape (x, s1)
            b = Transpose <perm = [1,0,2]> (a)
            y = Reshape (b, s2)
        }"""
    proto = model(flat, s1=np.array([3, 4, 16]), s2=np.array([1, 12, 4, 4]))
    assert checked(proto, ChannelGather=1).nodes[0].channels == expected  # type: ignore[attr-defined]
    halves = """net (float[1,12,4,4] x) => (float[1,12,4,4] y) {
            a, b = Split <axis = 1> (x)
            y = Concat <axis = 1> (b, a)
        }"""
    found = checked(model(halves), ChannelGather=1).nodes[0]
    assert found.channels == (*range(6, 12), *range(6))  # type: ignore[attr-defined]


def test_focus_is_space_to_depth() -> None:
    names = ["aa", "ba", "ab", "bb"]
    text = "".join(
        f"{first} = Slice (x, {'zero' if first == 'a' else 'one'}, end, two, step)"
        for first in ("a", "b")
    )
    text += "".join(
        f"{name} = Slice ({name[0]}, {'zero' if name[1] == 'a' else 'one'}, end, three, step)"
        for name in names
    )
    proto = model(
        f"net (float[1,3,8,8] x) => (float[1,4,4,4] y) {{ {text}"
        f"c = Concat <axis = 1> ({', '.join(names)}) y = Conv <pads = [1,1,1,1]> (c, w) }}",
        zero=np.array([0]), one=np.array([1]), end=np.array([99]), two=np.array([2]),
        three=np.array([3]), step=np.array([2]), w=normal(4, 12, 3, 3),
    )  # fmt: skip
    checked(proto, SpaceToDepth=1, ChannelGather=1, Conv=1)


def test_heads_of_a_detector() -> None:
    proto = model(
        """net (float[1,8,4,4] x) => (float[1,48,7] y) {
            a = Conv (x, w)
            b = Reshape (a, s1)
            c = Transpose <perm = [0,1,3,4,2]> (b)
            d = Sigmoid (c)
            p, q = Split <axis = 4> (d, parts)
            r = Mul (p, two)
            e = Concat <axis = 4> (r, q)
            y = Reshape (e, s2)
        }""",
        w=normal(21, 8, 1, 1), s1=np.array([1, 3, 7, 4, 4]), parts=np.array([2, 5]),
        two=np.float32(2), s2=np.array([1, -1, 7]),
    )  # fmt: skip
    graph = front.load(proto)
    assert_same(graph, proto)
    assert not {"Transpose", "Reshape"} & set(kinds(graph))
    assert graph.outputs[0].split


def test_a_stack_is_a_concatenation() -> None:
    proto = model(
        """net (float[1,3,4,4] x) => (float[1,3,4,4] y) {
            a = Relu (x)
            b = Unsqueeze (a, one)
            c = Unsqueeze (x, one)
            d = Concat <axis = 1> (b, c)
            y = ReduceMax <axes = [1], keepdims = 0> (d)
        }""",
        one=np.array([1]),
    )
    graph = front.load(proto)
    assert_same(graph, proto)
    assert kinds(graph)["Concat"] == 1


def test_squeeze_and_excite() -> None:
    proto = model(
        """net (float[1,8,4,4] x) => (float[1,8,4,4] y) {
            a = GlobalAveragePool (x)
            b = Flatten (a)
            c = Gemm (b, w1, b1)
            d = Relu (c)
            e = Gemm (d, w2, b2)
            f = Sigmoid (e)
            g = Reshape (f, s)
            y = Mul (g, x)
        }""",
        w1=normal(8, 2), b1=normal(2), w2=normal(2, 8), b2=normal(8), s=np.array([1, 8, 1, 1]),
    )  # fmt: skip
    graph = checked(proto, Pool=1, Conv=2, Clip=1, Sigmoid=1, mul=1)
    assert [v.shape for v in graph.nodes[-1].inputs] == [(1, 8, 4, 4), (1, 8, 1, 1)]


def test_pads_go_where_they_may() -> None:
    text = """net (float[1,3,6,6] x) => (float[1,4,6,6] y) {{
            a = Conv <pads = [1,1,1,1]> (x, w)
            b = {} (a)
            c = Pad (b, pads)
            y = MaxPool <kernel_shape = [3,3]> (c)
        }}"""
    constants = {"w": normal(4, 3, 3, 3), "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1])}
    checked(model(text.format("Relu"), **constants), Conv=1, Clip=1, Pool=1)
    checked(model(text.format("Identity"), **constants), Conv=1, Pad=1, Pool=1)
    average = text.format("Identity").replace("MaxPool", "AveragePool")
    pool = checked(model(average, **constants), Conv=1, Pool=1).nodes[-1]
    assert isinstance(pool, Pool)
    assert pool.divisor == 9
    lowest = model(
        """net (float[1,3,6,6] x) => (float[1,3,6,6] y) {
            a = Pad (x, pads, v)
            y = MaxPool <kernel_shape = [3,3]> (a)
        }""",
        pads=constants["pads"], v=np.finfo(np.float32).min,
    )  # fmt: skip
    checked(lowest, Pool=1)


def test_pads_computed_by_a_chain_of_shapes() -> None:
    """What torch writes for F.pad up to opset 17."""
    proto = model(
        """net (float[1,3,6,6] x) => (float[1,4,7,7] y) {
            p = Cast <to = 7> (given)
            n = Shape (x)
            m = Size (n)
            r = Sub (m, two)
            r2 = Mul (r, two)
            l = Shape (p)
            k = Sub (r2, zero)
            z = ConstantOfShape <value = int64[1] {0}> (four)
            all = Concat <axis = 0> (p, z)
            q = Reshape (all, rows)
            s = Slice (q, minus, low, axis, minus)
            t = Transpose <perm = [1,0]> (s)
            u = Reshape (t, flat)
            a = Pad <mode = "constant"> (x, u)
            y = Conv (a, w)
        }""",
        given=np.array([1, 2, 2, 1], np.int32), two=np.array(2), zero=np.array(0),
        four=np.array([4]), rows=np.array([-1, 2]), minus=np.array([-1]),
        low=np.array([-(2**62)]), axis=np.array([0]), flat=np.array([-1]), w=normal(4, 3, 3, 3),
    )  # fmt: skip
    conv = checked(proto, Conv=1).nodes[0]
    assert isinstance(conv, Conv)
    assert conv.pads == (2, 1, 1, 2)


def test_lrn_in_pieces() -> None:
    proto = model(
        """net (float[1,8,4,5] x) => (float[1,8,4,5] y) {
            a = Mul (x, x)
            b = Unsqueeze (a, one)
            c = Pad (b, pads)
            d = AveragePool <kernel_shape = [5,1,1], strides = [1,1,1]> (c)
            e = Squeeze (d, one)
            f = Mul (e, alpha)
            g = Add (f, k)
            h = Pow (g, beta)
            y = Div (x, h)
        }""",
        one=np.array([1]), pads=np.array([0, 0, 2, 0, 0, 0, 0, 2, 0, 0]),
        alpha=np.float32(0.3), k=np.float32(2), beta=np.float32(0.75),
    )  # fmt: skip
    (lrn,) = checked(proto, Lrn=1).nodes
    assert (lrn.size, lrn.beta) == (5, 0.75)  # type: ignore[attr-defined]


def test_matmul_on_rows() -> None:
    proto = model(
        """net (float[2,5,8] x) => (float[2,5,3] y) {
            a = MatMul (x, w)
            b = Add (a, v)
            y = Relu (b)
        }""",
        w=normal(8, 3), v=normal(3),
    )  # fmt: skip
    checked(proto, Conv=1, Clip=1)


def test_a_constant_condition_takes_its_branch() -> None:
    proto = model(
        """net (float[1,3,4,4] x) => (float[1,3,4,4] y) {
            s = Shape (x)
            r = Gather (s, zero)
            c = Equal (r, one)
            y = If (c) <
                then_branch = then () => (t) { t = Relu (x) },
                else_branch = other () => (e) { e = Sigmoid (x) }
            >
        }""",
        zero=np.array(0), one=np.array(1),
    )  # fmt: skip
    checked(proto, Clip=1)


def test_local_functions() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
        net (float[1,3,4,4] x) => (float[1,3,4,4] y) { y = local.act (x) }
        <domain: "local", opset_import: ["" : 17]>
        act (v) => (w) { s = Sigmoid (v) w = Mul (v, s) }"""
    proto = parser.parse_model(text)
    checked(proto, SiLU=1)


def test_dead_code_and_unused_inputs_are_left_out() -> None:
    proto = model(
        """net (float[1,3,4,4] x, float[1,3,4,4] z) => (float[1,3,4,4] y) {
            a = Det (z)
            b = Tanh (x)
            y = Relu (x)
        }"""
    )
    graph = front.load(proto)
    assert kinds(graph) == {"Clip": 1}
    assert [port.name for port in graph.inputs] == ["x"]
    assert any("'z' is not used" in note for note in graph.notes)


def test_outputs_cut_the_network() -> None:
    proto = model(
        """net (float[1,3,4,4] x) => (float[1,3,4,4] y) {
            a = Relu (x)
            b = Det (a)
            y = Add (a, b)
        }"""
    )
    graph = front.load(proto, outputs=["a"])
    assert kinds(graph) == {"Clip": 1}
    assert isinstance(graph.nodes[0], Clip)


def test_each_output_is_a_value_of_its_own() -> None:
    proto = model(
        """net (float[1,3,4,4] x) => (float[1,3,4,4] y, float[1,48] z, float[1,3,4,4] i) {
            y = Relu (x)
            z = Flatten (y)
            i = Identity (x)
        }"""
    )
    graph = front.load(proto)
    values = [port.value for port in graph.outputs]
    assert len(set(values)) == 3
    assert graph.inputs[0].value not in values
    assert_same(graph, proto)


def test_many_rows_and_batches_have_layouts() -> None:
    assert front.load(model("n (float[5,6] x) => (float[5,6] y) { y = Relu (x) }")).inputs[
        0
    ].value.shape == (1, 6, 1, 5)
    graph = front.load(model("n (float[1,10000] x) => (float[1,10000] y) { y = Relu (x) }"))
    assert max(graph.inputs[0].value.shape) <= 8192


def test_tensor_types() -> None:
    proto = model("n (float16[1,3,4,4] x) => (float16[1,3,4,4] y) { y = Relu (x) }")
    assert front.load(proto).inputs[0].dtype == "float16"
    proto = model(
        "n (uint8[1,3,4,4] x) => (float[1,3,4,4] y) { a = Cast <to = 1> (x) y = Div (a, c) }",
        c=np.float32(255),
    )
    graph = front.load(proto)
    assert graph.inputs[0].dtype == "uint8"
    pixels = RANDOM.integers(0, 256, (1, 3, 4, 4), np.uint8)
    assert np.array_equal(graph.inputs[0].to_value(pixels), pixels - 128.0)
    assert graph.inputs[0].value.scale == 1  # all 8 bits
    found = run_graph(graph, {"x": pixels})["y"]
    assert np.allclose(found, pixels / 255, atol=1e-6)
    assert helper.tensor_dtype_to_np_dtype(TensorProto.UINT8) == np.uint8


def test_an_output_that_nobody_reads_is_left_out() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
        agraph (float[1,4,8,8] x) => (float[1,4,4,4] y) {
            a, mask = Dropout (x)
            y, places = MaxPool <kernel_shape = [2,2], strides = [2,2]> (a)
        }"""
    model = parser.parse_model(text)
    assert_same(front.load(model), model)
    model.graph.output.append(
        onnx.helper.make_tensor_value_info("places", onnx.TensorProto.INT64, [1, 4, 4, 4])
    )
    with pytest.raises(Refused, match="its indices are read"):
        front.load(model)
