"""Nodes of graphs: what each kind does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...constants.cudart import cudaError
from ...constants.cudart import cudaGraphConditionalNodeType as ConditionType
from ...constants.cudart import cudaGraphNodeType as NodeType
from ...core.queue import Work
from ...cudart import arrays, context, transfer
from ...cudart.arrays import Box
from ...cudart.condition import Condition
from ...cudart.errors import CudaError, invalid_value
from ...cudart.graph import Graph, Node
from ...cudart.transfer import Copy
from ..embedding import ffi, lib, pointer
from .arrays import copies_of
from .events import resolve as event_of
from .family import cudart, null, number
from .graph_handles import (
    executable_of,
    full_edges,
    graph_handle,
    graph_of,
    node_handle,
    node_of,
    nodes_of,
)
from .launches import Item
from .pools import require_device

_ELEMENTS = (1, 2, 4)
_MOST_BODIES = 1024
Make = Callable[[Node], None]
"""Fills in what a node does. Raises CudaError for parameters that make no sense."""


def add(target: Any, graph: Any, after: Any, count: int, kind: int, make: Make) -> None:
    null(pGraphNode=target)
    found = graph_of(graph)
    node = Node(None, kind, nodes_of(found, after, count, "pDependencies"))
    make(node)
    found.nodes.append(node)
    target[0] = node_handle(node)


# --- work ----------------------------------------------------------------------------------------


def _kernel(params: Any) -> Work:
    null(pNodeParams=params)
    if params.extra and not params.kernelParams:
        raise invalid_value("pNodeParams->extra is for the driver's functions; give kernelParams")
    error = ffi.new("int *")
    same = ffi.cast("struct cudaKernelNodeParams *", ffi.addressof(params[0]))
    launches = lib.sim_cuda_node(same, error)
    if not launches:
        status = cudaError(error[0])
        raise cudart.error(status, f"the kernel cannot be launched like that ({status.name})")
    item = Item(context.current(), launches)
    item.keep()
    return item.repeat


def _copying(jobs: list[Copy]) -> Work:
    def work() -> None:
        for job in jobs:
            job.perform()

    return work


def _copy(params: Any) -> Work:
    return _copying(list(copies_of(params)))


def _copy_1d(dst: Any, src: Any, size: int, kind: int) -> Work:
    to, start = Box(number(dst), size, 0), Box(number(src), size, 0)
    memory = context.current().memory
    jobs = arrays.copies(memory, to, start, kind, size, 1, 1) if size else ()
    return _copying(list(jobs))


def _fill(params: Any) -> Work | None:
    null(pMemsetParams=params)
    size = params.elementSize
    if size not in _ELEMENTS:
        raise invalid_value(f"pMemsetParams->elementSize is {size}; 1, 2 or 4")
    if not params.width or not params.height:
        return None
    width = params.width * size
    pitch = params.pitch if params.height > 1 else width
    memory = context.current().memory
    shape = transfer.plane(width, params.height, pitch)
    target = transfer.check(memory, number(params.dst), shape, "device", "pMemsetParams->dst")
    return transfer.fill_elements(target, params.value, size)


def _host(params: Any) -> Work:
    null(pNodeParams=params)
    function, data = number(params.fn), number(params.userData)
    if not function:
        raise invalid_value("pNodeParams->fn is NULL; it is the function to call")
    calls = context.current().calls
    return lambda: calls.host_function(function, data)


def _does(make: Callable[[], Work | None]) -> Make:
    def fill(node: Node) -> None:
        node.work = make()

    return fill


@cudart.export("cudaGraphAddKernelNode")
def add_kernel_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeKernel
    add(target, graph, after, count, kind, _does(lambda: _kernel(params)))


@cudart.export("cudaGraphAddMemcpyNode")
def add_memcpy_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeMemcpy
    add(target, graph, after, count, kind, _does(lambda: _copy(params)))


@cudart.export("cudaGraphAddMemcpyNode1D")
def add_memcpy_node_1d(
    target: Any, graph: Any, after: Any, count: int, dst: Any, src: Any, size: int, kind: int
) -> None:
    node_type = NodeType.cudaGraphNodeTypeMemcpy
    add(target, graph, after, count, node_type, _does(lambda: _copy_1d(dst, src, size, kind)))


@cudart.export("cudaGraphAddMemsetNode")
def add_memset_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeMemset
    add(target, graph, after, count, kind, _does(lambda: _fill(params)))


@cudart.export("cudaGraphAddHostNode")
def add_host_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeHost
    add(target, graph, after, count, kind, _does(lambda: _host(params)))


@cudart.export("cudaGraphAddEmptyNode")
def add_empty_node(target: Any, graph: Any, after: Any, count: int) -> None:
    add(target, graph, after, count, NodeType.cudaGraphNodeTypeEmpty, lambda node: None)


# --- other graphs, events ------------------------------------------------------------------------


def _child(handle: Any) -> Make:
    def fill(node: Node) -> None:
        node.bodies = [graph_of(handle, "childGraph").copy()]

    return fill


@cudart.export("cudaGraphAddChildGraphNode")
def add_child_graph_node(target: Any, graph: Any, after: Any, count: int, child: Any) -> None:
    add(target, graph, after, count, NodeType.cudaGraphNodeTypeGraph, _child(child))


def _record(event: Any) -> Make:
    def fill(node: Node) -> None:
        node.marks = event_of(event).record

    return fill


def _wait(event: Any) -> Make:
    def fill(node: Node) -> None:
        node.marks = event_of(event).hold

    return fill


@cudart.export("cudaGraphAddEventRecordNode")
def add_event_record_node(target: Any, graph: Any, after: Any, count: int, event: Any) -> None:
    add(target, graph, after, count, NodeType.cudaGraphNodeTypeEventRecord, _record(event))


@cudart.export("cudaGraphAddEventWaitNode")
def add_event_wait_node(target: Any, graph: Any, after: Any, count: int, event: Any) -> None:
    add(target, graph, after, count, NodeType.cudaGraphNodeTypeWaitEvent, _wait(event))


# --- memory --------------------------------------------------------------------------------------


def _allocation(params: Any) -> Make:
    def fill(node: Node) -> None:
        null(nodeParams=params)
        require_device(params.poolProps.location, "nodeParams->poolProps.location")
        node.memory = context.current().node_memories.create(params.bytesize)
        params.dptr = pointer(node.memory.base)

    return fill


def _release(address: Any) -> Make:
    def fill(node: Node) -> None:
        null(dptr=address)
        node.memory = context.current().node_memories.at(number(address))

    return fill


@cudart.export("cudaGraphAddMemAllocNode")
def add_mem_alloc_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    add(target, graph, after, count, NodeType.cudaGraphNodeTypeMemAlloc, _allocation(params))


@cudart.export("cudaGraphAddMemFreeNode")
def add_mem_free_node(target: Any, graph: Any, after: Any, count: int, address: Any) -> None:
    add(target, graph, after, count, NodeType.cudaGraphNodeTypeMemFree, _release(address))


# --- conditions ----------------------------------------------------------------------------------


@cudart.export("cudaGraphConditionalHandleCreate")
def conditional_handle_create(target: Any, graph: Any, default: int, flags: int) -> None:
    null(pHandle_out=target)
    if flags > 1:
        raise invalid_value(f"flags is {flags:#x}; 0 or cudaGraphCondAssignDefault 1")
    made = Condition(default if flags else None)
    graph_of(graph).conditions.append(made)
    target[0] = made.address


def _conditional(graph: Graph, params: Any) -> Make:
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


def _made(found: Graph, params: Any) -> Make:
    """What a cudaGraphNodeParams says."""
    kind = params.type

    def inner(name: str) -> Any:
        return ffi.addressof(params[0], name)

    if kind == NodeType.cudaGraphNodeTypeKernel:
        return _does(lambda: _kernel(inner("kernel")))
    if kind == NodeType.cudaGraphNodeTypeMemcpy:
        return _does(lambda: _copy(ffi.addressof(params.memcpy, "copyParams")))
    if kind == NodeType.cudaGraphNodeTypeMemset:
        return _does(lambda: _fill(inner("memset")))
    if kind == NodeType.cudaGraphNodeTypeHost:
        return _does(lambda: _host(inner("host")))
    if kind == NodeType.cudaGraphNodeTypeGraph:
        return _child(params.graph.graph)
    if kind == NodeType.cudaGraphNodeTypeEmpty:
        return lambda node: None
    if kind == NodeType.cudaGraphNodeTypeWaitEvent:
        return _wait(params.eventWait.event)
    if kind == NodeType.cudaGraphNodeTypeEventRecord:
        return _record(params.eventRecord.event)
    if kind == NodeType.cudaGraphNodeTypeMemAlloc:
        return _allocation(inner("alloc"))
    if kind == NodeType.cudaGraphNodeTypeMemFree:
        return _release(params.free.dptr)
    if kind == NodeType.cudaGraphNodeTypeConditional:
        return _conditional(found, inner("conditional"))
    if kind in NodeType._value2member_map_:
        raise CudaError(
            cudaError.cudaErrorNotSupported, f"nodeParams->type is {NodeType(kind).name}"
        )
    raise invalid_value(f"nodeParams->type is {kind}; cudaGraphNodeType has 0 to {max(NodeType)}")


@cudart.export("cudaGraphAddNode")
def add_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    null(pGraphNode=target, nodeParams=params)
    found = graph_of(graph)
    add(target, graph, after, count, params.type, _made(found, params))


@cudart.export("cudaGraphAddNode_v2")
def add_node_v2(target: Any, graph: Any, after: Any, data: Any, count: int, params: Any) -> None:
    null(pGraphNode=target, nodeParams=params)
    found = graph_of(graph)
    nodes_of(found, after, count, "pDependencies")
    full_edges(data, count)
    add(target, graph, after, count, params.type, _made(found, params))


# --- parameters of nodes that are there ----------------------------------------------------------


def _change(node: Node, kind: NodeType, work: Callable[[], Work | None]) -> None:
    if node.kind != kind:
        raise invalid_value(f"node is a {NodeType(node.kind).name}, no {kind.name}")
    node.work = work()


def _change_in(executable: Any, node: Any, kind: NodeType, work: Callable[[], Work | None]) -> None:
    found, wanted = executable_of(executable, "hGraphExec"), node_of(node)
    mine = next((n for n in found.nodes if n.origin is wanted), None)
    if mine is None:
        raise invalid_value("node is none of the graph that hGraphExec was made from")
    _change(mine, kind, work)


@cudart.export("cudaGraphKernelNodeSetParams")
def kernel_node_set_params(node: Any, params: Any) -> None:
    _change(node_of(node), NodeType.cudaGraphNodeTypeKernel, lambda: _kernel(params))


@cudart.export("cudaGraphExecKernelNodeSetParams")
def exec_kernel_node_set_params(executable: Any, node: Any, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeKernel
    _change_in(executable, node, kind, lambda: _kernel(params))


@cudart.export("cudaGraphExecMemcpyNodeSetParams")
def exec_memcpy_node_set_params(executable: Any, node: Any, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeMemcpy
    _change_in(executable, node, kind, lambda: _copy(params))


@cudart.export("cudaGraphExecMemcpyNodeSetParams1D")
def exec_memcpy_node_set_params_1d(
    executable: Any, node: Any, dst: Any, src: Any, size: int, kind: int
) -> None:
    node_type = NodeType.cudaGraphNodeTypeMemcpy
    _change_in(executable, node, node_type, lambda: _copy_1d(dst, src, size, kind))


@cudart.export("cudaGraphExecMemsetNodeSetParams")
def exec_memset_node_set_params(executable: Any, node: Any, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeMemset
    _change_in(executable, node, kind, lambda: _fill(params))


@cudart.export("cudaGraphExecHostNodeSetParams")
def exec_host_node_set_params(executable: Any, node: Any, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeHost
    _change_in(executable, node, kind, lambda: _host(params))
