"""What a program's buffers of a network in parts hold.

An input that one part for the hardware reads and nobody else, and an output that such a part
computes, are buffers of the hardware: the part's own, with its descriptor. All others belong to the
host: linear, one element after the other, in the element type of the ONNX model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.text import printable
from ..errors import NvdlaError
from ..loadable import TensorDesc
from .package import Package
from .part import Tensor
from .summary import Buffers


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output. *part*: whose buffer it is, or None; then it is linear."""

    name: str
    tensor: TensorDesc | None
    linear: Tensor | None
    part: int | None = None


def inputs(package: Package, buffers: dict[int, Buffers]) -> list[Port]:
    """In order. Raises NvdlaError for a package that does not say what goes in."""
    found = []
    for name in package.inputs:
        readers = [n for n, part in enumerate(package.parts) if name in part.inputs]
        alone = len(readers) == 1 and name not in package.outputs
        if alone and not package.parts[readers[0]].host:
            part = readers[0]
            found.append(Port(name, buffers[part].inputs[name], None, part))
        else:
            found.append(Port(name, None, _known(package, name)))
    return found


def outputs(package: Package, buffers: dict[int, Buffers]) -> list[Port]:
    """In order. Raises NvdlaError for a package that does not say what comes out."""
    _distinct(package.outputs)
    found = []
    for name in package.outputs:
        makers = [n for n, part in enumerate(package.parts) if name in part.outputs]
        if makers and not package.parts[makers[-1]].host:
            part = makers[-1]
            found.append(Port(name, buffers[part].outputs[name], None, part))
        else:
            found.append(Port(name, None, _known(package, name)))
    return found


def _known(package: Package, name: str) -> Tensor:
    known = package.tensors.get(name)
    if known is None:
        raise NvdlaError(
            f"the package does not say what {printable(name)!r} holds; compile it again"
        )
    return known


def _distinct(names: Sequence[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise NvdlaError(f"two outputs are called {printable(twice[0])!r}")
