"""The table of ``cudla-sim upmem time``, from the JSON of ``upmem.timing.ledger``."""

from __future__ import annotations

from typing import Any

_HEAD = f"{'step':24} {'DPUs':>5} {'bytes':>13} {'cycles':>12} {'IPC':>5} {'DMA':>5} {'ms':>11}"
FULL = 11
"""Tasklets that fill the pipeline."""


def table(found: dict[str, Any], tasklets: bool = False) -> list[str]:
    """Lines: a step each, with what would make a launch faster, and the sum."""
    lines = [_HEAD]
    for step in found["steps"]:
        if step["step"] == "transfer":
            lines.append(
                f"{_transfer(step['kind']):24} {step['dpus']:5} {step['bytes']:13,} {'':12} {'':5} "
                f"{'':5} {step['seconds'] * 1e3:11.3f}"
            )
        else:
            lines += _launch(step, tasklets)
    lines.append(f"{'all':24} {'':50} {found['seconds'] * 1e3:11.3f}")
    return lines


def _transfer(kind: str) -> str:
    return {"to": "copy to DPUs", "from": "copy from DPUs", "broadcast": "broadcast"}[kind]


def step_name(step: dict[str, Any]) -> str:
    """``copy to DPUs``, ``broadcast``, ``launch NAME``."""
    if step["step"] == "transfer":
        return _transfer(step["kind"])
    return f"launch {step['program'].rsplit('/', 1)[-1]}"


def _launch(step: dict[str, Any], tasklets: bool) -> list[str]:
    from ...upmem.timing.ledger import WITHOUT_COUNT

    name = step_name(step)[:24]
    cycles = step["cycles"]
    if cycles is None:
        return [f"{name:24} {step['dpus']:5} {WITHOUT_COUNT}"]
    ipc, busy = step["instructions"] / cycles, step["engine_cycles"] / cycles
    lines = [
        f"{name:24} {step['dpus']:5} {_moved(step):13,} {cycles:12,} {ipc:5.2f} {busy:5.0%} "
        f"{step['seconds'] * 1e3:11.3f}"
    ]
    if step["least_cycles"] < 0.9 * cycles:
        lines.append(
            f"    DPU {step['slowest']} is the slowest, the fastest takes {step['least_cycles']:,}"
        )
    if tasklets:
        lines += _tasklets(step["tasklets"])
    return [*lines, *(f"    {hint}" for hint in hints(step))]


def _moved(step: dict[str, Any]) -> int:
    return sum(t["dma_read"] + t["dma_written"] for t in step["tasklets"])


def _tasklets(each: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"    {'tasklet':>7} {'instructions':>12} {'of it retries':>13} {'DMA wait':>10} "
        f"{'stopped':>10} {'end':>12}"
    ]
    for number, t in enumerate(each):
        lines.append(
            f"    {number:7} {t['half_instructions'] // 2:12,} {t['retries']:13,} "
            f"{t['dma_cycles']:10,} {t['wait_cycles']:10,} {t['end_cycles']:12,}"
        )
    return lines


def hints(step: dict[str, Any]) -> list[str]:
    """What would make the launch faster, as the figures of its slowest DPU show it."""
    cycles, each = step["cycles"], step["tasklets"]
    instructions = step["instructions"]
    ipc, busy = instructions / cycles, step["engine_cycles"] / cycles
    retries = sum(t["retries"] for t in each)
    stopped = sum(t["wait_cycles"] for t in each) / (cycles * len(each))
    ends = [t["end_cycles"] for t in each]
    found = []
    if busy > 0.85:
        found.append("bound by the DMA engine: larger blocks, or fewer bytes")
    elif ipc > 0.9:
        found.append("bound by instructions: the pipeline is full")
    elif len(each) < FULL:
        what = "tasklets fill" if len(each) > 1 else "tasklet fills"
        found.append(f"{len(each)} {what} {len(each)}/{FULL} of the pipeline: use more")
    if retries > 0.1 * instructions:
        found.append(f"{retries / instructions:.0%} of the instructions wait for mutexes")
    if stopped > 0.2:
        found.append(f"tasklets stand {stopped:.0%} of the time at barriers and handshakes")
    if min(ends) < 0.8 * max(ends):
        found.append("tasklets end at different times: share the work out more evenly")
    return found
