"""Driver functions about memory that no runtime function equals: pitch, ranges, fills."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaError_enum as Result
from ...cudart import context
from ...cudart import transfer as model
from ...cudart.errors import CudaError
from ...cudart.transfer import Shape
from ..embedding import address, ffi
from . import memory, transfer
from .driver import driver, null, require_current
from .family import number

_ELEMENTS = (4, 8, 16)


def _invalid(text: str) -> CudaError:
    return CudaError(Result.CUDA_ERROR_INVALID_VALUE, text)


@driver.export("cuMemAllocPitch_v2")
def mem_alloc_pitch(target: Any, pitch: Any, width: int, height: int, element: int) -> None:
    null(dptr=target, pPitch=pitch)
    require_current()
    if element not in _ELEMENTS:
        raise _invalid(f"ElementSizeBytes is {element}; valid values: 4, 8, 16")
    if not width or not height:
        raise _invalid(f"WidthInBytes x Height is {width} x {height}; both must be at least 1")
    made = ffi.new("void **")
    memory.malloc_pitch(made, pitch, width, height)
    target[0] = address(made[0])


@driver.export("cuMemGetAddressRange_v2")
def mem_get_address_range(base: Any, size: Any, where: int) -> None:
    require_current()
    found = context.current().memory.allocation(where)
    if found is None:
        raise CudaError(Result.CUDA_ERROR_NOT_FOUND, f"dptr ({where:#x}) was not allocated by CUDA")
    if base:
        base[0] = found.region.base
    if size:
        size[0] = found.region.size


def _fill(
    size: int, to: int, value: int, width: int, stream: Any, pitch: int = 0, height: int = 1
) -> None:
    """Fills with elements of ``size`` bytes; at once where ``stream`` is None."""
    require_current()
    current = context.current()
    target = current.streams.legacy if stream is None else current.streams.resolve(number(stream))
    if not width or not height:
        return
    row = width * size
    step = pitch if height > 1 else row
    if step < row:
        raise _invalid(f"dstPitch is {pitch}; a row has {row} bytes")
    if to % size or step % size:
        raise _invalid(f"dstDevice {to:#x}, dstPitch {step}: must be multiples of {size}")
    place = model.check(current.memory, to, Shape(row, height, step), "device", "dstDevice")
    transfer.put(model.fill_elements(place, value, size), row * height, target, stream is None)


@driver.export("cuMemsetD16_v2")
def memset_d16(to: int, value: int, count: int) -> None:
    _fill(2, to, value, count, None)


@driver.export("cuMemsetD32_v2")
def memset_d32(to: int, value: int, count: int) -> None:
    _fill(4, to, value, count, None)


@driver.export("cuMemsetD16Async")
def memset_d16_async(to: int, value: int, count: int, stream: Any) -> None:
    _fill(2, to, value, count, stream)


@driver.export("cuMemsetD32Async")
def memset_d32_async(to: int, value: int, count: int, stream: Any) -> None:
    _fill(4, to, value, count, stream)


@driver.export("cuMemsetD2D8_v2")
def memset_d2d8(to: int, pitch: int, value: int, width: int, height: int) -> None:
    _fill(1, to, value, width, None, pitch, height)


@driver.export("cuMemsetD2D16_v2")
def memset_d2d16(to: int, pitch: int, value: int, width: int, height: int) -> None:
    _fill(2, to, value, width, None, pitch, height)


@driver.export("cuMemsetD2D32_v2")
def memset_d2d32(to: int, pitch: int, value: int, width: int, height: int) -> None:
    _fill(4, to, value, width, None, pitch, height)


@driver.export("cuMemsetD2D8Async")
def memset_d2d8_async(
    to: int, pitch: int, value: int, width: int, height: int, stream: Any
) -> None:
    _fill(1, to, value, width, stream, pitch, height)


@driver.export("cuMemsetD2D16Async")
def memset_d2d16_async(
    to: int, pitch: int, value: int, width: int, height: int, stream: Any
) -> None:
    _fill(2, to, value, width, stream, pitch, height)


@driver.export("cuMemsetD2D32Async")
def memset_d2d32_async(
    to: int, pitch: int, value: int, width: int, height: int, stream: Any
) -> None:
    _fill(4, to, value, width, stream, pitch, height)
