"""Running the loaded programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter_ns

from ..constants.dpu_protocol import FaultKind
from ..core import explain
from ..core.hardware import Part, Step
from ..core.text import tell
from .errors import DpuError, Status, error
from .memory import PROFILE_OFFSET
from .program import Program
from .rank import Dpu, Rank, Selection, submit_all
from .system import LaunchRecord
from .timing.ledger import WITHOUT_COUNT, Launch
from .workers.protocol import Times

_FAULTS = {"upmem/launch": Status.DPU_ERR_DPU_FAULT}
_REPORTED_FAULTS = 8
"""DPUs in fault that are named one by one; the others are counted."""


def launch(selection: Selection, asynchronous: bool) -> None:
    """Boots all DPUs of a set; synchronous: and waits for them.

    Raises DpuError: DPU_ERR_NO_PROGRAM_LOADED; synchronous also DPU_ERR_DPU_FAULT (a DPU that
    faulted stays in fault until its next dpu_load; the others end normally).
    """
    dpus = selection.dpus
    for dpu in dpus:
        if dpu.program is None:
            raise error(
                Status.DPU_ERR_NO_PROGRAM_LOADED, f"DPU {dpu.name} has no program; call dpu_load"
            )
    if not asynchronous:
        selection.wait()
        with selection.turn():
            run(dpus)
        return
    job = "launch_dpu" if selection.dpu is not None else "launch_rank"
    called = selection.ranks[0].machine.hardware.now
    works: list[tuple[Rank, Callable[[], None]]] = [
        (rank, partial(_run_queued, rank, selection.of(rank), called)) for rank in selection.ranks
    ]
    _submit(job, works)


def _submit(job: str, works: list[tuple[Rank, Callable[[], None]]]) -> None:
    """Queues launches, which ``Rank.launches`` counts. Their work is done though an earlier job
    failed: a launch that is left out is over, too."""
    ranks = [rank for rank, _ in works]
    _count(ranks, 1)
    try:
        submit_all(job, works, always=True)
    except DpuError:  # nothing was queued
        _count(ranks, -1)
        raise


def _count(ranks: list[Rank], change: int) -> None:
    for rank in ranks:
        with rank.lock:
            rank.launches += change


def _run_queued(rank: Rank, dpus: list[Dpu], called: float) -> None:
    try:
        if not rank.freed and not rank.stopped:
            run(dpus, called)
    finally:
        _count([rank], -1)


def resume_later(dpu: Dpu) -> None:
    """A DPU that has stopped goes on, as an asynchronous launch. Hardware times leave it out."""
    from .debug.control import stays

    rank = dpu.rank
    with rank.lock:
        dpu.goes_on, dpu.stopped_by, dpu.fault = True, dpu.fault, None
    try:
        _submit("launch_dpu", [(rank, partial(_resume_queued, dpu))])
    except BaseException:
        stays(dpu)
        raise


def _resume_queued(dpu: Dpu) -> None:
    from .debug.control import RESUME, execute, stays  # only for debuggers

    rank = dpu.rank
    try:
        if rank.freed or rank.stopped:
            stays(dpu)
            return
        with rank.lock:
            wanted, dpu.goes_on = dpu.goes_on, False
        if wanted:
            _running([rank], 1)
            try:
                dpu.fault = execute(dpu, RESUME)
            finally:
                _running([rank], -1)
            if dpu.fault is not None and dpu.fault.fault != FaultKind.STOPPED:
                _report([dpu])
                raise error(Status.DPU_ERR_DPU_FAULT, f"DPU {dpu.name}: {dpu.fault.text}")
    finally:
        _count([rank], -1)


def run(dpus: list[Dpu], called: float | None = None) -> None:
    """Runs DPUs to their end; *called*: the hardware's time at which queued work was asked for.

    Raises DpuError(DPU_ERR_DPU_FAULT) when one is in fault."""
    stuck = next((d for d in dpus if d.fault is not None), None)
    if stuck is not None:
        assert stuck.fault is not None
        raise error(
            Status.DPU_ERR_DPU_FAULT,
            f"DPU {stuck.name} is still in fault from an earlier launch ({stuck.fault.text}); "
            "dpu_load makes it usable again",
        )
    chosen = dpus[0].rank.machine.process.faults.chosen(_FAULTS)
    if chosen is not None:
        raise error(chosen[1], f"made to fail by the injected fault {chosen[0]}")
    programs: dict[Program, list[Dpu]] = {}
    for dpu in dpus:
        if dpu.program is not None:
            programs.setdefault(dpu.program, []).append(dpu)
    faulted: list[Dpu] = []
    ranks = list({dpu.rank.id: dpu.rank for dpu in dpus}.values())
    _running(ranks, 1)
    try:
        for program, members in programs.items():
            faulted += _run_program(program, members, called)
    finally:
        _running(ranks, -1)
    if faulted:
        _report([d for d in faulted if not d.rank.freed])
        first = faulted[0]
        why = first.fault.text if first.fault is not None else ""
        raise error(
            Status.DPU_ERR_DPU_FAULT,
            f"{len(faulted)} of {len(dpus)} DPUs are in fault; DPU {first.name}: {why}",
        )


def _running(ranks: list[Rank], change: int) -> None:
    for rank in ranks:
        with rank.lock:
            rank.running += change


def _run_under_debugger(program: Program, dpus: list[Dpu]) -> Dpu | None:
    """The DPU, when one is to be debugged; it has ended then."""
    if program.code is None:
        return None
    for dpu in dpus:
        port = dpu.rank.machine.gdb_port(dpu.name)
        if port is not None:
            from .debug.gdb.server import serve_launch  # sockets: only for who asks

            dpu.fault = serve_launch(dpu, port)
            return dpu
    return None


def _run_program(program: Program, dpus: list[Dpu], called: float | None) -> list[Dpu]:
    debugged = _run_under_debugger(program, dpus)
    if debugged is None:
        return _run_all(program, dpus, called)
    rest = [dpu for dpu in dpus if dpu is not debugged]
    faulted = _run_all(program, rest, called) if rest else []
    return [debugged, *faulted] if debugged.fault is not None else faulted


def _run_all(program: Program, dpus: list[Dpu], called: float | None) -> list[Dpu]:
    machine = dpus[0].rank.machine
    by_slot = {d.slot: d for d in dpus}
    begin = perf_counter_ns()
    ended = machine.store.launch(
        program.path, program.image, list(by_slot), machine.checks, machine.timed
    )
    faulted = []
    for outcome in ended.faulted:
        dpu = by_slot[outcome.number]
        for warning in outcome.warnings:
            tell(f"cudla-sim: DPU {dpu.name} '{program.path}': {warning}")
        if outcome.status == "fault":
            dpu.fault = outcome
            if outcome.fault != FaultKind.STOPPED:
                faulted.append(dpu)
    seconds = (perf_counter_ns() - begin) / 1e9
    times = {by_slot[slot].name: found for slot, found in ended.times.items()}
    noted = _note(program, dpus, times, called) if machine.timed else None
    cycles = noted.cycles if noted else None
    machine.launches.append(LaunchRecord(program.path, len(dpus), seconds, len(faulted), cycles))
    events = machine.process.events
    if events.subscribers:
        details = {"dpus": len(dpus), "program": program.path, "faults": len(faulted)}
        if noted:
            details |= {"cycles": noted.cycles, "hardware_seconds": noted.seconds}
        events.emit("launch", "dpu_launch", begin, details, "DPUs")
    return faulted


def _note(
    program: Program, dpus: list[Dpu], times: dict[str, Times], called: float | None
) -> Launch:
    """Adds a launch to the hardware times."""
    rank = dpus[0].rank
    ledger = rank.machine.hardware
    ranks = sorted({d.rank.id for d in dpus})
    profile = None
    if rank.machine.timing == "profile" and times:
        from .timing import profiling  # reads the program's file again: only on demand

        size = profiling.size(program.image)
        counters = {
            d.name: d.bytes(PROFILE_OFFSET, size).tobytes() for d in dpus if d.name in times
        }
        profile = profiling.collect(program.image, times, counters)
    made = ledger.launch(
        program.path, rank.profile.frequency_mhz, len(dpus), times, ranks, called, profile
    )
    if made.cycles is None:
        explain.remember(f"dpu_launch: {program.path!r} has no hardware time; {WITHOUT_COUNT}")
    else:
        assert made.seconds is not None
        name = f"launch {Path(program.path).name}"
        step = Step("DPUs", name, made.seconds, made.cycles, made.begin_s, made.overlap_s)
        start = made.seconds - made.cycles / (made.clock_mhz * 1e6)
        details = {
            "dpus": made.dpus,
            "instructions": made.instructions,
            "slowest": made.slowest,
            "dpu_cycles": made.dpu_cycles,
        }
        rank.machine.process.timeline.add(step, details, _parts(made, start))
    return made


def _parts(made: Launch, start: float) -> list[Part]:
    """Tracks of a launch: each rank up to its slowest DPU, each tasklet of the slowest DPU."""
    hertz = made.clock_mhz * 1e6
    ranks: dict[str, int] = {}
    for name, cycles in made.dpu_cycles.items():
        rank = name.split(".")[0]
        ranks[rank] = max(ranks.get(rank, 0), cycles)
    found = [
        Part(f"rank {rank}", Path(made.program).name, start, start + cycles / hertz)
        for rank, cycles in ranks.items()
    ]
    for number, t in enumerate(made.tasklets):
        details = {
            "instructions": t.half_instructions // 2,
            "retries": t.retries,
            "dma_cycles": t.dma_cycles,
            "wait_cycles": t.wait_cycles,
            "dma_read": t.dma_read,
            "dma_written": t.dma_written,
        }
        end = start + t.end_cycles / hertz
        found.append(Part(f"tasklet {number}", f"DPU {made.slowest}", start, end, details))
    return found


def _report(faulted: list[Dpu]) -> None:
    lines = []
    groups = _same_cause(faulted)
    for first, *others in groups[:_REPORTED_FAULTS]:
        assert first.fault is not None
        path = first.program.path if first.program else ""
        who = f"DPU {first.name} and {len(others)} more" if others else f"DPU {first.name}"
        are = "are" if others else "is"
        lines.append(f"cudla-sim: {who} '{path}' {are} in fault: {first.fault.text}")
    left = sum(map(len, groups[_REPORTED_FAULTS:]))
    if left:
        lines.append(f"cudla-sim: ... and {left} more DPUs in fault")
    tell("\n".join(lines))


def _same_cause(faulted: list[Dpu]) -> list[list[Dpu]]:
    """DPUs that were lost together, the others one by one: each of these has its own place."""
    groups: dict[tuple[str, str], list[Dpu]] = {}
    for dpu in faulted:
        assert dpu.fault is not None
        own = "" if dpu.fault.fault == FaultKind.WORKER else dpu.name
        groups.setdefault((own, dpu.fault.text), []).append(dpu)
    return list(groups.values())


def status(selection: Selection) -> tuple[bool, bool]:
    """(every DPU ended, any is in fault)."""
    done = all(rank.launches == 0 for rank in selection.ranks)
    fault = any(dpu.fault is not None for dpu in selection.dpus)
    return done, fault


def _ended(selection: Selection) -> list[tuple[str, DpuError]]:
    """Waits for all queued work of the set's ranks, and for operations of other threads on them;
    the jobs that failed since the last time. Callbacks that do not block the queues may go on."""
    selection.wait()
    with selection.turn():
        pass
    selection.ranks[0].machine.hardware.wait([rank.id for rank in selection.ranks])
    return [f for f in (rank.take_error() for rank in selection.ranks) if f is not None]


def ask(selection: Selection) -> tuple[bool, bool]:
    """``status`` as dpu_status answers it: after a complete dpu_sync, whose answer is dropped
    (dpu_runner.c of the SDK's library). So the DPUs have ended when it returns."""
    _ended(selection)
    return status(selection)


def sync(selection: Selection) -> None:
    """Waits for all queued work of the set's ranks.

    Raises DpuError with the word of the first job that failed since the last time; its low half
    is the plain status (DPU_ERR_DPU_FAULT for a fault).
    """
    from .errors import async_word

    failures = _ended(selection)
    if failures:
        job, cause = failures[0]
        raise DpuError(
            async_word(job or "launch_rank", cause.status), f"{job}: {cause.explanation}"
        )
