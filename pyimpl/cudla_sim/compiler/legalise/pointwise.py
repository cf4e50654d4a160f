"""Functions of elements and of two tensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cudla_sim.nvdla.facts.precisions import INT8, INT16, TOPS
from cudla_sim.nvdla.facts.tables import LO_ENTRIES

from .. import graph as g
from ..errors import Refusal
from .builder import Rewriter, tables_in
from .nodes import GatherLines, KernelConv

_JUMPS = {"Floor", "Ceil", "Round"}


def curve(out: Rewriter, node: g.Curve) -> None:
    source = node.inputs[0]
    if node.function in _JUMPS and out.precision != 0:
        out.refuse(node, f"{node.function} jumps, a table of {LO_ENTRIES} entries cannot")
        return
    if out.config.lut:
        out.add(node)
        return
    if node.function == "HardSigmoid":
        alpha = node.parameters.get("alpha", 0.2)
        _hard_sigmoid(out, node, node.output, alpha, node.parameters.get("beta", 0.5))
    elif node.function == "HardSwish":
        gate = out.value(node, source.shape)
        out.scales[gate] = 1.0 / _top(
            out,
        )
        _hard_sigmoid(out, node, gate, 1 / 6, 0.5)
        out.put(g.Binary, node, [source, gate], node.output, function="mul")
    elif node.function == "Abs":
        negative = out.value(node, source.shape, source)
        out.add(_factor(node, source, negative, -1.0))
        out.put(g.Binary, node, [source, negative], node.output, function="max")
    else:
        out.refusals.append(
            Refusal(
                node.name,
                node.function,
                f"needs a look-up table, {out.config.name} has none",
                f"take a configuration with one ({tables_in(out.precision)}), or train with ReLU",
            )
        )


def _top(out: Rewriter) -> int:
    return TOPS[INT8 if out.precision == INT8 else INT16]


def _hard_sigmoid(out: Rewriter, node: g.Node, output: g.Value, alpha: float, beta: float) -> None:
    source = node.inputs[0]
    line = out.value(node, source.shape)
    out.scales[line] = 1.0 / _top(
        out,
    )
    out.put(
        g.Affine,
        node,
        source,
        line,
        scale=np.full((1, 1, 1, 1), alpha, np.float32),
        shift=np.full((1, 1, 1, 1), beta, np.float32),
    )
    out.put(g.Clip, node, line, output, low=0.0, high=1.0)


def binary(out: Rewriter, node: g.Binary) -> None:
    first, second = node.inputs
    if node.function == "add" and first is second:
        out.add(_factor(node, first, node.output, 2.0))
        return
    if node.function == "sub" and first is second:
        out.add(_factor(node, first, node.output, 0.0))
        return
    if first.shape != node.output.shape and node.function != "sub":
        first, second = second, first
    if first.shape != node.output.shape:  # sub with a broadcast first: -(second) + first
        negative = out.value(node, second.shape, second)
        out.add(_factor(node, second, negative, -1.0))
        first, second = negative, first
        node = replace(node, function="add")
    if second.shape[1:] not in (node.output.shape[1:], (node.output.shape[1], 1, 1)):
        second = _expand(out, node, second)
    if node.function == "sub" and second.shape != node.output.shape:
        negative = out.value(node, second.shape, second)
        out.add(_factor(node, second, negative, -1.0))
        second, node = negative, replace(node, function="add")
    out.add(replace(node, inputs=[first, second]))


def _expand(out: Rewriter, node: g.Node, value: g.Value) -> g.Value:
    """Copy one channel to all, one line or pixel to all, exactly."""
    n, channels, height, width = value.shape
    _, wanted, rows, columns = node.output.shape
    if channels == 1 and wanted > 1:
        wide = out.put(
            KernelConv,
            node,
            value,
            (n, wanted, height, width),
            weights=np.ones((wanted, 1, 1, 1), np.float32),
            first=np.zeros(wanted, np.int64),
        )
        value = wide
    if (height, width) in ((rows, columns), (1, 1)):
        return value
    if height not in (1, rows) or width not in (1, columns):
        out.refuse(node, f"{value.shape} does not broadcast to {node.output.shape}")
        return value
    wide = out.value(node, (n, wanted, rows, columns), value)
    index = [
        np.arange(size) if have == size else np.zeros(size, np.int64)
        for have, size in ((height, rows), (width, columns))
    ]
    out.put(GatherLines, node, value, wide, rows=index[0], columns=index[1])
    return wide


def _factor(node: g.Node, source: g.Value, output: g.Value, factor: float) -> g.Affine:
    return g.Affine(
        name=node.name,
        inputs=[source],
        output=output,
        scale=np.full((1, 1, 1, 1), factor, np.float32),
    )
