"""Maxima and minima with kernels that PDP does not have: several poolings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cudla_sim.nvdla.facts.limits import POOLING_KERNEL, POOLING_PAD, POOLING_STRIDE

from .. import graph as g
from . import average
from .builder import Rewriter


def rewrite(out: Rewriter, node: g.Pool) -> None:
    """Append the nodes of a pooling."""
    if node.mode == "average" and not (out.direct and _divided_by_pdp(node)):
        average.rewrite(out, node)
    else:
        extreme(out, node)


def _divided_by_pdp(node: g.Pool) -> bool:
    """True if PDP computes an average as it is: it divides by the elements of the whole window."""
    return (
        max(node.kernel) <= POOLING_KERNEL
        and max(node.stride) <= POOLING_STRIDE
        and max(node.pads) <= POOLING_PAD
        and bool(np.all(node.divisor == node.kernel[0] * node.kernel[1]))
    )


def extreme(out: Rewriter, node: g.Pool) -> None:
    """Maximum or minimum with kernels that PDP does not have: several poolings."""
    for axis in (0, 1):
        kernel, stride = node.kernel[axis], node.stride[axis]
        before, after = node.pads[2 * axis : 2 * axis + 2]
        if kernel <= POOLING_KERNEL and stride <= POOLING_STRIDE:
            continue
        source, size = node.inputs[0], list(node.inputs[0].shape)
        single = node.output.shape[2 + axis] == 1
        if single:  # tiles of what the only window sees, then the one of these
            seen = min(kernel - before, size[2 + axis])
            if seen < size[2 + axis]:
                size[2 + axis] = seen
                source = out.put(g.Slice, node, source, _shape(size), starts=(0, 0, 0))
            step, left = POOLING_KERNEL, -(-seen // POOLING_KERNEL)
            length, pads, rest = left, (0, left * POOLING_KERNEL - seen), (0, 0)
        elif stride == 1:  # as much as one pooling can, then with what is left of the kernel
            step, left = 1, kernel - (POOLING_KERNEL - 1)
            pads = min(POOLING_KERNEL - 1, before), min(POOLING_KERNEL - 1, after)
            length = size[2 + axis] + sum(pads) - (POOLING_KERNEL - 1)
            rest = before - pads[0], after - pads[1]
        else:
            out.refuse(node, f"pooling kernel {node.kernel} with stride {node.stride}")
            return
        size[2 + axis] = length
        part = out.put(
            g.Pool,
            node,
            source,
            _shape(size),
            mode=node.mode,
            kernel=_with((1, 1), axis, POOLING_KERNEL),
            stride=_with((1, 1), axis, step),
            pads=(0, 0, *pads) if axis else (*pads, 0, 0),
        )
        extreme(
            out,
            replace(
                node,
                inputs=[part],
                kernel=_with(node.kernel, axis, left),
                stride=_with(node.stride, axis, 1 if left <= POOLING_STRIDE else stride),
                pads=(*node.pads[:2], *rest) if axis else (*rest, *node.pads[2:]),
            ),
        )
        return
    if max(node.pads) > POOLING_PAD:
        out.refuse(node, f"pooling pads {node.pads} are more than {POOLING_PAD}")
        return
    out.add(node)


def _shape(size: list[int]) -> g.Shape:
    n, channels, height, width = size
    return n, channels, height, width


def _with(pair: g.Pair, axis: int, value: int) -> g.Pair:
    """The pair with another value for an axis."""
    return (pair[0], value) if axis else (value, pair[1])
