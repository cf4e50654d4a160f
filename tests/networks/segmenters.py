"""U-Net with bilinear upsampling; LR-ASPP without its dictionary."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torchvision.models import segmentation

from .blocks import conv_bn


def _double(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(conv_bn(inputs, outputs), conv_bn(outputs, outputs))


class Unet(nn.Module):
    """32 to 512 channels, two classes."""

    def __init__(self) -> None:
        super().__init__()
        widths = (32, 64, 128, 256, 512)
        self.first = _double(3, 32)
        self.down = nn.ModuleList(
            nn.Sequential(nn.MaxPool2d(2), _double(a, b)) for a, b in itertools.pairwise(widths)
        )
        self.up = nn.ModuleList(
            nn.Sequential(
                nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False),
                nn.Conv2d(b, a, 1),
            )
            for a, b in itertools.pairwise(widths)
        )
        self.merge = nn.ModuleList(_double(2 * a, a) for a in widths[:-1])
        self.last = nn.Conv2d(32, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        parts = [self.first(x)]
        for step in self.down:
            parts.append(step(parts[-1]))
        result = parts.pop()
        for number in reversed(range(4)):
            result = self.merge[number](torch.cat([parts[number], self.up[number](result)], 1))
        return self.last(result)


class Lraspp(nn.Module):
    """LR-ASPP on MobileNet v3 large; its output as a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.model = segmentation.lraspp_mobilenet_v3_large(
            weights=None, weights_backbone=None, num_classes=21
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x)["out"]
