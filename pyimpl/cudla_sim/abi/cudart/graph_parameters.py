"""What nodes of graphs do: each kind from the parameters that programs give.

A node is made, and changed, by a function that fills it in (``Make``); what the program will be
told when it asks for the parameters is kept with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...constants.cudart import cudaGraphChildGraphNodeOwnership
from ...constants.cudart import cudaLaunchAttributeID as Attribute
from ...core import explain
from ...core.queue import Work
from ...cudart import context, transfer
from ...cudart.errors import CudaError, invalid_value
from ...cudart.graph import Filling, Graph, HostCall, Node, kind_name
from ...cudart.transfer import Copy
from ..embedding import ffi, lib, pointer
from .arrays import copies_of
from .events import resolve as event_of
from .family import null, number
from .graph_handles import executable_of, graph_of, node_handle, node_of, nodes_of
from .launches import Item
from .pools import require_device

_ELEMENTS = (1, 2, 4)
Make = Callable[[Node], None]
"""Fills in what a node does. Raises CudaError for parameters that make no sense."""


def add(target: Any, graph: Any, after: Any, count: int, kind: int, make: Make) -> None:
    null(pGraphNode=target)
    found = graph_of(graph)
    node = Node(None, kind, nodes_of(found, after, count, "pDependencies"))
    make(node)
    found.nodes.append(node)
    target[0] = node_handle(node)


def require(node: Node, kind: int) -> None:
    """Raises CudaError (InvalidValue) for a node of another kind."""
    if node.kind != kind:
        raise invalid_value(f"node is a {kind_name(node.kind)}, no {kind_name(kind)}")


def change(node: Node, kind: int, make: Make) -> None:
    require(node, kind)
    make(node)


def in_executable(executable: Any, node: Any, argument: str = "hGraphExec") -> Node:
    """What a node became in an executable. Raises CudaError (InvalidValue)."""
    found, wanted = executable_of(executable, argument), node_of(node)
    mine = next((n for n in found.every() if n.origin is wanted), None)
    if mine is None:
        raise invalid_value(f"node is none of the graph that {argument} was made from")
    return mine


# --- work ----------------------------------------------------------------------------------------


def _cooperative(node: Node) -> bool:
    kept = node.attributes.get(Attribute.cudaLaunchAttributeCooperative)
    return kept is not None and any(kept[: ffi.sizeof("int")])


def kernel(params: Any, *, driver: bool = False) -> Make:
    """``driver``: checked, and refused, as by cuLaunchKernel."""

    def fill(node: Node) -> None:
        null(pNodeParams=params)
        error = ffi.new("int *")
        same = ffi.cast("struct cudaKernelNodeParams *", params)
        launches = lib.sim_cuda_node(same, driver, _cooperative(node), error)
        if not launches:
            raise CudaError(error[0], explain.last())
        item = Item(context.current(), launches)
        item.keep()
        node.work, node.given = item.repeat, item

    return fill


def copying(jobs: list[Copy], given: Any) -> Make:
    def work() -> None:
        for job in jobs:
            job.perform()

    def fill(node: Node) -> None:
        node.work, node.given = work, given

    return fill


def copy(params: Any) -> Make:
    def fill(node: Node) -> None:
        null(pCopyParams=params)
        given = ffi.new("struct cudaMemcpy3DParms *", params[0])
        copying(list(copies_of(params)), given)(node)

    return fill


def copy_1d(dst: Any, src: Any, size: int, kind: int) -> Make:
    given = ffi.new("struct cudaMemcpy3DParms *")
    for side, where in ((given.dstPtr, dst), (given.srcPtr, src)):
        side.ptr = pointer(number(where))
        side.pitch = side.xsize = size
        side.ysize = 1
    given.extent.width, given.extent.height, given.extent.depth = size, 1, 1
    given.kind = kind
    return copy(given)


def filling(params: Any) -> Make:
    """A struct cudaMemsetParams, or the driver's, which is laid out as it."""

    def fill(node: Node) -> None:
        null(pMemsetParams=params)
        size = params.elementSize
        if size not in _ELEMENTS:
            raise invalid_value(f"pMemsetParams->elementSize is {size}; 1, 2 or 4")
        where = int(ffi.cast("uintptr_t", params.dst))
        given = Filling(where, params.pitch, params.value, size, params.width, params.height)
        node.work, node.given = _filling_work(given), given

    return fill


def _filling_work(given: Filling) -> Work | None:
    if not given.width or not given.height:
        return None
    width = given.width * given.element
    pitch = given.pitch if given.height > 1 else width
    memory = context.current().memory
    shape = transfer.plane(width, given.height, pitch)
    target = transfer.check(memory, given.address, shape, "device", "pMemsetParams->dst")
    return transfer.fill_elements(target, given.value, given.element)


def host(params: Any) -> Make:
    def fill(node: Node) -> None:
        null(pNodeParams=params)
        call = HostCall(number(params.fn), number(params.userData))
        if not call.function:
            raise invalid_value("pNodeParams->fn is NULL; it is the function to call")
        calls = context.current().calls
        node.work, node.given = lambda: calls.host_function(*call), call

    return fill


def nothing(_: Node) -> None:
    """An empty node."""


# --- other graphs, events ------------------------------------------------------------------------


def child(handle: Any) -> Make:
    def fill(node: Node) -> None:
        graph = graph_of(handle, "childGraph")
        body = graph.copy()
        body.keep(graph.kept())
        node.bodies = [body]

    return fill


def moved_child(handle: Any, into: Graph) -> Make:
    """The graph itself becomes part of another one."""

    def fill(node: Node) -> None:
        graph = graph_of(handle, "graph.graph")
        if graph.owned or graph.holds(into):
            raise invalid_value(
                "graph.graph is part of a graph already, or the one it would go into"
            )
        graph.owned = True
        node.bodies = [graph]

    return fill


def owned_child(params: Any, into: Graph) -> Make:
    """A cudaChildGraphNodeParams."""
    known = cudaGraphChildGraphNodeOwnership
    if params.ownership not in known._value2member_map_:
        raise invalid_value(f"graph.ownership is {params.ownership}; Clone 0 or Move 1")
    if params.ownership == known.cudaGraphChildGraphOwnershipMove:
        return moved_child(params.graph, into)
    return child(params.graph)


def record(event: Any) -> Make:
    def fill(node: Node) -> None:
        node.given = event_of(event)
        node.marks = node.given.record

    return fill


def wait(event: Any) -> Make:
    def fill(node: Node) -> None:
        node.given = event_of(event)
        node.marks = node.given.hold

    return fill


# --- memory --------------------------------------------------------------------------------------


def allocation(params: Any) -> Make:
    """A struct cudaMemAllocNodeParams, or the driver's, which is laid out as it."""

    def fill(node: Node) -> None:
        null(nodeParams=params)
        same = ffi.cast("struct cudaMemAllocNodeParams *", params)
        require_device(same.poolProps.location, "nodeParams->poolProps.location")
        node.memory = context.current().node_memories.create(same.bytesize)
        same.dptr = pointer(node.memory.base)
        node.given = ffi.new("struct cudaMemAllocNodeParams *", same[0])
        node.given.accessDescs, node.given.accessDescCount = ffi.NULL, 0

    return fill


def release(address: Any) -> Make:
    def fill(node: Node) -> None:
        null(dptr=address)
        node.memory = context.current().node_memories.at(number(address))

    return fill
