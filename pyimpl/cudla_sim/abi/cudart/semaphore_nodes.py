"""Nodes that signal semaphores of other interfaces and wait for them, at each launch."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...constants.cudart import cudaGraphNodeType as NodeType
from ...cudart.graph import Node
from ..embedding import ffi
from . import external
from .family import cudart, null
from .graph_handles import node_of
from .graph_parameters import Make, add, change, in_executable, require

_SIGNAL = NodeType.cudaGraphNodeTypeExtSemaphoreSignal
_WAIT = NodeType.cudaGraphNodeTypeExtSemaphoreWait


class Lists(NamedTuple):
    """The node's own copies of what it was given."""

    semaphores: Any
    params: Any
    number: int


def _lists(params: Any, kind: str) -> Lists:
    """Raises CudaError for semaphores that are not alive."""
    null(nodeParams=params)
    count = params.numExtSems
    given = ffi.cast(f"{kind} *", params.paramsArray)
    external.semaphores(params.extSemArray, given, count)
    handles = ffi.new("cudaExternalSemaphore_t[]", count or 1)
    own = ffi.new(f"{kind}[]", count or 1)
    if count:
        ffi.memmove(handles, params.extSemArray, ffi.sizeof("cudaExternalSemaphore_t") * count)
        ffi.memmove(own, given, ffi.sizeof(kind) * count)
    return Lists(handles, own, count)


def signal(params: Any) -> Make:
    """A struct cudaExternalSemaphoreSignalNodeParams, or one that is laid out as it."""

    def fill(node: Node) -> None:
        lists = _lists(params, "struct cudaExternalSemaphoreSignalParams")
        node.given = lists
        node.marks = lambda stream: external.signal_in(*lists, stream)

    return fill


def wait(params: Any) -> Make:
    """A struct cudaExternalSemaphoreWaitNodeParams, or one that is laid out as it."""

    def fill(node: Node) -> None:
        lists = _lists(params, "struct cudaExternalSemaphoreWaitParams")
        node.given = lists
        node.marks = lambda stream: external.wait_in(*lists, stream)

    return fill


def _tell(node: Any, kind: int, target: Any) -> None:
    null(params_out=target)
    found = node_of(node, "hNode")
    require(found, kind)
    lists: Lists = found.given  # of the runtime's types; the driver's have other names
    target.extSemArray = ffi.cast(ffi.typeof(target.extSemArray), lists.semaphores)
    target.paramsArray = ffi.cast(ffi.typeof(target.paramsArray), lists.params)
    target.numExtSems = lists.number


@cudart.export("cudaGraphAddExternalSemaphoresSignalNode")
def add_signal_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    add(target, graph, after, count, _SIGNAL, signal(params))


@cudart.export("cudaGraphExternalSemaphoresSignalNodeGetParams")
def signal_node_get_params(node: Any, params: Any) -> None:
    _tell(node, _SIGNAL, params)


@cudart.export("cudaGraphExternalSemaphoresSignalNodeSetParams")
def signal_node_set_params(node: Any, params: Any) -> None:
    change(node_of(node, "hNode"), _SIGNAL, signal(params))


@cudart.export("cudaGraphExecExternalSemaphoresSignalNodeSetParams")
def exec_signal_node_set_params(executable: Any, node: Any, params: Any) -> None:
    change(in_executable(executable, node), _SIGNAL, signal(params))


@cudart.export("cudaGraphAddExternalSemaphoresWaitNode")
def add_wait_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    add(target, graph, after, count, _WAIT, wait(params))


@cudart.export("cudaGraphExternalSemaphoresWaitNodeGetParams")
def wait_node_get_params(node: Any, params: Any) -> None:
    _tell(node, _WAIT, params)


@cudart.export("cudaGraphExternalSemaphoresWaitNodeSetParams")
def wait_node_set_params(node: Any, params: Any) -> None:
    change(node_of(node, "hNode"), _WAIT, wait(params))


@cudart.export("cudaGraphExecExternalSemaphoresWaitNodeSetParams")
def exec_wait_node_set_params(executable: Any, node: Any, params: Any) -> None:
    change(in_executable(executable, node), _WAIT, wait(params))
