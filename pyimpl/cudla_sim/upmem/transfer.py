"""Copies between the host and the DPUs: one buffer for all, or one for each."""

from __future__ import annotations

from array import array
from collections.abc import Callable
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
from .rank import Dpu, Selection, submit_all
from .spans import MEMORIES, span
from .symbols import IRAM, MRAM, Symbol

_JOBS = {  # names in asynchronous error words, by (memory, to the DPU, same bytes for all)
    ("mram", True, False): "copy_mram_to_matrix",
    ("mram", False, False): "copy_mram_from_matrix",
    ("mram", True, True): "copy_mram_to_rank",
    ("wram", True, False): "copy_wram_to_matrix",
    ("wram", False, False): "copy_wram_from_matrix",
    ("wram", True, True): "copy_wram_to_rank",
}

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
    """The program that all DPUs of a set hold.

    Raises DpuError: DPU_ERR_NO_PROGRAM_LOADED, DPU_ERR_DIFFERENT_DPU_PROGRAMS.
    """
    dpus = selection.dpus
    first = dpus[0].program if dpus else None
    for dpu in dpus:
        if dpu.program is None:
            raise error(
                Status.DPU_ERR_NO_PROGRAM_LOADED, f"DPU {dpu.name} has no program; call dpu_load"
            )
        if dpu.program is not first:
            assert first is not None
            raise error(
                Status.DPU_ERR_DIFFERENT_DPU_PROGRAMS,
                f"DPU {dpus[0].name} holds {first.path!r} and DPU {dpu.name} {dpu.program.path!r} "
                "(another dpu_load); a symbol is looked up in one program",
            )
    if first is None:
        raise error(Status.DPU_ERR_INVALID_DPU_SET, "the set has no DPU")
    return first


def place(
    selection: Selection, symbol: Symbol, offset: int, length: int, to_dpu: bool, function: str
) -> Place:
    """Where ``length`` bytes at ``offset`` of a symbol lie in the slots.

    ``function``: of the SDK's library, for its own words on standard error; sets of one DPU have
    one for all ways to copy.

    Raises DpuError: DPU_ERR_INVALID_SYMBOL_ACCESS past the symbol's end, and the memory's own
    DPU_ERR_INVALID_{MRAM,WRAM,IRAM}_ACCESS for its alignment (MRAM 8 bytes, WRAM 4) and size.
    """
    said = function if selection.dpu is None else "dpu_copy_symbol_dpu"
    # A pointer that a program handed over, as a symbol or an offset; on hardware WRAM begins at 0.
    if symbol.memory == "wram" and 0 <= symbol.address + offset - WRAM_BASE < WRAM_SIZE:
        if symbol.address >= WRAM_BASE:
            symbol = symbol._replace(address=symbol.address - WRAM_BASE)
        else:
            offset -= WRAM_BASE
    allowed = span(symbol)
    if allowed is not None:
        at = allowed.first + offset
        if DpuCopies.keeps_to(allowed.end, allowed.unit, at, length):
            return Place(selection.ranks[0].machine.store.base, at, length, to_dpu)
    raise _refusal(symbol, offset, length, said)


def _refusal(symbol: Symbol, offset: int, length: int, function: str) -> DpuError:
    """Which rule such a copy breaks; ``function`` says it on standard error, too."""
    if offset + length > symbol.size:
        text = f"invalid symbol access (offset:{offset} + length:{length} > size:{symbol.size})"
        notices.warn(function, text)
        return error(Status.DPU_ERR_INVALID_SYMBOL_ACCESS, text)
    address = symbol.address + offset
    where = f"offset:{offset:#x}, address:{symbol.address:#x}"
    memory = MEMORIES.get(symbol.memory)
    if memory is None:
        notices.warn(function, f"invalid iram access ({where})")
        return error(
            Status.DPU_ERR_INVALID_IRAM_ACCESS,
            f"the symbol is at {address:#x}, in IRAM (from {IRAM:#x}); instructions cannot be read "
            "or written by the host",
        )
    if symbol.memory == "mram":
        address &= ~MRAM
    what = f"{length} bytes at {symbol.memory.upper()} address {address:#x}"
    if address % memory.unit or length % memory.unit:
        broken = where if address % memory.unit else f"length:{length:#x}"
        notices.warn(function, f"invalid {symbol.memory} access ({broken})")
        return error(memory.refusal, f"{what}; both must be multiples of {memory.unit}")
    return error(memory.refusal, f"{what} end past its {memory.size} bytes")


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
    if flags.direct:
        admit(selection.dpus, where)
    elif flags.parallel:
        selection.beside()
        together(selection.dpus)
    else:
        selection.wait()
    Copy(where, selection.dpus, selection.slots, hosts, argument).run()


def together(dpus: list[Dpu]) -> bool:
    """Before the host talks to DPUs that may run. False: none of them does."""
    running = [dpu.slot for dpu in dpus if dpu.rank.running]
    return bool(running) and dpus[0].rank.machine.store.together(running)


def admit(dpus: list[Dpu], where: Place) -> None:
    """Before a copy of the SDK's lower layer, which no queue orders: WRAM is the host's while DPUs
    run, MRAM is not.

    Raises DpuError(DPU_ERR_MRAM_BUSY).
    """
    busy = [rank for rank in dict.fromkeys(dpu.rank for dpu in dpus) if rank.settle()]
    if not busy or not where.size:
        return
    if where.offset < WRAM_OFFSET:
        raise error(
            Status.DPU_ERR_MRAM_BUSY,
            f"DPUs of rank {busy[0].id} run, and MRAM is theirs meanwhile; dpu_sync waits for them",
        )
    together(dpus)


def _beside(dpus: list[Dpu], work: Callable[[], None]) -> None:
    together(dpus)
    work()


def broadcast(
    selection: Selection, symbol: Symbol, offset: int, source: int, length: int, flags: Flags
) -> None:
    """The same host bytes into every DPU of the set (dpu_copy_to, dpu_broadcast_to)."""
    function = "dpu_broadcast_to_symbol_for_ranks"
    where = place(selection, symbol, offset, length, True, function)
    if not length:
        return
    if not accessible(source, length):
        raise bad_buffer(source, length, "src", selection.dpus[0])
    _parallel(symbol, flags)
    hosts = host_addresses([source]) * selection.count
    perform(selection, where, hosts, "src", _JOBS[symbol.memory, True, True], flags)


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
    if flags.direct:
        admit(selection.dpus, where)
    else:
        selection.wait()
    if not target and length:
        raise bad_buffer(0, length, "dst", selection.dpus[0])
    hosts = host_addresses([target])
    Copy(where, selection.dpus, selection.slots, hosts, "dst").run()


def _parallel(symbol: Symbol, flags: Flags) -> None:
    if flags.parallel and symbol.memory != "wram":
        raise error(
            Status.DPU_ERR_INVALID_PARALLEL_MEMORY_TRANSFER,
            f"DPU_XFER_PARALLEL with a symbol in {symbol.memory.upper()}; it is for WRAM",
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
    selection: Selection, to_dpu: bool, symbol: Symbol, offset: int, length: int, flags: Flags
) -> None:
    """Copies between each DPU and the buffer prepared for it; DPUs without one are left out.

    The buffers are used up unless DPU_XFER_NO_RESET is given.
    """
    where = place(selection, symbol, offset, length, to_dpu, "dpu_push_xfer_symbol")
    _parallel(symbol, flags)
    parts = [(rank.prepared, selection.indexes(rank)) for rank in selection.ranks]
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
    if not flags.no_reset:
        for buffers, indexes in parts:
            for number in indexes:
                buffers[number] = 0
    job = _JOBS[symbol.memory, to_dpu, False]
    perform(selection, where, hosts, "the prepared buffer", job, flags)
