"""Bytes that operations move to and from DRAM.

A tensor that fits into what is free of the SRAM when it is made stays there until its last reader
is done. The pictures of a batch come one after another, each with all weights: published times of
batches grow with the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..layers import Tensor
from .operations import Operation


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes of one picture in DRAM: *tensors* read and written, *weights*; *again* is what reading
    the main input once more takes (0: it is in SRAM)."""

    tensors: float
    weights: float
    again: float


def traffic(operations: Sequence[Operation], pictures: int, sram_bytes: int) -> list[Traffic]:
    last = {t.name: index for index, op in enumerate(operations) for t in op.inputs}
    held: dict[str, float] = {}
    """Tensors in SRAM and their bytes."""
    found = []
    for index, op in enumerate(operations):
        main = op.main.inputs[0].name
        read = {t.name: size(t, op, pictures) for t in op.inputs if t.name not in held}
        written = size(op.output, op, pictures)
        stays = op.output.name in last and sum(held.values()) + written <= sram_bytes
        found.append(
            Traffic(
                tensors=sum(read.values()) + (0 if stays else written),
                weights=op.weight_bytes,
                again=read.get(main, 0.0),
            )
        )
        for tensor in op.inputs:
            if last[tensor.name] == index:
                held.pop(tensor.name, None)
        if stays:
            held[op.output.name] = written
    return found


def size(tensor: Tensor, op: Operation, pictures: int) -> float:
    """Bytes of one picture's part; three channels take the room of four (kDLA_HWC4)."""
    padded = 4 / 3 if len(tensor.shape) == 4 and tensor.shape[1] == 3 else 1.0
    return tensor.elements * op.size * padded / pictures
