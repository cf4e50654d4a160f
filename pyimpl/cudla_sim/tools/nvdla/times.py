"""``cudla-sim nvdla time``: how long the hardware would take, by either model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from ...core import untrusted
from ...core.text import because, tell
from ...nvdla.errors import NvdlaError
from ...nvdla.loadable import IDENTIFIER, Loadable
from ...nvdla.timing.parameters import Surroundings
from ...nvdla.timing.spreadsheet import Machine, Memory, Row, Sheet, SheetLayer, Total
from ..command import JSON, Command, configuration, option, path_argument, path_option
from ..progress import each
from ..timing_options import timed
from .inputs import ANY, configuration_for, fail

if TYPE_CHECKING:
    from ...nvdla.timing.runs import TimedRun
    from .times_of_parts import TimedPackage

    Timed: TypeAlias = TimedRun | TimedPackage

VERSION = 1
_SIZES = ("input_kb", "min_input_kb", "output_kb", "weight_kb", "min_weight_kb")
_COSTS = ("dram_traffic_kb", "dram_cycles", "mac_cycles", "cycles", "bound")
_SRAM_COSTS = (*_COSTS[:2], "sram_read_cycles", "sram_write_cycles", *_COSTS[2:])


def time_runs(
    paths: list[Path], hardware: str, around: Surroundings
) -> Iterator[Timed | tuple[str, str]]:
    """Every loadable and trace of *paths* (files or folders) in turn; (name, why) for one that
    cannot be timed. *hardware* "" takes what each was made for."""
    from ...nvdla.replay import TraceError
    from ...nvdla.replay import read as read_traces
    from ...nvdla.timing import runs

    for path in paths:
        if _holds_network(path):
            yield _loadable(path, hardware, around)
            continue
        loadables = sorted(path.rglob("*.nvdla")) if path.is_dir() else []
        for file in loadables:
            yield _loadable(file, hardware, around)
        try:
            for trace in read_traces(path):
                try:
                    yield runs.trace(trace, hardware or trace.configs[0], around)
                except (NvdlaError, TraceError) as error:
                    yield trace.name, str(error)
        except TraceError as error:
            if not loadables:
                yield str(path), str(error).removeprefix(f"{path}: ")


def _holds_network(path: Path) -> bool:
    """By its name, or by how it begins: engines have any name."""
    from ...nvdla.parts.package import MAGIC

    if path.suffix == ".nvdla":
        return True
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError:
        return False
    return head.startswith(MAGIC) or head[4:] == IDENTIFIER


def _loadable(file: Path, hardware: str, around: Surroundings) -> Timed | tuple[str, str]:
    from ...nvdla.timing import runs
    from .parts import package_of
    from .times_of_parts import TimedPackage

    try:
        data = file.read_bytes()
        package = package_of(data)
        if package is not None:
            return TimedPackage.of(package, file.stem, hardware, around)
        network = Loadable.parse(data)
        chosen = configuration_for(network, hardware, "nvdla time", file.name)
        return runs.loadable(network, file.stem, chosen, around)
    except OSError as error:
        return str(file), error.strerror or str(error)
    except NvdlaError as error:
        return str(file), str(error)


def runs_as_json(found: list[Timed], problems: list[tuple[str, str]]) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "schema_version": VERSION,
        "version": VERSION,
        "model": "pipeline",
        "runs": [_run_as_json(run) for run in found],
        "errors": [{"name": name, "error": why} for name, why in problems],
    }


def _run_as_json(found: Timed) -> dict[str, Any]:
    from .times_of_parts import TimedPackage

    if isinstance(found, TimedPackage):
        return {**_run_as_json(found.whole), **found.as_dict()}
    return {
        "name": found.name,
        "config": found.config,
        "cycles": found.cycles,
        "milliseconds": found.seconds * 1e3,
        "frames_per_second": found.frames_per_second,
        "bytes_read": found.bytes_read,
        "bytes_written": found.bytes_written,
        "macs": found.macs,
        "mac_utilization": found.mac_utilization,
        "bounds": found.bounds,
        "operations": [asdict(o) for o in found.operations],
    }


def run_table(found: Timed, around: Surroundings) -> list[str]:
    """Lines for people."""
    from .times_of_parts import TimedPackage

    if isinstance(found, TimedPackage):
        return [*_parts_table(found, around), *found.last_lines()]
    return _run_table(found, around)


def _parts_table(found: TimedPackage, around: Surroundings) -> Iterator[str]:
    from ...nvdla.parts.summary import part_line

    for number in range(len(found.package.parts)):
        yield part_line(found.package, number)
        if number in found.parts:
            yield from (f"  {line}" for line in _run_table(found.parts[number], around))


def _run_table(run: TimedRun, around: Surroundings) -> list[str]:
    lines = [f"{run.name} on {run.config}"]
    lines.append(
        f"  {'unit':14s} {'start':>10s} {'end':>10s} {'cycles':>10s}  {'bound':8s} "
        f"{'read':>10s} {'written':>10s} {'MACs used':>9s}"
    )
    lines += [
        f"  {o.unit:14s} {o.start:10d} {o.end:10d} {o.end - o.start:10d}  {o.bound:8s} "
        f"{o.bytes_read:10d} {o.bytes_written:10d} {o.mac_utilization:9.1%}"
        for o in run.operations
    ]
    rate = f", {run.frames_per_second:.4g} a second" if run.cycles else ""
    lines.append(
        f"  {run.cycles} cycles = {run.seconds * 1e3:.3g} ms at {around.clock_mhz:g} MHz{rate} "
        f"(latency {around.latency}, {_bandwidth(around.bytes_per_cycle)})"
    )
    lines.append(
        f"  {run.bytes_read} bytes read, {run.bytes_written} written, {run.macs} MACs, "
        f"{run.mac_utilization:.1%} of the multipliers used; bound by "
        + (", ".join(f"{name} {count}" for name, count in run.bounds.items()) or "nothing")
    )
    count = sum(o.bound == "software" for o in run.operations)
    if count:
        time = (
            f"{around.software_us:g} us each"
            if around.software_us
            else ("of no time in these cycles; --software-us says it")
        )
        lines.append(f"  {count} software operation{'s' * (count > 1)} (EMU), {time}")
    return lines


def _bandwidth(bytes_per_cycle: float) -> str:
    return f"{bytes_per_cycle:.4g} bytes a cycle" if bytes_per_cycle else "the port's bandwidth"


def read(path: Path) -> Sheet:
    """The sheet of a JSON file: ``network``, ``config`` and ``layers`` as in the documentation.

    Raises OSError, ValueError.
    """
    try:
        values = untrusted.read_json(path)
    except untrusted.Unreadable as error:
        raise ValueError(f"{path} {error}") from None
    if not isinstance(values, dict) or not isinstance(values.get("layers"), list):
        raise ValueError(f"{path}: an object with the lists and objects network, config, layers")
    if not isinstance(values.get("config"), dict):
        raise ValueError(f"{path}: config is missing (feature_bytes, weight_bytes, cbuf_kb, ...)")
    layers = []
    for number, entry in enumerate(values["layers"]):
        described = entry.get("layer", entry) if isinstance(entry, dict) else None
        if not isinstance(described, dict):
            raise ValueError(f"{path}: layers[{number}] is no object")
        layers.append(SheetLayer.of(described))
    if not layers:
        raise ValueError(f"{path}: layers is empty")
    return Sheet(str(values.get("network", "")), Machine.of(values["config"]), layers)


def sheet_as_json(sheet: Sheet) -> dict[str, Any]:
    """Everything that the sheet says."""
    return {
        "schema_version": VERSION,
        "version": VERSION,
        "model": "spreadsheet",
        "layers": [{"name": row.layer.name, "result": _row(row)} for row in sheet.rows],
        "total": _total(sheet.total()),
        "total_with_sram": _total(sheet.total(with_sram=True)),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def _row(row: Row) -> dict[str, Any]:
    out_h, out_w = row.layer.pooled
    found = {name: _plain(getattr(row, name)) for name in (*_SIZES, *_COSTS)}
    if row.kept:
        found["kept"] = row.kept
    return {
        **found,
        "out_h": out_h,
        "out_w": out_w,
        "macs": row.layer.macs,
        "with_sram": _memory(row.with_sram),
    }


def _memory(memory: Memory) -> dict[str, Any]:
    return {name: _plain(getattr(memory, name)) for name in _SRAM_COSTS}


def _total(total: Total) -> dict[str, Any]:
    return {name: _plain(getattr(total, name)) for name in Total.__dataclass_fields__}


def table(sheet: Sheet) -> list[str]:
    """Lines for people."""
    lines = [f"{'layer':40s} {'MAC cycles':>14s} {'DRAM cycles':>12s} {'cycles':>14s}  bound"]
    lines += [
        f"{row.layer.name[:40]:40s} {float(row.mac_cycles):14.1f} {row.dram_cycles:12d} "
        f"{float(row.cycles):14.1f}  {row.bound}"
        for row in sheet.rows
    ]
    for text, total in (("", sheet.total()), (" with 4 MB of SRAM", sheet.total(with_sram=True))):
        lines.append(
            f"total{text}: {float(total.cycles):.1f} cycles, {float(total.ms):.3g} ms, "
            f"{float(total.fps):.1f} a second, MACs used {float(total.hw_mac_utilization):.1%} "
            f"(of the network's own: {float(total.network_mac_utilization):.1%})"
        )
    lines.append(
        "model: NVIDIA's spreadsheet. Layers never overlap; pooling and element-wise cost nothing; "
        "3x3 counts as Winograd; no software."
    )
    return lines


@click.command(
    "time", cls=Command, arguments=[("[PATHS...]", "Loadables, traces, or folders of them.")]
)
@path_argument("paths", nargs=-1)
@path_option(
    "--layers",
    metavar="FILE",
    group="Input",
    help="JSON: network, config and layers (spreadsheet).",
)
@option(
    "--model",
    type=click.Choice(["pipeline", "spreadsheet"]),
    group="Input",
    help="spreadsheet: NVIDIA's own estimate.",
)
@configuration("Configuration; default: what each is for.")
@JSON
@timed
def show_time(
    paths: tuple[Path, ...],
    layers: Path | None,
    model: str | None,
    config: str,
    as_json: bool,
    around: Surroundings,
) -> None:
    """Say how long the hardware would take, without computing results."""
    chosen = model or ("spreadsheet" if layers else "pipeline")
    wrong = ""
    if chosen == "spreadsheet" and (layers is None or paths):
        wrong = "the spreadsheet takes --layers FILE.json and no other file"
    elif chosen == "pipeline" and (layers is not None or not paths):
        wrong = "the pipeline model takes loadables and traces"
    if wrong:
        raise click.UsageError(wrong)
    if layers is not None:
        _show_sheet(layers, as_json)
        return
    found: list[Timed] = []
    problems: list[tuple[str, str]] = []
    for run in each(time_runs(list(paths), "" if config in ANY else config, around), "timing"):
        if isinstance(run, tuple):
            problems.append(run)
        else:
            found.append(run)
    if as_json:
        print(json.dumps(runs_as_json(found, problems), indent=1))
    else:
        for each_run in found:
            print("\n".join(run_table(each_run, around)))
    for name, why in problems:
        tell(f"cudla-sim nvdla time: {name}: {why}")
    raise click.exceptions.Exit(1 if problems or not found else 0)


def _show_sheet(layers: Path, as_json: bool) -> None:
    try:
        sheet = read(layers)
    except OSError as error:
        raise fail("time", because(error)) from None
    except ValueError as error:
        raise fail("time", error) from None
    if as_json:
        print(json.dumps(sheet_as_json(sheet), indent=1))
    else:
        print("\n".join(table(sheet)))
