"""Allocating sets, and walking over them."""

from __future__ import annotations

import os
from typing import Any

from ...upmem.machine import DpuSet, machine
from ...upmem.rank import Selection
from ..embedding import address, ffi
from .family import (
    DPU,
    Status,
    dpu_set,
    drop_programs,
    error,
    invalid_set,
    ranks_set,
    result,
    selection,
    state,
    upmem,
)


def profiles(pointer: Any) -> tuple[str, str, str]:
    """The environment's base profile, the argument, and the environment's last word."""
    given = ffi.string(pointer).decode(errors="replace") if pointer else ""
    return os.environ.get("UPMEM_PROFILE_BASE", ""), given, os.environ.get("UPMEM_PROFILE", "")


def publish(made: DpuSet) -> Any:
    """The ``struct dpu_set_t`` of a new set."""
    current = state()
    base = address(current.publish(made.ranks))
    current.sets[base, len(made.ranks)] = made
    return ranks_set(base, len(made.ranks))[0]


@upmem.export("dpu_alloc")
def alloc(nr_dpus: int, profile: Any, target: Any) -> None:
    result(target, "dpu_set")
    if nr_dpus == 0:
        raise error(Status.DPU_ERR_ALLOCATION, "nr_dpus is 0; a set has at least one DPU")
    target[0] = publish(machine().allocate(nr_dpus, *profiles(profile)))


@upmem.export("dpu_alloc_ranks")
def alloc_ranks(nr_ranks: int, profile: Any, target: Any) -> None:
    result(target, "dpu_set")
    if nr_ranks == 0:
        raise error(Status.DPU_ERR_ALLOCATION, "nr_ranks is 0; a set has at least one rank")
    target[0] = publish(machine().allocate_ranks(nr_ranks, *profiles(profile)))


def release(base: int, count: int) -> None:
    """Frees the set whose rank array is at ``base``."""
    current = state()
    found = current.sets.get((base, count))
    if found is None:
        raise invalid_set("this is a part of a set; only what dpu_alloc gave can be freed")
    drop_programs(dpu.program for dpu in found.dpus)
    machine().free(found)
    current.retire(base, count)


@upmem.export("dpu_free")
def free(given: Any) -> None:
    selection(given)  # says what is wrong with a set that is none
    if given.kind == DPU:
        raise invalid_set("this is one DPU of a set; only what dpu_alloc gave can be freed")
    release(address(given.list.ranks), given.list.nr_ranks)


@upmem.export("dpu_get_nr_ranks")
def get_nr_ranks(given: Any, nr_ranks: Any) -> None:
    result(nr_ranks, "nr_ranks")
    nr_ranks[0] = len(selection(given).ranks)


@upmem.export("dpu_get_nr_dpus")
def get_nr_dpus(given: Any, nr_dpus: Any) -> None:
    result(nr_dpus, "nr_dpus")
    nr_dpus[0] = selection(given).count


_NO_RANKS = ffi.new("struct dpu_set_rank_iterator_t *")
_NO_DPUS = ffi.new("struct dpu_set_dpu_iterator_t *")


def _fill_rank(iterator: Any, chosen: Selection, number: int, given: Any) -> None:
    iterator.count = number
    iterator.next_idx = number + 1
    iterator.has_next = number < len(chosen.ranks)
    if iterator.has_next:
        if given.kind == DPU:
            iterator.next = given
        else:
            iterator.next = ranks_set(address(given.list.ranks) + 8 * number, 1)[0]


@upmem.export("dpu_set_rank_iterator_from", status=False, failure=_NO_RANKS[0])
def rank_iterator_from(given: Any) -> Any:
    if not given:
        raise invalid_set("set is NULL")
    made = ffi.new("struct dpu_set_rank_iterator_t *")
    made.set = given
    _fill_rank(made, selection(given[0]), 0, given[0])
    return made[0]


@upmem.export("dpu_set_rank_iterator_next", status=False)
def rank_iterator_next(iterator: Any) -> None:
    if not iterator or not iterator.set:
        raise invalid_set("iterator is NULL or not made by dpu_set_rank_iterator_from")
    given = iterator.set[0]
    try:
        _fill_rank(iterator, selection(given), iterator.count + 1, given)
    except BaseException:
        iterator.has_next = False
        raise


def _fill_dpu(iterator: Any, chosen: Selection, number: int) -> None:
    dpus = chosen.dpus
    iterator.count = number
    iterator.next_idx = number + 1
    iterator.has_next = number < len(dpus)
    if number < len(dpus):
        upcoming = iterator.next
        upcoming.kind = DPU
        upcoming.dpu = ffi.cast("struct dpu_t *", dpus[number].handle)


@upmem.export("dpu_set_dpu_iterator_from", status=False, failure=_NO_DPUS[0])
def dpu_iterator_from(given: Any) -> Any:
    if not given:
        raise invalid_set("set is NULL")
    made = ffi.new("struct dpu_set_dpu_iterator_t *")
    chosen = selection(given[0])
    made.rank_iterator.set = given
    _fill_rank(made.rank_iterator, chosen, 0, given[0])
    _fill_dpu(made, chosen, 0)
    return made[0]


@upmem.export("dpu_set_dpu_iterator_next", status=False)
def dpu_iterator_next(iterator: Any) -> None:
    if not iterator or not iterator.rank_iterator.set:
        raise invalid_set("iterator is NULL or not made by dpu_set_dpu_iterator_from")
    try:
        _fill_dpu(iterator, selection(iterator.rank_iterator.set[0]), iterator.count + 1)
    except BaseException:
        iterator.has_next = False
        raise


__all__ = ["dpu_set", "profiles", "publish", "release"]
