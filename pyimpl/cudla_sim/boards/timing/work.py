"""What an operation has to do, for one picture: multiplications, elements, bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..checking import macs
from .memory import Traffic, traffic
from .operations import CONVOLUTIONS, Operation


@dataclass(frozen=True, slots=True)
class Convolution:
    """Of one group: *c* channels, *maps* kernels. *image*: the first layer's few channels, which
    are computed a line of the kernel at once."""

    c: int
    maps: int
    groups: int
    kernel_w: int
    stride: int

    @property
    def depthwise(self) -> bool:
        return self.groups > 1 and self.c == 1

    @property
    def image(self) -> bool:
        return self.groups == 1 and self.c <= 4


@dataclass(frozen=True, slots=True)
class Work:
    """*macs*, *elements* (of the input and the output) and *traffic* are of one picture."""

    operation: Operation
    macs: float
    input_elements: float
    output_elements: float
    convolution: Convolution | None
    traffic: Traffic


def work(operations: Sequence[Operation], pictures: int, sram_bytes: int) -> list[Work]:
    """Of operations in their order. *pictures* is the batch that the shapes have; *sram_bytes* may
    hold tensors between operations."""
    moved = traffic(operations, pictures, sram_bytes)
    return [
        Work(
            operation,
            macs(operation.main) / pictures,
            sum(tensor.elements for tensor in operation.main.inputs) / pictures,
            operation.output.elements / pictures,
            _convolution(operation),
            bytes_,
        )
        for operation, bytes_ in zip(operations, moved, strict=True)
    ]


def _convolution(operation: Operation) -> Convolution | None:
    if operation.main.kind not in CONVOLUTIONS:
        return None
    get = operation.main.parameters
    groups = int(get["groups"])
    return Convolution(
        c=int(get["c"]) // groups,
        maps=int(get["maps"]) // groups,
        groups=groups,
        kernel_w=int(get["kernel_w"]),
        stride=max(int(get["stride_h"]), int(get["stride_w"])),
    )
