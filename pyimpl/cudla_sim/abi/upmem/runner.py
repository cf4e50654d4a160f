"""Booting and polling ranks and DPUs (dpu_runner.h), resetting them (dpu_config.h), and commands to
the backend (dpu_custom.h)."""

from __future__ import annotations

from typing import Any

from ...upmem import launch as launching
from ...upmem.rank import Dpu, Rank, Selection
from .family import Status, error, resolve_dpu, resolve_rank, result, upmem

_BOOT_THREAD = 0


def _boot(selection: Selection) -> None:
    done, _ = launching.status(selection)
    if not done:
        raise error(Status.DPU_ERR_DPU_ALREADY_RUNNING, "the DPUs still run their last launch")
    launching.launch(selection, asynchronous=True)


def _of_dpu(dpu: Any) -> Selection:
    found: Dpu = resolve_dpu(dpu)
    if not found.enabled:
        raise error(Status.DPU_ERR_DPU_DISABLED, f"DPU {found.name} is disabled")
    return Selection([found.rank], found)


def _of_rank(rank: Any) -> Selection:
    found: Rank = resolve_rank(rank)
    return Selection([found])


@upmem.export("dpu_boot_rank")
def boot_rank(rank: Any) -> None:
    _boot(_of_rank(rank))


@upmem.export("dpu_boot_dpu")
def boot_dpu(dpu: Any) -> None:
    _boot(_of_dpu(dpu))


def _only_boot(thread: int, resume: bool) -> None:
    if thread != _BOOT_THREAD or resume:
        raise error(
            Status.DPU_ERR_INVALID_THREAD_ID,
            f"UnsupportedOperation: thread {thread}, should_resume {bool(resume)}; programs start "
            "with DPU_BOOT_THREAD (0) from their beginning",
        )


@upmem.export("dpu_launch_thread_on_rank")
def launch_thread_on_rank(rank: Any, thread: int, resume: bool) -> None:
    chosen = _of_rank(rank)
    _only_boot(thread, resume)
    _boot(chosen)


@upmem.export("dpu_launch_thread_on_dpu")
def launch_thread_on_dpu(dpu: Any, thread: int, resume: bool) -> None:
    chosen = _of_dpu(dpu)
    _only_boot(thread, resume)
    _boot(chosen)


@upmem.export("dpu_poll_rank")
def poll_rank(rank: Any) -> None:
    _of_rank(rank)


@upmem.export("dpu_poll_dpu")
def poll_dpu(dpu: Any, running: Any, fault: Any) -> None:
    result(running, "dpu_is_running")
    result(fault, "dpu_is_in_fault")
    done, fault[0] = launching.status(_of_dpu(dpu))
    running[0] = not done


@upmem.export("dpu_status_rank")
def status_rank(rank: Any, done: Any, fault: Any) -> None:
    result(done, "done")
    result(fault, "fault")
    done[0], fault[0] = launching.status(_of_rank(rank))


@upmem.export("dpu_status_dpu")
def status_dpu(dpu: Any, done: Any, fault: Any) -> None:
    result(done, "done")
    result(fault, "fault")
    done[0], fault[0] = launching.status(_of_dpu(dpu))


# Commands tell a backend what happens (a reset, a load, a launch), which this one knows, and set up
# test benches that it does not have: the SDK's for hardware takes them all, too.
@upmem.export("dpu_custom_for_rank")
def custom_for_rank(rank: Any, command: int, args: Any) -> None:
    _of_rank(rank)


@upmem.export("dpu_custom_for_dpu")
def custom_for_dpu(dpu: Any, command: int, args: Any) -> None:
    _of_dpu(dpu)


def _reset(selection: Selection) -> None:
    selection.wait()
    with selection.turn():
        for dpu in selection.dpus:
            dpu.program = None
            dpu.fault = None


@upmem.export("dpu_reset_rank")
def reset_rank(rank: Any) -> None:
    _reset(_of_rank(rank))


@upmem.export("dpu_reset_dpu")
def reset_dpu(dpu: Any) -> None:
    _reset(_of_dpu(dpu))


upmem.unsupported("dpu_get_run_context", because="the run context is private to the real library")
