"""Sections of a page for a trace (``CUDLA_SIM_TRACE``): any program, with or without hardware
time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from ...core import untrusted
from . import figures, upmem
from .page import DAMAGED, Cell, Page, ReportError, Section, Table, number

HARDWARE = "hardware"


@dataclass
class Span:
    """One complete event; times in milliseconds from the first event of its process."""

    process: int
    track: str
    kind: str
    name: str
    begin: float
    end: float
    args: dict[str, Any]


@dataclass
class Trace:
    """Spans in the order of the file; ``arrows``: (process, track, ms, track, ms)."""

    spans: list[Span] = field(default_factory=list)
    arrows: list[tuple[int, str, float, str, float]] = field(default_factory=list)

    def of(self, kind: str) -> list[Span]:
        return [s for s in self.spans if s.kind == kind]


def read(file: Path) -> list[dict[str, Any]]:
    """The records of a trace in the array or object form of the trace event format; an array may
    lack its end. Raises ReportError."""
    try:
        text = untrusted.read_text(file)
    except (OSError, ValueError) as error:
        raise ReportError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    try:
        found = untrusted.parse_json(text)
    except untrusted.Unreadable:
        try:  # a program that was killed
            end = text.rfind("}") + 1
            found = untrusted.parse_json(re.sub(r",?\s*$", "]", text[:end]))
        except untrusted.Unreadable as error:
            raise ReportError(f"{file} {error}") from None
    records = found.get("traceEvents") if isinstance(found, dict) else found
    if not isinstance(records, list):
        raise ReportError(f"{file} is no trace: an array of events, or an object with traceEvents")
    return [r for r in records if isinstance(r, dict) and "ph" in r]


def decode(records: Sequence[dict[str, Any]]) -> Trace:
    """Raises ReportError for events that lack what the format demands."""
    names: dict[tuple[Any, Any], str] = {}
    starts: dict[Any, float] = {}
    try:
        for r in records:
            if r["ph"] == "M" and r.get("name") == "thread_name":
                names[r["pid"], r["tid"]] = str(r["args"]["name"])
            elif r["ph"] == "X":
                at = float(r["ts"])
                starts[r["pid"]] = min(starts.get(r["pid"], at), at)
        found = Trace()
        begun: dict[tuple[Any, Any], tuple[str, float]] = {}
        for r in records:
            if r["ph"] not in ("X", "s", "f"):
                continue
            pid, at = r["pid"], (float(r["ts"]) - starts.get(r["pid"], 0.0)) / 1e3
            track = names.get((pid, r["tid"]), f"thread {r['tid']}")
            if r["ph"] == "X":
                end = at + float(r.get("dur", 0)) / 1e3
                args = r.get("args") or {}
                if not isinstance(args, dict):
                    raise TypeError("args is no object")
                kind, name = str(r.get("cat", "")), str(r["name"])
                found.spans.append(Span(int(pid), track, kind, name, at, end, args))
            elif r["ph"] == "s":
                begun[pid, r["id"]] = track, at
            elif (pid, r["id"]) in begun:
                found.arrows.append((int(pid), *begun.pop((pid, r["id"])), track, at))
    except DAMAGED as error:
        text = f"an event of the trace is damaged: {type(error).__name__}: {error}"
        raise ReportError(text) from None
    return found


def page(file: Path) -> Page:
    """Raises ReportError."""
    found = decode(read(file))
    if not found.spans:
        raise ReportError(f"{file}: the trace has no events")
    try:
        return Page(file.name, "A trace of cudla-sim", sections(found))
    except DAMAGED as error:
        text = f"{file}: an event of the trace is damaged: {type(error).__name__}: {error}"
        raise ReportError(text) from None


def sections(found: Trace) -> list[Section]:
    hardware = found.of(HARDWARE)
    host = [s for s in found.spans if s.kind != HARDWARE]
    launches = [s for s in hardware if s.args.get("dpu_cycles")]
    heat = [(f"{s.name} ({n})", s.args["dpu_cycles"]) for n, s in enumerate(launches)]
    return [
        _summary(found, hardware, host),
        _timeline("Hardware time", "timeline", hardware, []),
        _timeline("Host time", "host", host, found.arrows),
        _operations(hardware),
        _layers(found.of("layer")),
        upmem.heat(heat),
        _steps([s for s in hardware if "cycles" in s.args and "bound" not in s.args]),
        _tasklets(hardware),
        _calls(found.of("call")),
    ]


def _summary(found: Trace, hardware: Sequence[Span], host: Sequence[Span]) -> Section:
    calls = found.of("call")
    failed = [s for s in calls if s.args.get("explanation")]
    facts = [
        ("ms of the program", number(max((s.end for s in host), default=0.0))),
        ("API calls", number(len(calls))),
        ("calls with an explanation", number(len(failed))),
        ("engine tasks and launches", number(len(found.of("task")) + len(found.of("launch")))),
        ("fence waits with an arrow", number(len(found.arrows))),
    ]
    busy: dict[str, float] = {}
    for s in hardware:
        if "cycles" in s.args and "bound" not in s.args:
            busy[s.track] = busy.get(s.track, 0.0) + s.end - s.begin
    facts += [(f"ms of {track} in hardware time", number(ms)) for track, ms in busy.items()]
    text = []
    if not hardware:
        text.append("No hardware time: the program ran without CUDLA_SIM_TIME=hardware.")
    text += [f"{s.name}: {s.args['explanation']}" for s in failed[:5]]
    return Section("Summary", "summary", text, facts)


def _timeline(
    title: str,
    name: str,
    spans: Sequence[Span],
    arrows: Iterable[tuple[int, str, float, str, float]],
) -> Section:
    if not spans:
        return Section(title, name)
    several = len({s.process for s in spans}) > 1

    def track(process: int, own: str) -> str:
        return f"{process} {own}" if several else own

    # what encloses others is drawn first
    ordered = sorted(spans, key=lambda s: (s.track, s.begin, -s.end))
    bars = [
        figures.Bar(track(s.process, s.track), s.begin, s.end, _group(s), _hover(s))
        for s in sorted(ordered, key=lambda s: s.begin - s.end)
    ]
    shown, left = figures.longest(bars)
    order = list(dict.fromkeys(track(s.process, s.track) for s in ordered))
    shown.sort(key=lambda b: (order.index(b.track), b.begin - b.end))
    text = ["Drag to zoom, double-click for everything."]
    if name == "timeline":
        text.append("Each engine has a clock of its own that begins at 0.")
    if left:
        text.append(f"The {left:,} shortest of {len(bars):,} bars are left out.")
    lines = [(track(p, a), s, track(p, b), t) for p, a, s, b, t in arrows]
    return Section(title, name, text, figures=[figures.timeline(shown, "ms", lines)])


def _group(span: Span) -> str:
    if "bound" in span.args:
        return f"bound by {span.args['bound']}"
    return span.kind if span.kind != HARDWARE else "tasks, launches, transfers"


def _hover(span: Span) -> str:
    lines = [f"{span.name}: {span.end - span.begin:.6g} ms from {span.begin:.6g}"]
    for key, value in span.args.items():
        if key != "dpu_cycles" and value not in ("", None):
            lines.append(f"{key}: {str(value)[:120]}")
    return "<br>".join(escape(line, quote=False) for line in lines[:12])


def _operations(hardware: Sequence[Span]) -> Section:
    """NVDLA operations in hardware time."""
    columns = [
        *(("track", "text"), ("operation", "text"), ("shapes (c x h x w)", "text")),
        *(("precision", "text"), ("cycles", "number"), ("bound by", "text")),
        *(("MACs used", "percent"), ("bytes read", "number"), ("bytes written", "number")),
        *(("start ms", "number"),),
    ]
    keys = (
        "shapes",
        "precision",
        "cycles",
        "bound",
        "mac_utilization",
        "bytes_read",
        "bytes_written",
    )
    rows: list[Sequence[Cell]] = [
        [s.track, s.name, *(s.args.get(k) for k in keys), s.begin]
        for s in hardware
        if "bound" in s.args
    ]
    return _section("Layers in hardware time", "layers", columns, rows)


def _layers(spans: Sequence[Span]) -> Section:
    """NVDLA layers as they were computed here."""
    columns = [
        *(("core", "text"), ("unit", "text"), ("shapes (c x h x w)", "text")),
        *(("precision", "text"), ("MACs", "number"), ("saturated", "number")),
        *(("ms here", "number"), ("start ms", "number")),
    ]
    keys = "shapes", "precision", "macs", "saturated"
    rows: list[Sequence[Cell]] = [
        [s.track, s.name, *(s.args.get(k) for k in keys), s.end - s.begin, s.begin] for s in spans
    ]
    return _section("Layers as computed here", "computed", columns, rows)


def _steps(spans: Sequence[Span]) -> Section:
    columns = [
        *(("engine", "text"), ("step", "text"), ("cycles", "number"), ("ms", "number")),
        *(("DPUs", "number"), ("bytes", "number"), ("instructions", "number")),
    ]
    rows: list[Sequence[Cell]] = [
        [
            *(s.track, s.name, s.args.get("cycles"), s.end - s.begin),
            *(s.args.get("dpus"), s.args.get("bytes"), s.args.get("instructions")),
        ]
        for s in spans
    ]
    return _section("Steps in hardware time", "steps", columns, rows)


def _tasklets(hardware: Sequence[Span]) -> Section:
    columns = [
        *(("track", "text"), ("DPU", "text"), ("instructions", "number")),
        *(("retries of locks", "number"), ("DMA wait", "number"), ("stopped", "number")),
        *(("bytes read", "number"), ("bytes written", "number"), ("ms", "number")),
    ]
    keys = "instructions", "retries", "dma_cycles", "wait_cycles", "dma_read", "dma_written"
    rows: list[Sequence[Cell]] = [
        [s.track, s.name, *(s.args.get(k) for k in keys), s.end - s.begin]
        for s in hardware
        if "retries" in s.args
    ]
    return _section("Tasklets of the slowest DPU", "tasklets", columns, rows)


def _calls(spans: Sequence[Span]) -> Section:
    columns = [
        *(("function", "text"), ("calls", "number"), ("failed", "number")),
        *(("ms in all", "number"), ("us in the mean", "number"), ("us at most", "number")),
    ]
    by_name: dict[str, list[Span]] = {}
    for span in spans:
        by_name.setdefault(span.name, []).append(span)
    rows: list[Sequence[Cell]] = []
    for name, own in by_name.items():
        each = [1e3 * (s.end - s.begin) for s in own]
        failed = sum(1 for s in own if s.args.get("explanation"))
        rows.append([name, len(own), failed, sum(each) / 1e3, sum(each) / len(each), max(each)])
    return _section("API calls", "calls", columns, rows)


def _section(
    title: str, name: str, columns: list[tuple[str, str]], rows: list[Sequence[Cell]]
) -> Section:
    text = []
    if len(rows) > figures.MAX_BARS:
        text.append(f"The first {figures.MAX_BARS:,} of {len(rows):,} rows.")
        rows = rows[: figures.MAX_BARS]
    return Section(title, name, text, tables=[Table(columns, rows)] if rows else [])
