"""What users of boards have reported, on graphs made alike; where a documented rule says otherwise,
both are told."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudla_sim.boards import check
from cudla_sim.boards.checking import Report

from .graphs import Graph, convolution, ints, ones


def on_gpu(report: Report) -> dict[str, str]:
    """Layers on the GPU, with the reason."""
    return {decision.layer.name: decision.reason for decision in report.on_gpu}


def texts(report: Report) -> list[str]:
    return [message.text for message in report.messages]


def yolov5_head(scales: int = 3) -> Any:
    """YOLOv5's module 24: reshape to (1, 3, 85, h, w), transpose, sigmoid, split, and the boxes."""
    graph = Graph(12)
    ends = []
    for i in range(scales):
        size = 80 >> i
        p = f"/model.24/{i}"
        x = graph.add("Conv", (1, 32, size, size), ones(255, 32, 1, 1), name=f"{p}/Conv")
        x = graph.add("Reshape", x, ints(1, 3, 85, size, size), name=f"{p}/Reshape")
        x = graph.add("Transpose", x, perm=[0, 1, 3, 4, 2], name=f"{p}/Transpose")
        x = graph.add("Sigmoid", x, name=f"{p}/Sigmoid")
        graph.nodes.append(_split(x, p))
        xy, wh, rest = (f"{p}/Split.{n}" for n in range(3))
        grid = np.zeros((1, 3, size, size, 2), np.float32)
        grid[..., 0] = np.arange(size)
        xy = graph.add("Mul", xy, np.float32(2), name=f"{p}/Mul")
        xy = graph.add("Add", xy, grid, name=f"{p}/Add")
        wh = graph.add("Mul", wh, np.float32(2), name=f"{p}/Mul_1")
        wh = graph.add("Pow", wh, np.float32(2), name=f"{p}/Pow")
        y = graph.add("Concat", xy, wh, rest, axis=4, name=f"{p}/Concat")
        ends.append(graph.add("Reshape", y, ints(1, 3 * size * size, 85), name=f"{p}/Reshape_1"))
    graph.add("Concat", *ends, axis=1, name="/model.24/Concat")
    return graph.model()


def _split(value: str, prefix: str) -> Any:
    from onnx import helper

    names = [f"{prefix}/Split.{n}" for n in range(3)]
    return helper.make_node(
        "Split", [value], names, name=f"{prefix}/Split", axis=4, split=[2, 2, 81]
    )


def test_the_tail_of_yolov5_falls_back() -> None:
    report = check(yolov5_head(), tensorrt="8.5.2", int8=True)
    gpu = on_gpu(report)
    for i in range(3):
        p = f"/model.24/{i}"
        assert gpu[f"{p}/Reshape"].startswith("from 4 to 5 dimensions")
        assert f"{p}/Transpose" in gpu
        assert gpu[f"{p}/Pow"] == "Pow is not on the DLA in this release"
        assert f"{p}/Conv" not in gpu
    assert (
        "Layer '/model.24/0/Pow' (ELEMENTWISE): Unsupported on DLA. Switching this layer's "
        "device type to GPU." in texts(report)
    )


def test_slices_of_other_than_four_dimensions_are_told_in_tensorrts_words() -> None:
    graph = Graph()
    graph.add("Slice", (1, 85, 8400), ints(0), ints(4), ints(1), name="boxes")
    report = check(graph.model())
    assert list(on_gpu(report)) == ["boxes"]
    assert "DLA only supports slicing 4 dimensional tensors." in texts(report)
    assert "Validation failed for DLA layer: boxes. Switching to GPU fallback." in texts(report)


def test_a_convolution_refused_although_the_formula_allows_it() -> None:
    """TensorRT issue 3499: 512 channels, 160 columns, 3 x 3 on Orin with 8.5.2."""
    model = convolution((1, 512, 96, 160), 512, pads=[1, 1, 1, 1])
    for precision in ({"int8": True}, {"fp16": True}):
        (decision,) = check(model, tensorrt="8.5.2", **precision).decisions
        assert decision.device == "DLA"  # the documented rule
        (finding,) = decision.findings  # the report
        assert finding.effect == "note"
        assert "16 > 15" in finding.text
        assert "3499" in finding.source


def classifier(blocks: int = 4) -> Any:
    """Convolutions with batch norm and ReLU, global average, a linear layer: jetson_dla_tutorial's
    ModelGN and ModelBN, and every ResNet."""
    graph = Graph()
    x: Any = (32, 3, 32, 32)
    channels = 3
    for i in range(blocks):
        x = graph.add(
            "Conv", x, ones(16, channels, 3, 3), strides=[2, 2], pads=[1] * 4, name=f"Conv_{i}"
        )
        x = graph.add(
            "BatchNormalization", x, ones(16), ones(16), ones(16), ones(16), name=f"BN_{i}"
        )
        x = graph.add("Relu", x, name=f"Relu_{i}")
        channels = 16
    x = graph.add("GlobalAveragePool", x, name="GlobalAveragePool_0")
    x = graph.add("Flatten", x, name="Flatten_0")
    graph.add("Gemm", x, ones(10, 16), ones(10), transB=1, name="Gemm_0")
    return graph.model()


def test_global_average_and_flatten_split_a_classifier_in_two() -> None:
    """Two DLA subgraphs, as in ResNet-50's and ModelBN's published logs (TensorRT 8.x, 10.3)."""
    for release in ("8.5.2", "10.3"):
        report = check(classifier(), tensorrt=release, int8=True)
        assert set(on_gpu(report)) == {"GlobalAveragePool_0", "Flatten_0"}
        assert [s.name for s in report.subgraphs] == [
            "{ForeignNode[Conv_0...Relu_3]}",
            "{ForeignNode[Gemm_0]}",
        ]
        assert "[DlaLayer] {ForeignNode[Conv_0...Relu_3]}" in texts(report)
        assert "[GpuLayer] REDUCE: GlobalAveragePool_0" in texts(report)


def group_norm(blocks: int = 4) -> Any:
    """jetson_dla_tutorial's ModelGN as PyTorch exports it: Conv, GroupNorm, ReLU."""
    graph = Graph(13)
    x: Any = (32, 3, 32, 32)
    channels = 3
    for i in range(blocks):
        size = 16 >> i
        x = graph.add(
            "Conv", x, ones(64, channels, 3, 3), strides=[2, 2], pads=[1] * 4, name=f"Conv_{i}"
        )
        channels = 64
        y = graph.add("Reshape", x, ints(32, 8, -1), name=f"Reshape_{i}")
        y = graph.add("InstanceNormalization", y, ones(8), ones(8), name=f"Norm_{i}")
        y = graph.add("Reshape", y, ints(32, 64, size, size), name=f"Back_{i}")
        y = graph.add("Mul", y, ones(64, 1, 1) * np.arange(64).reshape(64, 1, 1), name=f"Mul_{i}")
        y = graph.add("Add", y, ones(64, 1, 1) * np.arange(64).reshape(64, 1, 1), name=f"Add_{i}")
        x = graph.add("Relu", y, name=f"Relu_{i}")
    return graph.model()


def test_group_norm_leaves_a_piece_for_each_convolution() -> None:
    """The log of TensorRT 8.4: {Conv_0}, {Relu...Conv} three times, {Relu}; shuffles and norms on
    the GPU. It has the products and sums there, too, which the guide's Scale does not: told as a
    note."""
    report = check(group_norm(), tensorrt="8.4", int8=True)
    names = [s.name for s in report.subgraphs]
    assert names[0] == "{ForeignNode[Conv_0]}"
    assert names[1:4] == [f"{{ForeignNode[Mul_{i}...Conv_{i + 1}]}}" for i in range(3)]
    assert names[4] == "{ForeignNode[Mul_3...Relu_3]}"
    kinds = {d.layer.kind for d in report.on_gpu}
    assert kinds == {"SHUFFLE", "NORMALIZATION"}
    notes = {d.layer.name: d.findings for d in report.decisions if d.layer.kind == "SCALE"}
    assert all("on the GPU" in finding.text for (finding,) in notes.values())


def transformer(blocks: int) -> Any:
    """An encoder like DETR's: matrix products of activations, softmax, layer normalisation."""
    graph = Graph()
    tokens, width = 64, 32
    x: Any = graph.input((1, tokens, width))
    for i in range(blocks):
        q, k, v = (
            graph.add("MatMul", x, ones(width, width), name=f"b{i}/{n}") for n in ("q", "k", "v")
        )
        k = graph.add("Transpose", k, perm=[0, 2, 1], name=f"b{i}/kt")
        s = graph.add("MatMul", q, k, name=f"b{i}/scores")
        s = graph.add("Mul", s, np.float32(0.25), name=f"b{i}/scale")
        s = graph.add("Softmax", s, axis=-1, name=f"b{i}/softmax")
        y = graph.add("MatMul", s, v, name=f"b{i}/context")
        x = graph.add("Add", x, y, name=f"b{i}/add")
        x = graph.add("LayerNormalization", x, ones(width), ones(width), name=f"b{i}/norm")
    return graph.model()


def test_a_transformer_uses_up_the_sixteen_subgraphs() -> None:
    """DETR: 16 pieces, all later candidates on the GPU, whatever they are."""
    report = check(transformer(12))
    assert len(report.subgraphs) == 16
    late = [d for d in report.on_gpu if d.findings[0].rule == "subgraphs"]
    assert late
    last = max(report.subgraphs[-1].decisions, key=lambda d: report.decisions.index(d))
    assert all(
        report.decisions.index(d) > report.decisions.index(report.subgraphs[-1].decisions[0])
        for d in late
    )
    assert last.device == "DLA"
    assert any(text.startswith("DLA supports only 16 subgraphs") for text in texts(report))


def test_a_board_without_a_dla_says_what_tensorrt_says() -> None:
    import pytest

    from cudla_sim.boards import DlaError

    with pytest.raises(DlaError, match="Cannot create DLA engine, 0 not available"):
        check(classifier(), "orin-nano")
    with pytest.raises(DlaError, match="Thor"):
        check(classifier(), "thor")


def test_xavier_lacks_what_orin_has() -> None:
    graph = Graph()
    x = graph.add("Conv", (1, 8, 8, 8), ones(8, 8, 1, 1), name="conv")
    x = graph.add("Slice", x, ints(0), ints(4), ints(1), name="slice")
    x = graph.add("Softmax", x, axis=1, name="softmax")
    report = check(graph.model(), "xavier")
    assert set(on_gpu(report)) == {"softmax"}  # the guide names no board for Slice
    assert on_gpu(report)["softmax"] == "SoftMax is on the DLA of Orin only"
    assert not on_gpu(check(graph.model(), "orin"))


def test_quantised_models_before_and_since_tensorrt_11() -> None:
    graph = Graph()
    zero, scale = np.int8(0), np.float32(0.1)

    def pair(value: Any, n: int) -> str:
        q = graph.add("QuantizeLinear", value, scale, zero, name=f"q{n}")
        return graph.add("DequantizeLinear", q, scale, zero, name=f"dq{n}")

    x = pair((1, 8, 8, 8), 0)
    x = graph.add("Conv", x, ones(8, 8, 3, 3), name="conv")
    x = pair(x, 1)
    graph.add("Relu", x, name="relu")
    graph.add("Abs", "conv.out", name="abs")  # reads what has no Q/DQ
    model = graph.model()
    before = check(model, tensorrt="10.3", int8=True)
    assert {"q0", "dq0", "q1", "dq1"} <= set(on_gpu(before))
    assert "explicit quantization" in on_gpu(before)["q0"]
    since = {d.layer.name: d for d in check(model, tensorrt="11.4", int8=True).decisions}
    assert set(since) == {"conv", "relu", "abs"}
    assert since["conv"].precision == since["relu"].precision == "int8"
    assert since["abs"].precision == "fp16"


def test_calibration_cache_without_a_tensor(tmp_path: Any) -> None:
    cache = tmp_path / "calib.cache"
    cache.write_text("TRT-8502-EntropyCalibration2\nx0: 3c010a14\n")
    graph = Graph()
    graph.add("Relu", graph.add("Conv", (1, 8, 8, 8), ones(8, 8, 1, 1), name="conv"), name="relu")
    conv, relu = check(graph.model(), int8=True, calibration=cache).decisions
    assert (conv.precision, relu.precision) == ("int8", "fp16")
    assert relu.device == "DLA"
    assert relu.findings[-1].rule == "no-scale"
