"""ResNet-34 and 50, and the detectors on them: SSD-ResNet-34 and RetinaNet on ResNeXt-50."""

from __future__ import annotations

import onnx

from .graph import Graph


def basic(g: Graph, x: str, maps: int, stride: int) -> str:
    y = g.conv(g.conv(x, maps, 3, stride, act="relu"), maps, 3)
    if stride != 1 or g.shape[x][1] != maps:
        x = g.conv(x, maps, 1, stride)
    return g.add(y, x, "relu")


def bottleneck(g: Graph, x: str, middle: int, stride: int, groups: int = 1) -> str:
    """As torchvision has it (version 1.5): the 3x3 convolution has the stride. Four times as many
    channels come out as in the middle; of grouped ones twice."""
    maps = middle * (2 if groups > 1 else 4)
    y = g.conv(x, middle, 1, act="relu")
    y = g.conv(g.conv(y, middle, 3, stride, groups=groups, act="relu"), maps, 1)
    if stride != 1 or g.shape[x][1] != maps:
        x = g.conv(x, maps, 1, stride)
    return g.add(y, x, "relu")


def stem(g: Graph) -> str:
    return g.pool(g.conv(g.input, 64, 7, 2, act="relu"), 3, 2, 1)


def resnet34(height: int, width: int, batch: int = 1) -> tuple[Graph, list[str]]:
    """The outputs of the last three stages."""
    g = Graph("resnet34", (batch, 3, height, width))
    x, ends = stem(g), []
    for stage, (blocks, maps) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            x = basic(g, x, maps, 2 if stage and not block else 1)
        ends.append(x)
    return g, ends[1:]


def resnet34_backbone(batch: int = 1) -> onnx.ModelProto:
    g, ends = resnet34(768, 1280, batch)
    return g.model(*ends)


def fifty(g: Graph, groups: int = 1) -> list[str]:
    """The outputs of the four stages of ResNet-50, or of ResNeXt-50 with 32 groups."""
    x, ends = stem(g), []
    for stage, (blocks, middle) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            x = bottleneck(g, x, middle * (2 if groups > 1 else 1), stride, groups)
        ends.append(x)
    return ends


def resnet50(batch: int = 1) -> onnx.ModelProto:
    """As torchvision exports it."""
    g = Graph("resnet50", (batch, 3, 224, 224))
    return g.model(g.full(fifty(g)[-1], 1000))


def resnet50_prepared(batch: int = 1) -> onnx.ModelProto:
    """With a head that the DLA takes: AveragePool 7x7 and a 1x1 convolution."""
    g = Graph("resnet50_prepared", (batch, 3, 224, 224))
    x = g.pool(fifty(g)[-1], 7, 1, average=True)
    return g.model(g.conv(x, 1000, 1))


def retinanet(batch: int = 1) -> onnx.ModelProto:
    """RetinaNet on ResNeXt-50 32x4d, 264 classes, 9 anchors, without the decoding of boxes."""
    g = Graph("retinanet_resnext50", (batch, 3, 800, 800))
    _, c3, c4, c5 = fifty(g, 32)
    five = g.conv(c5, 256, 1)
    four = g.add(g.conv(c4, 256, 1), g.up(five))
    three = g.add(g.conv(c3, 256, 1), g.up(four))
    levels = [g.conv(x, 256, 3) for x in (three, four, five)]
    levels.append(g.conv(levels[-1], 256, 3, 2))
    levels.append(g.conv(g.node("Relu", [levels[-1]], g.shape[levels[-1]]), 256, 3, 2))
    outputs = []
    for last in (9 * 264, 9 * 4):
        for level in levels:
            for _ in range(4):
                level = g.conv(level, 256, 3, act="relu")
            outputs.append(g.conv(level, last, 3))
    return g.model(*outputs)


def ssd_resnet34(batch: int = 1) -> onnx.ModelProto:
    """MLPerf's: the third stage keeps its size, no fourth; boxes and 81 classes in one
    convolution for each of six sizes, without their decoding."""
    g = Graph("ssd_resnet34", (batch, 3, 1200, 1200))
    x = stem(g)
    for stage, (blocks, maps) in enumerate(((3, 64), (4, 128), (6, 256))):
        for block in range(blocks):
            x = basic(g, x, maps, 2 if stage == 1 and not block else 1)
    features = [x]
    for middle, maps, stride, pad in (
        (256, 512, 2, 1), (256, 512, 2, 1), (128, 256, 2, 1), (128, 256, 2, 0), (128, 256, 1, 0),
    ):  # fmt: skip
        x = g.conv(g.conv(x, middle, 1, act="relu"), maps, 3, stride, pad, act="relu")
        features.append(x)
    boxes = (4, 6, 6, 6, 4, 4)
    return g.model(
        *(g.conv(f, b * (4 + 81), 3, 3, 1) for f, b in zip(features, boxes, strict=True))
    )
