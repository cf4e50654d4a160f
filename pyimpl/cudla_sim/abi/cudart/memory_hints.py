"""Hints about managed memory, and what a program has said of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from ...constants.cudart import cudaError, cudaMemLocationType, cudaMemoryAdvise
from ...constants.cudart import cudaMemRangeAttribute as Attribute
from ...cudart import context
from ...cudart.errors import CudaError, invalid_handle, invalid_value
from ...cudart.hints import HOST, NOWHERE, PREFERRED, PREFETCHED, READ_MOSTLY, Hints, accessed_by
from ..embedding import ffi
from .family import cudart, null, number, required_flags

_Advice = cudaMemoryAdvise
_Location = cudaMemLocationType
_INT = 4  # bytes


def _hints(ptr: Any, size: int) -> Hints:
    """Of the managed memory of a range. Raises CudaError (InvalidValue)."""
    if size == 0:
        raise invalid_value("count is 0; it is the number of bytes the hint is about")
    return context.current().memory.require_managed(number(ptr), size).hints


def _hint(ptr: Any, size: int, ordinal: int) -> Hints:
    """Raises CudaError (InvalidDevice, InvalidValue)."""
    found = _hints(ptr, size)
    if ordinal == HOST:
        return found
    if ordinal != 0 or not context.current().device.properties.get("concurrentManagedAccess"):
        raise CudaError(
            cudaError.cudaErrorInvalidDevice,
            f"device {ordinal} does not have cudaDevAttrConcurrentManagedAccess",
        )
    return found


def _ordinal(location: Any) -> int:
    """The device, or the host, of a cudaMemLocation. Raises CudaError (InvalidValue)."""
    if location.type == _Location.cudaMemLocationTypeDevice:
        return int(location.id)
    if location.type in _Location._value2member_map_ and location.type:
        return HOST
    raise invalid_value(f"location.type is {location.type}; cudaMemLocationType has 1 to 4")


@cudart.export("cudaMemPrefetchAsync")
def mem_prefetch_async(ptr: Any, size: int, ordinal: int, stream: Any) -> None:
    found = _hint(ptr, size, ordinal)
    context.stream_of(number(stream)).enqueue()
    found.set(number(ptr), number(ptr) + size, PREFETCHED, ordinal)


@cudart.export("cudaMemPrefetchAsync_v2")
def mem_prefetch_async_v2(ptr: Any, size: int, location: Any, flags: int, stream: Any) -> None:
    _hints(ptr, size)
    required_flags(flags, 0, "it is 0")
    mem_prefetch_async(ptr, size, _ordinal(location), stream)


# --- several ranges ------------------------------------------------------------------------------


def _ranges(
    pointers: Any, sizes: Any, count: int, flags: int, stream: Any
) -> list[tuple[Any, int]]:
    """Raises CudaError (InvalidValue, InvalidResourceHandle) before anything is done."""
    null(dptrs=pointers, sizes=sizes)
    if count == 0:
        raise invalid_value("count is 0; it is the number of ranges")
    required_flags(flags, 0, "it is 0")
    if context.stream_of(number(stream)) is context.current().streams.legacy:
        raise invalid_handle("stream is the legacy stream; batches take another one")
    found = [(pointers[index], int(sizes[index])) for index in range(count)]
    for ptr, size in found:
        _hint(ptr, size, 0)
    return found


def _goals(locations: Any, places: Any, known: int, count: int) -> list[Any]:
    """Where each range goes: a location counts from its first range on."""
    null(prefetchLocs=locations, prefetchLocIdxs=places)
    if not 0 < known <= count:
        raise invalid_value(f"numPrefetchLocs is {known}; 1 to count, which is {count}")
    starts = [int(places[index]) for index in range(known)]
    if starts[0] or any(a >= b for a, b in pairwise(starts)) or starts[-1] >= count:
        raise invalid_value("prefetchLocIdxs begins with 0, grows, and is less than count")
    ends = [*starts[1:], count]
    found: list[Any] = []
    for index, (begin, end) in enumerate(zip(starts, ends, strict=True)):
        _ordinal(locations[index])
        found += [locations[index]] * (end - begin)
    return found


# What is discarded keeps its bytes.
@cudart.export("cudaMemDiscardAndPrefetchBatchAsync")
@cudart.export("cudaMemPrefetchBatchAsync")
def mem_prefetch_batch_async(
    pointers: Any,
    sizes: Any,
    count: int,
    locations: Any,
    places: Any,
    known: int,
    flags: int,
    stream: Any,
) -> None:
    ranges = _ranges(pointers, sizes, count, flags, stream)
    goals = _goals(locations, places, known, count)
    for (ptr, size), location in zip(ranges, goals, strict=True):
        mem_prefetch_async(ptr, size, _ordinal(location), stream)


@cudart.export("cudaMemDiscardBatchAsync")
def mem_discard_batch_async(pointers: Any, sizes: Any, count: int, flags: int, stream: Any) -> None:
    _ranges(pointers, sizes, count, flags, stream)
    context.stream_of(number(stream)).enqueue()


@cudart.export("cudaMemAdvise")
def mem_advise(ptr: Any, size: int, advice: int, ordinal: int) -> None:
    if advice not in _Advice._value2member_map_:
        raise invalid_value(f"advice is {advice}; cudaMemoryAdvise has 1 to 6")
    read_mostly = advice <= _Advice.cudaMemAdviseUnsetReadMostly
    found = _hint(ptr, size, HOST if read_mostly else ordinal)
    about, value = {
        _Advice.cudaMemAdviseSetReadMostly: (READ_MOSTLY, 1),
        _Advice.cudaMemAdviseUnsetReadMostly: (READ_MOSTLY, 0),
        _Advice.cudaMemAdviseSetPreferredLocation: (PREFERRED, ordinal),
        _Advice.cudaMemAdviseUnsetPreferredLocation: (PREFERRED, NOWHERE),
        _Advice.cudaMemAdviseSetAccessedBy: (accessed_by(ordinal), 1),
        _Advice.cudaMemAdviseUnsetAccessedBy: (accessed_by(ordinal), 0),
    }[_Advice(advice)]
    found.set(number(ptr), number(ptr) + size, about, value)


@cudart.export("cudaMemAdvise_v2")
def mem_advise_v2(ptr: Any, size: int, advice: int, location: Any) -> None:
    read_mostly = advice in (
        _Advice.cudaMemAdviseSetReadMostly,
        _Advice.cudaMemAdviseUnsetReadMostly,
    )
    mem_advise(ptr, size, advice, HOST if read_mostly else _ordinal(location))


# --- what was said -------------------------------------------------------------------------------


def _type(ordinal: int) -> int:
    if ordinal == NOWHERE:
        return _Location.cudaMemLocationTypeInvalid
    host = ordinal == HOST
    return _Location.cudaMemLocationTypeHost if host else _Location.cudaMemLocationTypeDevice


def _id(ordinal: int) -> int:
    return 0 if ordinal == HOST else ordinal


def _same(ordinal: int) -> int:
    return ordinal


_PLACES: dict[int, tuple[str, Callable[[int], int]]] = {
    Attribute.cudaMemRangeAttributePreferredLocation: (PREFERRED, _same),
    Attribute.cudaMemRangeAttributePreferredLocationType: (PREFERRED, _type),
    Attribute.cudaMemRangeAttributePreferredLocationId: (PREFERRED, _id),
    Attribute.cudaMemRangeAttributeLastPrefetchLocation: (PREFETCHED, _same),
    Attribute.cudaMemRangeAttributeLastPrefetchLocationType: (PREFETCHED, _type),
    Attribute.cudaMemRangeAttributeLastPrefetchLocationId: (PREFETCHED, _id),
}
"""What an attribute is about, and how it tells of a place."""


def _write(data: Any, room: int, attribute: int, found: Hints, begin: int, end: int) -> None:
    known = attribute in Attribute._value2member_map_
    if not known:
        raise invalid_value(f"attribute is {attribute}; cudaMemRangeAttribute has 1 to 8")
    several = attribute == Attribute.cudaMemRangeAttributeAccessedBy
    if room % _INT or not room or (room != _INT and not several):
        raise invalid_value(f"dataSize is {room}; {'a multiple of ' if several else ''}{_INT}")
    values = ffi.cast("int *", data)
    if attribute == Attribute.cudaMemRangeAttributeReadMostly:
        values[0] = found.of(begin, end, READ_MOSTLY, 0) or 0
    elif several:
        who = [each for each in (0, HOST) if found.of(begin, end, accessed_by(each), 0)]
        for index in range(room // _INT):
            values[index] = who[index] if index < len(who) else NOWHERE
    else:
        about, tell = _PLACES[attribute]
        place = found.of(begin, end, about, NOWHERE)
        values[0] = tell(NOWHERE if place is None else place)


@cudart.export("cudaMemRangeGetAttribute")
def mem_range_get_attribute(data: Any, room: int, attribute: int, ptr: Any, size: int) -> None:
    null(data=data)
    _write(data, room, attribute, _hints(ptr, size), number(ptr), number(ptr) + size)


@cudart.export("cudaMemRangeGetAttributes")
def mem_range_get_attributes(
    data: Any, rooms: Any, attributes: Any, count: int, ptr: Any, size: int
) -> None:
    null(data=data, dataSizes=rooms, attributes=attributes)
    if not 0 < count <= len(Attribute):
        raise invalid_value(f"numAttributes is {count}; 1 to {len(Attribute)}")
    found = _hints(ptr, size)
    for index in range(count):
        null(**{f"data[{index}]": data[index]})
        where = number(ptr)
        _write(data[index], rooms[index], attributes[index], found, where, where + size)
