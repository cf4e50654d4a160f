"""The GoogLeNet sheet with 4 MB of second memory: sums made by hand for each kind of block.

A block is a layer that combines its 1x1 convolutions (``parts``), the 3x3, the 5x5 and the one
behind pooling. What of them stays in the second memory differs: blocks of the sheet are, in their
order, "first" (3a), "last of 28 x 28" (3b), "inner" (4a to 4e) and "end" (5a, 5b).
Source: nvdla/hw ``perf/NVDLA_OpenSource_Performance.xlsx``, columns AD to AL of GoogLeNet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

SRAM_KB = 4096
_MOST_PICTURES = 16
_BLOCK = 4
_END_BLOCKS = 2


@dataclass(frozen=True, slots=True)
class Sizes:
    """KB of a layer; ``first_output`` is that of the first of its parts."""

    source: Fraction
    output: Fraction
    weight: Fraction
    parts: int
    first_output: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Traffic:
    """KB of the first memory, read from the second one, written to it."""

    dram: Fraction
    read: Fraction
    write: Fraction


@dataclass(frozen=True, slots=True)
class Whole:
    """What a block moves through the first memory at least, beside its layers: by their numbers."""

    layers: tuple[int, ...]
    dram: Fraction


def traffic(layers: Sequence[Sizes]) -> tuple[list[Traffic], list[Whole]]:
    """By layer, and the sums of the blocks. Raises ValueError for layers that are no such network:
    two convolutions, blocks of four layers, one fully connected layer."""
    blocks = [number for number, layer in enumerate(layers) if layer.parts]
    wanted = list(range(2, len(layers) - 1, _BLOCK))
    if len(blocks) <= _END_BLOCKS or blocks != wanted or len(layers) != blocks[-1] + _BLOCK + 1:
        raise ValueError(
            "the GoogLeNet sheet has two convolutions, blocks of four layers (the first with parts,"
            " then 3x3, 5x5 and the one behind pooling), and one fully connected layer"
        )
    first, second, last = layers[0], layers[1], layers[-1]
    free = SRAM_KB - first.weight - second.weight
    early = _pictures(free, first.source + second.source + first.output)
    pictures = {at: _of_block(layers[at : at + _BLOCK]) for at in blocks}
    least = min(pictures.values())
    head = Traffic(first.source + first.weight / early, first.source + first.weight / early,
                   first.output)  # fmt: skip
    seam = second.weight / min(early, pictures[blocks[0]])
    found = [
        head,
        Traffic(second.output + second.weight / early, second.source + seam, second.output),
    ]
    wholes = []
    for number, at in enumerate(blocks):
        joined, *others = layers[at : at + _BLOCK]
        end = number >= len(blocks) - _END_BLOCKS
        kind = {0: "first", 1: "second"}.get(number, "end" if end else "inner")
        found.append(_joined(kind, joined, least))
        found += [_other(kind, n, o, least, pictures[at]) for n, o in enumerate(others)]
        if not end:
            outputs = joined.first_output + sum(other.output for other in others)
            weights = joined.weight + sum(other.weight for other in others)
            members = tuple(range(at, at + _BLOCK))
            wholes.append(Whole(members, joined.source + outputs + weights / least))
    batch = min(_pictures(SRAM_KB - last.weight, last.source), _MOST_PICTURES)
    found.append(Traffic(last.weight / batch + last.source, Fraction(0), Fraction(0)))
    return found, wholes


def _pictures(free: Fraction, each: Fraction) -> int:
    """Pictures whose features fit beside the weights."""
    return max(1, floor(free / each))


def _of_block(layers: Sequence[Sizes]) -> int:
    """The sheet counts the combined weights twice: once more by their parts."""
    weights = layers[0].weight + sum(layer.weight for layer in layers)
    return _pictures(SRAM_KB - weights, layers[0].source + layers[1].source + layers[2].source)


def _joined(kind: str, layer: Sizes, pictures: int) -> Traffic:
    if kind == "second":
        return Traffic(layer.source, layer.weight, layer.output)
    if kind == "end":
        return Traffic(layer.weight / 2 + layer.source, layer.source, layer.output)
    return Traffic(layer.weight / pictures, layer.source, layer.output)


def _other(kind: str, number: int, layer: Sizes, pictures: int, own: int) -> Traffic:
    """*number* 0 is the 3x3, 1 the 5x5, 2 the one behind pooling."""
    dram, read, write = layer.weight / pictures, layer.source + layer.weight, layer.output
    if kind == "first" and number > 0:
        dram += layer.output
    elif kind == "second":
        dram, write = layer.output, layer.output if number > 1 else Fraction(0)
    elif kind == "end":
        read = layer.source + layer.weight / own
        dram, write = dram + layer.output, Fraction(0)
    return Traffic(dram, read, write)
