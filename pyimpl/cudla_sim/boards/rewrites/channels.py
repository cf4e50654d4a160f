"""Channels of zeros where a concatenation's inputs would begin in the middle of an atom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .edit import Array, Edit, NotPossible
from .registry import rewrites

if TYPE_CHECKING:
    import onnx

ATOM = 32
"""Channels of an atom in INT8; two of FP16's."""
_ZERO_STAYS = {"Relu", "LeakyRelu", "Tanh", "Abs", "MaxPool", "AveragePool"}
"""Functions of each channel for itself that give 0 for 0."""


@rewrites("pad-channels", "Concat")
def pad_channels(edit: Edit, node: onnx.NodeProto) -> str:
    """Inputs that convolutions make get channels of zeros, whose weights are 0 in all readers."""
    if edit.attribute(node, "axis", 1) not in (1, -3) or node.output[0] in edit.results:
        raise NotPossible("it is a result of the network, or not along the channels")
    counts = [edit.picture(name)[1] for name in node.input]
    more = [-count % ATOM for count in counts[:-1]] + [0]
    readers = _readers(edit, node.output[0])
    makers = [
        _maker(edit, name) if pad else None for name, pad in zip(node.input, more, strict=True)
    ]
    for maker, pad in zip(makers, more, strict=True):
        if maker is not None:
            _widen(edit, maker, pad)
    gaps = np.repeat(np.cumsum(counts), more)
    for reader in readers:
        kernel = edit.given(reader, 1)
        assert kernel is not None
        _weights(edit, reader, 1, np.insert(kernel, gaps, 0, axis=1))
    return f"{sum(more)} channels of zeros"


def _readers(edit: Edit, name: str) -> list[onnx.NodeProto]:
    """The convolutions that read a tensor, through functions that keep 0."""
    found = []
    for reader in edit.readers(name):
        if reader.op_type == "Conv" and edit.attribute(reader, "group", 1) == 1:
            if edit.given(reader, 1) is None or reader.input[0] != name:
                raise NotPossible("a reader's kernel is computed")
            found.append(reader)
        elif reader.op_type in _ZERO_STAYS and reader.output[0] not in edit.results:
            found += _readers(edit, reader.output[0])
        else:
            raise NotPossible(f"{reader.op_type} reads it")
    return found


def _maker(edit: Edit, name: str) -> onnx.NodeProto:
    """The convolution that makes an input, and nothing else reads what is between."""
    if len(edit.readers(name)) != 1 or name in edit.results:
        raise NotPossible("something else reads one of its inputs")
    maker = edit.maker(name)
    if maker is None:
        raise NotPossible("an input of the network is one of its inputs")
    if maker.op_type in _ZERO_STAYS:
        return _maker(edit, maker.input[0])
    if maker.op_type != "Conv" or edit.attribute(maker, "group", 1) != 1:
        raise NotPossible(f"{maker.op_type} makes one of its inputs")
    if edit.given(maker, 1) is None:
        raise NotPossible("the kernel of a convolution is computed")
    return maker


def _widen(edit: Edit, maker: onnx.NodeProto, pad: int) -> None:
    kernel = edit.given(maker, 1)
    assert kernel is not None
    bias = edit.given(maker, 2)
    changed = _weights(edit, maker, 1, _longer(kernel, pad))
    if bias is not None:
        _weights(edit, changed, 2, _longer(bias, pad))


def _longer(array: Array, pad: int) -> Array:
    return np.concatenate([array, np.zeros((pad, *array.shape[1:]), array.dtype)])


def _weights(edit: Edit, node: onnx.NodeProto, index: int, array: Array) -> onnx.NodeProto:
    """The node with other weights; others may share the old ones."""
    import onnx

    changed = onnx.NodeProto()
    changed.CopyFrom(node)
    changed.input[index] = edit.constant(array, f"{node.name}/wide")
    edit.nodes = [changed if other.name == node.name else other for other in edit.nodes]
    return changed
