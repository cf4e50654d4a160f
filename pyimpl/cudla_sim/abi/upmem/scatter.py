"""Scatter/gather transfers."""

from __future__ import annotations

from typing import Any

from ...core.pages import accessible
from ...upmem import scatter
from ...upmem.rank import Selection
from ...upmem.scatter import Blocks
from ...upmem.symbols import Symbol
from ...upmem.transfer import check_direction
from ..embedding import address, ffi
from .family import Status, error, selection, upmem
from .family import symbol as symbol_of
from .transfers import named


def blocks(info: Any) -> Blocks:
    """The get_block function with a copy of its arguments.

    Raises DpuError: DPU_ERR_INVALID_MEMORY_TRANSFER for a NULL function or arguments that are not
    memory, DPU_ERR_INVALID_BUFFER_SIZE for arguments without a size.
    """
    if not info or not info.f:
        what = "get_block_info" if not info else "get_block_info->f"
        raise error(
            Status.DPU_ERR_INVALID_MEMORY_TRANSFER, f"{what} is NULL; a function names the blocks"
        )
    if not info.args:
        return Blocks(address(info.f), 0, None)
    if not info.args_size:
        raise error(
            Status.DPU_ERR_INVALID_BUFFER_SIZE,
            "get_block_info->args_size is 0 although args is given; the arguments are copied, so "
            "their size must be known",
        )
    if not accessible(address(info.args), info.args_size):
        raise error(
            Status.DPU_ERR_INVALID_MEMORY_TRANSFER,
            f"get_block_info->args {address(info.args):#x} is not memory of this process for "
            f"args_size = {info.args_size} bytes",
        )
    copy = ffi.new("uint64_t[]", -(-info.args_size // 8))
    ffi.memmove(copy, info.args, info.args_size)
    return Blocks(address(info.f), address(copy), copy)


def _push(
    chosen: Selection,
    direction: int,
    symbol: Symbol,
    offset: int,
    length: int,
    info: Any,
    flags: int,
) -> None:
    scatter.check_set(chosen)
    scatter.push(chosen, check_direction(direction), symbol, offset, length, blocks(info), flags)


@upmem.export("dpu_push_sg_xfer")
def push_sg_xfer(
    given: Any,
    direction: int,
    symbol_name: Any,
    offset: int,
    length: int,
    info: Any,
    flags: int,
) -> None:
    chosen = selection(given)
    _push(chosen, direction, named(chosen, symbol_name), offset, length, info, flags)


@upmem.export("dpu_push_sg_xfer_symbol")
def push_sg_xfer_symbol(
    given: Any, direction: int, symbol: Any, offset: int, length: int, info: Any, flags: int
) -> None:
    chosen = selection(given)
    _push(chosen, direction, symbol_of(symbol), offset, length, info, flags)
