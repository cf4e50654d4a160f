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
        if kernel <= POOLING_KERNEL and stride <= POOLING_STRIDE:
            continue
        shape = node.inputs[0].shape
        pads = (0, 0) if axis else node.pads[:2]
        side = node.pads[2:] if axis else (0, 0)
        if kernel >= shape[2 + axis] and node.output.shape[2 + axis] == 1:
            steps = (POOLING_KERNEL, POOLING_KERNEL)
            length = -(-shape[2 + axis] // POOLING_KERNEL)
            before = after = 0
            tail = length * POOLING_KERNEL - shape[2 + axis]
            left = length
        elif stride == 1:
            steps = (POOLING_KERNEL, 1)
            before, after = pads if axis == 0 else side
            take = min(POOLING_KERNEL - 1, before)
            length = shape[2 + axis] + take - (POOLING_KERNEL - 1) + min(POOLING_KERNEL - 1, after)
            tail = min(POOLING_KERNEL - 1, after)
            left = kernel - (POOLING_KERNEL - 1)
            before, after = take, after - tail
        else:
            out.refuse(node, f"pooling kernel {node.kernel} with stride {node.stride}")
            return
        size = list(shape)
        size[2 + axis] = length
        part = out.value(node, (size[0], size[1], size[2], size[3]), node.inputs[0])
        step_pads = [0, 0, 0, 0]
        step_pads[2 * axis], step_pads[2 * axis + 1] = before, tail
        kernels, strides = [1, 1], [1, 1]
        kernels[axis], strides[axis] = steps
        out.put(
            g.Pool,
            node,
            node.inputs,
            part,
            mode=node.mode,
            kernel=(kernels[0], kernels[1]),
            stride=(strides[0], strides[1]),
            pads=(step_pads[0], step_pads[1], step_pads[2], step_pads[3]),
        )
        kernels, strides = list(node.kernel), list(node.stride)
        kernels[axis] = left
        pads_left = list(node.pads)
        if stride == 1 and not (kernel >= shape[2 + axis] and node.output.shape[2 + axis] == 1):
            pads_left[2 * axis] -= before
            pads_left[2 * axis + 1] = after
        else:
            strides[axis] = 1 if left <= POOLING_STRIDE else strides[axis]
            pads_left[2 * axis] = pads_left[2 * axis + 1] = 0
        extreme(
            out,
            replace(
                node,
                inputs=[part],
                kernel=(kernels[0], kernels[1]),
                stride=(strides[0], strides[1]),
                pads=(pads_left[0], pads_left[1], pads_left[2], pads_left[3]),
            ),
        )
        return
    if max(node.pads) > POOLING_PAD:
        out.refuse(node, f"pooling pads {node.pads} are more than {POOLING_PAD}")
        return
    out.add(node)
