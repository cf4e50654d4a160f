"""How many blocks of a kernel a multiprocessor holds: one, of any kernel that fits at all.

A cooperative launch gives each block a system thread, and programs launch as many as these say.
CUDA Driver API, "Occupancy".
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUfunction_attribute_enum as Function
from ...constants.cudart import cudaDeviceAttr as Attribute
from ...constants.cudart import cudaError_enum as Result
from ...cudart import context
from ...cudart.errors import CudaError
from ..embedding import address
from .device import get_device
from .driver import driver, null
from .modules import check_kernel, function_attribute
from .promised import executable

_MOST_SHARED = Function.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_FLAGS = 1  # CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE


def _limit(attribute: Attribute) -> int:
    return int(get_device(0).attribute(attribute))


def _fits(threads: int, shared: int) -> bool:
    if threads < 1:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE, f"blockSize is {threads}; a block has threads"
        )
    return threads <= _limit(Attribute.cudaDevAttrMaxThreadsPerBlock) and shared <= _limit(
        Attribute.cudaDevAttrMaxSharedMemoryPerBlockOptin
    )


def _flags(flags: int) -> None:
    if flags & ~_FLAGS:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE, f"flags is {flags:#x}; 0 and 1 are occupancy flags"
        )


@driver.export("cuOccupancyMaxActiveBlocksPerMultiprocessor")
def active_blocks(count: Any, kernel: Any, threads: int, shared: int) -> None:
    null(numBlocks=count)
    check_kernel(kernel)
    count[0] = int(_fits(threads, shared))


@driver.export("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")
def active_blocks_with_flags(
    count: Any, kernel: Any, threads: int, shared: int, flags: int
) -> None:
    _flags(flags)
    active_blocks(count, kernel, threads, shared)


@driver.export("cuOccupancyMaxPotentialBlockSize")
def potential_block_size(
    grid: Any, threads: Any, kernel: Any, shared_of: Any, shared: int, limit: int
) -> None:
    null(minGridSize=grid, blockSize=threads)
    check_kernel(kernel)
    most = _limit(Attribute.cudaDevAttrMaxThreadsPerBlock)
    warp = _limit(Attribute.cudaDevAttrWarpSize)
    size = min(limit, most) if limit > 0 else most
    while size > warp and not _fits(size, _shared(shared_of, size) if shared_of else shared):
        size -= warp
    threads[0] = size
    grid[0] = _limit(Attribute.cudaDevAttrMultiProcessorCount)


def _shared(function: Any, threads: int) -> int:
    """What the program's own function says."""
    context.current()
    return int(function(threads)) if address(function) else 0


@driver.export("cuOccupancyMaxPotentialBlockSizeWithFlags")
def potential_block_size_with_flags(
    grid: Any, threads: Any, kernel: Any, shared_of: Any, shared: int, limit: int, flags: int
) -> None:
    _flags(flags)
    potential_block_size(grid, threads, kernel, shared_of, shared, limit)


@driver.export("cuOccupancyAvailableDynamicSMemPerBlock")
def available_shared(size: Any, kernel: Any, blocks: int, threads: int) -> None:
    null(dynamicSmemSize=size)
    check_kernel(kernel)
    _fits(threads, 0)
    if blocks < 1:
        raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, f"numBlocks is {blocks}; at least 1")
    allowed = function_attribute(executable(kernel), _MOST_SHARED)
    size[0] = min(allowed, _limit(Attribute.cudaDevAttrMaxSharedMemoryPerMultiprocessor) // blocks)
