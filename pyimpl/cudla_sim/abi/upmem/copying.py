"""Gives the UPMEM model the C versions of its bulk copies."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ...upmem import copying
from ...upmem.copying import Addresses, Place, SgResult, Slots
from ..native import ffi, lib

_PROBLEMS = ("", "blocks", "length", "address", "memory")


def _pointer(kind: str, array: NDArray[Any]) -> Any:
    return ffi.from_buffer(f"{kind}[]", array)


def _place(place: Place) -> Any:
    return ffi.new("struct sim_dpu_place *", list(place))


def transfer(place: Place, slots: Slots, hosts: Addresses) -> int:
    return int(
        lib.sim_dpu_transfer(
            _place(place), _pointer("uint32_t", slots), _pointer("uint64_t", hosts), len(slots)
        )
    )


def scatter_gather(
    place: Place,
    slots: Slots,
    indexes: Slots,
    function: Any,
    arguments: Any,
    max_blocks: int,
    check_length: bool,
) -> SgResult:
    job = ffi.new("struct sim_dpu_sg *")
    job.function, job.arguments = function, arguments
    job.max_blocks, job.check_length = max_blocks, check_length
    found = ffi.new("struct sim_dpu_sg_result *")
    status = lib.sim_dpu_scatter_gather(
        _place(place),
        _pointer("uint32_t", slots),
        _pointer("uint32_t", indexes),
        len(slots),
        job,
        found,
    )
    return SgResult(_PROBLEMS[status], found.dpu, found.block, found.found)


copying.install(transfer, scatter_gather)
