"""What programs are told of the parameters of nodes, made by hand or captured."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaGraphNodeType as NodeType
from ...constants.cudart import cudaMemAllocationType, cudaMemLocationType
from ...cudart.errors import not_supported
from ...cudart.graph import Filling, HostCall, Node
from ...cudart.transfer import Copy
from ..embedding import ffi, lib, pointer
from . import driver_copies
from .graph_handles import graph_handle
from .graph_parameters import require
from .launches import Item


def kernel(node: Node) -> Any:
    """A struct cudaKernelNodeParams. Raises CudaError (InvalidValue, NotSupported)."""
    require(node, NodeType.cudaGraphNodeTypeKernel)
    params, cooperative = ffi.new("struct cudaKernelNodeParams *"), ffi.new("int *")
    known = isinstance(node.given, Item) and lib.sim_cuda_described(
        node.given.launches, params, cooperative
    )
    if not known or not params.func:
        raise not_supported("asking for a captured launch of a template, which has no address")
    return params


def cooperative(node: Node) -> bool:
    """Whether the blocks of a kernel wait for each other."""
    params, answer = ffi.new("struct cudaKernelNodeParams *"), ffi.new("int *")
    if isinstance(node.given, Item):
        lib.sim_cuda_described(node.given.launches, params, answer)
    return bool(answer[0])


def copy(node: Node) -> Any:
    """A struct cudaMemcpy3DParms."""
    require(node, NodeType.cudaGraphNodeTypeMemcpy)
    given = node.given
    if isinstance(given, Copy):
        return _captured(given)
    if ffi.typeof(given) is ffi.typeof("CUDA_MEMCPY3D *"):
        return driver_copies.to_runtime(given)
    return given


def _captured(given: Copy) -> Any:
    made = ffi.new("struct cudaMemcpy3DParms *")
    width, height, _ = given.dst.shape
    for side, end in ((made.dstPtr, given.dst), (made.srcPtr, given.src)):
        side.ptr, side.pitch = pointer(end.address), end.shape.pitch
        side.xsize, side.ysize = width, height
    made.extent.width, made.extent.height, made.extent.depth = width, height, 1
    made.kind = given.kind
    return made


def copy_by_driver(node: Node) -> Any:
    """A CUDA_MEMCPY3D."""
    require(node, NodeType.cudaGraphNodeTypeMemcpy)
    if not isinstance(node.given, Copy) and ffi.typeof(node.given) is ffi.typeof("CUDA_MEMCPY3D *"):
        return node.given
    return driver_copies.from_runtime(copy(node))


def filling(node: Node, target: Any) -> None:
    """Into a struct cudaMemsetParams, or the driver's."""
    require(node, NodeType.cudaGraphNodeTypeMemset)
    found: Filling = node.given
    same = ffi.cast("struct cudaMemsetParams *", target)
    same.dst, same.pitch, same.value = pointer(found.address), found.pitch, found.value
    same.elementSize, same.width, same.height = found.element, found.width, found.height


def host(node: Node, target: Any) -> None:
    """Into a struct cudaHostNodeParams, or the driver's."""
    require(node, NodeType.cudaGraphNodeTypeHost)
    found: HostCall = node.given
    same = ffi.cast("struct cudaHostNodeParams *", target)
    same.fn = ffi.cast("cudaHostFn_t", found.function)
    same.userData = pointer(found.user_data)


def body(node: Node) -> Any:
    """The graph of a child."""
    require(node, NodeType.cudaGraphNodeTypeGraph)
    return graph_handle(node.bodies[0])


def event(node: Node, kind: int) -> Any:
    require(node, kind)
    return pointer(node.given.handle)


def allocation(node: Node, target: Any) -> None:
    """Into a struct cudaMemAllocNodeParams, or the driver's."""
    require(node, NodeType.cudaGraphNodeTypeMemAlloc)
    same = ffi.cast("struct cudaMemAllocNodeParams *", target)
    if node.given is not None:
        same[0] = node.given[0]
        return
    assert node.memory is not None
    ffi.memmove(same, bytes(ffi.sizeof(same[0])), ffi.sizeof(same[0]))  # captured
    same.poolProps.allocType = cudaMemAllocationType.cudaMemAllocationTypePinned
    same.poolProps.location.type = cudaMemLocationType.cudaMemLocationTypeDevice
    same.bytesize, same.dptr = node.memory.size, pointer(node.memory.base)


def freed(node: Node) -> int:
    """The address that a node frees."""
    require(node, NodeType.cudaGraphNodeTypeMemFree)
    assert node.memory is not None
    return node.memory.base
