"""Precisions and formats of inputs, outputs and layers."""

from __future__ import annotations

import numpy as np
import pytest

from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.errors import CompileError
from cudla_sim.compiler.options import Options
from cudla_sim.nvdla import Loadable
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.facts.configs import config as hardware
from cudla_sim.nvdla.loadable import DataType

from .blocks import Builder
from .naive_graph import evaluate
from .running import compare, ranges, run, snapped


def errors(b: Builder, graph, options: Options) -> list[float]:
    """Largest error of each output, as a share of its largest value."""
    own = np.random.default_rng(7)
    data = [own.normal(size=value.shape) for value in b.inputs]
    scales = ranges(graph, [data], "int8")
    compiled = compile_graph(graph, scales, options)
    assert not check(Loadable.parse(compiled.loadable), hardware(options.config))
    data = [snapped(array, scales[v.name]) for array, v in zip(data, b.inputs, strict=True)]
    values = evaluate(graph, data)
    found = []
    for port, result in zip(graph.outputs, run(compiled, options.config, data), strict=True):
        expected = values[port.value]
        found.append(float(np.abs(result - expected).max() / np.abs(expected).max()))
    return found


def test_fp16_outputs_of_an_int8_network_are_finer_than_int8() -> None:
    b = Builder()
    x = b.relu(b.conv(b.input(1, 5, 9, 9), 20, 3))
    graph = b.graph(b.conv(x, 37), b.curve(b.conv(x, 7, 3), "Sigmoid"), x)
    names = [port.name for port in graph.outputs]
    formats = dict.fromkeys(names, "fp16:chw16")
    coarse = errors(b, graph, Options())
    fine = errors(b, graph, Options(output_formats=formats))
    assert fine[0] < coarse[0]  # what is left is the rounding of x
    assert fine[1] < coarse[1]
    data = compile_graph(
        graph,
        dict.fromkeys([v.name for v in graph.values()], 0.05),
        Options(output_formats=formats),
    )
    types = [tensor.data_type for tensor in Loadable.parse(data.loadable).outputs]
    assert types == [DataType.HALF] * 3


def test_layers_kept_in_fp16_round_less() -> None:
    b = Builder()
    x = b.leaky(b.conv(b.input(1, 5, 9, 9), 20, 3))
    y = b.leaky(b.conv(x, 20, 3))
    graph = b.graph(b.binary("add", b.conv(y, 20), x))
    names = tuple(node.name for node in graph.nodes)
    formats = {graph.outputs[0].name: "fp16:chw16"}
    coarse = errors(b, graph, Options(output_formats=formats))
    fine = errors(b, graph, Options(keep_fp16=names, output_formats=formats))
    assert fine[0] < 4e-3 < coarse[0]
    some = errors(b, graph, Options(keep_fp16=names[2:4]))
    assert some[0] < 0.05


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"input_formats": {"nobody": "int8:chw32"}}, "the network's inputs are input0"),
        ({"input_formats": {"input0": "fp32:chw"}}, "type:format expected"),
        ({"output_formats": {"Conv0_out": "int8:dla_hwc4"}}, "only inputs can be pictures"),
        (
            {"config": "nv_large", "input_formats": {"input0": "int8:dla_linear"}},
            "nv_large has no unit for planes",
        ),
        ({"config": "nv_small", "output_formats": {"Conv0_out": "fp16:chw16"}}, "outputs of int8"),
        ({"config": "nv_small", "precision": "fp16"}, "nv_small has no fp16 arithmetic"),
        ({"config": "nv_small", "keep_fp16": ("Conv0",)}, "nv_small has no fp16"),
        ({"keep_fp16": ("Conv9",)}, "no node is named Conv9"),
    ],
)
def test_options_that_do_not_fit_are_explained(option: dict, words: str) -> None:
    b = Builder()
    graph = b.graph(b.conv(b.input(1, 5, 9, 9), 20, 3))
    with pytest.raises(CompileError, match=words):
        compile_graph(graph, {"input0": 0.1, "Conv0_out": 0.1}, Options(**option))


@pytest.mark.parametrize(
    ("config", "precision"), [("nv_small", "int8"), ("nv_full", "int8"), ("nv_full", "fp16")]
)
@pytest.mark.parametrize(
    ("shape", "layout"),
    [((1, 3, 40, 50), "dla_hwc4"), ((1, 1, 9, 9), "dla_linear"), ((2, 4, 9, 9), "dla_hwc4")],
)
@pytest.mark.parametrize(("kernel", "stride"), [(3, 2), (7, 2), (1, 1)])
def test_pictures(
    shape: tuple[int, ...], layout: str, config: str, precision: str, kernel: int, stride: int
) -> None:
    b = Builder()
    x = b.input(*shape)
    graph = b.graph(b.relu(b.conv(x, 20, kernel, stride)))
    formats = {"input0": f"{precision}:{layout}"}
    compare_with(graph, b, config, precision, Options(config, precision, input_formats=formats))


def compare_with(graph, b: Builder, config: str, precision: str, options: Options) -> None:
    data = [np.random.default_rng(7).normal(size=value.shape) for value in b.inputs]
    compare(graph, data, config, precision, options=options)


def test_only_convolutions_read_pictures() -> None:
    b = Builder()
    graph = b.graph(b.relu(b.input(1, 3, 9, 9)))
    options = Options(input_formats={"input0": "int8:dla_hwc4"})
    with pytest.raises(CompileError, match="only a convolution reads pictures"):
        compile_graph(graph, {"input0": 0.1, "Clip0_out": 0.1}, options)


def test_weights_with_many_zeros_are_compressed() -> None:
    b = Builder()
    graph = b.graph(b.relu(b.conv(b.input(1, 64, 9, 9), 64, 3, groups=64)))
    data = [np.random.default_rng(7).normal(size=value.shape) for value in b.inputs]
    scales = ranges(graph, [data], "int8")
    sizes = [
        compile_graph(graph, scales, Options(config=config)).report["weight_bytes"]
        for config in ("nv_full", "nv_large")
    ]
    assert sizes[0] < 0.4 * sizes[1]  # nv_large has no compression
    compare(graph, data, "nv_full", "int8")


@pytest.mark.parametrize("precision", ["int8", "int16", "fp16"])
@pytest.mark.parametrize("batch", [1, 2])
def test_planes(precision: str, batch: int) -> None:
    b = Builder()
    x = b.input(batch, 5, 9, 40)
    y = b.relu(b.conv(x, 20, 3))
    graph = b.graph(b.conv(y, 37), y)
    linear = f"{precision}:dla_linear"
    names = [port.name for port in graph.outputs]
    options = Options(
        "nv_full",
        precision,
        input_formats={"input0": linear},
        output_formats=dict.fromkeys(names, linear),
    )
    compare_with(graph, b, "nv_full", precision, options)
    scales = dict.fromkeys([value.name for value in graph.values()], 0.05)
    loadable = Loadable.parse(compile_graph(graph, scales, options).loadable)
    size = 1 if precision == "int8" else 2
    line = -(-40 * size // 64) * 64
    assert loadable.inputs[0].strides[:3] == (size, line, line * 9)
    assert loadable.outputs[0].size == batch * 37 * 9 * line
