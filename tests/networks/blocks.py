"""Parts that several of the networks are made of."""

from __future__ import annotations

import torch
from torch import Tensor, nn


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


def settle(model: nn.Module, samples: Tensor, seed: int) -> nn.Module:
    """Vary the affine parts of batch normalisations and give them statistics of *samples*."""
    generator = torch.Generator().manual_seed(seed)
    norms = [item for item in model.modules() if isinstance(item, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None
        norm.reset_running_stats()
        with torch.no_grad():
            norm.weight.copy_(1 + 0.1 * torch.randn(norm.weight.shape, generator=generator))
            norm.bias.copy_(0.1 * torch.randn(norm.bias.shape, generator=generator))
    if norms:
        model.eval()
        for norm in norms:
            norm.train()
        with torch.no_grad():
            model(samples)
    return model.eval()
