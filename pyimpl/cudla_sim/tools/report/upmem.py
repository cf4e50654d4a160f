"""Sections of a page for programs of UPMEM's DPUs, from the JSON of ``upmem.timing.ledger``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...upmem.timing.ledger import WITHOUT_COUNT
from ..upmem import profile as upmem_profile
from ..upmem import times as upmem_time
from . import figures
from .page import Cell, Section, Table, number

_HEATED = 12
"""Launches whose DPUs are drawn one by one; further ones are in the table."""


def of_times(found: dict[str, Any]) -> list[Section]:
    """``found``: what ``CUDLA_SIM_UPMEM_TIMES`` or ``cudla-sim upmem report --json`` wrote."""
    steps = found["steps"]
    launches = [s for s in steps if s["step"] == "launch"]
    return [
        _summary(found, launches),
        _timeline(steps),
        _steps(steps),
        heat([(_name(n, s), s.get("dpu_cycles") or {}) for n, s in enumerate(launches)]),
        _dpus(launches),
        _tasklets(launches),
        _classes(launches),
        _lines(launches),
    ]


def _name(index: int, launch: dict[str, Any]) -> str:
    return f"launch {index} of {launch['program'].rsplit('/', 1)[-1]}"


def _summary(found: dict[str, Any], launches: list[dict[str, Any]]) -> Section:
    counted = [s for s in launches if s["cycles"]]
    kernel = sum(s["cycles"] / s["clock_mhz"] / 1e3 for s in counted)
    facts = [
        ("ms, one step after the other", number(found["seconds"] * 1e3)),
        ("ms in DPU programs", number(kernel)),
        ("launches", number(len(launches))),
        ("transfers", number(len(found["steps"]) - len(launches))),
        ("DPUs at most", number(max((s["dpus"] for s in found["steps"]), default=0))),
    ]
    text = ["Times are estimates of the DPU model; docs/timing.md says how far to trust them."]
    if len(counted) < len(launches):
        text.append(f"{len(launches) - len(counted)} launches were {WITHOUT_COUNT}.")
    hints = [h for s in counted for h in upmem_profile.hints(s)]
    text += dict.fromkeys(hints)
    return Section("Summary", "summary", text, facts)


def _timeline(steps: Sequence[dict[str, Any]]) -> Section:
    bars, at = [], 0.0
    for step in steps:
        ms = (step["seconds"] or 0.0) * 1e3
        launch = step["step"] == "launch"
        name = upmem_time.step_name(step)
        text = f"{name}: {ms:.4g} ms on {step['dpus']} DPUs"
        kind = "launch" if launch else name
        bars.append(figures.Bar("DPUs" if launch else "transfers", at, at + ms, kind, text))
        if launch and step["cycles"]:
            start = at + ms - step["cycles"] / step["clock_mhz"] / 1e3
            for number_, t in enumerate(step["tasklets"]):
                end = start + t["end_cycles"] / step["clock_mhz"] / 1e3
                text = f"tasklet {number_} of DPU {step['slowest']}: {t['end_cycles']:,} cycles"
                bars.append(figures.Bar(f"tasklet {number_}", start, end, "tasklet", text))
        at += ms
    if not bars:
        return Section("Timeline", "timeline")
    shown, left = figures.longest(bars)
    text_ = ["Steps one after the other. Drag to zoom, double-click for everything."]
    if left:
        text_.append(f"The {left:,} shortest of {len(bars):,} bars are left out.")
    return Section("Timeline", "timeline", text_, figures=[figures.timeline(shown, "ms")])


def _steps(steps: Sequence[dict[str, Any]]) -> Section:
    columns = [
        *(("#", "number"), ("step", "text"), ("DPUs", "number"), ("bytes", "number")),
        *(("cycles", "number"), ("fastest DPU", "number"), ("instructions", "number")),
        *(("instructions a cycle", "number"), ("DMA engine busy", "percent"), ("ms", "number")),
    ]
    rows: list[Sequence[Cell]] = []
    for index, s in enumerate(steps):
        ms = None if s["seconds"] is None else s["seconds"] * 1e3
        if s["step"] == "transfer":
            rows.append([index, upmem_time.step_name(s), s["dpus"], s["bytes"], *[None] * 5, ms])
            continue
        cycles = s["cycles"]
        moved = sum(t["dma_read"] + t["dma_written"] for t in s["tasklets"])
        rows.append([
            *(index, upmem_time.step_name(s), s["dpus"], moved, cycles, s["least_cycles"]),
            s["instructions"] if cycles else None,
            s["instructions"] / cycles if cycles else None,
            s["engine_cycles"] / cycles if cycles else None,
            ms,
        ])  # fmt: skip
    text = ["Bytes of a launch are what its slowest DPU moves between MRAM and WRAM."]
    return Section("Steps", "layers", text, tables=[Table(columns, rows)] if rows else [])


def heat(launches: Sequence[tuple[str, Mapping[str, int]]]) -> Section:
    """Cycles of every DPU, ranks and chips down, DPUs of a chip across."""
    found, text = [], []
    drawn = [(name, cycles) for name, cycles in launches if cycles]
    for name, cycles in drawn[:_HEATED]:
        places = sorted(tuple(int(x) for x in dpu.split(".")) for dpu in cycles)
        rows = list(dict.fromkeys(p[:2] for p in places))
        columns = sorted({p[2] for p in places})
        cells = [
            [cycles.get(f"{rank}.{chip}.{member}") for member in columns] for rank, chip in rows
        ]
        labels = [f"rank {rank} chip {chip}" for rank, chip in rows]
        members = [f"DPU {m}" for m in columns]
        figure = figures.heat_map(labels, members, cells, "cycles", name)
        found.append(figure)
    if len(drawn) > _HEATED:
        text.append(f"The first {_HEATED} of {len(drawn)} launches.")
    return Section("DPUs", "heat", text, figures=found)


def _dpus(launches: Sequence[dict[str, Any]]) -> Section:
    """Each DPU of profiled launches."""
    columns = [
        *(("launch", "number"), ("DPU", "text"), ("cycles", "number"), ("instructions", "number")),
        *(("pipeline used", "percent"), ("DMA engine busy", "percent")),
        *(("bytes read", "number"), ("bytes written", "number")),
    ]
    rows: list[Sequence[Cell]] = []
    for index, launch in enumerate(launches):
        for d in (launch.get("profile") or {}).get("dpus", []):
            cycles = max(d["cycles"], 1)
            rows.append([
                *(index, d["dpu"], d["cycles"], d["instructions"]),
                *(d["instructions"] / cycles, d["engine_cycles"] / cycles),
                sum(t["dma_read"] for t in d["tasklets"]),
                sum(t["dma_written"] for t in d["tasklets"]),
            ])  # fmt: skip
    tables = [Table(columns, rows[: figures.MAX_BARS])] if rows else []
    return Section("Use of the DPUs", "dpus", tables=tables)


def _tasklets(launches: Sequence[dict[str, Any]]) -> Section:
    columns = [
        *(("launch", "number"), ("DPU", "text"), ("tasklet", "number")),
        *(("instructions", "number"), ("retries of locks", "number"), ("DMA wait", "number")),
        *(("stopped", "number"), ("end", "number"), ("bytes read", "number")),
        *(("bytes written", "number"),),
    ]
    names = list(dict.fromkeys(n for s in launches for n in upmem_profile.class_totals(s)))
    columns += [(name, "number") for name in names]
    rows: list[Sequence[Cell]] = []
    for index, launch in enumerate(launches):
        classes = {(d, n): c for d, n, c in upmem_profile.by_tasklet(launch)}
        for dpu, tasklets in upmem_profile.tasklets(launch):
            for n, t in enumerate(tasklets):
                rows.append([
                    *(index, dpu, n, t["half_instructions"] // 2, t["retries"]),
                    *(t["dma_cycles"], t["wait_cycles"], t["end_cycles"]),
                    *(t["dma_read"], t["dma_written"]),
                    *(classes.get((dpu, n), {}).get(name) for name in names),
                ])  # fmt: skip
    text = ["Waits are in cycles: for DMA, and stopped at barriers, handshakes and semaphores."]
    if not rows:
        return Section("Tasklets", "tasklets")
    return Section("Tasklets", "tasklets", text, tables=[Table(columns, rows[: figures.MAX_BARS])])


def _classes(launches: Sequence[dict[str, Any]]) -> Section:
    rows: list[Sequence[Cell]] = []
    for index, launch in enumerate(launches):
        totals = upmem_profile.class_totals(launch)
        every = sum(totals.values()) or 1
        rows += [[index, name, count, count / every] for name, count in totals.items()]
    columns = [
        *(("launch", "number"), ("class", "text")),
        *(("instructions", "number"), ("share", "percent")),
    ]
    return Section(
        "Instructions by class", "classes", tables=[Table(columns, rows)] if rows else []
    )


def _lines(launches: Sequence[dict[str, Any]]) -> Section:
    rows: list[Sequence[Cell]] = []
    for index, launch in enumerate(launches):
        for line in (launch.get("profile") or {}).get("lines", []):
            rows.append([
                *(index, f"{line['file'].rsplit('/', 1)[-1]}:{line['line']}"),
                *(line["function"], line["instructions"], line["share"], line.get("text", "")),
            ])  # fmt: skip
    columns = [
        *(("launch", "number"), ("line", "text"), ("function", "text")),
        *(("instructions", "number"), ("share", "percent"), ("source", "text")),
    ]
    return Section("Source lines", "lines", tables=[Table(columns, rows)] if rows else [])
