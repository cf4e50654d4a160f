"""Detectors: YOLOv3-tiny and YOLOv5s with their heads' convolutions as outputs."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn

from .blocks import conv_bn


def _leaky(inputs: int, outputs: int, kernel: int = 3) -> nn.Module:
    return conv_bn(inputs, outputs, kernel, activation=nn.LeakyReLU(0.1))


class Yolov3Tiny(nn.Module):
    """80 classes, 3 anchors; both heads as [n, 3, 85, h, w] with the fields last."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        widths = (3, 16, 32, 64, 128, 256)
        for inputs, outputs in itertools.pairwise(widths):
            layers += [_leaky(inputs, outputs), nn.MaxPool2d(2, 2)]
        self.early = nn.Sequential(*layers[:-1])
        self.late = nn.Sequential(
            layers[-1],
            _leaky(256, 512),
            nn.ZeroPad2d((0, 1, 0, 1)),
            nn.MaxPool2d(2, 1),
            _leaky(512, 1024),
            _leaky(1024, 256, 1),
        )
        self.large = nn.Sequential(_leaky(256, 512), nn.Conv2d(512, 255, 1))
        self.up = nn.Sequential(_leaky(256, 128, 1), nn.Upsample(scale_factor=2))
        self.small = nn.Sequential(_leaky(384, 256), nn.Conv2d(256, 255, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        early = self.early(x)
        late = self.late(early)
        heads = self.large(late), self.small(torch.cat([self.up(late), early], 1))
        first, second = (
            head.reshape(head.shape[0], 3, 85, head.shape[2], head.shape[3]) for head in heads
        )
        return first, second


def _silu(inputs: int, outputs: int, kernel: int = 1, stride: int = 1) -> nn.Module:
    return conv_bn(inputs, outputs, kernel, stride, activation=nn.SiLU())


class _Bottleneck(nn.Module):
    def __init__(self, width: int, add: bool) -> None:
        super().__init__()
        self.layers = nn.Sequential(_silu(width, width), _silu(width, width, 3))
        self.add = add

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.add else self.layers(x)


class _C3(nn.Module):
    def __init__(self, inputs: int, outputs: int, count: int, add: bool = True) -> None:
        super().__init__()
        half = outputs // 2
        self.one, self.two = _silu(inputs, half), _silu(inputs, half)
        self.three = _silu(outputs, outputs)
        self.inner = nn.Sequential(*(_Bottleneck(half, add) for _ in range(count)))

    def forward(self, x: Tensor) -> Tensor:
        return self.three(torch.cat([self.inner(self.one(x)), self.two(x)], 1))


class _Sppf(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.one, self.two = _silu(width, width // 2), _silu(2 * width, width)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x: Tensor) -> Tensor:
        parts = [self.one(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.two(torch.cat(parts, 1))


class Yolov5s(nn.Module):
    """Version 6; its outputs are the three convolutions of the head."""

    def __init__(self) -> None:
        super().__init__()
        self.third = nn.Sequential(
            _silu(3, 32, 6, 2), _silu(32, 64, 3, 2), _C3(64, 64, 1),
            _silu(64, 128, 3, 2), _C3(128, 128, 2),
        )  # fmt: skip
        self.third[0][0].padding = (2, 2)
        self.fourth = nn.Sequential(_silu(128, 256, 3, 2), _C3(256, 256, 3))
        self.fifth = nn.Sequential(_silu(256, 512, 3, 2), _C3(512, 512, 1), _Sppf(512))
        self.up = nn.Upsample(scale_factor=2)
        self.reduce5, self.merge4 = _silu(512, 256), _C3(512, 256, 1, False)
        self.reduce4, self.merge3 = _silu(256, 128), _C3(256, 128, 1, False)
        self.down3, self.again4 = _silu(128, 128, 3, 2), _C3(256, 256, 1, False)
        self.down4, self.again5 = _silu(256, 256, 3, 2), _C3(512, 512, 1, False)
        self.heads = nn.ModuleList(nn.Conv2d(width, 255, 1) for width in (128, 256, 512))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        third = self.third(x)
        fourth = self.fourth(third)
        five = self.reduce5(self.fifth(fourth))
        four = self.reduce4(self.merge4(torch.cat([self.up(five), fourth], 1)))
        small = self.merge3(torch.cat([self.up(four), third], 1))
        middle = self.again4(torch.cat([self.down3(small), four], 1))
        large = self.again5(torch.cat([self.down4(middle), five], 1))
        return tuple(
            head(part) for head, part in zip(self.heads, (small, middle, large), strict=True)
        )
