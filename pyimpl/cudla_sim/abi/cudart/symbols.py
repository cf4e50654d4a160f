"""Variables of device code by what stands for them in the program.

CUDA Runtime API, "Memory Management", ``cudaMemcpyToSymbol`` and its like.
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaError, cudaMemcpyKind
from ...cudart import context
from ...cudart.errors import CudaError, invalid_value
from ..embedding import address, pointer
from . import transfer
from .family import cudart, null

_INTO = (
    cudaMemcpyKind.cudaMemcpyHostToDevice,
    cudaMemcpyKind.cudaMemcpyDeviceToDevice,
    cudaMemcpyKind.cudaMemcpyDefault,
)
_OUT_OF = (
    cudaMemcpyKind.cudaMemcpyDeviceToHost,
    cudaMemcpyKind.cudaMemcpyDeviceToDevice,
    cudaMemcpyKind.cudaMemcpyDefault,
)


def place(symbol: Any) -> tuple[int, int]:
    """Address and bytes of a variable. Raises CudaError (InvalidSymbol)."""
    where = address(symbol)
    known = context.current().memory.allocation(where)
    if known is not None and known.region.base == where:
        return where, known.region.size
    raise CudaError(
        cudaError.cudaErrorInvalidSymbol,
        f"symbol ({address(symbol):#x}) is not a __device__ or __constant__ variable "
        "of this program",
    )


def part(symbol: Any, count: int, offset: int, kind: int, allowed: tuple[int, ...]) -> Any:
    """Where a copy of *count* bytes begins. Raises CudaError (InvalidSymbol, InvalidValue,
    InvalidMemcpyDirection)."""
    found, size = place(symbol)
    if kind not in allowed:
        raise CudaError(
            cudaError.cudaErrorInvalidMemcpyDirection,
            f"kind is {kind}; with a symbol it is one of {', '.join(str(int(k)) for k in allowed)}",
        )
    if offset + count > size:
        raise invalid_value(f"offset {offset} and count {count}: the variable has {size} bytes")
    return pointer(found + offset)


@cudart.export("cudaMemcpyToSymbol")
def to_symbol(symbol: Any, source: Any, count: int, offset: int, kind: int) -> None:
    transfer.memcpy(part(symbol, count, offset, kind, _INTO), source, count, kind)


@cudart.export("cudaMemcpyFromSymbol")
def from_symbol(target: Any, symbol: Any, count: int, offset: int, kind: int) -> None:
    transfer.memcpy(target, part(symbol, count, offset, kind, _OUT_OF), count, kind)


@cudart.export("cudaMemcpyToSymbolAsync")
def to_symbol_async(
    symbol: Any, source: Any, count: int, offset: int, kind: int, stream: Any
) -> None:
    transfer.memcpy_async(part(symbol, count, offset, kind, _INTO), source, count, kind, stream)


@cudart.export("cudaMemcpyFromSymbolAsync")
def from_symbol_async(
    target: Any, symbol: Any, count: int, offset: int, kind: int, stream: Any
) -> None:
    transfer.memcpy_async(target, part(symbol, count, offset, kind, _OUT_OF), count, kind, stream)


@cudart.export("cudaGetSymbolAddress")
def get_symbol_address(target: Any, symbol: Any) -> None:
    null(devPtr=target)
    target[0] = pointer(place(symbol)[0])


@cudart.export("cudaGetSymbolSize")
def get_symbol_size(size: Any, symbol: Any) -> None:
    null(size=size)
    size[0] = place(symbol)[1]
