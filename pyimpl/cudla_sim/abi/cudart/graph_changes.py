"""What nodes were given, and changes of it, by the runtime's functions."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaError
from ...constants.cudart import cudaGraphNodeType as NodeType
from ...cudart.errors import CudaError, invalid_value, not_supported
from ...cudart.graph import Node, difference, kind_name
from ..embedding import ffi, pointer
from . import graph_answers as answers
from . import graph_parameters as parameters
from .family import cudart, null
from .graph_handles import graph_of, node_of
from .graph_nodes import changing
from .graph_parameters import Make, change, in_executable

_SWITCHED = (
    NodeType.cudaGraphNodeTypeKernel,
    NodeType.cudaGraphNodeTypeMemcpy,
    NodeType.cudaGraphNodeTypeMemset,
)
"""Kinds that can be left out of launches."""
_KERNEL, _MEMCPY, _MEMSET = _SWITCHED
_HOST, _GRAPH = NodeType.cudaGraphNodeTypeHost, NodeType.cudaGraphNodeTypeGraph
_RECORD, _WAIT = NodeType.cudaGraphNodeTypeEventRecord, NodeType.cudaGraphNodeTypeWaitEvent


# --- in a graph ----------------------------------------------------------------------------------


@cudart.export("cudaGraphKernelNodeGetParams")
def kernel_node_get_params(node: Any, params: Any) -> None:
    null(pNodeParams=params)
    params[0] = answers.kernel(node_of(node))[0]


@cudart.export("cudaGraphKernelNodeSetParams")
def kernel_node_set_params(node: Any, params: Any) -> None:
    change(node_of(node), _KERNEL, parameters.kernel(params))


@cudart.export("cudaGraphMemcpyNodeGetParams")
def memcpy_node_get_params(node: Any, params: Any) -> None:
    null(pNodeParams=params)
    params[0] = answers.copy(node_of(node))[0]


@cudart.export("cudaGraphMemcpyNodeSetParams")
def memcpy_node_set_params(node: Any, params: Any) -> None:
    change(node_of(node), _MEMCPY, parameters.copy(params))


@cudart.export("cudaGraphMemcpyNodeSetParams1D")
def memcpy_node_set_params_1d(node: Any, dst: Any, src: Any, size: int, kind: int) -> None:
    change(node_of(node), _MEMCPY, parameters.copy_1d(dst, src, size, kind))


@cudart.export("cudaGraphMemsetNodeGetParams")
def memset_node_get_params(node: Any, params: Any) -> None:
    null(pNodeParams=params)
    answers.filling(node_of(node), params)


@cudart.export("cudaGraphMemsetNodeSetParams")
def memset_node_set_params(node: Any, params: Any) -> None:
    change(node_of(node), _MEMSET, parameters.filling(params))


@cudart.export("cudaGraphHostNodeGetParams")
def host_node_get_params(node: Any, params: Any) -> None:
    null(pNodeParams=params)
    answers.host(node_of(node), params)


@cudart.export("cudaGraphHostNodeSetParams")
def host_node_set_params(node: Any, params: Any) -> None:
    change(node_of(node), _HOST, parameters.host(params))


@cudart.export("cudaGraphChildGraphNodeGetGraph")
def child_graph_node_get_graph(node: Any, graph: Any) -> None:
    null(pGraph=graph)
    graph[0] = answers.body(node_of(node))


@cudart.export("cudaGraphEventRecordNodeGetEvent")
def event_record_node_get_event(node: Any, event: Any) -> None:
    null(event_out=event)
    event[0] = answers.event(node_of(node), _RECORD)


@cudart.export("cudaGraphEventRecordNodeSetEvent")
def event_record_node_set_event(node: Any, event: Any) -> None:
    change(node_of(node), _RECORD, parameters.record(event))


@cudart.export("cudaGraphEventWaitNodeGetEvent")
def event_wait_node_get_event(node: Any, event: Any) -> None:
    null(event_out=event)
    event[0] = answers.event(node_of(node), _WAIT)


@cudart.export("cudaGraphEventWaitNodeSetEvent")
def event_wait_node_set_event(node: Any, event: Any) -> None:
    change(node_of(node), _WAIT, parameters.wait(event))


@cudart.export("cudaGraphMemAllocNodeGetParams")
def mem_alloc_node_get_params(node: Any, params: Any) -> None:
    null(params_out=params)
    answers.allocation(node_of(node), params)


@cudart.export("cudaGraphMemFreeNodeGetParams")
def mem_free_node_get_params(node: Any, address: Any) -> None:
    null(dptr_out=address)
    ffi.cast("void **", address)[0] = pointer(answers.freed(node_of(node)))


def fixed(kind: int) -> CudaError:
    """Of a node whose parameters stay."""
    if kind not in NodeType._value2member_map_:
        return invalid_value(
            f"nodeParams->type is {kind}; cudaGraphNodeType has 0 to {max(NodeType)}"
        )
    return not_supported(f"changing a {NodeType(kind).name}, which is given its parameters once")


def _made(params: Any) -> Make:
    null(nodeParams=params)
    make = changing(params)
    if make is None:
        raise fixed(params.type)
    return make


@cudart.export("cudaGraphNodeSetParams")
def node_set_params(node: Any, params: Any) -> None:
    make = _made(params)
    change(node_of(node), params.type, make)


# --- in an executable ----------------------------------------------------------------------------


def change_in(executable: Any, node: Any, kind: int, make: Make) -> None:
    change(in_executable(executable, node), kind, make)


@cudart.export("cudaGraphExecKernelNodeSetParams")
def exec_kernel_node_set_params(executable: Any, node: Any, params: Any) -> None:
    change_in(executable, node, _KERNEL, parameters.kernel(params))


@cudart.export("cudaGraphExecMemcpyNodeSetParams")
def exec_memcpy_node_set_params(executable: Any, node: Any, params: Any) -> None:
    change_in(executable, node, _MEMCPY, parameters.copy(params))


@cudart.export("cudaGraphExecMemcpyNodeSetParams1D")
def exec_memcpy_node_set_params_1d(
    executable: Any, node: Any, dst: Any, src: Any, size: int, kind: int
) -> None:
    change_in(executable, node, _MEMCPY, parameters.copy_1d(dst, src, size, kind))


@cudart.export("cudaGraphExecMemsetNodeSetParams")
def exec_memset_node_set_params(executable: Any, node: Any, params: Any) -> None:
    change_in(executable, node, _MEMSET, parameters.filling(params))


@cudart.export("cudaGraphExecHostNodeSetParams")
def exec_host_node_set_params(executable: Any, node: Any, params: Any) -> None:
    change_in(executable, node, _HOST, parameters.host(params))


@cudart.export("cudaGraphExecChildGraphNodeSetParams")
def exec_child_graph_node_set_params(executable: Any, node: Any, child: Any) -> None:
    mine = in_executable(executable, node)
    parameters.require(mine, _GRAPH)
    wanted = graph_of(child, "childGraph").executable()
    differs = difference(mine.bodies[0], wanted)
    if differs is not None:
        raise CudaError(
            cudaError.cudaErrorInvalidValue,
            f"childGraph is of another shape than the node's: {differs.text}",
        )
    mine.bodies[0].update(wanted)


@cudart.export("cudaGraphExecEventRecordNodeSetEvent")
def exec_event_record_node_set_event(executable: Any, node: Any, event: Any) -> None:
    change_in(executable, node, _RECORD, parameters.record(event))


@cudart.export("cudaGraphExecEventWaitNodeSetEvent")
def exec_event_wait_node_set_event(executable: Any, node: Any, event: Any) -> None:
    change_in(executable, node, _WAIT, parameters.wait(event))


@cudart.export("cudaGraphExecNodeSetParams")
def exec_node_set_params(executable: Any, node: Any, params: Any) -> None:
    make = _made(params)
    change(in_executable(executable, node, "graphExec"), params.type, make)


def _switched(executable: Any, node: Any) -> Node:
    found = in_executable(executable, node)
    if found.kind not in _SWITCHED:
        raise invalid_value(
            f"hNode is a {kind_name(found.kind)}; kernels, copies and fills can be left out"
        )
    return found


@cudart.export("cudaGraphNodeSetEnabled")
def node_set_enabled(executable: Any, node: Any, enabled: int) -> None:
    _switched(executable, node).enabled = bool(enabled)


@cudart.export("cudaGraphNodeGetEnabled")
def node_get_enabled(executable: Any, node: Any, enabled: Any) -> None:
    null(isEnabled=enabled)
    enabled[0] = int(_switched(executable, node).enabled)
