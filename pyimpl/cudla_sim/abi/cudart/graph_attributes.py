"""Attributes of kernels in graphs: kept, and told again; one changes how the kernel runs."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaGraphNodeType as NodeType
from ...constants.cudart import cudaLaunchAttributeID as Id
from ...cudart.errors import CudaError, invalid_value, not_supported
from ...cudart.graph import Node
from ..embedding import ffi
from . import graph_answers as answers
from . import graph_parameters as parameters
from .family import cudart, null
from .graph_handles import node_of
from .launch_attributes import SIZE, check_window

_KEPT = (
    Id.cudaLaunchAttributeAccessPolicyWindow,
    Id.cudaLaunchAttributeCooperative,
    Id.cudaLaunchAttributeClusterDimension,
    Id.cudaLaunchAttributeClusterSchedulingPolicyPreference,
    Id.cudaLaunchAttributePriority,
    Id.cudaLaunchAttributeMemSyncDomainMap,
    Id.cudaLaunchAttributeMemSyncDomain,
    Id.cudaLaunchAttributePreferredSharedMemoryCarveout,
)


def _kernel(node: Any, argument: str) -> Node:
    found = node_of(node, argument)
    parameters.require(found, NodeType.cudaGraphNodeTypeKernel)
    return found


def _attribute(attribute: int) -> Id:
    if attribute == Id.cudaLaunchAttributeDeviceUpdatableKernelNode:
        raise not_supported("nodes of graphs that kernels change")
    if attribute not in _KEPT:
        names = ", ".join(f"{each.name} {int(each)}" for each in _KEPT)
        raise invalid_value(f"attr is {attribute}; kernels have {names}")
    return Id(attribute)


@cudart.export("cudaGraphKernelNodeGetAttribute")
def kernel_node_get_attribute(node: Any, attribute: int, value: Any) -> None:
    null(value_out=value)
    found, which = _kernel(node, "hNode"), _attribute(attribute)
    made = ffi.new("cudaLaunchAttributeValue *")
    if which == Id.cudaLaunchAttributeCooperative:
        made.cooperative = answers.cooperative(found)
    elif which == Id.cudaLaunchAttributeMemSyncDomainMap:
        made.memSyncDomainMap.remote = 1
    ffi.memmove(value, found.attributes.get(which, bytes(ffi.buffer(made, SIZE))), SIZE)


def _set(node: Node, attributes: dict[int, bytes]) -> None:
    """Another launch of the same kernel where the blocks wait for each other from now on, or no
    longer do. Raises CudaError, and nothing has changed."""
    before = node.attributes
    node.attributes = attributes
    which = Id.cudaLaunchAttributeCooperative
    if attributes.get(which) == before.get(which):
        return
    try:
        parameters.kernel(answers.kernel(node))(node)
    except CudaError:
        node.attributes = before
        raise


@cudart.export("cudaGraphKernelNodeSetAttribute")
def kernel_node_set_attribute(node: Any, attribute: int, value: Any) -> None:
    null(value=value)
    found, which = _kernel(node, "hNode"), _attribute(attribute)
    if which == Id.cudaLaunchAttributeAccessPolicyWindow:
        check_window(value.accessPolicyWindow)
    cluster = value.clusterDim
    if which == Id.cudaLaunchAttributeClusterDimension and cluster.x * cluster.y * cluster.z > 1:
        raise not_supported("clusters of more than one block; compute capability 8.7 has none")
    _set(found, {**found.attributes, which: bytes(ffi.buffer(value, SIZE))})


@cudart.export("cudaGraphKernelNodeCopyAttributes")
def kernel_node_copy_attributes(target: Any, source: Any) -> None:
    given, found = _kernel(source, "hSrc"), _kernel(target, "hDst")
    made = dict(given.attributes)
    if answers.cooperative(given):
        value = ffi.new("cudaLaunchAttributeValue *")
        value.cooperative = 1
        made[Id.cudaLaunchAttributeCooperative] = bytes(ffi.buffer(value, SIZE))
    _set(found, made)
