"""Graphs: captured or made by hand, and their executables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...constants.cudart import cudaError
from ...constants.cudart import cudaGraphNodeType as NodeType
from ...core.queue import Work
from ...cudart import arrays, context, transfer
from ...cudart.arrays import Box
from ...cudart.capture import Graph, Node
from ...cudart.errors import invalid_handle, invalid_value
from ...cudart.state import GRAPH, GRAPH_EXEC, GRAPH_NODE
from ...cudart.transfer import Copy
from ..embedding import ffi, lib, pointer
from .arrays import copies_of
from .family import cudart, null, number, required_flags
from .launches import Item
from .streams import resolve

_ELEMENTS = (1, 2, 4)


def _graph(handle: Any, kind: str, argument: str) -> Graph:
    found: Graph = cudart.resolve(handle, kind, argument, cudaError.cudaErrorInvalidValue)
    return found


def _node(handle: Any, argument: str) -> Node:
    found: Node = cudart.resolve(handle, GRAPH_NODE, argument, cudaError.cudaErrorInvalidValue)
    return found


def _destroy(handle: Any, kind: str, argument: str, by: str) -> None:
    found = _graph(handle, kind, argument)
    handles = context.current().process.handles
    handles.remove(number(handle), kind, by)
    for node in found.nodes:
        if node.handle:
            handles.remove(node.handle, GRAPH_NODE, by)


def _handle(node: Node) -> Any:
    if not node.handle:
        node.handle = context.current().process.handles.add(GRAPH_NODE, node)
    return pointer(node.handle)


# --- whole graphs --------------------------------------------------------------------------------


@cudart.export("cudaGraphCreate")
def graph_create(target: Any, flags: int) -> None:
    null(pGraph=target)
    required_flags(flags, 0, "it is 0")
    _give(target, Graph([]))


def _give(target: Any, graph: Graph) -> None:
    graph.handle = context.current().process.handles.add(GRAPH, graph)
    target[0] = pointer(graph.handle)


@cudart.export("cudaGraphClone")
def graph_clone(target: Any, graph: Any) -> None:
    null(pGraphClone=target)
    _give(target, _graph(graph, GRAPH, "originalGraph").copy())


@cudart.export("cudaGraphDestroy", ruined="report")
def graph_destroy(graph: Any) -> None:
    _destroy(graph, GRAPH, "graph", "cudaGraphDestroy")


@cudart.export("cudaGraphInstantiateWithFlags")
@cudart.export("cudaGraphInstantiate")
def graph_instantiate(executable: Any, graph: Any, flags: int) -> None:
    null(pGraphExec=executable)
    required_flags(flags, 15, "cudaGraphInstantiateFlag* lie within 0xf")
    found = Graph(_graph(graph, GRAPH, "graph").copy().ordered())
    found.handle = context.current().process.handles.add(GRAPH_EXEC, found)
    executable[0] = pointer(found.handle)


def _executable(handle: Any) -> Graph:
    return _graph(handle, GRAPH_EXEC, "graphExec")


@cudart.export("cudaGraphLaunch")
def graph_launch(executable: Any, stream: Any) -> None:
    found = _executable(executable)
    target = resolve(stream)
    if target.capturing:
        raise invalid_handle(f"{target.name} captures; a graph cannot be captured into a graph")
    for node in found.nodes:
        if node.work is not None:
            target.enqueue(node.work)


@cudart.export("cudaGraphUpload")
def graph_upload(executable: Any, stream: Any) -> None:
    _executable(executable)
    resolve(stream)


@cudart.export("cudaGraphExecDestroy", ruined="report")
def graph_exec_destroy(executable: Any) -> None:
    _destroy(executable, GRAPH_EXEC, "graphExec", "cudaGraphExecDestroy")


# --- nodes ---------------------------------------------------------------------------------------


def _nodes_of(graph: Graph, nodes: Any, count: int, argument: str) -> list[Node]:
    if count and not nodes:
        raise invalid_value(f"{argument} is NULL, and there are {count}")
    found = [_node(nodes[i], f"{argument}[{i}]") for i in range(count)]
    for index, node in enumerate(found):
        if node not in graph.nodes:
            raise invalid_value(f"{argument}[{index}] is a node of another graph")
    return found


def _add(
    target: Any, graph: Any, after: Any, count: int, kind: int, make: Callable[[], Work | None]
) -> None:
    null(pGraphNode=target)
    found = _graph(graph, GRAPH, "graph")
    node = Node(None, kind, _nodes_of(found, after, count, "pDependencies"))
    node.work = make()
    found.nodes.append(node)
    target[0] = _handle(node)


def _kernel(params: Any) -> Work:
    null(pNodeParams=params)
    if params.extra and not params.kernelParams:
        raise invalid_value("pNodeParams->extra is for the driver's functions; give kernelParams")
    error = ffi.new("int *")
    launches = lib.sim_cuda_node(params, error)
    if not launches:
        status = cudaError(error[0])
        raise cudart.error(status, f"the kernel cannot be launched like that ({status.name})")
    item = Item(context.current(), launches)
    item.keep()
    return item.repeat


@cudart.export("cudaGraphAddKernelNode")
def add_kernel_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    _add(target, graph, after, count, NodeType.cudaGraphNodeTypeKernel, lambda: _kernel(params))


@cudart.export("cudaGraphExecKernelNodeSetParams")
def exec_kernel_node_set_params(executable: Any, node: Any, params: Any) -> None:
    found, wanted = _executable(executable), _node(node, "node")
    mine = next((n for n in found.nodes if n.origin is wanted), None)
    if mine is None or mine.kind != NodeType.cudaGraphNodeTypeKernel:
        raise invalid_value("node is no kernel of the graph that hGraphExec was made from")
    mine.work = _kernel(params)


def _copying(jobs: list[Copy]) -> Work:
    def work() -> None:
        for job in jobs:
            job.perform()

    return work


@cudart.export("cudaGraphAddMemcpyNode")
def add_memcpy_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    kind = NodeType.cudaGraphNodeTypeMemcpy
    _add(target, graph, after, count, kind, lambda: _copying(list(copies_of(params))))


@cudart.export("cudaGraphAddMemcpyNode1D")
def add_memcpy_node_1d(
    target: Any, graph: Any, after: Any, count: int, dst: Any, src: Any, size: int, kind: int
) -> None:
    def make() -> Work:
        to, start = Box(number(dst), size, 0), Box(number(src), size, 0)
        memory = context.current().memory
        jobs = arrays.copies(memory, to, start, kind, size, 1, 1) if size else ()
        return _copying(list(jobs))

    _add(target, graph, after, count, NodeType.cudaGraphNodeTypeMemcpy, make)


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


@cudart.export("cudaGraphAddMemsetNode")
def add_memset_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    _add(target, graph, after, count, NodeType.cudaGraphNodeTypeMemset, lambda: _fill(params))


@cudart.export("cudaGraphAddHostNode")
def add_host_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    def make() -> Work:
        null(pNodeParams=params)
        function, data = number(params.fn), number(params.userData)
        if not function:
            raise invalid_value("pNodeParams->fn is NULL; it is the function to call")
        calls = context.current().calls
        return lambda: calls.host_function(function, data)

    _add(target, graph, after, count, NodeType.cudaGraphNodeTypeHost, make)


@cudart.export("cudaGraphAddEmptyNode")
def add_empty_node(target: Any, graph: Any, after: Any, count: int) -> None:
    _add(target, graph, after, count, NodeType.cudaGraphNodeTypeEmpty, lambda: None)


@cudart.export("cudaGraphAddChildGraphNode")
def add_child_graph_node(target: Any, graph: Any, after: Any, count: int, child: Any) -> None:
    def make() -> Work:
        works = [n.work for n in _graph(child, GRAPH, "childGraph").copy().ordered()]

        def work() -> None:
            for each in works:
                if each is not None:
                    each()

        return work

    _add(target, graph, after, count, NodeType.cudaGraphNodeTypeGraph, make)


@cudart.export("cudaGraphAddDependencies")
def add_dependencies(graph: Any, from_: Any, to: Any, count: int) -> None:
    found = _graph(graph, GRAPH, "graph")
    pairs = zip(
        _nodes_of(found, from_, count, "from"), _nodes_of(found, to, count, "to"), strict=True
    )
    for before, node in pairs:
        node.after.append(before)


@cudart.export("cudaGraphGetNodes")
def get_nodes(graph: Any, nodes: Any, count: Any) -> None:
    null(numNodes=count)
    found = _graph(graph, GRAPH, "graph").nodes
    if nodes:
        for index in range(count[0]):
            nodes[index] = _handle(found[index]) if index < len(found) else ffi.NULL
        count[0] = min(count[0], len(found))
    else:
        count[0] = len(found)


@cudart.export("cudaGraphNodeGetType")
def node_get_type(node: Any, kind: Any) -> None:
    null(pType=kind)
    kind[0] = _node(node, "node").kind
