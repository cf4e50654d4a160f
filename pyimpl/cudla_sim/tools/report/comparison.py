"""Loadables side by side: the same network for several configurations, or before and after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...core.text import because
from ...nvdla.errors import NvdlaError
from ...nvdla.loadable import Loadable
from ...nvdla.timing import runs
from ...nvdla.timing.parameters import Surroundings
from ...nvdla.timing.runs import TimedRun
from ..nvdla import inputs as nvdla_inputs
from . import figures, nvdla
from .page import Cell, Page, ReportError, Section, Table

_MOST = 6
"""Loadables whose columns are still read beside each other."""


def page(sources: Sequence[Path], hardware: str, around: Surroundings) -> Page:
    """``hardware``: the configuration of all of them, "" for each one's own. Raises ReportError."""
    if len(sources) > _MOST:
        raise ReportError(f"{len(sources)} loadables: {_MOST} at most are compared on one page")
    timed = [_run(source, hardware, around) for source in sources]
    names = _names(sources, timed)
    sections = [_summary(names, timed, around), _layers(names, timed), _timelines(names, timed)]
    return Page(" and ".join(names), "NVDLA loadables in hardware time, side by side", sections)


def _run(source: Path, hardware: str, around: Surroundings) -> TimedRun:
    try:
        network = Loadable.parse(source.read_bytes())
        chosen = nvdla_inputs.configuration_for(network, hardware, "report", source.name)
        return runs.loadable(network, source.stem, chosen, around)
    except OSError as error:
        raise ReportError(because(error, source)) from None
    except (NvdlaError, ValueError) as error:
        raise ReportError(f"{source}: {error}") from None


def _names(sources: Sequence[Path], timed: Sequence[TimedRun]) -> list[str]:
    """What distinguishes them: names of files, whole paths where those are the same."""
    short = [source.name for source in sources]
    chosen = short if len(set(short)) == len(short) else [str(source) for source in sources]
    return [f"{name} on {run.config}" for name, run in zip(chosen, timed, strict=True)]


def _summary(names: Sequence[str], timed: Sequence[TimedRun], around: Surroundings) -> Section:
    first = timed[0].cycles
    columns = [("loadable", "text"), ("cycles", "number")]
    columns += [(f"ms at {around.clock_mhz:g} MHz", "number"), ("of the first", "percent")]
    columns += [("operations", "number"), ("MACs used", "percent")]
    columns += [("bytes read", "number"), ("bytes written", "number")]
    rows: list[Sequence[Cell]] = [
        [
            *(name, run.cycles, run.cycles / around.clock_mhz / 1e3),
            run.cycles / first if first else None,
            *(len(run.operations), run.mac_utilization, run.bytes_read),
            sum(o.bytes_written for o in run.operations),
        ]
        for name, run in zip(names, timed, strict=True)
    ]
    return Section("Summary", "summary", tables=[Table(columns, rows)])


def _layers(names: Sequence[str], timed: Sequence[TimedRun]) -> Section:
    """Operations by their numbers: the same layer where the networks are of one shape."""
    columns = [("#", "number"), ("unit", "text"), ("shapes (c x h x w)", "text")]
    for name in names:
        columns += [(f"cycles: {name}", "number"), (f"bound by: {name}", "text")]
    columns += [("last of the first", "percent")]
    rows: list[Sequence[Cell]] = []
    by_number = [{o.index: o for o in run.operations} for run in timed]
    different = 0
    for index in sorted(set().union(*by_number)):
        there = [found.get(index) for found in by_number]
        known = [o for o in there if o is not None]
        different += len({(o.unit, o.shapes) for o in known}) > 1 or None in there
        units = "; ".join(dict.fromkeys(o.unit for o in known))
        row: list[Cell] = [index, units, "; ".join(dict.fromkeys(o.shapes for o in known))]
        for o in there:
            row += [None, None] if o is None else [o.end - o.start, o.bound]
        first, last = there[0], there[-1]
        whole = first is not None and last is not None and first.end > first.start
        row.append((last.end - last.start) / (first.end - first.start) if whole else None)  # type: ignore[union-attr]
        rows.append(row)
    text = []
    if different:
        text.append(
            f"{different} of {len(rows)} operations are not the same in all: the networks are cut "
            "into other operations from there on, and rows below compare different work."
        )
    return Section("Layers", "layers", text, tables=[Table(columns, rows)] if rows else [])


def _timelines(names: Sequence[str], timed: Sequence[TimedRun]) -> Section:
    """One axis for all: each loadable's units below each other."""
    bars = [
        _moved(bar, f"{number}: {bar.track}")
        for number, run in enumerate(timed, 1)
        for bar in nvdla.bars(run)
    ]
    if not bars:
        return Section("Timeline", "timeline")
    text = [f"{number}: {name}." for number, name in enumerate(names, 1)]
    shown, left = figures.longest(bars)
    if left:
        text.append(f"The {left:,} shortest of {len(bars):,} bars are left out.")
    return Section("Timeline", "timeline", text, figures=[figures.timeline(shown, "cycles")])


def _moved(bar: figures.Bar, track: str) -> figures.Bar:
    """The same bar on another track, chosen with nothing else."""
    return bar._replace(track=track, key="")
