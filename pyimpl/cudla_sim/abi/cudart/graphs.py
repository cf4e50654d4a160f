"""Graphs as a whole: captured or made by hand, their edges, and their executables."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import (
    cudaError,
    cudaGraphExecUpdateResult,
    cudaGraphMemAttributeType,
)
from ...constants.cudart import cudaGraphInstantiateFlags as Flag
from ...constants.cudart import cudaGraphInstantiateResult as Result
from ...constants.cudart import cudaGraphNodeType as NodeType
from ...cudart import context
from ...cudart.errors import CudaError, invalid_handle, invalid_value
from ...cudart.graph import Graph, Node, difference
from ...cudart.state import GRAPH, GRAPH_EXEC
from ...cudart.streams import Stream
from ...cudart.user_objects import UserObject
from ..embedding import ffi, pointer
from .device import get_device
from .family import cudart, null, required_flags
from .graph_handles import (
    destroy,
    executable_of,
    full_edges,
    graph_handle,
    graph_of,
    node_handle,
    node_of,
    nodes_of,
    write_nodes,
)
from .streams import resolve

_AUTO_FREE = Flag.cudaGraphInstantiateFlagAutoFreeOnLaunch
_UPLOAD = Flag.cudaGraphInstantiateFlagUpload


# --- whole graphs --------------------------------------------------------------------------------


@cudart.export("cudaGraphCreate")
def graph_create(target: Any, flags: int) -> None:
    null(pGraph=target)
    required_flags(flags, 0, "it is 0")
    target[0] = graph_handle(Graph([]))


@cudart.export("cudaGraphClone")
def graph_clone(target: Any, graph: Any) -> None:
    null(pGraphClone=target)
    found = graph_of(graph, "originalGraph")
    made = found.copy()
    made.keep(found.kept())
    target[0] = graph_handle(made)


@cudart.export("cudaGraphDestroy", ruined="report")
def graph_destroy(graph: Any) -> None:
    destroy(graph_of(graph), GRAPH, "cudaGraphDestroy")


@cudart.export("cudaGraphInstantiateWithFlags")
@cudart.export("cudaGraphInstantiate")
def graph_instantiate(executable: Any, graph: Any, flags: int) -> None:
    null(pGraphExec=executable)
    required_flags(flags, 15, "cudaGraphInstantiateFlag* lie within 0xf")
    given = graph_of(graph)
    found = given.executable()
    found.keep(given.kept())
    found.flags = flags
    found.handle = context.current().process.handles.add(GRAPH_EXEC, found)
    executable[0] = pointer(found.handle)


@cudart.export("cudaGraphInstantiateWithParams")
def graph_instantiate_with_params(executable: Any, graph: Any, params: Any) -> None:
    null(instantiateParams=params)
    same = ffi.cast("cudaGraphInstantiateParams *", params)  # the driver's is laid out as it
    same.errNode_out = ffi.NULL
    same.result_out = Result.cudaGraphInstantiateError
    if same.flags & _UPLOAD:
        resolve(same.uploadStream)
    found = graph_of(graph)
    if found.circular:
        same.result_out = Result.cudaGraphInstantiateInvalidStructure
    graph_instantiate(executable, graph, same.flags)
    same.result_out = Result.cudaGraphInstantiateSuccess


@cudart.export("cudaGraphExecGetFlags")
def graph_exec_get_flags(executable: Any, flags: Any) -> None:
    null(flags=flags)
    flags[0] = executable_of(executable).flags


@cudart.export("cudaGraphLaunch")
def graph_launch(executable: Any, stream: Any) -> None:
    found = executable_of(executable)
    target = resolve(stream)
    if target.capturing:
        raise invalid_handle(f"{target.name} captures; a graph cannot be captured into a graph")
    current = context.current()
    nodes = list(found.flat())
    begin = NodeType.cudaGraphNodeTypeMemAlloc
    touched = [(n.memory, n.kind == begin) for n in nodes if n.memory is not None]
    if touched:
        current.node_memories.launch(touched, bool(found.flags & _AUTO_FREE))
    for condition in found.conditions:
        target.enqueue(condition.begin, trivial=True)
    for node in nodes:
        if not node.enabled:
            continue
        if node.marks is not None:
            node.marks(target)
        elif node.condition is not None:
            target.enqueue(node.run)
        elif node.work is not None:
            target.enqueue(node.work)
    _hold(found.kept(), target)


def _hold(objects: set[UserObject], target: Stream) -> None:
    """A launch refers to what its graph keeps alive, until it has ended."""
    if not objects:
        return
    for each in objects:
        each.retain(1)

    def ended() -> None:
        for each in objects:
            each.release(1)

    target.enqueue(ended, always=True)


@cudart.export("cudaGraphUpload")
def graph_upload(executable: Any, stream: Any) -> None:
    executable_of(executable)
    resolve(stream)


@cudart.export("cudaGraphExecDestroy", ruined="report")
def graph_exec_destroy(executable: Any) -> None:
    destroy(executable_of(executable), GRAPH_EXEC, "cudaGraphExecDestroy")


@cudart.export("cudaGraphExecUpdate")
def graph_exec_update(executable: Any, graph: Any, result: Any) -> None:
    null(resultInfo=result)
    found, given = executable_of(executable, "hGraphExec"), graph_of(graph, "hGraph")
    wanted = given.executable()
    result.result = cudaGraphExecUpdateResult.cudaGraphExecUpdateSuccess
    result.errorNode = result.errorFromNode = ffi.NULL
    differs = difference(found, wanted)
    if differs is not None:
        result.result = differs.result
        if differs.node is not None:
            result.errorNode = node_handle(differs.node.origin)
        raise CudaError(
            cudaError.cudaErrorGraphExecUpdateFailure,
            f"hGraphExec is of another shape than hGraph: {differs.text}",
        )
    found.update(wanted)


# --- edges and nodes -----------------------------------------------------------------------------


def _pairs(graph: Any, from_: Any, to: Any, count: int) -> list[tuple[Node, Node]]:
    found = graph_of(graph)
    if count > len(found.nodes) ** 2:
        raise invalid_value(f"numDependencies is {count}; {len(found.nodes)} nodes have fewer")
    for argument, nodes in (("from", from_), ("to", to)):
        if count and not nodes:
            raise invalid_value(f"{argument} is NULL, and there are {count}")
    return [
        (nodes_of(found, from_ + i, 1, "from")[0], nodes_of(found, to + i, 1, "to")[0])
        for i in range(count)
    ]


@cudart.export("cudaGraphAddDependencies")
def add_dependencies(graph: Any, from_: Any, to: Any, count: int) -> None:
    for before, node in _pairs(graph, from_, to, count):
        if before in node.after:
            raise invalid_value("from and to name an edge that is there already")
        node.after.append(before)


@cudart.export("cudaGraphAddDependencies_v2")
def add_dependencies_v2(graph: Any, from_: Any, to: Any, data: Any, count: int) -> None:
    _pairs(graph, from_, to, count)
    full_edges(data, count)
    add_dependencies(graph, from_, to, count)


@cudart.export("cudaGraphRemoveDependencies_v2")
def remove_dependencies_v2(graph: Any, from_: Any, to: Any, data: Any, count: int) -> None:
    _pairs(graph, from_, to, count)
    full_edges(data, count)
    remove_dependencies(graph, from_, to, count)


@cudart.export("cudaGraphRemoveDependencies")
def remove_dependencies(graph: Any, from_: Any, to: Any, count: int) -> None:
    pairs = _pairs(graph, from_, to, count)
    for before, node in pairs:
        if before not in node.after:
            raise invalid_value("from and to name an edge that is not there")
    for before, node in pairs:
        node.after = [other for other in node.after if other is not before]


def _owner(node: Node) -> Graph:
    for graph in context.current().process.handles.live(GRAPH):
        if node in graph.nodes:
            return graph
    raise invalid_value("node belongs to no graph that is alive")


@cudart.export("cudaGraphDestroyNode", ruined="report")
def destroy_node(node: Any) -> None:
    found = node_of(node)
    _owner(found).remove(found)
    destroy(Graph([found]), GRAPH, "cudaGraphDestroyNode")


@cudart.export("cudaGraphGetNodes")
def get_nodes(graph: Any, nodes: Any, count: Any) -> None:
    null(numNodes=count)
    write_nodes(graph_of(graph).nodes, nodes, count, "numNodes")


@cudart.export("cudaGraphGetRootNodes")
def get_root_nodes(graph: Any, nodes: Any, count: Any) -> None:
    null(pNumRootNodes=count)
    roots = [node for node in graph_of(graph).nodes if not node.after]
    write_nodes(roots, nodes, count, "pNumRootNodes")


@cudart.export("cudaGraphGetEdges")
def get_edges(graph: Any, from_: Any, to: Any, count: Any) -> None:
    null(numEdges=count)
    if bool(from_) != bool(to):
        raise invalid_value("from and to are both lists, or both NULL")
    pairs = [(before, node) for node in graph_of(graph).nodes for before in node.after]
    room = ffi.new("size_t *", count[0])
    write_nodes([before for before, _ in pairs], from_, room, "numEdges")
    write_nodes([node for _, node in pairs], to, count, "numEdges")


@cudart.export("cudaGraphNodeGetDependencies")
def node_get_dependencies(node: Any, nodes: Any, count: Any) -> None:
    null(pNumDependencies=count)
    write_nodes(node_of(node).after, nodes, count, "pNumDependencies")


@cudart.export("cudaGraphNodeGetDependentNodes")
def node_get_dependent_nodes(node: Any, nodes: Any, count: Any) -> None:
    null(pNumDependentNodes=count)
    found = node_of(node)
    behind = [other for other in _owner(found).nodes if found in other.after]
    write_nodes(behind, nodes, count, "pNumDependentNodes")


def _full(data: Any, room: int, told: int) -> None:
    """The edges that were told, which are full dependencies."""
    size = min(room, told) * ffi.sizeof("cudaGraphEdgeData")
    if data:
        ffi.memmove(data, bytes(size), size)


@cudart.export("cudaGraphGetEdges_v2")
def get_edges_v2(graph: Any, from_: Any, to: Any, data: Any, count: Any) -> None:
    null(numEdges=count)
    room = count[0] if from_ else 0
    get_edges(graph, from_, to, count)
    _full(data, room, count[0])


@cudart.export("cudaGraphNodeGetDependencies_v2")
def node_get_dependencies_v2(node: Any, nodes: Any, data: Any, count: Any) -> None:
    null(pNumDependencies=count)
    room = count[0] if nodes else 0
    node_get_dependencies(node, nodes, count)
    _full(data, room, count[0])


@cudart.export("cudaGraphNodeGetDependentNodes_v2")
def node_get_dependent_nodes_v2(node: Any, nodes: Any, data: Any, count: Any) -> None:
    null(pNumDependentNodes=count)
    room = count[0] if nodes else 0
    node_get_dependent_nodes(node, nodes, count)
    _full(data, room, count[0])


@cudart.export("cudaGraphNodeFindInClone")
def node_find_in_clone(target: Any, original: Any, graph: Any) -> None:
    null(pNode=target)
    wanted, found = node_of(original, "originalNode"), graph_of(graph, "clonedGraph")
    twin = next((node for node in found.nodes if node.origin is wanted), None)
    if twin is None or twin is wanted:
        raise invalid_value("clonedGraph is no clone of a graph that originalNode was in")
    target[0] = node_handle(twin)


@cudart.export("cudaGraphNodeGetType")
def node_get_type(node: Any, kind: Any) -> None:
    null(pType=kind)
    kind[0] = node_of(node).kind


# --- memory of nodes -----------------------------------------------------------------------------

_ATTRIBUTES = {
    cudaGraphMemAttributeType.cudaGraphMemAttrUsedMemCurrent: ("used", False),
    cudaGraphMemAttributeType.cudaGraphMemAttrUsedMemHigh: ("used", True),
    cudaGraphMemAttributeType.cudaGraphMemAttrReservedMemCurrent: ("reserved", False),
    cudaGraphMemAttributeType.cudaGraphMemAttrReservedMemHigh: ("reserved", True),
}


def _attribute(ordinal: int, attribute: int, value: Any) -> tuple[str, bool]:
    null(value=value)
    get_device(ordinal)
    if attribute not in _ATTRIBUTES:
        raise invalid_value(f"attr is {attribute}; cudaGraphMemAttributeType has 0 to 3")
    return _ATTRIBUTES[cudaGraphMemAttributeType(attribute)]


@cudart.export("cudaDeviceGetGraphMemAttribute")
def get_graph_mem_attribute(ordinal: int, attribute: int, value: Any) -> None:
    name, high = _attribute(ordinal, attribute, value)
    found = context.current().node_memories
    ffi.cast("uint64_t *", value)[0] = found.high[name] if high else found.now(name)


@cudart.export("cudaDeviceSetGraphMemAttribute")
def set_graph_mem_attribute(ordinal: int, attribute: int, value: Any) -> None:
    name, high = _attribute(ordinal, attribute, value)
    given = ffi.cast("uint64_t *", value)[0]
    if not high or given:
        raise invalid_value(
            f"attr is {attribute} and *value {given}; the two high marks can be set, to 0"
        )
    found = context.current().node_memories
    found.high[name] = found.now(name)


@cudart.export("cudaDeviceGraphMemTrim")
def graph_mem_trim(ordinal: int) -> None:
    get_device(ordinal)
    current = context.current()
    current.streams.drain()
    current.node_memories.trim()
