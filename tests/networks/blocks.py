"""Parts that several of the networks are made of."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torchvision.models import mobilenetv2, mobilenetv3, resnet

BRANCH = 0.25
"""What scales the last normalisation of a residual branch."""


def conv_bn(
    inputs: int,
    outputs: int,
    kernel: int = 3,
    stride: int = 1,
    groups: int = 1,
    activation: nn.Module | None = None,
) -> nn.Sequential:
    """Convolution without bias, batch normalisation, activation (ReLU if nothing is said)."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        activation if activation is not None else nn.ReLU(),
    )


def settle(model: nn.Module, samples: Tensor, seed: int, shift: float) -> nn.Module:
    """Give batch normalisations random parameters, and statistics of *samples*.

    They shift values up by *shift*, and the last one of a residual branch scales it down:
    otherwise deep random networks amplify every error until nothing can be compared.
    """
    generator = torch.Generator().manual_seed(seed)
    norms = [item for item in model.modules() if isinstance(item, nn.BatchNorm2d)]

    def noise(like: Tensor) -> Tensor:
        return 0.1 * torch.randn(like.shape, generator=generator)

    model.eval()
    with torch.no_grad():
        for norm in norms:
            norm.weight.copy_(1 + noise(norm.weight))
            norm.bias.copy_(shift + noise(norm.bias))
            norm.momentum = None
            norm.reset_running_stats()
            norm.train()
        for norm in _last_of_branches(model):
            norm.weight.mul_(BRANCH)
        if norms:
            model(samples)
    return model.eval()


def _last_of_branches(model: nn.Module) -> list[nn.BatchNorm2d]:
    """Batch normalisations in front of the additions of torchvision's residual networks."""
    found = []
    for block in model.modules():
        if isinstance(block, resnet.BasicBlock):
            found.append(block.bn2)
        elif isinstance(block, resnet.Bottleneck):
            found.append(block.bn3)
        elif isinstance(block, mobilenetv2.InvertedResidual) and block.use_res_connect:
            found.append(block.conv[-1])
        elif isinstance(block, mobilenetv3.InvertedResidual) and block.use_res_connect:
            found.append(block.block[-1][1])
    return found
