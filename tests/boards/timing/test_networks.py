"""The networks made here have the sizes that are known of them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import onnx
import pytest

from cudla_sim.boards import check
from cudla_sim.boards.checking import macs
from tests.boards.networks import residual, small, yolo

SIZES: dict[str, tuple[Callable[[], onnx.ModelProto], float, float, int]] = {
    # 4.09 GMACs and 25.6 M parameters: torchvision; batch normalisation is folded here
    "resnet50": (residual.resnet50, 4.09, 25.53, 53),
    # 433 GFLOPs: MLPerf
    "ssd_resnet34": (residual.ssd_resnet34, 216.5, 20.0, 45),
    # 1.6 GMACs, 7.0 M: Caffe's model zoo
    "googlenet": (lambda: small.googlenet()[0], 1.58, 7.0, 58),
    # 2.47 GFLOPs, 6.8 M: MLPerf's description of SSD-MobileNetV1
    "ssd_mobilenet": (small.ssd_mobilenet, 1.24, 6.81, 41),
    # ultralytics: 16.5 GFLOPs at 640, 7.2 M, 60 convolutions
    "yolov5s": (lambda: yolo.yolov5s(640), 8.22, 7.23, 60),
    # 28.6 GFLOPs, 11.2 M, without the decoding of boxes
    "yolov8s": (lambda: yolo.yolov8s(640), 14.3, 11.16, 71),
    # 6.5 GFLOPs, 2.6 M
    "yolo11n": (yolo.yolo11n, 3.27, 2.62, 87),
    # 7.6 GFLOPs, 2.9 M
    "yolo11n_pose": (lambda: yolo.yolo11n(pose=True), 3.82, 2.90, 96),
    # 128.5 BFLOPs at 608, 64.4 M: darknet
    "yolov4": (yolo.yolov4, 64.2, 64.33, 110),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_multiplications_and_parameters(name: str) -> None:
    make, giga, millions, convolutions = SIZES[name]
    layers = check(make(), int8=True).network.layers
    assert sum(macs(layer) for layer in layers) / 1e9 == pytest.approx(giga, rel=0.005)
    weights = sum(prod(shape) for layer in layers for shape in layer.weights.values())
    assert weights / 1e6 == pytest.approx(millions, rel=0.005)
    assert sum(layer.kind == "CONVOLUTION" for layer in layers) == convolutions


def test_boxes_of_the_detectors() -> None:
    """15130 boxes of SSD-ResNet-34 and 1917 of SSD-MobileNetV1, known from MLPerf."""
    for model, of_each, boxes in (
        (residual.ssd_resnet34(), 85, 15130), (small.ssd_mobilenet(), 95, 1917),
    ):  # fmt: skip
        outputs = check(model, int8=True).network.outputs
        assert sum(tensor.elements for tensor in outputs) == of_each * boxes


def test_caffes_layers_of_googlenet() -> None:
    """141 with the last softmax; groups of published times begin and end at pools and blocks."""
    names = small.googlenet()[1]
    assert len(names) == 141
    assert [names[i].split("_")[0] for i in (9, 38, 109, 140)] == ["MaxPool"] * 3 + ["Softmax"]
    assert [names[i].split("_")[0] for i in (52, 66, 80, 94, 123)] == ["Concat"] * 5
