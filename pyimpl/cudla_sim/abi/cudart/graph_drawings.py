"""Drawings of graphs in the language DOT, which Graphviz reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...constants.cudart import cudaError, cudaGraphDebugDotFlags
from ...constants.cudart import cudaGraphNodeType as NodeType
from ...cudart.errors import CudaError
from ...cudart.graph import Filling, Graph, HostCall, Node, kind_name
from ..embedding import address, ffi
from . import graph_answers as answers
from .family import cudart, null, required_flags
from .graph_handles import graph_of, node_handle

_ALL = 0xFFFF  # with those that only the driver's names have
_Flags = cudaGraphDebugDotFlags


def _kernel(node: Node) -> str:
    try:
        found = answers.kernel(node)
    except CudaError:
        return "a captured launch"
    grid, block = found.gridDim, found.blockDim
    return (
        f"func {address(found.func):#x} <<<({grid.x},{grid.y},{grid.z}),"
        f"({block.x},{block.y},{block.z}),{found.sharedMemBytes}>>>"
    )


def _copy(node: Node) -> str:
    found = answers.copy(node)
    size = found.extent
    return f"kind {found.kind} of {size.width} x {size.height} x {size.depth}"


def _filling(node: Node) -> str:
    found: Filling = node.given
    return (
        f"{found.address:#x} = {found.value:#x}, {found.width} x {found.height} of {found.element}"
    )


def _host(node: Node) -> str:
    found: HostCall = node.given
    return f"fn {found.function:#x} ({found.user_data:#x})"


_PARAMETERS: dict[int, tuple[int, Callable[[Node], str]]] = {
    NodeType.cudaGraphNodeTypeKernel: (_Flags.cudaGraphDebugDotFlagsKernelNodeParams, _kernel),
    NodeType.cudaGraphNodeTypeMemcpy: (_Flags.cudaGraphDebugDotFlagsMemcpyNodeParams, _copy),
    NodeType.cudaGraphNodeTypeMemset: (_Flags.cudaGraphDebugDotFlagsMemsetNodeParams, _filling),
    NodeType.cudaGraphNodeTypeHost: (_Flags.cudaGraphDebugDotFlagsHostNodeParams, _host),
}
"""The flag that asks for the parameters of a kind, and how they are told."""


def _label(node: Node, number: int, flags: int) -> str:
    kind = node.kind
    lines = [str(number), kind_name(kind).removeprefix("cudaGraphNodeType")]
    verbose = flags & _Flags.cudaGraphDebugDotFlagsVerbose
    if kind in _PARAMETERS:
        flag, tell = _PARAMETERS[kind]
        if verbose or flags & flag:
            lines.append(tell(node))
    if verbose or flags & _Flags.cudaGraphDebugDotFlagsHandles:
        lines.append(f"handle {address(node_handle(node)):#x}")
    return "\\n".join(lines)


def _lines(graph: Graph, prefix: str, flags: int) -> Iterator[str]:
    names = {node: f"{prefix}_node_{number}" for number, node in enumerate(graph.nodes)}
    yield f'subgraph "cluster_{prefix}" {{'
    yield f'label="{prefix}";'
    for number, (node, name) in enumerate(names.items()):
        yield f'"{name}" [style="solid" shape="rectangle" label="{_label(node, number, flags)}"];'
        for index, body in enumerate(node.bodies):
            inner = f"{name}_graph_{index}"
            yield from _lines(body, inner, flags)
            if body.nodes:
                yield f'"{name}" -> "{inner}_node_0" [style="dashed"];'
    for node, name in names.items():
        for before in node.after:
            yield f'"{names[before]}" -> "{name}";'
    yield "}"


@cudart.export("cudaGraphDebugDotPrint")
def graph_debug_dot_print(graph: Any, path: Any, flags: int) -> None:
    found = graph_of(graph)
    null(path=path)
    required_flags(flags, _ALL, "cudaGraphDebugDotFlags* lie within 0xffff")
    text = "\n".join(["digraph dot {", *_lines(found, "graph_1", flags), "}", ""])
    where = Path(os.fsdecode(ffi.string(path)))
    try:
        where.write_text(text)
    except OSError as error:
        raise CudaError(
            cudaError.cudaErrorOperatingSystem, f"path is {where}: {error.strerror}"
        ) from None
