"""Q/DQ out of a model: scales for a calibration cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .edit import Edit, NotPossible
from .registry import rewrites

if TYPE_CHECKING:
    import onnx


@rewrites("strip-qdq", "QuantizeLinear", "DequantizeLinear")
def strip(edit: Edit, node: onnx.NodeProto) -> str:
    """A Q and the DQs that read it are left out; the scale is kept in ``edit.scales``.

    Of a quantised constant its real values stay.
    """
    if node.op_type == "DequantizeLinear":
        raise NotPossible("its integers are computed by something else than a QuantizeLinear")
    scale = edit.given(node, 1)
    readers = edit.readers(node.output[0])
    if scale is None or scale.size != 1:
        raise NotPossible("it has no single scale")
    if not readers or any(reader.op_type != "DequantizeLinear" for reader in readers):
        raise NotPossible("something else than a DequantizeLinear reads it")
    if node.output[0] in edit.results:
        raise NotPossible("its integers are a result of the network")
    zero = edit.given(node, 2)
    if zero is not None and np.any(zero):
        raise NotPossible("its zero point is not 0, which a calibration cache cannot hold")
    value = node.input[0]
    for reader in readers:
        if reader.output[0] in edit.results:
            maker = edit.maker(value)
            if maker is None or value in edit.results:
                raise NotPossible("its result is one of the network, and has no other name")
            value = reader.output[0]
            edit.renamed(maker, node.input[0], value)
            for other in edit.readers(node.input[0]):
                edit.renamed(other, node.input[0], value)
    gone = {node.name, *(reader.name for reader in readers)}
    for reader in readers:
        for other in edit.readers(reader.output[0]):
            edit.renamed(other, reader.output[0], value)
    edit.nodes = [other for other in edit.nodes if other.name not in gone]
    edit.scales[value] = float(scale.reshape(-1)[0])
    return f"a scale of {edit.scales[value]:.6g} for {value}"
