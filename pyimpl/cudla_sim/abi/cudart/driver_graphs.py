"""Nodes of graphs, their edges and executables by the driver's names: the runtime's."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUgraphNodeType_enum as NodeType
from ...cudart.graph import Graph
from ..embedding import ffi, pointer
from . import (
    driver_copies,
    graph_attributes,
    graph_changes,
    graph_drawings,
    graph_nodes,
    graphs,
    semaphore_nodes,
    user_objects,
)
from . import graph_answers as answers
from . import graph_parameters as parameters
from .driver import CONTEXT, driver, null
from .driver_memory_operations import operations
from .graph_handles import full_edges, graph_of, node_of, nodes_of
from .graph_parameters import Make, add, change, in_executable

# Those that differ by nothing but their names.
driver.export("cuGraphKernelNodeGetAttribute")(graph_attributes.kernel_node_get_attribute)
driver.export("cuGraphKernelNodeSetAttribute")(graph_attributes.kernel_node_set_attribute)
driver.export("cuGraphKernelNodeCopyAttributes")(graph_attributes.kernel_node_copy_attributes)
driver.export("cuGraphMemsetNodeGetParams")(graph_changes.memset_node_get_params)
driver.export("cuGraphMemsetNodeSetParams")(graph_changes.memset_node_set_params)
driver.export("cuGraphAddHostNode")(graph_nodes.add_host_node)
driver.export("cuGraphHostNodeGetParams")(graph_changes.host_node_get_params)
driver.export("cuGraphHostNodeSetParams")(graph_changes.host_node_set_params)
driver.export("cuGraphExecHostNodeSetParams")(graph_changes.exec_host_node_set_params)
driver.export("cuGraphChildGraphNodeGetGraph")(graph_changes.child_graph_node_get_graph)
driver.export("cuGraphExecChildGraphNodeSetParams")(graph_changes.exec_child_graph_node_set_params)
driver.export("cuGraphAddEventRecordNode")(graph_nodes.add_event_record_node)
driver.export("cuGraphEventRecordNodeGetEvent")(graph_changes.event_record_node_get_event)
driver.export("cuGraphEventRecordNodeSetEvent")(graph_changes.event_record_node_set_event)
driver.export("cuGraphExecEventRecordNodeSetEvent")(graph_changes.exec_event_record_node_set_event)
driver.export("cuGraphAddEventWaitNode")(graph_nodes.add_event_wait_node)
driver.export("cuGraphEventWaitNodeGetEvent")(graph_changes.event_wait_node_get_event)
driver.export("cuGraphEventWaitNodeSetEvent")(graph_changes.event_wait_node_set_event)
driver.export("cuGraphExecEventWaitNodeSetEvent")(graph_changes.exec_event_wait_node_set_event)
driver.export("cuGraphAddExternalSemaphoresSignalNode")(semaphore_nodes.add_signal_node)
driver.export("cuGraphExternalSemaphoresSignalNodeGetParams")(
    semaphore_nodes.signal_node_get_params
)
driver.export("cuGraphExternalSemaphoresSignalNodeSetParams")(
    semaphore_nodes.signal_node_set_params
)
driver.export("cuGraphExecExternalSemaphoresSignalNodeSetParams")(
    semaphore_nodes.exec_signal_node_set_params
)
driver.export("cuGraphAddExternalSemaphoresWaitNode")(semaphore_nodes.add_wait_node)
driver.export("cuGraphExternalSemaphoresWaitNodeGetParams")(semaphore_nodes.wait_node_get_params)
driver.export("cuGraphExternalSemaphoresWaitNodeSetParams")(semaphore_nodes.wait_node_set_params)
driver.export("cuGraphExecExternalSemaphoresWaitNodeSetParams")(
    semaphore_nodes.exec_wait_node_set_params
)
driver.export("cuGraphAddMemAllocNode")(graph_nodes.add_mem_alloc_node)
driver.export("cuGraphMemAllocNodeGetParams")(graph_changes.mem_alloc_node_get_params)
driver.export("cuGraphMemFreeNodeGetParams")(graph_changes.mem_free_node_get_params)
driver.export("cuGraphAddDependencies")(graphs.add_dependencies)
driver.export("cuGraphAddDependencies_v2")(graphs.add_dependencies_v2)
driver.export("cuGraphRemoveDependencies")(graphs.remove_dependencies)
driver.export("cuGraphRemoveDependencies_v2")(graphs.remove_dependencies_v2)
driver.export("cuGraphGetEdges")(graphs.get_edges)
driver.export("cuGraphGetEdges_v2")(graphs.get_edges_v2)
driver.export("cuGraphNodeGetDependencies")(graphs.node_get_dependencies)
driver.export("cuGraphNodeGetDependencies_v2")(graphs.node_get_dependencies_v2)
driver.export("cuGraphNodeGetDependentNodes")(graphs.node_get_dependent_nodes)
driver.export("cuGraphNodeGetDependentNodes_v2")(graphs.node_get_dependent_nodes_v2)
driver.export("cuGraphNodeFindInClone")(graphs.node_find_in_clone)
driver.export("cuGraphInstantiateWithParams")(graphs.graph_instantiate_with_params)
driver.export("cuGraphExecGetFlags")(graphs.graph_exec_get_flags)
driver.export("cuGraphNodeSetEnabled")(graph_changes.node_set_enabled)
driver.export("cuGraphNodeGetEnabled")(graph_changes.node_get_enabled)
driver.export("cuGraphExecUpdate_v2")(graphs.graph_exec_update)
driver.export("cuDeviceGetGraphMemAttribute")(graphs.get_graph_mem_attribute)
driver.export("cuDeviceSetGraphMemAttribute")(graphs.set_graph_mem_attribute)
driver.export("cuDeviceGraphMemTrim")(graphs.graph_mem_trim)
driver.export("cuGraphDebugDotPrint")(graph_drawings.graph_debug_dot_print)
driver.export("cuUserObjectCreate")(user_objects.user_object_create)
driver.export("cuUserObjectRetain")(user_objects.user_object_retain)
driver.export("cuUserObjectRelease")(user_objects.user_object_release)
driver.export("cuGraphRetainUserObject")(user_objects.graph_retain_user_object)
driver.export("cuGraphReleaseUserObject")(user_objects.graph_release_user_object)

_KERNEL, _MEMCPY = NodeType.CU_GRAPH_NODE_TYPE_KERNEL, NodeType.CU_GRAPH_NODE_TYPE_MEMCPY
_MEMSET, _FREE = NodeType.CU_GRAPH_NODE_TYPE_MEMSET, NodeType.CU_GRAPH_NODE_TYPE_MEM_FREE


def _context(handle: Any, argument: str) -> None:
    """The only one, or NULL."""
    if handle:
        driver.resolve(handle, CONTEXT, argument)


# --- kernels -------------------------------------------------------------------------------------


def _kernel(params: Any) -> Make:
    """A CUDA_KERNEL_NODE_PARAMS_v2 or _v3. Its ctx is of kern: ignored where func is set."""
    null(nodeParams=params)
    if not params.func:
        _context(params.ctx, "nodeParams->ctx")
    made = ffi.new("CUDA_KERNEL_NODE_PARAMS_v1 *")
    ffi.memmove(made, params, ffi.sizeof("CUDA_KERNEL_NODE_PARAMS_v1"))
    if not made.func:
        made.func = ffi.cast("CUfunction", params.kern)
    return parameters.kernel(made, driver=True)


def _kernel_v1(params: Any) -> Make:
    null(nodeParams=params)
    return parameters.kernel(params, driver=True)


@driver.export("cuGraphAddKernelNode_v2")
def add_kernel_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    add(target, graph, after, count, _KERNEL, _kernel(params))


@driver.export("cuGraphAddKernelNode")
def add_kernel_node_v1(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    add(target, graph, after, count, _KERNEL, _kernel_v1(params))


@driver.export("cuGraphKernelNodeGetParams_v2")
def kernel_node_get_params(node: Any, params: Any) -> None:
    null(nodeParams=params)
    found = answers.kernel(node_of(node, "hNode"))
    ffi.memmove(params, found, ffi.sizeof("CUDA_KERNEL_NODE_PARAMS_v1"))
    params.kern = params.ctx = ffi.NULL


@driver.export("cuGraphKernelNodeGetParams")
def kernel_node_get_params_v1(node: Any, params: Any) -> None:
    null(nodeParams=params)
    found = answers.kernel(node_of(node, "hNode"))
    ffi.memmove(params, found, ffi.sizeof("CUDA_KERNEL_NODE_PARAMS_v1"))


@driver.export("cuGraphKernelNodeSetParams_v2")
def kernel_node_set_params(node: Any, params: Any) -> None:
    change(node_of(node, "hNode"), _KERNEL, _kernel(params))


@driver.export("cuGraphKernelNodeSetParams")
def kernel_node_set_params_v1(node: Any, params: Any) -> None:
    change(node_of(node, "hNode"), _KERNEL, _kernel_v1(params))


@driver.export("cuGraphExecKernelNodeSetParams_v2")
def exec_kernel_node_set_params(executable: Any, node: Any, params: Any) -> None:
    change(in_executable(executable, node), _KERNEL, _kernel(params))


@driver.export("cuGraphExecKernelNodeSetParams")
def exec_kernel_node_set_params_v1(executable: Any, node: Any, params: Any) -> None:
    change(in_executable(executable, node), _KERNEL, _kernel_v1(params))


# --- copies and fills ----------------------------------------------------------------------------


def _copy(params: Any) -> Make:
    """A CUDA_MEMCPY3D."""
    null(copyParams=params)
    given = ffi.new("CUDA_MEMCPY3D *", params[0])
    return lambda node: parameters.copying(driver_copies.jobs(given, given.Depth, True), given)(
        node
    )


@driver.export("cuGraphAddMemcpyNode")
def add_memcpy_node(
    target: Any, graph: Any, after: Any, count: int, params: Any, owner: Any
) -> None:
    _context(owner, "ctx")
    add(target, graph, after, count, _MEMCPY, _copy(params))


@driver.export("cuGraphMemcpyNodeGetParams")
def memcpy_node_get_params(node: Any, params: Any) -> None:
    null(nodeParams=params)
    params[0] = answers.copy_by_driver(node_of(node, "hNode"))[0]


@driver.export("cuGraphMemcpyNodeSetParams")
def memcpy_node_set_params(node: Any, params: Any) -> None:
    change(node_of(node, "hNode"), _MEMCPY, _copy(params))


@driver.export("cuGraphExecMemcpyNodeSetParams")
def exec_memcpy_node_set_params(executable: Any, node: Any, params: Any, owner: Any) -> None:
    _context(owner, "ctx")
    change(in_executable(executable, node), _MEMCPY, _copy(params))


@driver.export("cuGraphAddMemsetNode")
def add_memset_node(
    target: Any, graph: Any, after: Any, count: int, params: Any, owner: Any
) -> None:
    _context(owner, "ctx")
    add(target, graph, after, count, _MEMSET, parameters.filling(params))


@driver.export("cuGraphExecMemsetNodeSetParams")
def exec_memset_node_set_params(executable: Any, node: Any, params: Any, owner: Any) -> None:
    _context(owner, "ctx")
    change(in_executable(executable, node), _MEMSET, parameters.filling(params))


@driver.export("cuGraphAddMemFreeNode")
def add_mem_free_node(target: Any, graph: Any, after: Any, count: int, address: int) -> None:
    add(target, graph, after, count, _FREE, parameters.release(pointer(address)))


# --- any kind ------------------------------------------------------------------------------------


def _changing(params: Any) -> Make | None:
    """What a CUgraphNodeParams says of a kind that can be changed."""
    kind = params.type
    if kind == _KERNEL:
        return _kernel(ffi.addressof(params[0], "kernel"))
    if kind == _MEMCPY:
        _context(params.memcpy.copyCtx, "nodeParams->memcpy.copyCtx")
        return _copy(ffi.addressof(params.memcpy, "copyParams"))
    if kind == NodeType.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return operations(ffi.addressof(params[0], "memOp"))
    return graph_nodes.same_parameters(params)


def _made(graph: Graph, params: Any) -> Make:
    return _changing(params) or graph_nodes.once_parameters(graph, params)


@driver.export("cuGraphAddNode")
def add_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    null(phGraphNode=target, nodeParams=params)
    found = graph_of(graph, "hGraph")
    add(target, graph, after, count, params.type, _made(found, params))


@driver.export("cuGraphAddNode_v2")
def add_node_v2(target: Any, graph: Any, after: Any, data: Any, count: int, params: Any) -> None:
    null(phGraphNode=target, nodeParams=params)
    nodes_of(graph_of(graph, "hGraph"), after, count, "dependencies")
    full_edges(data, count)
    add_node(target, graph, after, count, params)


def _other(params: Any) -> Make:
    null(nodeParams=params)
    make = _changing(params)
    if make is None:
        raise graph_changes.fixed(params.type)
    return make


@driver.export("cuGraphNodeSetParams")
def node_set_params(node: Any, params: Any) -> None:
    make = _other(params)
    change(node_of(node, "hNode"), params.type, make)


@driver.export("cuGraphExecNodeSetParams")
def exec_node_set_params(executable: Any, node: Any, params: Any) -> None:
    make = _other(params)
    change(in_executable(executable, node), params.type, make)


@driver.export("cuGraphConditionalHandleCreate")
def conditional_handle_create(
    target: Any, graph: Any, owner: Any, default: int, flags: int
) -> None:
    null(pHandle_out=target)
    _context(owner, "ctx")
    made = ffi.new("cudaGraphConditionalHandle *")
    graph_nodes.conditional_handle_create(made, graph, default, flags)
    target[0] = made[0]
