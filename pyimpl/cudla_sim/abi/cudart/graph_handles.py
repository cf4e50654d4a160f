"""Handles of graphs and nodes."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaError
from ...cudart import context
from ...cudart.errors import CudaError, invalid_value
from ...cudart.graph import Graph, Node
from ...cudart.state import GRAPH, GRAPH_EXEC, GRAPH_NODE
from ..embedding import ffi, pointer
from .family import cudart, null


def graph_of(handle: Any, argument: str = "graph") -> Graph:
    found: Graph = cudart.resolve(handle, GRAPH, argument, cudaError.cudaErrorInvalidValue)
    return found


def executable_of(handle: Any, argument: str = "graphExec") -> Graph:
    found: Graph = cudart.resolve(handle, GRAPH_EXEC, argument, cudaError.cudaErrorInvalidValue)
    return found


def node_of(handle: Any, argument: str = "node") -> Node:
    found: Node = cudart.resolve(handle, GRAPH_NODE, argument, cudaError.cudaErrorInvalidValue)
    return found


def nodes_of(graph: Graph, nodes: Any, count: int, argument: str) -> list[Node]:
    """Raises CudaError (InvalidValue) for one that is no node of the graph."""
    if count and not nodes:
        raise invalid_value(f"{argument} is NULL, and there are {count}")
    if count > len(graph.nodes):
        raise invalid_value(
            f"there are {count} in {argument}; the graph has {len(graph.nodes)} nodes"
        )
    found = [node_of(nodes[i], f"{argument}[{i}]") for i in range(count)]
    for index, node in enumerate(found):
        if node not in graph.nodes:
            raise invalid_value(f"{argument}[{index}] is a node of another graph")
    return found


def node_handle(node: Node) -> Any:
    if not node.handle:
        node.handle = context.current().process.handles.add(GRAPH_NODE, node)
    return pointer(node.handle)


def graph_handle(graph: Graph) -> Any:
    if not graph.handle:
        graph.handle = context.current().process.handles.add(GRAPH, graph)
    return pointer(graph.handle)


def destroy(graph: Graph, kind: str, by: str) -> None:
    """The graph's handle goes, and those of all nodes and graphs inside."""
    handles = context.current().process.handles
    if graph.handle:
        handles.remove(graph.handle, kind, by)
        graph.handle = 0
    for node in graph.nodes:
        if node.handle:
            handles.remove(node.handle, GRAPH_NODE, by)
            node.handle = 0
        for body in node.bodies:
            destroy(body, GRAPH, by)
    graph.let_go()


def write_nodes(found: list[Node], nodes: Any, count: Any, argument: str) -> None:
    """As many as the program has room for, and how many there were; without a list the latter."""
    null(**{argument: count})
    if nodes:
        for index in range(count[0]):
            nodes[index] = node_handle(found[index]) if index < len(found) else pointer(0)
        count[0] = min(count[0], len(found))
    else:
        count[0] = len(found)


def full_edges(data: Any, count: int) -> None:
    """Raises CudaError (NotSupported) for an edge that is no full dependency."""
    if data and any(bytes(ffi.buffer(data, count * ffi.sizeof("cudaGraphEdgeData")))):
        raise CudaError(
            cudaError.cudaErrorNotSupported, "edges are full dependencies, which is all zeros"
        )
