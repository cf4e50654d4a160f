"""Streams that wait for values in memory and write them, and nodes of graphs that do."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUgraphNodeType_enum, CUstreamBatchMemOpType_enum
from ...constants.cudart import cudaError_enum as Result
from ...core.queue import Work
from ...cudart import context, memory_operations
from ...cudart.errors import CudaError
from ...cudart.graph import Node
from ..embedding import ffi
from . import graph_parameters as parameters
from .driver import driver, null, require_current
from .graph_handles import node_of
from .graph_parameters import Make
from .streams import resolve

_Type = CUstreamBatchMemOpType_enum
_NODE = CUgraphNodeType_enum.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
_MOST = 255


def _invalid(text: str) -> CudaError:
    return CudaError(Result.CUDA_ERROR_INVALID_VALUE, text)


def _wait(address: int, value: int, size: int, flags: int) -> Work:
    current = context.current()

    def ruined() -> object:
        return current.sticky

    return memory_operations.waiting(current.memory, address, value, size, flags, ruined)


def _write(address: int, value: int, size: int, flags: int) -> Work:
    if flags & ~1:
        raise _invalid(f"flags is {flags:#x}; CU_STREAM_WRITE_VALUE_... has 0 and 1")
    return memory_operations.writing(context.current().memory, address, value, size)


def _nothing() -> None:
    """Work before it is visible to work behind it, as always here."""


def _operation(params: Any) -> Work:
    """Raises CudaError (INVALID_VALUE, NOT_SUPPORTED)."""
    kind, wait, write = params.operation, params.waitValue, params.writeValue
    if kind == _Type.CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return _wait(wait.address, wait.value, 4, wait.flags)
    if kind == _Type.CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return _wait(wait.address, wait.value64, 8, wait.flags)
    if kind == _Type.CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return _write(write.address, write.value, 4, write.flags)
    if kind == _Type.CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return _write(write.address, write.value64, 8, write.flags)
    if kind == _Type.CU_STREAM_MEM_OP_BARRIER:
        if params.memoryBarrier.flags & ~1:
            raise _invalid(
                f"memoryBarrier.flags is {params.memoryBarrier.flags:#x}; "
                "CU_STREAM_MEMORY_BARRIER_TYPE_SYS 0 or GPU 1"
            )
        return _nothing
    if kind == _Type.CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        raise CudaError(
            Result.CUDA_ERROR_NOT_SUPPORTED,
            "not supported: CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, as "
            "CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES says",
        )
    raise _invalid(f"operation is {kind}; CUstreamBatchMemOpType has 1 to 6")


def _batch(array: Any, count: int, flags: int) -> tuple[Work, Any]:
    """All of them, one after the other, and a copy of the list. Raises CudaError."""
    if flags:
        raise _invalid(f"flags is {flags:#x}; it is 0")
    if count > _MOST:
        raise _invalid(f"count is {count}; at most {_MOST}")
    null(paramArray=array)
    works = [_operation(array[index]) for index in range(count)]
    kept = ffi.new("CUstreamBatchMemOpParams[]", count or 1)
    ffi.memmove(kept, array, count * ffi.sizeof("CUstreamBatchMemOpParams"))

    def work() -> None:
        for each in works:
            each()

    return work, kept


def _put(stream: Any, array: Any, count: int) -> None:
    require_current()
    target = resolve(stream)
    work, kept = _batch(array, count, 0)
    target.enqueue(work, label="memory operations", kind=_NODE, given=(kept, count))


def _single(stream: Any, kind: int, member: str, address: int, value: int, flags: int) -> None:
    made = ffi.new("CUstreamBatchMemOpParams *")
    inner = getattr(made, member)
    inner.operation, inner.address, inner.value64, inner.flags = kind, address, value, flags
    _put(stream, made, 1)


@driver.export("cuStreamWaitValue32_v2")
def stream_wait_value_32(stream: Any, address: int, value: int, flags: int) -> None:
    kind = _Type.CU_STREAM_MEM_OP_WAIT_VALUE_32
    _single(stream, kind, "waitValue", address, value, flags)


@driver.export("cuStreamWaitValue64_v2")
def stream_wait_value_64(stream: Any, address: int, value: int, flags: int) -> None:
    kind = _Type.CU_STREAM_MEM_OP_WAIT_VALUE_64
    _single(stream, kind, "waitValue", address, value, flags)


@driver.export("cuStreamWriteValue32_v2")
def stream_write_value_32(stream: Any, address: int, value: int, flags: int) -> None:
    kind = _Type.CU_STREAM_MEM_OP_WRITE_VALUE_32
    _single(stream, kind, "writeValue", address, value, flags)


@driver.export("cuStreamWriteValue64_v2")
def stream_write_value_64(stream: Any, address: int, value: int, flags: int) -> None:
    kind = _Type.CU_STREAM_MEM_OP_WRITE_VALUE_64
    _single(stream, kind, "writeValue", address, value, flags)


@driver.export("cuStreamBatchMemOp_v2")
def stream_batch_mem_op(stream: Any, count: int, array: Any, flags: int) -> None:
    null(paramArray=array)
    if flags:
        raise _invalid(f"flags is {flags:#x}; it is 0")
    _put(stream, array, count)


# --- nodes ---------------------------------------------------------------------------------------


def operations(params: Any) -> Make:
    """A CUDA_BATCH_MEM_OP_NODE_PARAMS."""

    def fill(node: Node) -> None:
        null(nodeParams=params)
        node.work, kept = _batch(params.paramArray, params.count, params.flags)
        node.given = kept, params.count

    return fill


@driver.export("cuGraphAddBatchMemOpNode")
def add_batch_mem_op_node(target: Any, graph: Any, after: Any, count: int, params: Any) -> None:
    parameters.add(target, graph, after, count, _NODE, operations(params))


@driver.export("cuGraphBatchMemOpNodeGetParams")
def batch_mem_op_node_get_params(node: Any, params: Any) -> None:
    null(nodeParams_out=params)
    found = node_of(node, "hNode")
    parameters.require(found, _NODE)
    params.paramArray, params.count = found.given
    params.ctx, params.flags = ffi.NULL, 0


@driver.export("cuGraphBatchMemOpNodeSetParams")
def batch_mem_op_node_set_params(node: Any, params: Any) -> None:
    parameters.change(node_of(node, "hNode"), _NODE, operations(params))


@driver.export("cuGraphExecBatchMemOpNodeSetParams")
def exec_batch_mem_op_node_set_params(executable: Any, node: Any, params: Any) -> None:
    parameters.change(parameters.in_executable(executable, node), _NODE, operations(params))
