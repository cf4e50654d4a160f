"""Ranks and DPUs one by one (dpu_management.h)."""

from __future__ import annotations

import errno
from typing import Any

from ...upmem import profile as profiles_of
from ...upmem.machine import machine
from ...upmem.memory import CIS_PER_RANK, DPUS_PER_CI
from ...upmem.profile import Profile
from ...upmem.rank import Rank
from ..embedding import address, ffi, lib
from .family import (
    DPU,
    dpu_set,
    invalid_set,
    resolve_dpu,
    resolve_rank,
    result,
    selection,
    set_of,
    state,
    upmem,
)
from .sets import profiles, publish, release

_NULL = ffi.NULL
_BAD_ID = 0xFFFF_FFFF
_BACKEND_TYPES = {"simulator": 0, "cas": 1, "hw": 3}


@upmem.export("dpu_get_rank_of_type")
def get_rank_of_type(profile: Any, rank: Any) -> None:
    result(rank, "rank")
    made = machine().allocate_ranks(1, *profiles(profile), is_set=False)
    publish(made)
    rank[0] = ffi.cast("struct dpu_rank_t *", made.ranks[0].handle)


@upmem.export("dpu_free_rank")
def free_rank(rank: Any) -> None:
    found = set_of(resolve_rank(rank))
    release(address(found.list.ranks), 1)


@upmem.export("dpu_lock_rank", status=False)
def lock_rank(rank: Any) -> None:
    resolve_rank(rank).lock.acquire()


@upmem.export("dpu_trylock_rank", status=False, failure=-1)
def trylock_rank(rank: Any) -> int:
    return 0 if resolve_rank(rank).lock.acquire(blocking=False) else errno.EBUSY


@upmem.export("dpu_unlock_rank", status=False)
def unlock_rank(rank: Any) -> None:
    try:
        resolve_rank(rank).lock.release()
    except RuntimeError:
        raise invalid_set("the rank is not locked by this thread") from None


@upmem.export("dpu_get", status=False, failure=_NULL)
def get(rank: Any, slice_id: int, member: int) -> Any:
    found = resolve_rank(rank)
    members = found.profile.dpus_per_ci
    if slice_id >= CIS_PER_RANK or member >= members:
        raise invalid_set(
            f"DPU {slice_id}.{member}; this rank has slices 0 to {CIS_PER_RANK - 1} with members 0 "
            f"to {members - 1}"
        )
    dpu = found.dpus[slice_id * DPUS_PER_CI + member]
    return ffi.cast("struct dpu_t *", dpu.handle)


@upmem.export("dpu_get_id", status=False, failure=_BAD_ID)
def get_id(dpu: Any) -> int:
    return resolve_dpu(dpu).id


@upmem.export("dpu_get_rank_id", status=False, failure=_BAD_ID)
def get_rank_id(rank: Any) -> int:
    return resolve_rank(rank).id


@upmem.export("dpu_get_rank_numa_node", status=False, failure=-1)
def get_rank_numa_node(rank: Any) -> int:
    resolve_rank(rank)
    return 0


@upmem.export("dpu_get_rank", status=False, failure=_NULL)
def get_rank(dpu: Any) -> Any:
    return ffi.cast("struct dpu_rank_t *", resolve_dpu(dpu).rank.handle)


@upmem.export("dpu_get_slice_id", status=False, failure=0xFF)
def get_slice_id(dpu: Any) -> int:
    return resolve_dpu(dpu).slice


@upmem.export("dpu_get_member_id", status=False, failure=0xFF)
def get_member_id(dpu: Any) -> int:
    return resolve_dpu(dpu).member


@upmem.export("dpu_is_enabled", status=False, failure=False)
def is_enabled(dpu: Any) -> bool:
    return resolve_dpu(dpu).enabled


_EMPTY_SET = ffi.new("struct dpu_set_t *")


@upmem.export("dpu_set_from_rank", status=False, failure=_EMPTY_SET[0])
def set_from_rank(rank: Any) -> Any:
    if not rank:
        raise invalid_set("rank is NULL; it points to a struct dpu_rank_t *")
    return set_of(resolve_rank(rank[0]))[0]


@upmem.export("dpu_set_from_dpu", status=False, failure=_EMPTY_SET[0])
def set_from_dpu(dpu: Any) -> Any:
    return dpu_set(resolve_dpu(dpu))[0]


@upmem.export("dpu_rank_from_set", status=False, failure=_NULL)
def rank_from_set(given: Any) -> Any:
    ranks = selection(given).ranks
    if given.kind == DPU or len(ranks) != 1:
        return _NULL
    return ffi.cast("struct dpu_rank_t *", ranks[0].handle)


@upmem.export("dpu_from_set", status=False, failure=_NULL)
def from_set(given: Any) -> Any:
    if given.kind != DPU:
        return _NULL
    return ffi.cast("struct dpu_t *", selection(given).dpus[0].handle)


_NO_DPUS = ffi.new("struct dpu_iterator_t *")


def _fill(iterator: Any, rank: Rank, number: int) -> None:
    iterator.count = number
    iterator.next_idx = number + 1
    iterator.has_next = number < len(rank.enabled)
    dpu = rank.enabled[number].handle if iterator.has_next else 0
    iterator.next = ffi.cast("struct dpu_t *", dpu)


@upmem.export("dpu_iterator_from", status=False, failure=_NO_DPUS[0])
def iterator_from(rank: Any) -> Any:
    made = ffi.new("struct dpu_iterator_t *")
    made.rank = rank
    _fill(made, resolve_rank(rank), 0)
    return made[0]


@upmem.export("dpu_iterator_next", status=False)
def iterator_next(iterator: Any) -> None:
    if not iterator:
        raise invalid_set("iterator is NULL")
    try:
        _fill(iterator, resolve_rank(iterator.rank), iterator.count + 1)
    except BaseException:
        iterator.has_next = False
        raise


# Descriptions are counted by their users: free() in C, so made with the C allocator.
def _describe(profile: Profile) -> Any:
    size = ffi.sizeof("struct _dpu_description_t")
    made = ffi.cast("dpu_description_t", lib.malloc(size))
    ffi.memmove(made, bytes(size), size)
    made.refcount = 1
    made.type = _BACKEND_TYPES[profile.backend]
    made.hw.signature.chip_id = profile.chip_id
    timings = made.hw.timings
    timings.fck_frequency_in_mhz = profile.frequency_mhz * 2
    timings.clock_division = 8  # DPU_CLOCK_DIV2
    topology = made.hw.topology
    topology.nr_of_control_interfaces = CIS_PER_RANK
    topology.nr_of_dpus_per_control_interface = profile.dpus_per_ci
    topology.ci_mask = (1 << CIS_PER_RANK) - 1
    memories = made.hw.memories
    memories.mram_size = profile.mram_size
    memories.wram_size = profile.wram_size // 4
    memories.iram_size = profile.iram_size
    made.hw.dpu.nr_of_threads = profile.max_tasklets
    made.hw.dpu.nr_of_atomic_bits = 256
    made.hw.dpu.nr_of_notify_bits = 40
    made.hw.dpu.nr_of_work_registers_per_thread = 24
    made.configuration.ignore_vpd = True
    return made


_described: dict[int, Any] = {}


@upmem.export("dpu_get_profile_description")
def get_profile_description(profile: Any, description: Any) -> None:
    result(description, "description")
    made = _describe(profiles_of.parse(*profiles(profile)))
    _described[address(made)] = made
    description[0] = made


@upmem.export("dpu_get_description", status=False, failure=_NULL)
def get_description(rank: Any) -> Any:
    """A rank's own, which goes with it unless the program has acquired it."""
    found = resolve_rank(rank)
    descriptions: dict[Rank, Any] = state().__dict__.setdefault("descriptions", {})
    if found not in descriptions:
        made = descriptions[found] = _describe(found.profile)
        _described[address(made)] = made
        found.at_end.append(lambda: _release(descriptions.pop(found)))
    return descriptions[found]


def _known(description: Any) -> Any:
    found = _described.get(address(description))
    if found is None:
        raise invalid_set("description is not one that this library gave, or was freed")
    return found


@upmem.export("dpu_acquire_description", status=False)
def acquire_description(description: Any) -> None:
    _known(description).refcount += 1


@upmem.export("dpu_free_description", status=False)
def free_description(description: Any) -> None:
    _release(_known(description))


def _release(description: Any) -> None:
    """A user less. The program may have freed it already."""
    if address(description) not in _described:
        return
    if description.refcount > 0:
        description.refcount -= 1
    if description.refcount == 0:
        del _described[address(description)]
        lib.free(description)
