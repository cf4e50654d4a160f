"""The YOLO family: v5s, v8s, v4, 11n-pose; without the decoding of boxes."""

from __future__ import annotations

from math import ceil

import onnx

from .graph import Graph


class Yolo(Graph):
    """Blocks of ultralytics' networks, with one activation everywhere."""

    def __init__(self, name: str, size: int, activation: str = "silu", batch: int = 1) -> None:
        super().__init__(name, (batch, 3, size, size))
        self.activation = activation

    def cbs(
        self, x: str, maps: int, kernel: int = 1, stride: int = 1, groups: int = 1, name: str = ""
    ) -> str:
        return self.conv(x, maps, kernel, stride, groups=groups, act=self.activation, name=name)

    def bottleneck(
        self, x: str, maps: int, kernels: tuple[int, int], middle: int, add: bool
    ) -> str:
        y = self.cbs(self.cbs(x, middle, kernels[0]), maps, kernels[1])
        return self.add(x, y) if add else y

    def c3(self, x: str, maps: int, count: int, add: bool = True, name: str = "") -> str:
        half = maps // 2
        y = self.cbs(x, half)
        for _ in range(count):
            y = self.bottleneck(y, half, (1, 3), half, add)
        return self.cbs(self.concat(y, self.cbs(x, half)), maps, name=name)

    def c2f(self, x: str, maps: int, count: int, add: bool = False, split: bool = False) -> str:
        """*split*: one convolution whose channels are cut in two, as in the original; else two."""
        half = maps // 2
        if split:
            whole = self.cbs(x, maps)
            parts = [self.channels(whole, 0, half), self.channels(whole, half, maps)]
        else:
            parts = [self.cbs(x, half), self.cbs(x, half)]
        for _ in range(count):
            parts.append(self.bottleneck(parts[-1], half, (3, 3), half, add))
        return self.cbs(self.concat(*parts), maps)

    def sppf(self, x: str, maps: int) -> str:
        parts = [self.cbs(x, maps // 2)]
        for _ in range(3):
            parts.append(self.pool(parts[-1], 5, 1, 2))
        return self.cbs(self.concat(*parts), maps)


def yolov5s(size: int = 672, batch: int = 1, free: bool = False) -> onnx.ModelProto:
    """Version 7, its outputs those of the last three convolutions. *free*: with the head of
    version 8 (yolov5su)."""
    g = Yolo("yolov5su" if free else "yolov5s", size, batch=batch)
    x = g.cbs(g.conv(g.input, 32, 6, 2, 2, act="silu"), 64, 3, 2)
    x = g.cbs(g.c3(x, 64, 1), 128, 3, 2)
    third = g.c3(x, 128, 2)
    fourth = g.c3(g.cbs(third, 256, 3, 2), 256, 3)
    x = g.sppf(g.c3(g.cbs(fourth, 512, 3, 2), 512, 1), 512)
    five = g.cbs(x, 256)
    four = g.cbs(g.c3(g.concat(g.up(five), fourth), 256, 1, False), 128)
    small = g.c3(g.concat(g.up(four), third), 128, 1, False)
    middle = g.c3(g.concat(g.cbs(small, 128, 3, 2), four), 256, 1, False)
    joined = g.concat(g.cbs(middle, 256, 3, 2), five)
    large = g.c3(joined, 512, 1, False, name="/model.23/cv3/conv/Conv")
    if free:
        return g.model(*_free_head(g, (small, middle, large)))
    ends = enumerate((small, middle, large))
    return g.model(*(g.conv(x, 255, 1, name=f"/model.24/m.{i}/Conv") for i, x in ends))


def _free_head(g: Yolo, features: tuple[str, ...], light: bool = False) -> list[str]:
    """Distances of boxes (4 x 16) and 80 classes for each size; *light* as in version 11."""
    width = g.shape[features[0]][1]
    boxes, classes = max(16, width // 4, 64), max(width, min(80, 100))
    outputs = []
    for i, x in enumerate(features):
        y = x
        for step in range(2):
            y = g.cbs(y, boxes, 3, name=f"/head/boxes.{i}/{step}/Conv")
        outputs.append(g.conv(y, 64, 1, name=f"/head/boxes.{i}/last/Conv"))
        y = x
        for _ in range(2):
            if light:
                y = g.cbs(g.cbs(y, g.shape[y][1], 3, groups=g.shape[y][1]), classes, 1)
            else:
                y = g.cbs(y, classes, 3)
        outputs.append(g.conv(y, 80, 1, name=f"/head/classes.{i}/last/Conv"))
    return outputs


def yolov8s(size: int = 672, batch: int = 1) -> onnx.ModelProto:
    """Its C2f blocks begin with two convolutions in place of one and a cut."""
    g = Yolo("yolov8s", size, batch=batch)
    x = g.cbs(g.cbs(g.input, 32, 3, 2), 64, 3, 2)
    x = g.cbs(g.c2f(x, 64, 1, True), 128, 3, 2)
    third = g.c2f(x, 128, 2, True)
    fourth = g.c2f(g.cbs(third, 256, 3, 2), 256, 2, True)
    fifth = g.sppf(g.c2f(g.cbs(fourth, 512, 3, 2), 512, 1, True), 512)
    four = g.c2f(g.concat(g.up(fifth), fourth), 256, 1)
    small = g.c2f(g.concat(g.up(four), third), 128, 1)
    middle = g.c2f(g.concat(g.cbs(small, 128, 3, 2), four), 256, 1)
    large = g.c2f(g.concat(g.cbs(middle, 256, 3, 2), fifth), 512, 1)
    return g.model(*_free_head(g, (small, middle, large)))


def yolov4(size: int = 608, batch: int = 1) -> onnx.ModelProto:
    """Darknet's, with Mish in the backbone and leaky ReLU behind it."""
    g = Yolo("yolov4", size, "mish", batch)
    x, ends = g.cbs(g.input, 32, 3), []
    for maps, count in ((64, 1), (128, 2), (256, 8), (512, 8), (1024, 4)):
        half = maps if maps == 64 else maps // 2
        x = g.cbs(x, maps, 3, 2)
        beside, y = g.cbs(x, half), g.cbs(x, half)
        for _ in range(count):
            y = g.bottleneck(y, half, (1, 3), 32 if maps == 64 else half, True)
        x = g.cbs(g.concat(g.cbs(y, half), beside), maps)
        ends.append(x)
    g.activation = "leaky"
    x = _three(g, ends[4], 512)
    x = g.cbs(g.concat(*(g.pool(x, k, 1, k // 2) for k in (13, 9, 5)), x), 512)
    five = g.cbs(g.cbs(x, 1024, 3), 512)
    four = _five(g, g.concat(g.cbs(ends[3], 256), g.up(g.cbs(five, 256))), 256)
    three = _five(g, g.concat(g.cbs(ends[2], 128), g.up(g.cbs(four, 128))), 128)
    four = _five(g, g.concat(g.cbs(three, 256, 3, 2), four), 256)
    five = _five(g, g.concat(g.cbs(four, 512, 3, 2), five), 512)
    heads = ((three, 256), (four, 512), (five, 1024))
    return g.model(*(g.conv(g.cbs(x, maps, 3), 255, 1) for x, maps in heads))


def _three(g: Yolo, x: str, maps: int) -> str:
    return g.cbs(g.cbs(g.cbs(x, maps), 2 * maps, 3), maps)


def _five(g: Yolo, x: str, maps: int) -> str:
    return g.cbs(g.cbs(_three(g, x, maps), 2 * maps, 3), maps)


def _c3k2(g: Yolo, x: str, maps: int, deep: bool, share: float = 0.5) -> str:
    """One block inside, of two bottlenecks if *deep*."""
    half = int(maps * share)
    whole = g.cbs(x, 2 * half)
    parts = [g.channels(whole, 0, half), g.channels(whole, half, 2 * half)]
    if deep:
        quarter = half // 2
        y = g.cbs(parts[1], quarter)
        for _ in range(2):
            y = g.bottleneck(y, quarter, (3, 3), quarter, True)
        parts.append(g.cbs(g.concat(y, g.cbs(parts[1], quarter)), half))
    else:
        parts.append(g.bottleneck(parts[1], half, (3, 3), half // 2, True))
    return g.cbs(g.concat(*parts), maps)


def _attention(g: Yolo, x: str, heads: int) -> str:
    """Queries and keys of half a head's channels, softmax over all places, values with a
    depthwise convolution as position."""
    n, c, h, w = g.shape[x]
    places, value = h * w, c // heads
    key = value // 2
    mixed = g.reshape(g.conv(x, c + 2 * heads * key, 1), n, heads, 2 * key + value, places)
    q, k, v = (
        _rows(g, mixed, begin, end)
        for begin, end in ((0, key), (key, 2 * key), (2 * key, 2 * key + value))
    )
    square = (n, heads, places, places)
    scores = g.node("MatMul", [g.transpose(q, 0, 1, 3, 2), k], square)
    weights = g.transpose(g.node("Softmax", [scores], square, axis=3), 0, 1, 3, 2)
    seen = g.reshape(g.node("MatMul", [v, weights], (n, heads, value, places)), n, c, h, w)
    position = g.conv(g.reshape(v, n, c, h, w), c, 3, groups=c)
    return g.conv(g.add(seen, position), c, 1)


def _rows(g: Yolo, x: str, begin: int, end: int) -> str:
    import numpy as np

    n, heads, _, places = g.shape[x]
    given = [g.constant(np.array([value], np.int64)) for value in (begin, end, 2, 1)]
    return g.node("Slice", [x, *given], (n, heads, end - begin, places))


def yolo11n(size: int = 640, batch: int = 1, pose: bool = False) -> onnx.ModelProto:
    """*pose*: one class, and 17 key points of each box."""
    g = Yolo("yolo11n-pose" if pose else "yolo11n", size, batch=batch)
    x = g.cbs(g.cbs(g.input, 16, 3, 2), 32, 3, 2)
    x = g.cbs(_c3k2(g, x, 64, False, 0.25), 64, 3, 2)
    third = _c3k2(g, x, 128, False, 0.25)
    fourth = _c3k2(g, g.cbs(third, 128, 3, 2), 128, True)
    x = g.sppf(_c3k2(g, g.cbs(fourth, 256, 3, 2), 256, True), 256)
    whole = g.cbs(x, 256)
    left, y = g.channels(whole, 0, 128), g.channels(whole, 128, 256)
    g.scope = "/model.10/"
    y = g.add(y, _attention(g, y, 2))
    g.scope = ""
    y = g.add(y, g.conv(g.cbs(y, 256), 128, 1))
    fifth = g.cbs(g.concat(left, y), 256)
    four = _c3k2(g, g.concat(g.up(fifth), fourth), 128, False)
    small = _c3k2(g, g.concat(g.up(four), third), 64, False)
    middle = _c3k2(g, g.concat(g.cbs(small, 64, 3, 2), four), 128, False)
    large = _c3k2(g, g.concat(g.cbs(middle, 128, 3, 2), fifth), 256, True)
    features = (small, middle, large)
    outputs = _free_head(g, features, light=True)
    if pose:
        width = max(ceil(64 / 4), 51)
        for f in features:
            outputs.append(g.conv(g.cbs(g.cbs(f, width, 3), width, 3), 51, 1))
    return g.model(*outputs)
