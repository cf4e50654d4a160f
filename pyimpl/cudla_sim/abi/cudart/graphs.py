"""Captured graphs: their executables and launches."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaError
from ...cudart import context
from ...cudart.errors import invalid_handle
from ...cudart.graph import Graph
from ...cudart.state import GRAPH, GRAPH_EXEC
from ..embedding import pointer
from .family import cudart, null, required_flags
from .streams import resolve


def _find(handle: Any, kind: str, argument: str) -> Graph:
    found: Graph = cudart.resolve(handle, kind, argument, cudaError.cudaErrorInvalidValue)
    return found


@cudart.export("cudaGraphDestroy", ruined="report")
def graph_destroy(graph: Any) -> None:
    found = _find(graph, GRAPH, "graph")
    context.current().process.handles.remove(found.handle, GRAPH, "cudaGraphDestroy")


@cudart.export("cudaGraphInstantiateWithFlags")
@cudart.export("cudaGraphInstantiate")
def graph_instantiate(executable: Any, graph: Any, flags: int) -> None:
    null(pGraphExec=executable)
    required_flags(flags, 15, "cudaGraphInstantiateFlag* must lie within 0xf")
    made = _find(graph, GRAPH, "graph").executable()
    made.handle = context.current().process.handles.add(GRAPH_EXEC, made)
    executable[0] = pointer(made.handle)


@cudart.export("cudaGraphLaunch")
def graph_launch(executable: Any, stream: Any) -> None:
    found = _find(executable, GRAPH_EXEC, "graphExec")
    target = resolve(stream)
    if target.capturing:
        raise invalid_handle(f"{target.name} captures; a graph cannot be captured into a graph")
    for work in found.work:
        target.enqueue(work)


@cudart.export("cudaGraphExecDestroy", ruined="report")
def graph_exec_destroy(executable: Any) -> None:
    found = _find(executable, GRAPH_EXEC, "graphExec")
    context.current().process.handles.remove(found.handle, GRAPH_EXEC, "cudaGraphExecDestroy")
