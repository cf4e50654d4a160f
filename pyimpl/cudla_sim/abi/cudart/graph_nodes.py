"""Nodes of graphs by the runtime's functions."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaError
from ...constants.cudart import cudaGraphConditionalNodeType as ConditionType
from ...constants.cudart import cudaGraphNodeType as NodeType
from ...cudart.condition import Condition
from ...cudart.errors import CudaError, invalid_value
from ...cudart.graph import Graph, Node
from ..embedding import ffi
from . import graph_parameters as parameters
from . import semaphore_nodes
from .family import cudart, null
from .graph_handles import full_edges, graph_handle, graph_of, nodes_of
from .graph_parameters import Make, add

_MOST_BODIES = 1024


@cudart.export("cudaGraphAddKernelNode")
def add_kernel_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeKernel
    add(target, graph, after, count, kind, parameters.kernel(params))


@cudart.export("cudaGraphAddMemcpyNode")
def add_memcpy_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeMemcpy
    add(target, graph, after, count, kind, parameters.copy(params))


@cudart.export("cudaGraphAddMemcpyNode1D")
def add_memcpy_node_1d(
    target: Any, graph: Any, after: Any, count: int, dst: Any, src: Any, size: int, kind: int
) -> None:
    node_type = NodeType.cudaGraphNodeTypeMemcpy
    add(target, graph, after, count, node_type, parameters.copy_1d(dst, src, size, kind))


@cudart.export("cudaGraphAddMemsetNode")
def add_memset_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeMemset
    add(target, graph, after, count, kind, parameters.filling(params))


@cudart.export("cudaGraphAddHostNode")
def add_host_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeHost
    add(target, graph, after, count, kind, parameters.host(params))


@cudart.export("cudaGraphAddEmptyNode")
def add_empty_node(target: Any, graph: Any, after: Any, count: int) -> None:
    add(target, graph, after, count, NodeType.cudaGraphNodeTypeEmpty, parameters.nothing)


@cudart.export("cudaGraphAddChildGraphNode")
def add_child_graph_node(target: Any, graph: Any, after: Any, count: int, child: Any) -> None:
    add(target, graph, after, count, NodeType.cudaGraphNodeTypeGraph, parameters.child(child))


@cudart.export("cudaGraphAddEventRecordNode")
def add_event_record_node(target: Any, graph: Any, after: Any, count: int, event: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeEventRecord
    add(target, graph, after, count, kind, parameters.record(event))


@cudart.export("cudaGraphAddEventWaitNode")
def add_event_wait_node(target: Any, graph: Any, after: Any, count: int, event: Any) -> None:
    add(target, graph, after, count, NodeType.cudaGraphNodeTypeWaitEvent, parameters.wait(event))


@cudart.export("cudaGraphAddMemAllocNode")
def add_mem_alloc_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeMemAlloc
    add(target, graph, after, count, kind, parameters.allocation(params))


@cudart.export("cudaGraphAddMemFreeNode")
def add_mem_free_node(target: Any, graph: Any, after: Any, count: int, address: Any) -> None:
    add(target, graph, after, count, NodeType.cudaGraphNodeTypeMemFree, parameters.release(address))


# --- conditions ----------------------------------------------------------------------------------


@cudart.export("cudaGraphConditionalHandleCreate")
def conditional_handle_create(target: Any, graph: Any, default: int, flags: int) -> None:
    null(pHandle_out=target)
    if flags > 1:
        raise invalid_value(f"flags is {flags:#x}; 0 or cudaGraphCondAssignDefault 1")
    made = Condition(default if flags else None)
    graph_of(graph).conditions.append(made)
    target[0] = made.address


def conditional(graph: Graph, params: Any) -> Make:
    def fill(node: Node) -> None:
        found = next((c for c in graph.conditions if c.address == params.handle), None)
        if found is None:
            raise invalid_value(
                f"conditional.handle is {params.handle:#x}, which is none that "
                "cudaGraphConditionalHandleCreate made for this graph"
            )
        if found.kind is not None:
            raise invalid_value("conditional.handle is that of another node")
        if params.type not in ConditionType._value2member_map_:
            raise invalid_value(f"conditional.type is {params.type}; If 0, While 1 or Switch 2")
        kind = ConditionType(params.type)
        most = {
            ConditionType.cudaGraphCondTypeIf: 2,
            ConditionType.cudaGraphCondTypeWhile: 1,
            ConditionType.cudaGraphCondTypeSwitch: _MOST_BODIES,
        }[kind]
        if not 1 <= params.size <= most:
            raise invalid_value(
                f"conditional.size is {params.size}; {kind.name} has 1 to {most} graphs"
            )
        found.kind = kind
        node.condition = found
        node.bodies = [Graph([]) for _ in range(params.size)]
        for body in node.bodies:
            body.conditions = graph.conditions
        node.shown = ffi.new("cudaGraph_t[]", [graph_handle(body) for body in node.bodies])
        params.phGraph_out = node.shown

    return fill


# --- any of them ---------------------------------------------------------------------------------


def same_parameters(params: Any) -> Make | None:
    """Of the kinds whose parameters the driver lays out as the runtime does, and which can be
    changed; None for others."""
    kind = params.type

    def inner(name: str) -> Any:
        return ffi.addressof(params[0], name)

    if kind == NodeType.cudaGraphNodeTypeMemset:
        return parameters.filling(inner("memset"))
    if kind == NodeType.cudaGraphNodeTypeHost:
        return parameters.host(inner("host"))
    if kind == NodeType.cudaGraphNodeTypeWaitEvent:
        return parameters.wait(params.eventWait.event)
    if kind == NodeType.cudaGraphNodeTypeEventRecord:
        return parameters.record(params.eventRecord.event)
    if kind == NodeType.cudaGraphNodeTypeExtSemaphoreSignal:
        return semaphore_nodes.signal(inner("extSemSignal"))
    if kind == NodeType.cudaGraphNodeTypeExtSemaphoreWait:
        return semaphore_nodes.wait(inner("extSemWait"))
    return None


def once_parameters(found: Graph, params: Any) -> Make:
    """Of the other kinds, which a graph is given once. Raises CudaError (InvalidValue,
    NotSupported)."""
    kind = params.type
    if kind == NodeType.cudaGraphNodeTypeGraph:
        return parameters.owned_child(params.graph, found)
    if kind == NodeType.cudaGraphNodeTypeEmpty:
        return parameters.nothing
    if kind == NodeType.cudaGraphNodeTypeMemAlloc:
        return parameters.allocation(ffi.addressof(params[0], "alloc"))
    if kind == NodeType.cudaGraphNodeTypeMemFree:
        return parameters.release(ffi.cast("void *", params.free.dptr))
    if kind == NodeType.cudaGraphNodeTypeConditional:
        return conditional(found, ffi.addressof(params[0], "conditional"))
    if kind in NodeType._value2member_map_:
        raise CudaError(
            cudaError.cudaErrorNotSupported, f"nodeParams->type is {NodeType(kind).name}"
        )
    raise invalid_value(f"nodeParams->type is {kind}; cudaGraphNodeType has 0 to {max(NodeType)}")


def changing(params: Any) -> Make | None:
    """What a cudaGraphNodeParams says of a kind that can be changed."""
    if params.type == NodeType.cudaGraphNodeTypeKernel:
        return parameters.kernel(ffi.addressof(params[0], "kernel"))
    if params.type == NodeType.cudaGraphNodeTypeMemcpy:
        return parameters.copy(ffi.addressof(params.memcpy, "copyParams"))
    return same_parameters(params)


@cudart.export("cudaGraphAddNode")
def add_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    null(pGraphNode=target, nodeParams=params)
    found = graph_of(graph)
    make = changing(params) or once_parameters(found, params)
    add(target, graph, after, count, params.type, make)


@cudart.export("cudaGraphAddNode_v2")
def add_node_v2(target: Any, graph: Any, after: Any, data: Any, count: int, params: Any) -> None:
    null(pGraphNode=target, nodeParams=params)
    nodes_of(graph_of(graph), after, count, "pDependencies")
    full_edges(data, count)
    add_node(target, graph, after, count, params)
