"""Copies between the host and the DPUs: one buffer for all, or one for each."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import NamedTuple

from ..constants.dpu_protocol import WRAM_BASE, WRAM_SIZE
from ..core.events import warn
from ..core.hardware import Step
from ..core.pages import accessible
from ..native.dpu_memory import DpuCopies, Numbers, Place, host_addresses
from . import notices
from .errors import DpuError, Status, error
from .memory import WRAM_OFFSET
from .program import Program
from .rank import Dpu, Selection, submit_all, turn_on
from .spans import MEMORIES
from .symbols import IRAM, MRAM, Symbol

_JOBS = {  # names in asynchronous error words, by (memory, to the DPU, same bytes for all)
    ("mram", True, False): "copy_mram_to_matrix",
    ("mram", False, False): "copy_mram_from_matrix",
    ("mram", True, True): "copy_mram_to_rank",
    ("wram", True, False): "copy_wram_to_matrix",
    ("wram", False, False): "copy_wram_from_matrix",
    ("wram", True, True): "copy_wram_to_rank",
}

_TO_DPU, _FROM_DPU = 0, 1

_PARALLEL_JOBS = {True: "parallel_copy_wram_to_matrix", False: "parallel_copy_wram_from_matrix"}


class Flags(NamedTuple):
    """The bits of ``dpu_xfer_flags_t``."""

    no_reset: bool = False
    asynchronous: bool = False
    parallel: bool = False
    direct: bool = False
    """No bit of these: the copy is one of the SDK's lower layer, see ``admit``."""

    @staticmethod
    def of(value: int) -> Flags:
        if value & ~7:
            raise error(
                Status.DPU_ERR_INVALID_MEMORY_TRANSFER,
                f"flags is {value:#x}; DPU_XFER_NO_RESET (1), DPU_XFER_ASYNC (2) and "
                "DPU_XFER_PARALLEL (4) exist",
            )
        return Flags(bool(value & 1), bool(value & 2), bool(value & 4))


_QUEUED = Flags()


def common_program(selection: Selection) -> Program:
    """The program that the DPUs of a set hold; DPUs without one before the first that has one do
    not count (dpu_get_common_program of the SDK's library).

    Raises DpuError: DPU_ERR_NO_PROGRAM_LOADED, DPU_ERR_DIFFERENT_DPU_PROGRAMS.
    """
    common: Program | None = None
    owner = ""
    for dpu in selection.dpus:
        if common is None:
            common, owner = dpu.program, dpu.name
        elif dpu.program is not common:
            other = "no program" if dpu.program is None else f"{dpu.program.path!r}"
            raise error(
                Status.DPU_ERR_DIFFERENT_DPU_PROGRAMS,
                f"DPU {owner} holds {common.path!r} and DPU {dpu.name} {other} (another dpu_load); "
                "a symbol is looked up in one program",
            )
    if common is None:
        raise error(
            Status.DPU_ERR_NO_PROGRAM_LOADED, "no DPU of the set has a program; call dpu_load"
        )
    return common


def check_direction(direction: int) -> bool:
    """Returns whether the copy is to the DPUs.

    Raises DpuError(DPU_ERR_INVALID_MEMORY_TRANSFER) for an unknown direction.
    """
    if direction not in (_TO_DPU, _FROM_DPU):
        raise error(
            Status.DPU_ERR_INVALID_MEMORY_TRANSFER,
            f"xfer is {direction}; valid values: DPU_XFER_TO_DPU (0), DPU_XFER_FROM_DPU (1)",
        )
    return direction == _TO_DPU


class LateRefusal(DpuError):
    """A copy that the library refuses only when its job runs: the call has taken the prepared
    buffers by then."""


def place(
    selection: Selection, symbol: Symbol, offset: int, length: int, to_dpu: bool, function: str
) -> Place:
    """Where ``length`` bytes at ``offset`` of a symbol are in the slots. The memory is that of the
    address plus the offset.

    ``function``: of the SDK's library, for its own words on standard error; sets of one DPU have
    one for all ways to copy.

    Raises DpuError: DPU_ERR_INVALID_SYMBOL_ACCESS past the symbol's end, and the memory's own
    DPU_ERR_INVALID_{MRAM,WRAM,IRAM}_ACCESS for its alignment (MRAM 8 bytes, WRAM 4) and size.
    """
    said = function if selection.dpu is None else "dpu_copy_symbol_dpu"
    at = symbol.address + offset & 0xFFFF_FFFF
    # A pointer that a program handed over, as a symbol or an offset; on hardware WRAM begins at 0.
    if 0 <= at - WRAM_BASE < WRAM_SIZE:
        at -= WRAM_BASE
        if symbol.address < WRAM_BASE:
            offset -= WRAM_BASE
    if offset + length > symbol.size:
        text = f"invalid symbol access (offset:{offset} + length:{length} > size:{symbol.size})"
        notices.warn(said, text)
        raise error(Status.DPU_ERR_INVALID_SYMBOL_ACCESS, text)
    where = f"offset:{offset:#x}, address:{symbol.address:#x}"
    memory = Symbol(at, length).memory
    if memory not in MEMORIES:
        notices.warn(said, f"invalid iram access ({where})")
        raise error(
            Status.DPU_ERR_INVALID_IRAM_ACCESS,
            f"the symbol is at {at:#x}, in IRAM (from {IRAM:#x}); instructions cannot be read "
            "or written by the host",
        )
    return place_in(selection, memory, at & ~MRAM if memory == "mram" else at, length, to_dpu,
                    said, where)  # fmt: skip


def place_in(
    selection: Selection,
    memory: str,
    at: int,
    length: int,
    to_dpu: bool,
    function: str,
    where: str,
) -> Place:
    """``length`` bytes at ``at`` of a memory ("mram", "wram"), as ``place``; ``where`` names them.

    Raises LateRefusal for what the library's job finds: the end of the memory, MRAM's alignment.
    """
    limits = MEMORIES[memory]
    first, end = limits.start + at, limits.start + limits.size
    if DpuCopies.keeps_to(end, limits.unit, first, length):
        return Place(selection.ranks[0].machine.store.base, first, length, to_dpu)
    what = f"{length} bytes at {memory.upper()} address {at:#x}"
    if not (at % limits.unit or length % limits.unit):
        raise LateRefusal(int(limits.refusal), f"{what} end past its {limits.size} bytes")
    broken = where if at % limits.unit else f"length:{length:#x}"
    notices.warn(function, f"invalid {memory} access ({broken})")
    kind = LateRefusal if memory == "mram" else DpuError
    raise kind(int(limits.refusal), f"{what}; both must be multiples of {limits.unit}")


def memory_of(where: Place) -> str:
    """The memory that a copy goes to: "mram" or "wram"."""
    return "mram" if where.offset < WRAM_OFFSET else "wram"


class Copy(NamedTuple):
    """A checked copy: which bytes of which slots, and the host address of each."""

    place: Place
    dpus: list[Dpu]
    slots: Numbers
    hosts: array[int]
    argument: str
    called: float | None = None
    beside: tuple[int, int] = (0, 0)

    def run(self) -> None:
        """Raises DpuError(DPU_ERR_INVALID_MEMORY_TRANSFER) for a buffer that is not memory."""
        if not self.place.size or not self.dpus:
            return
        store = self.dpus[0].rank.machine.store
        bad = store.transfer(self.place, self.slots, self.hosts)
        if bad >= 0:
            raise bad_buffer(int(self.hosts[bad]), self.place.size, self.argument, self.dpus[bad])
        same = self.hosts.count(self.hosts[0]) == len(self.hosts)
        note(self.place, self.dpus, same, self.called, self.beside)


def note(
    where: Place,
    dpus: list[Dpu],
    same: bool,
    called: float | None = None,
    beside: tuple[int, int] = (0, 0),
) -> None:
    """Adds a copy to the hardware times, where they are asked for.

    *called*: the time of a call that did not wait; *beside*: DPUs and ranks that it asked for, too.
    """
    machine = dpus[0].rank.machine
    if machine.timed:
        ranks = sorted({d.rank.id for d in dpus})
        made = machine.hardware.transfer(
            where.to_dpu, where.size, len(dpus), ranks, same, called, beside
        )
        name = f"copy {made.kind}"
        step = Step("DPUs", name, made.seconds, None, made.begin_s, made.overlap_s)
        machine.process.timeline.add(step, {"bytes": made.bytes, "dpus": made.dpus})


def bad_buffer(address: int, size: int, argument: str, dpu: Dpu) -> DpuError:
    what = "is NULL" if not address else f"{address:#x} is not memory of this process"
    return error(
        Status.DPU_ERR_INVALID_MEMORY_TRANSFER,
        f"{argument} {what} for {size} bytes (DPU {dpu.name})",
    )


def perform(
    selection: Selection, where: Place, hosts: array[int], argument: str, job: str, flags: Flags
) -> None:
    """Copies now, or queues one job a rank. ``hosts``: a host address for each DPU."""
    if flags.parallel:
        job = _PARALLEL_JOBS[where.to_dpu]
    if flags.asynchronous:
        works = []
        called = selection.ranks[0].machine.hardware.now
        for rank, first, dpus in selection.each():
            part = slice(first, first + len(dpus))
            beside = selection.count - len(dpus), len(selection.ranks) - 1
            copy = Copy(where, dpus, selection.slots[part], hosts[part], argument, called, beside)
            works.append((rank, partial(_beside, dpus, copy.run) if flags.parallel else copy.run))
        submit_all(job, works, beside=flags.parallel)
        return
    copy = Copy(where, selection.dpus, selection.slots, hosts, argument)
    if flags.parallel:
        selection.beside()
        together(selection.dpus)
        copy.run()
        return
    with _turn(selection, where, flags):
        copy.run()


def _turn(selection: Selection, where: Place, flags: Flags) -> AbstractContextManager[None]:
    """A context for a synchronous copy: behind the queued jobs, and with the DPUs to itself."""
    if flags.direct:
        return admitted(selection.dpus, where)
    selection.wait()
    return selection.turn()


def together(dpus: list[Dpu]) -> bool:
    """Before the host talks to DPUs that may run. False: none of them does."""
    running = [dpu.slot for dpu in dpus if dpu.rank.running]
    return bool(running) and dpus[0].rank.machine.store.together(running)


@contextmanager
def admitted(dpus: list[Dpu], where: Place) -> Iterator[None]:
    """A context for a copy of the SDK's lower layer, which no queue orders: WRAM is the host's
    while DPUs run, MRAM is not.

    Raises DpuError(DPU_ERR_MRAM_BUSY).
    """
    ranks = list(dict.fromkeys(dpu.rank for dpu in dpus))
    for rank in ranks:
        rank.settle()
    with turn_on(ranks, unless=lambda: any(rank.running for rank in ranks)):
        busy = [rank for rank in ranks if rank.running]
        if busy and where.size:
            if memory_of(where) == "mram":
                raise error(
                    Status.DPU_ERR_MRAM_BUSY,
                    f"DPUs of rank {busy[0].id} run, and MRAM is theirs meanwhile; dpu_sync waits "
                    "for them",
                )
            together(dpus)
        yield


def _beside(dpus: list[Dpu], work: Callable[[], None]) -> None:
    together(dpus)
    work()


def broadcast(
    selection: Selection, symbol: Symbol, offset: int, source: int, length: int, flags: Flags
) -> None:
    """The same host bytes into every DPU of the set (dpu_copy_to, dpu_broadcast_to).

    DPU_XFER_PARALLEL has no effect: the library's broadcasts wait for DPUs that run."""
    function = "dpu_broadcast_to_symbol_for_ranks"
    where = place(selection, symbol, offset, length, True, function)
    if not length:
        return
    if not accessible(source, length):
        raise bad_buffer(source, length, "src", selection.dpus[0])
    hosts = host_addresses([source]) * selection.count
    job = _JOBS[memory_of(where), True, True]
    perform(selection, where, hosts, "src", job, flags._replace(parallel=False))


def fetch(
    selection: Selection,
    symbol: Symbol,
    offset: int,
    target: int,
    length: int,
    flags: Flags = _QUEUED,
) -> None:
    """Bytes of one DPU to the host (dpu_copy_from).

    Raises DpuError(DPU_ERR_INVALID_DPU_SET) for a set of more than one DPU.
    """
    if selection.count != 1:
        raise error(
            Status.DPU_ERR_INVALID_DPU_SET,
            f"the set has {selection.count} DPUs; copying from needs one (DPU_FOREACH gives them), "
            "dpu_push_xfer takes many",
        )
    where = place(selection, symbol, offset, length, False, "dpu_copy_from_symbol")
    hosts = host_addresses([target])
    with _turn(selection, where, flags):
        if not target and length:
            raise bad_buffer(0, length, "dst", selection.dpus[0])
        Copy(where, selection.dpus, selection.slots, hosts, "dst").run()


def _parallel(symbol: Symbol, offset: int, flags: Flags) -> None:
    memory = Symbol(symbol.address + offset & 0xFFFF_FFFF, symbol.size).memory
    if flags.parallel and memory != "wram":
        raise error(
            Status.DPU_ERR_INVALID_PARALLEL_MEMORY_TRANSFER,
            f"DPU_XFER_PARALLEL with a symbol in {memory.upper()}; it is for WRAM",
        )


def prepare(selection: Selection, buffer: int) -> None:
    """Sets (0: clears) the host buffer of each DPU for the next push.

    Raises DpuError(DPU_ERR_TRANSFER_ALREADY_SET) when a buffer was there, with the check
    ``prepared_twice``; it is replaced anyway.
    """
    replaced: Dpu | None = None
    for rank in selection.ranks:
        prepared = rank.prepared
        for dpu in selection.of(rank):
            if buffer and prepared[dpu.index]:
                replaced = dpu
            prepared[dpu.index] = buffer
    if replaced is None:
        return
    check = selection.ranks[0].machine.checks.prepared_twice
    text = f"DPU {replaced.name} had a buffer already; the new one is used. "
    text += "dpu_push_xfer uses buffers up, dpu_prepare_xfer(set, NULL) drops them"
    if check == "fault":
        text += "; CUDLA_SIM_UPMEM_CHECKS=prepared_twice=off answers DPU_OK, as SDKs of 2024 do"
        raise error(Status.DPU_ERR_TRANSFER_ALREADY_SET, text)
    if check == "warn":
        warn(f"dpu_prepare_xfer: {text} (check prepared_twice)")


def push(
    selection: Selection, direction: int, symbol: Symbol, offset: int, length: int, flags: Flags
) -> None:
    """Copies between each DPU and the buffer prepared for it; DPUs without one are left out.

    The buffers are used up unless DPU_XFER_NO_RESET is given: also by a call that fails where the
    library's job does (``LateRefusal``), and by any that fails for a set of one DPU. For such a set
    DPU_XFER_PARALLEL has no effect. (dpu_push_xfer_symbol of the SDK's library)
    """
    one = selection.dpus[0] if selection.dpu is not None else None
    if one is not None:
        flags = flags._replace(parallel=False)
    parts = [(rank.prepared, selection.indexes(rank)) for rank in selection.ranks]

    def use_up() -> None:
        for buffers, indexes in () if flags.no_reset else parts:
            for number in indexes:
                buffers[number] = 0

    try:
        where = _push_place(selection, direction, symbol, offset, length, flags)
    except LateRefusal:
        use_up()
        raise
    except DpuError:
        if one is not None:
            use_up()
        raise
    hosts = host_addresses([])
    for buffers, indexes in parts:
        if len(indexes) == len(buffers):
            hosts.frombytes(buffers.cast("B"))
        else:
            hosts.extend(buffers[number] for number in indexes)
    if not any(hosts):
        from ..core import explain

        explain.remember(
            "dpu_push_xfer: no DPU of the set has a buffer (dpu_prepare_xfer); nothing was copied"
        )
        return
    job = _JOBS[memory_of(where), where.to_dpu, False]
    try:
        perform(selection, where, hosts, "the prepared buffer", job, flags)
    except DpuError:
        if one is not None or not flags.asynchronous:  # else the queue did not take it
            use_up()
        raise
    use_up()


def _push_place(
    selection: Selection, direction: int, symbol: Symbol, offset: int, length: int, flags: Flags
) -> Place:
    """Raises DpuError: in the library's order, so that LateRefusal comes last."""
    try:
        where = place(selection, symbol, offset, length, True, "dpu_push_xfer_symbol")
    except LateRefusal:
        check_direction(direction)
        _parallel(symbol, offset, flags)
        raise
    to_dpu = check_direction(direction)
    _parallel(symbol, offset, flags)
    return where._replace(to_dpu=to_dpu)
