"""Local response normalisation by CDP: the factor by the sum of squares is a table.

Source: nvdla hardware manual "CDP".
"""

from __future__ import annotations

import numpy as np

from cudla_sim.nvdla.build import tables
from cudla_sim.nvdla.build.layers import Normalise, Tensor
from cudla_sim.nvdla.descriptors import CdpOp, CdpSurface, CvtParam, OpType
from cudla_sim.nvdla.facts.precisions import FP16

from ..graph import Lrn
from . import numbers
from .cubes import Cube
from .task import Task


def emit(task: Task, node: Lrn, source: Cube, target: Cube) -> None:
    """Append the operation."""
    shape = (source.channels, source.height, source.width)
    layer = Normalise(
        node.name,
        [Tensor(node.inputs[0].name, shape, source.scale)],
        Tensor(node.output.name, shape, target.scale),
        size=node.size,
        alpha=node.alpha,
        beta=node.beta,
        k=node.k,
    )
    table, unit = tables.normalise(layer, source.precision)
    cvt = CvtParam(1, 0, 1, 0)
    if source.precision != FP16:
        factor = numbers.factors(np.array([unit * source.scale / target.scale]))
        cvt = CvtParam(int(factor.values[0]), factor.shift, 1, 0)
    operation = CdpOp(
        in_precision=source.precision,
        out_precision=source.precision,
        lut_index=task.lut(table),
        in_cvt=CvtParam(1, 0, 1, 0),
        out_cvt=cvt,
        local_size=node.size,
    )
    surface = CdpSurface(src=task.cube(source), dst=task.cube(target))
    task.append(OpType.CDP, operation, surface, {source.buffer}, {target.buffer})
