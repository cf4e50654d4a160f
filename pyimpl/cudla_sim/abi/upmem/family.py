"""What the dpu_* functions have in common: statuses, sets by value, names, pointers."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, cast

from ...constants import upmem_parameters
from ...core import process
from ...core.pages import accessible
from ...core.process import Process
from ...upmem.errors import DpuError, Status, error
from ...upmem.machine import DpuSet
from ...upmem.program import Program
from ...upmem.rank import Dpu, Rank, Selection
from ...upmem.symbols import Symbol
from ..checked import CheckedFamily
from ..embedding import address, ffi, lib
from . import fast

__all__ = [
    "DPU",
    "RANKS",
    "DpuError",
    "State",
    "Status",
    "allocate",
    "dpu_set",
    "drop_programs",
    "error",
    "host_memory",
    "invalid_set",
    "name",
    "ranks_set",
    "resolve_dpu",
    "resolve_rank",
    "result",
    "selection",
    "set_of",
    "state",
    "symbol",
    "upmem",
]

_SELDOM = (
    "dpu_checkpoint_serialize",
    "dpu_elf_create_core_dump",
    "dpu_elf_map",
    "dpu_elf_open",
    "dpu_get_common_program",
    "dpu_get_profile_description",
    "dpu_get_rank_of_type",
    "dpu_load_elf_program",
    "dpu_load_elf_program_from_memory",
    "dpu_loader_fill_dpu_context",
    "dpu_loader_fill_rank_context",
    "dpu_set_from_rank",
)
"""What programs of the kernel's side and debuggers call."""

upmem = CheckedFamily(
    "upmem",
    Status,
    upmem_parameters,
    error=DpuError,
    bad_pointer=Status.DPU_ERR_INVALID_BUFFER_SIZE,
    only=_SELDOM,
)

RANKS, DPU = 0, 1  # dpu_set_kind_t
_FREED_SETS_KEPT = 4096


class State:
    """What C holds pointers to: the rank arrays of sets, and programs."""

    def __init__(self, owner: Process) -> None:
        owner.closers.append(lambda: fast.publish({}))
        self.places: dict[int, tuple[list[Rank], int]] = {}  # element address -> array, index
        self.sets: dict[tuple[int, int], DpuSet] = {}  # (array, ranks) of dpu_alloc
        self.selections: dict[tuple[int, int], Selection] = {}
        self.arrays: dict[int, Any] = {}
        self.whole: dict[int, list[Rank]] = {}
        self.changing = threading.RLock()  # of `whole` and of the table that C has of it
        self.freed: list[Any] = []  # arrays of freed sets: their addresses must not come back
        self.freed_addresses: set[int] = set()
        self.programs: dict[int, tuple[Program, Any]] = {}
        self.addresses: dict[Program, int] = {}

    def publish(self, ranks: list[Rank]) -> Any:
        """A C array of rank handles; each element may begin a set."""
        array = ffi.new("struct dpu_rank_t *[]", [ffi.cast("void *", r.handle) for r in ranks])
        base = address(array)
        self.arrays[base] = array
        for index in range(len(ranks)):
            self.places[base + 8 * index] = (ranks, index)
        with self.changing:
            self.whole[base] = ranks
            fast.publish(self.whole)
        return array

    def retire(self, base: int, count: int) -> None:
        """The set is freed: what still points into its array is stale."""
        with self.changing:
            del self.whole[base]
            fast.publish(self.whole)
        self.freed.append(self.arrays.pop(base))
        for index in range(count):
            self.places.pop(base + 8 * index, None)
            self.freed_addresses.add(base + 8 * index)
        self.selections = {k: v for k, v in self.selections.items() if k[0] not in
                           self.freed_addresses}  # fmt: skip
        self.sets.pop((base, count), None)
        if len(self.freed) > _FREED_SETS_KEPT:
            old = self.freed.pop(0)
            for index in range(len(old)):
                self.freed_addresses.discard(address(old) + 8 * index)


def state() -> State:
    return process.current().family("upmem.c", State)


def drop_programs(programs: Iterable[Program | None]) -> None:
    """Counts one user less for each DPU that held one of these programs."""
    current = state()
    for program in programs:
        known = None if program is None else current.addresses.get(program)
        if known is not None:
            current.programs[known][1].reference_count -= 1


def invalid_set(text: str) -> DpuError:
    return error(Status.DPU_ERR_INVALID_DPU_SET, text)


def selection(given: Any) -> Selection:
    """The DPUs behind a ``struct dpu_set_t``.

    Raises DpuError(DPU_ERR_INVALID_DPU_SET): a kind that does not exist, a set that was freed or
    never allocated; DPU_ERR_DPU_DISABLED.
    """
    if given.kind == DPU:
        dpu = resolve_dpu(given.dpu)
        if not dpu.enabled:
            raise error(Status.DPU_ERR_DPU_DISABLED, f"DPU {dpu.name} is disabled")
        return dpu.alone
    if given.kind != RANKS:
        raise invalid_set(f"kind is {given.kind}; DPU_SET_RANKS (0) and DPU_SET_DPU (1) exist")
    base, count = address(given.list.ranks), given.list.nr_ranks
    current = state()
    found = current.selections.get((base, count))
    if found is None:
        place = current.places.get(base)
        if place is None:
            raise invalid_set(_why(current, base))
        ranks, index = place
        if not 1 <= count <= len(ranks) - index:
            raise invalid_set(f"nr_ranks is {count}; the set has {len(ranks) - index} there")
        found = current.selections[base, count] = Selection(ranks[index : index + count])
    return found


def _why(current: State, base: int) -> str:
    if not base:
        return "the set is empty (zeroed memory); dpu_alloc fills it"
    if base in current.freed_addresses:
        return "the set was freed with dpu_free"
    return (
        "the set holds no ranks of dpu_alloc; it was not allocated, or its memory was overwritten"
    )


def resolve_dpu(pointer: Any) -> Dpu:
    return cast(Dpu, upmem.resolve(pointer, "DPU", "the DPU"))


def resolve_rank(pointer: Any) -> Rank:
    return cast(Rank, upmem.resolve(pointer, "rank", "the rank"))


def set_of(rank: Rank) -> Any:
    """A ``struct dpu_set_t`` of one rank."""
    current = state()
    for base, (ranks, index) in current.places.items():
        if ranks[index] is rank:
            return ranks_set(base, 1)
    raise invalid_set(f"rank {rank.id} is in no set")


def ranks_set(base: int, count: int) -> Any:
    made = ffi.new("struct dpu_set_t *")
    made.kind = RANKS
    made.list.nr_ranks = count
    made.list.ranks = ffi.cast("struct dpu_rank_t **", base)
    return made


def dpu_set(dpu: Dpu) -> Any:
    made = ffi.new("struct dpu_set_t *")
    made.kind = DPU
    made.dpu = ffi.cast("struct dpu_t *", dpu.handle)
    return made


def name(pointer: Any, argument: str, status: Status = Status.DPU_ERR_UNKNOWN_SYMBOL) -> str:
    """A C string. Raises DpuError for NULL."""
    if not pointer:
        raise error(status, f"{argument} is NULL")
    return cast(bytes, ffi.string(pointer)).decode(errors="replace")


def symbol(given: Any) -> Symbol:
    return Symbol(given.address, given.size)


def allocate(size: int) -> Any:
    """Zeroed memory that C gives back with ``free``. Raises DpuError(DPU_ERR_SYSTEM)."""
    made = lib.calloc(1, max(size, 1))
    if not made:
        raise error(Status.DPU_ERR_SYSTEM, f"no memory for {size} bytes")
    return made


def host_memory(pointer: Any, size: int, what: str) -> Any:
    """Raises DpuError(DPU_ERR_INVALID_MEMORY_TRANSFER) for what is no memory of the program."""
    if not accessible(address(pointer), size):
        raise error(
            Status.DPU_ERR_INVALID_MEMORY_TRANSFER,
            f"{what} {address(pointer):#x} is not memory of this process ({size} bytes)",
        )
    return pointer


def result(pointer: Any, argument: str) -> None:
    """Raises DpuError when there is no place for a result."""
    if not pointer:
        raise error(
            Status.DPU_ERR_INVALID_BUFFER_SIZE, f"{argument} is NULL; it points to the result"
        )
