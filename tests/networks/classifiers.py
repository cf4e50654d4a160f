"""Small classifiers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .blocks import conv_bn


class Lenet(nn.Module):
    """LeNet as the Caffe examples have it."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2)
        )
        self.head = nn.Sequential(nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10))

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(self.head(torch.flatten(self.features(x), 1)), 1)


class _Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = conv_bn(inputs, outputs, 3, stride)
        self.second = conv_bn(outputs, outputs, activation=nn.Identity())
        self.skip: nn.Module = nn.Identity()
        if stride != 1:
            self.skip = nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.second(self.first(x)) + self.skip(x))


def resnet8() -> nn.Module:
    """The residual network of MLPerf Tiny for CIFAR-10."""
    return nn.Sequential(
        conv_bn(3, 16),
        _Residual(16, 16, 1),
        _Residual(16, 32, 2),
        _Residual(32, 64, 2),
        nn.AvgPool2d(8),
        nn.Flatten(),
        nn.Linear(64, 10),
    )


class MobilenetVww(nn.Module):
    """MobileNet v1, a quarter of its width, for visual wake words."""

    def __init__(self) -> None:
        super().__init__()
        widths = [8, 16, 32, 32, 64, 64, *[128] * 6, 256, 256]
        strides = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1]
        layers: list[nn.Module] = [conv_bn(3, 8, 3, 2)]
        for inputs, outputs, stride in zip(widths[:-1], widths[1:], strides, strict=True):
            layers += [conv_bn(inputs, inputs, 3, stride, inputs), conv_bn(inputs, outputs, 1)]
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(256, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x).mean((2, 3)))


class Onet(nn.Module):
    """The last stage of MTCNN: class, box and landmarks in one vector."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inputs, outputs, kernel, pool in ((3, 32, 3, 3), (32, 64, 3, 3), (64, 64, 3, 2)):
            layers += [nn.Conv2d(inputs, outputs, kernel), nn.PReLU(outputs)]
            layers.append(nn.MaxPool2d(pool, 2, ceil_mode=True))
        layers += [nn.Conv2d(64, 128, 2), nn.PReLU(128), nn.Flatten()]
        layers += [nn.Linear(1152, 256), nn.PReLU(256), nn.Linear(256, 16)]
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


def espcn() -> nn.Module:
    """Super-resolution by three."""
    return nn.Sequential(
        nn.Conv2d(1, 64, 5, padding=2),
        nn.Tanh(),
        nn.Conv2d(64, 32, 3, padding=1),
        nn.Tanh(),
        nn.Conv2d(32, 9, 3, padding=1),
        nn.PixelShuffle(3),
    )
