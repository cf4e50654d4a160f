"""Sections of a page for NVDLA: loadables and register traces, timed by the pipeline model."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...core import untrusted
from ...nvdla.inspect import describe
from ...nvdla.loadable import Loadable
from ...nvdla.task_report import LayerRecord
from ...nvdla.timing.parameters import Surroundings
from ...nvdla.timing.pipeline import TimedOperation
from ...nvdla.timing.runs import TimedRun
from . import figures, loadable_graph
from .page import Cell, ReportError, Section, Table, number

_COLUMNS = [
    ("#", "number"),
    ("unit", "text"),
    ("shapes (c x h x w)", "text"),
    ("precision", "text"),
    ("start", "number"),
    ("cycles", "number"),
    ("share", "percent"),
    ("bound by", "text"),
    ("MACs used", "percent"),
    ("bytes read", "number"),
    ("bytes written", "number"),
]


def of_loadable(
    loadable: Loadable, run: TimedRun, around: Surroundings, layers: Iterable[LayerRecord] = ()
) -> list[Section]:
    """Everything known of a loadable; ``layers``: what ran, where it was run."""
    description = describe(loadable)
    names = {(item["task"], item["index"]): item["summary"] for item in description["layers"]}
    hardware = [layer for layer in layers if not layer.unit.startswith("EMU")]
    saturated = {
        o.index: layer.saturated for o, layer in zip(run.operations, hardware, strict=False)
    }
    return [
        _summary(run, around),
        _timeline(run),
        _table(run, names, saturated),
        loadable_graph.section(description, run),
        _memory(description, run),
    ]


def of_run(run: TimedRun, around: Surroundings) -> list[Section]:
    """A register trace: times, units, shapes."""
    return [_summary(run, around), _timeline(run), _table(run, {}, {})]


def _summary(run: TimedRun, around: Surroundings) -> Section:
    macs = sum(o.macs for o in run.operations)
    read = sum(o.bytes_read for o in run.operations)
    written = sum(o.bytes_written for o in run.operations)
    ms = run.cycles / around.clock_mhz / 1e3
    facts = [
        ("configuration", run.config),
        ("cycles", number(run.cycles)),
        (f"ms at {around.clock_mhz:g} MHz", number(ms)),
        ("a second", number(1000 / ms) if ms else "-"),
        ("operations", number(len(run.operations))),
        ("MACs", number(macs)),
        ("MACs used", f"{run.mac_utilization:.1%}"),
        ("bytes read", number(read)),
        ("bytes written", number(written)),
    ]
    text = [
        f"Memory: {around.latency} cycles latency, "
        + (f"{around.bytes_per_cycle:g} bytes a cycle." if around.bytes_per_cycle
           else "the bandwidth of the port.")
        + " Times are estimates of the pipeline model; docs/timing.md says how far to trust them."
    ]  # fmt: skip
    software = sum(o.bound == "software" for o in run.operations)
    if software and not around.software_us:
        text.append(
            f"{software} software operations take no time here; --software-us gives them one."
        )
    return Section("Summary", "summary", text, facts)


def bars(run: TimedRun) -> list[figures.Bar]:
    """One for each unit of each operation."""
    return [
        figures.Bar(unit, o.start, o.end, f"bound by {o.bound}", _hover(o), str(o.index))
        for o in run.operations
        for unit in o.unit.split("+")
    ]


def _timeline(run: TimedRun) -> Section:
    every = bars(run)
    if not every:
        return Section("Timeline", "timeline")
    text = [
        "Drag to zoom, double-click for everything. Units of a fused chain work together. A click "
        "on a bar, a box of the graph or a row of the table chooses the layer in all three."
    ]
    shown, left = figures.longest(every)
    if left:
        text.append(f"The {left:,} shortest of {len(every):,} bars are left out.")
    return Section("Timeline", "timeline", text, figures=[figures.timeline(shown, "cycles")])


def _hover(o: TimedOperation) -> str:
    return (
        f"operation {o.index}: {o.unit} {o.shapes} {o.precision}<br>{o.start:,} to {o.end:,}, "
        f"{o.end - o.start:,} cycles, bound by {o.bound}<br>{o.bytes_read:,} bytes read, "
        f"{o.bytes_written:,} written, MACs used {o.mac_utilization:.1%}"
    )


def _table(run: TimedRun, names: dict[tuple[int, int], str], saturated: dict[int, int]) -> Section:
    more = [("saturated", "number")] if saturated else []
    more += [("what", "text")] if names else []
    rows: list[list[Cell]] = []
    for o in run.operations:
        what = "; ".join(filter(None, (names.get((o.task, i), "") for i in o.layers)))
        row: list[Cell] = [
            *(o.index, o.unit, o.shapes, o.precision, o.start, o.end - o.start),
            *((o.end - o.start) / max(run.cycles, 1), o.bound),
            *(o.mac_utilization if o.macs else None, o.bytes_read, o.bytes_written),
        ]
        row += [saturated.get(o.index)] if saturated else []
        rows.append([*row, what] if names else row)
    keys = [str(o.index) for o in run.operations]
    tables = [Table([*_COLUMNS, *more], list(rows), keys)] if rows else []
    section = Section("Layers", "layers", tables=tables)
    if rows and names and not saturated:
        section.text.append("Saturated elements are known after a run: give the inputs (--input).")
    return section


def _memory(description: dict[str, Any], run: TimedRun) -> Section:
    """Each cube from its first write to its last read, in the memory object where it lies."""
    boxes = _boxes(description, run)
    if not boxes:
        return Section("Memory over time", "memory")
    text = [
        "Memory objects lie one behind the other, in the order of their numbers. A cube is there "
        "from the operation that first touches it to the last one that does; inputs and weights "
        "from the start, outputs to the end."
    ]
    return Section("Memory over time", "memory", text, figures=[figures.memory(boxes, "cycles")])


def _boxes(description: dict[str, Any], run: TimedRun) -> list[figures.Box]:
    bases, at, flags = {}, 0, {}
    for item in description["memory"]:
        bases[item["index"]], flags[item["index"]] = at, item["flags"]
        at += item["size"]
    when = {(o.task, i): o for o in run.operations for i in o.layers}
    tasks = {t["index"]: t["addresses"] for t in description["tasks"]}
    lives: dict[tuple[int, int, int], list[tuple[str, str, TimedOperation]]] = {}
    for layer in description["layers"]:
        operation = when.get((layer["task"], layer["index"]))
        for kind, cube in layer["cubes"].items():
            addresses = tasks[layer["task"]]
            if operation is None or cube["memory"] == "HW":
                continue
            if 0 <= cube["address"] < len(addresses):
                place = addresses[cube["address"]], cube["offset"], cube["size"]
                text = f"{layer['index']} {layer['unit']} {kind}"
                lives.setdefault(place, []).append((kind, text, operation))
    boxes = []
    for (memory, offset, size), uses in lives.items():
        if memory not in bases or size <= 0:
            continue
        kinds = {kind for kind, *_ in uses}
        first = min(o.start for *_, o in uses)
        last = max(o.end for *_, o in uses)
        group = "activations"
        if "INPUT" in flags[memory]:
            group, first = "inputs", 0
        elif "OUTPUT" in flags[memory]:
            group, last = "outputs", run.cycles
        elif "dst" not in kinds and kinds != {"src"}:
            group, first = "weights and parameters", 0
        low = bases[memory] + offset
        text = "<br>".join([f"memory {memory} + {offset:,}: {size:,} bytes",
                            *(t for _, t, _ in uses[:8])])  # fmt: skip
        boxes.append(figures.Box(first, last, low, low + size, group, text))
    return boxes


def accuracy(file: Path) -> Section:
    """What ``cudla-sim compile --accuracy --report FILE`` found of the layers.

    Raises ReportError for another file.
    """
    try:
        found = untrusted.read_json(file)["accuracy"]["layers"]
        if not found:
            return Section("Accuracy", "accuracy")
        keys = list(found[0])
        rows = [[_plain(row.get(key)) for key in keys] for row in found]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(
            f"{file}: no report with accuracy, as cudla-sim compile --accuracy --report FILE "
            f"writes it ({type(error).__name__}: {error})"
        ) from None
    columns = [
        (key, "text" if any(isinstance(r[i], str) for r in rows) else "number")
        for i, key in enumerate(keys)
    ]
    text = ["Each tensor against onnxruntime's float result, as the compiler found it."]
    return Section("Accuracy", "accuracy", text, tables=[Table(columns, list(rows))])


def _plain(value: Any) -> Cell:
    return value if isinstance(value, int | float | str | None) else str(value)
