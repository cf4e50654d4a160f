"""GoogLeNet, SSD-MobileNetV1, and the small network of NVIDIA's DLA tutorial."""

from __future__ import annotations

import onnx

from .graph import Graph

INCEPTION = {
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}
"""Channels: 1x1, before 3x3, 3x3, before 5x5, 5x5, behind the pooling."""


def googlenet(batch: int = 1) -> tuple[onnx.ModelProto, list[str]]:
    """Caffe's, and the names of its nodes in the order of Caffe's layers (without the input)."""
    g = Graph("googlenet", (batch, 3, 224, 224))
    layers: list[str] = []

    def conv(x: str, *sizes: int) -> str:
        layers.append(g.conv(x, *sizes))
        return note(g.act(layers[-1], "relu"))

    def note(x: str) -> str:
        layers.append(x)
        return x

    def lrn(x: str) -> str:
        return note(g.node("LRN", [x], g.shape[x], size=5))

    x = note(g.pool(conv(g.input, 64, 7, 2), 3, 2, up=True))
    x = lrn(conv(conv(lrn(x), 64, 1), 192, 3))
    x = note(g.pool(x, 3, 2, up=True))
    for name, (one, before3, three, before5, five, behind) in INCEPTION.items():
        parts = [conv(x, one, 1), conv(conv(x, before3, 1), three, 3)]
        parts.append(conv(conv(x, before5, 1), five, 5))
        parts.append(conv(note(g.pool(x, 3, 1, 1)), behind, 1))
        x = note(g.concat(*parts))
        if name in ("3b", "4e"):
            x = note(g.pool(x, 3, 2, up=True))
    x = note(g.conv(note(g.pool(x, 7, 1, average=True)), 1000, 1))
    return g.model(note(g.node("Softmax", [x], g.shape[x], axis=1))), layers


def ssd_mobilenet(batch: int = 1) -> onnx.ModelProto:
    """TensorFlow's SSD on MobileNetV1, 91 classes, boxes and classes in one convolution for each
    of six sizes, without their decoding."""
    g = Graph("ssd_mobilenet_v1", (batch, 3, 300, 300))
    x = g.conv(g.input, 32, 3, 2, act="relu6")
    features = []
    strides = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)
    maps = (64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024)
    for number, (stride, width) in enumerate(zip(strides, maps, strict=True), 1):
        x = g.conv(x, g.shape[x][1], 3, stride, groups=g.shape[x][1], act="relu6")
        x = g.conv(x, width, 1, act="relu6")
        if number in (11, 13):
            features.append(x)
    for middle, width in ((256, 512), (128, 256), (128, 256), (64, 128)):
        x = g.conv(g.conv(x, middle, 1, act="relu6"), width, 3, 2, act="relu6")
        features.append(x)
    boxes = (3, 6, 6, 6, 6, 6)
    return g.model(*(g.conv(f, b * (4 + 91), 1) for f, b in zip(features, boxes, strict=True)))


def model_bn(batch: int = 1) -> onnx.ModelProto:
    """Four convolutions of stride 2 on 32x32 pictures."""
    g = Graph("model_bn", (batch, 3, 32, 32))
    x = g.input
    for maps in (64, 128, 256, 512):
        x = g.conv(x, maps, 3, 2, act="relu")
    return g.model(g.full(x, 10))
