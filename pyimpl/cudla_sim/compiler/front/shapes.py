"""Shapes of inputs: static ones, those that the user gives, and what to say of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import CompileError

if TYPE_CHECKING:
    import onnx

Shapes = dict[str, tuple[int, ...]]
_SIZES = (64, 224, 640, 32, 256, 299, 28, 512)
"""For sizes that the model leaves open; the first that its nodes take is recommended."""


def fixed(
    proto: onnx.ModelProto,
    given: Mapping[str, Sequence[int]],
    fits: Callable[[Shapes], bool] = lambda shapes: False,
) -> Shapes:
    """The static shapes of all inputs; an unknown first dimension is 1.

    Where sizes are left open, *fits* says whether the model can be read with others. Raises
    CompileError.
    """
    bound = {tensor.name for tensor in proto.graph.initializer}
    bound |= {tensor.values.name for tensor in proto.graph.sparse_initializer}
    ports = [port for port in proto.graph.input if port.name not in bound]
    unknown = set(given) - {port.name for port in ports}
    if unknown:
        names = ", ".join(port.name for port in ports) or "none"
        raise CompileError(f"--shapes: no input is called {sorted(unknown)[0]!r}; inputs: {names}")
    found = {port.name: _sizes(port, given.get(port.name)) for port in ports}
    if any(None in dims for dims in found.values()):
        raise _dynamic(ports, found, fits)
    return {name: tuple(d for d in dims if d is not None) for name, dims in found.items()}


def dynamic(dim: onnx.TensorShapeProto.Dimension) -> bool:
    """Whether a dimension has no size; exporters also write that as -1."""
    return not dim.HasField("dim_value") or dim.dim_value < 0


def _sizes(port: onnx.ValueInfoProto, given: Sequence[int] | None) -> list[int | None]:
    """An input's sizes, None where nobody knows."""
    name = port.name
    if port.type.WhichOneof("value") != "tensor_type":
        raise CompileError(f"input {name!r} is no tensor; sequences and maps cannot be compiled")
    tensor = port.type.tensor_type
    if not tensor.HasField("shape"):
        if given is None:
            raise CompileError(f"input {name!r} has no shape; give it: --shapes={name}:1x3x224x224")
        return list(given)
    dims = [None if dynamic(d) else d.dim_value for d in tensor.shape.dim]
    if given is not None:
        if len(given) != len(dims) or any(d not in (None, g) for d, g in zip(dims, given)):  # noqa: B905
            raise CompileError(
                f"--shapes: input {name!r} is {_text(dims)} in the model, not {_text(given)}"
            )
        dims = list(given)
    elif dims and dims[0] is None:
        dims[0] = 1
    if any(d is not None and d < 1 for d in dims):
        raise CompileError(f"input {name!r} has an empty dimension: {_text(dims)}")
    return dims


def _dynamic(
    ports: Sequence[onnx.ValueInfoProto],
    found: Mapping[str, Sequence[int | None]],
    fits: Callable[[Shapes], bool],
) -> CompileError:
    """What to say of sizes that are left open, with shapes that work if there are."""
    axes = {port.name: port.type.tensor_type.shape.dim for port in ports}
    batches = {dims[0].dim_param for dims in axes.values() if dims} - {""}

    def filled(size: int) -> Shapes:
        return {
            name: tuple(
                d if d is not None else 1 if dim.dim_param in batches else size
                for d, dim in zip(dims, axes[name], strict=True)
            )
            if None in dims
            else tuple(d for d in dims if d is not None)
            for name, dims in found.items()
        }

    best = next((shapes for shapes in map(filled, _SIZES) if fits(shapes)), None)
    shapes = best or filled(_SIZES[0])
    open_ones = [name for name, dims in found.items() if None in dims]
    said = " and ".join(
        f"input {name!r} has the dynamic shape {_text(found[name])}" for name in open_ones
    )
    them = ",".join(f"{name}:{_text(shapes[name])}" for name in open_ones)
    return CompileError(f"{said}; fix it{'' if best else ', for instance'}: --shapes={them}")


def _text(dims: Sequence[int | None]) -> str:
    return "x".join("?" if d is None else str(d) for d in dims)
