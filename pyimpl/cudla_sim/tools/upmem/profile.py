"""What launches of DPUs spent their instructions on, from the JSON of ``upmem.timing.ledger``: the
tables of ``cudla-sim upmem report``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

NO_PROFILE = (
    "no source lines: compile the DPU program with CUDLA_SIM_UPMEM_TIMING=profile in the "
    "environment (and clang)"
)
_SOFT = 0.3
"""A share of the instructions that is worth a hint."""
_SMALL_BLOCK = 256


def tasklets(launch: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """(DPU, times of its tasklets): of every DPU in a profile, else of the slowest one."""
    profile = launch.get("profile")
    if profile:
        for dpu in profile["dpus"]:
            yield dpu["dpu"], dpu["tasklets"]
    elif launch["tasklets"]:
        yield launch["slowest"], launch["tasklets"]


def by_tasklet(launch: dict[str, Any]) -> Iterator[tuple[str, int, dict[str, int]]]:
    """(DPU, tasklet, instructions by class) of a profile."""
    for dpu in (launch.get("profile") or {}).get("dpus", []):
        for number, classes in enumerate(dpu["classes"]):
            yield dpu["dpu"], number, classes


def class_totals(launch: dict[str, Any]) -> dict[str, int]:
    """Instructions of all DPUs by class, most first; {} without a profile."""
    profile = launch.get("profile")
    if not profile:
        return {}
    totals: dict[str, int] = {}
    for dpu in profile["dpus"]:
        for each in dpu["classes"]:
            for name, count in each.items():
                totals[name] = totals.get(name, 0) + count
    return dict(sorted(totals.items(), key=lambda item: -item[1]))


def add_source(found: dict[str, Any]) -> None:
    """Gives each line of the profiles its ``text``, where its file is still there."""
    for step in found["steps"]:
        for line in (step.get("profile") or {}).get("lines", []):
            line["text"] = _source(line["file"], line["line"])


def _source(file: str, line: int) -> str:
    lines = _read(file)
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


@lru_cache(maxsize=64)
def _read(file: str) -> list[str]:
    try:
        return Path(file).read_text(errors="replace").splitlines() if file else []
    except OSError:
        return []


def hints(launch: dict[str, Any]) -> list[str]:
    """What would make a launch faster."""
    from . import times as upmem_time

    found = upmem_time.hints(launch)
    found += _transfers(launch)
    totals = class_totals(launch)
    every = sum(totals.values()) or 1
    shares = {name: count / every for name, count in totals.items()}
    if shares.get("multiply and divide", 0) > _SOFT:
        found.append(
            f"{shares['multiply and divide']:.0%} of the instructions multiply and divide: a "
            "product of bytes is one instruction, of 32 bits a routine; powers of two are shifts"
        )
    if shares.get("floating point", 0) > _SOFT:
        found.append(
            f"{shares['floating point']:.0%} of the instructions are floating point, which is "
            "software on a DPU: use integers or fixed point"
        )
    if shares.get("waiting for locks", 0) > 0.1:
        found.append(
            "tasklets fight for locks: hold them for less, or more locks for parts of the data"
        )
    return found


def _transfers(launch: dict[str, Any]) -> list[str]:
    each, cycles = launch["tasklets"], launch["cycles"]
    count = sum(t.get("dma_transfers", 0) for t in each)
    if not count:
        return []
    block = sum(t["dma_read"] + t["dma_written"] for t in each) / count
    waits = sum(t["dma_cycles"] for t in each) / (cycles * len(each))
    if block >= _SMALL_BLOCK or waits < 0.1:
        return []
    return [
        f"DMA moves {block:.0f} bytes at a time and tasklets wait for it {waits:.0%} of the time: "
        "larger blocks (up to 2048 bytes) share the latency of 77 cycles"
    ]


def table(found: dict[str, Any], lines: int = 10, every: bool = False) -> list[str]:
    """Lines for people; ``lines``: source lines of a launch, ``every``: all DPUs' tasklets."""
    from ...upmem.timing.ledger import WITHOUT_COUNT

    result = []
    launches = [s for s in found["steps"] if s["step"] == "launch"]
    for number, launch in enumerate(launches):
        result.append(f"launch {number} of {launch['program']}: {launch['dpus']} DPUs")
        if launch["cycles"] is None:
            result.append(f"  {WITHOUT_COUNT}")
            continue
        result += _dpus(launch)
        result += _tasklets(launch, every)
        result += _classes(launch, every)
        result += _lines(launch, lines)
        result += [f"  hint: {hint}" for hint in hints(launch)]
    if not launches:
        result.append("no launch")
    return result


_HEAD = (
    f"  {'DPU':>10} {'cycles':>12} {'instructions':>13} {'pipeline':>9} {'DMA busy':>9} "
    f"{'bytes read':>12} {'written':>12}"
)


def _dpus(launch: dict[str, Any]) -> list[str]:
    """The slowest and the fastest DPU, and how the others lie between."""
    profile = launch.get("profile")
    if not profile:
        own = {"dpu": launch["slowest"], **{k: launch[k] for k in _OWN}}
        return [_HEAD, _dpu(own)]
    order = sorted(profile["dpus"], key=lambda d: (-d["cycles"], d["dpu"]))
    shown = [*order[:4], *order[-1:]] if len(order) > 5 else order
    rows = [_dpu(d) for d in shown]
    if len(order) > 5:
        rows.insert(4, f"  {'...':>10} {len(order) - 5} more")
    return [_HEAD, *rows]


_OWN = "cycles", "instructions", "engine_cycles", "tasklets"


def _dpu(d: dict[str, Any]) -> str:
    cycles = max(d["cycles"], 1)
    read = sum(t["dma_read"] for t in d["tasklets"])
    written = sum(t["dma_written"] for t in d["tasklets"])
    return (
        f"  {d['dpu']:>10} {d['cycles']:12,} {d['instructions']:13,} "
        f"{d['instructions'] / cycles:9.1%} {d['engine_cycles'] / cycles:9.1%} {read:12,} "
        f"{written:12,}"
    )


def _tasklets(launch: dict[str, Any], every: bool) -> list[str]:
    result = [
        f"  {'DPU':>10} {'tasklet':>7} {'instructions':>13} {'lock retries':>13} {'DMA wait':>10} "
        f"{'stopped':>10} {'end':>12} {'read':>10} {'written':>10}"
    ]
    for dpu, each in tasklets(launch):
        if dpu != launch["slowest"] and not every:
            continue
        result += [
            f"  {dpu:>10} {n:7} {t['half_instructions'] // 2:13,} {t['retries']:13,} "
            f"{t['dma_cycles']:10,} {t['wait_cycles']:10,} {t['end_cycles']:12,} "
            f"{t['dma_read']:10,} {t['dma_written']:10,}"
            for n, t in enumerate(each)
        ]
    return result


def _classes(launch: dict[str, Any], all_dpus: bool) -> list[str]:
    totals = class_totals(launch)
    if not totals:
        return [f"  {NO_PROFILE}"]
    every = sum(totals.values()) or 1
    result = [f"  {'instructions of all DPUs':24} {'count':>14} {'share':>7}"]
    result += [f"  {n:24} {count:14,} {count / every:7.1%}" for n, count in totals.items()]
    result.append(f"  {'DPU':>10} {'tasklet':>7} " + " ".join(f"{_short(n):>13}" for n in totals))
    result += [
        f"  {dpu:>10} {number:7} " + " ".join(f"{classes.get(n, 0):13,}" for n in totals)
        for dpu, number, classes in by_tasklet(launch)
        if all_dpus or dpu == launch["slowest"]
    ]
    return result


def _short(name: str) -> str:
    return name if len(name) <= 13 else name[:12] + "."


def _lines(launch: dict[str, Any], count: int) -> list[str]:
    lines = (launch.get("profile") or {}).get("lines", [])[:count]
    if not lines:
        return []
    result = [f"  {'source line':32} {'instructions':>14} {'share':>7}  source"]
    for line in lines:
        where = f"{line['file'].rsplit('/', 1)[-1]}:{line['line']} {line['function']}"
        result.append(
            f"  {where[:32]:32} {line['instructions']:14,} {line['share']:7.1%}  "
            f"{line.get('text', '')[:60]}".rstrip()
        )
    return result
