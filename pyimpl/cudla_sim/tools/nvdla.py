"""``cudla-sim nvdla``: replay, run, time and layout; its other commands have files of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..core import process
from ..core.text import tell
from ..nvdla import layout_picture, target
from ..nvdla.cosim.hardware import COMPARE
from ..nvdla.errors import NvdlaError
from ..nvdla.loadable import Loadable
from ..nvdla.replay import Outcome, TraceError, play, read
from ..nvdla.timing.parameters import Surroundings
from ..nvdla.timing.runs import TimedRun
from . import (
    dimg,
    images,
    network_run,
    nvdla_check,
    nvdla_evaluate,
    nvdla_export,
    nvdla_real,
    nvdla_time,
)
from .command import JSON, ConfigName, Group, option, path_argument, path_option
from .nvdla_inputs import fail, numbered, read_inputs, tell_zeros
from .progress import Progress, each
from .text_table import Table
from .timing_options import timed

_ANY = ("", "auto")
REPLAY_VERSION = 1
"""Of what ``replay --json`` prints."""


@click.group(cls=Group)
def app() -> None:
    """Run NVDLA loadables and register traces."""


_PACKAGE = b"PK\x03\x04"
"""How a network in parts begins (``cudla-sim compile --fallback cpu``)."""


# --- replay --------------------------------------------------------------------------------------


@app.command(arguments=[("PATHS...", ".cfg, .txn, .jsonl(.gz), or folders.")])
@path_argument("paths", nargs=-1, required=True)
@option("--config", type=ConfigName("auto", status=1), default="", group="Machine",
        help="Only this configuration; default: each that a trace is for.")  # fmt: skip
@option("--all-configs", is_flag=True, hidden=True, help="What it does anyway.")
@JSON
@option("--verbose", is_flag=True, group="Output", help="A line for passes, too.")
def replay(
    paths: tuple[Path, ...], config: str, all_configs: bool, as_json: bool, verbose: bool
) -> None:
    """Replay register traces on the chip model and compare with their goldens."""
    outcomes: list[Outcome] = []
    problems: list[str] = []
    for path in paths:
        try:
            for trace in each(read(path), "replaying"):
                for name in [config] if config not in _ANY else trace.configs:
                    try:
                        outcomes.append(play(trace, name))
                    except TraceError as error:
                        problems.append(str(error))
        except TraceError as error:
            problems.append(str(error))
    if as_json:
        traces = [_as_json(o) for o in outcomes]
        found = {"version": REPLAY_VERSION, "traces": traces, "errors": problems}
        print(json.dumps(found, indent=1))
    else:
        _print_outcomes(outcomes, problems, verbose)
    bad = any(o.verdict in ("fail", "unsupported") for o in outcomes)
    raise click.exceptions.Exit(1 if bad or problems or not outcomes else 0)


def _as_json(outcome: Outcome) -> dict[str, Any]:
    return {
        "name": outcome.name,
        "config": outcome.config,
        "verdict": outcome.verdict,
        "checks": outcome.checks,
        "failures": outcome.failures,
        "unsupported": outcome.unsupported,
        "seconds": round(outcome.seconds, 6),
        "layers": [
            {
                "unit": layer.chain,
                "input": list(layer.input_shape),
                "output": list(layer.output_shape),
                "macs": layer.macs,
                "saturated": layer.saturated,
            }
            for layer in outcome.layers
        ],
    }


def _print_outcomes(outcomes: list[Outcome], problems: list[str], verbose: bool) -> None:
    colors = {"pass": "green", "fail": "red", "unsupported": "yellow", "no check": "cyan"}
    table = Table(
        ("verdict", "trace", "configuration", "checks", "layers", "ms", "why"),
        right=frozenset({3, 4, 5}),
        colors=colors,
    )
    for o in outcomes:
        if o.verdict == "pass" and not verbose and len(outcomes) > 20:
            continue
        why = o.unsupported or (o.failures[0] if o.failures else "")
        counts = (str(o.checks), str(len(o.layers)), f"{o.seconds * 1e3:.1f}")
        table.add(o.verdict, o.name, o.config, *counts, why)
    table.show()
    for problem in problems:
        tell(f"cudla-sim nvdla replay: {problem}")
    totals = {v: sum(o.verdict == v for o in outcomes) for v in colors}
    text = ", ".join(f"{count} {verdict}" for verdict, count in totals.items() if count)
    print(f"{len(outcomes)} replayed: {text or 'nothing'}; {len(problems)} unreadable")


app.add_command(nvdla_check.check)
app.add_command(nvdla_evaluate.evaluate_network)


# --- run -----------------------------------------------------------------------------------------


@app.command(arguments=[("LOADABLE", "An NVDLA loadable, or a network in parts.")])
@path_argument("loadable")
@option(
    "--input",
    multiple=True,
    metavar="N=FILE",
    group="Input",
    help="Raw buffer, .npy (n,c,h,w), .pgm, .ppm, .jpg, .png. Zeros where it is left out.",
)
@option(
    "--real",
    is_flag=True,
    group="Input",
    help="NAME=FILE.npy: real numbers as the ONNX model has them.",
)
@option(
    "--mean", default="", metavar="A,B,C,D", group="Input", help="Subtracted per channel (fp16)."
)
@option("--normalize", default=1.0, group="Input", help="Divides after the mean (fp16).")
@option(
    "--config",
    type=ConfigName("auto", status=1),
    default="",
    group="Machine",
    help="Configuration; default: the loadable's.",
)
@option(
    "--on",
    "chip",
    default="",
    metavar="cosim:LIB.so",
    group="Machine",
    help="Hardware of yours behind nvdla/cosim.h. (CUDLA_SIM_CHIP)",
)
@option(
    "--lockstep",
    type=click.Choice(COMPARE),
    default="all",
    group="Machine",
    help="What of its memory is compared with our model after each operation.",
)
@option(
    "--limit",
    default=0,
    group="Machine",
    metavar="CYCLES",
    help="Without an interrupt for so long it hangs; 0: by the size of the layers.",
)
@path_option("--output", metavar="FOLDER", group="Output", help="Gets outN.bin and outN.npy.")
@option("--dimg", "write_dimg", is_flag=True, group="Output", help="Also outN.dimg.")
@option("--rawdump", is_flag=True, group="Output", help="Also outN.txt.")
@option("--layers", is_flag=True, group="Output", help="A line per hardware layer.")
@path_option(
    "--dump-layers", metavar="FOLDER", group="Output", help="Gets every layer's output as .npy."
)
@option(
    "--compare",
    multiple=True,
    metavar="[N=]FILE",
    group="Output",
    help="Expected output; reports a difference.",
)
@timed
def run(
    loadable: Path,
    input: tuple[str, ...],
    real: bool,
    mean: str,
    normalize: float,
    config: str,
    chip: str,
    lockstep: str,
    limit: int,
    output: Path | None,
    write_dimg: bool,
    rawdump: bool,
    layers: bool,
    dump_layers: Path | None,
    compare: tuple[str, ...],
    around: Surroundings,
) -> None:
    """Run a loadable once on input files.

    Exit status: 0 done, 1 an output differs from --compare or something failed, 2 wrong usage.
    """
    if real or _in_parts(loadable):
        _run_real(loadable, list(input), output, config)
        return
    try:
        network = Loadable.parse(loadable.read_bytes())
        chip = chip or process.current().config.chip
        name = config if chip else target.choose(network, config)
        buffers = read_inputs(network, list(input), mean, normalize)
        tell_zeros(network, buffers)
        with Progress(f"running {loadable.name}").shown():
            result = network_run.run(
                network,
                "" if name in _ANY else name,
                buffers,
                dump_layers=dump_layers is not None,
                around=around,
                chip=chip,
                compare=lockstep,
                limit=limit,
            )
        for folder in (output, dump_layers):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        if output is not None:
            _write(result, output, write_dimg, rawdump)
        if dump_layers is not None:
            for label, array in result.intermediate:
                np.save(dump_layers / f"{label}.npy", array)
        differences = _compare(result, list(compare))
    except OSError as error:
        raise fail("run", f"{error.filename}: {error.strerror}") from None
    except (NvdlaError, images.InputError, ValueError) as error:
        raise fail("run", error) from None
    _print_result(result, layers)
    for text in differences:
        print(text)
    raise click.exceptions.Exit(1 if any("differ" in d or "shape" in d for d in differences) else 0)


def _in_parts(file: Path) -> bool:
    """True for a network in parts: it takes real numbers only."""
    try:
        with file.open("rb") as opened:
            return opened.read(len(_PACKAGE)) == _PACKAGE
    except OSError:
        return False


def _run_real(loadable: Path, words: list[str], output: Path | None, config: str) -> None:
    try:
        data = loadable.read_bytes()
        if data.startswith(_PACKAGE):
            results, report, name = nvdla_real.run_package(data, words, output), None, ""
        else:
            results, report, name = nvdla_real.run(data, words, output, config)
    except OSError as error:
        raise fail("run", f"{error.filename}: {error.strerror}") from None
    except NvdlaError as error:
        raise fail("run", error) from None
    if report is not None:
        spent = (report.end_ns - report.start_ns) / 1e6
        print(f"{name}: {len(report.layers)} layers, {report.macs} MACs, {spent:.1f} ms here")
    for number, (tensor, values) in enumerate(results.items()):
        _print_values(number, tensor, values)


def _write(result: network_run.Result, folder: Path, write_dimg: bool, rawdump: bool) -> None:
    for number, (tensor, buffer, values) in enumerate(
        zip(result.tensors, result.buffers, result.values, strict=True)
    ):
        (folder / f"out{number}.bin").write_bytes(buffer.tobytes())
        np.save(folder / f"out{number}.npy", values)
        if write_dimg:
            (folder / f"out{number}.dimg").write_bytes(dimg.dimg(tensor, values))
        if rawdump:
            (folder / f"out{number}.txt").write_text(dimg.raw_dump(values))


def _compare(result: network_run.Result, words: list[str]) -> list[str]:
    lines = []
    for number, file in numbered(words, len(result.values), "output").items():
        golden = network_run.load_golden(file, result.tensors[number])
        difference = network_run.first_difference(result.values[number], golden)
        lines.append(f"output {number}: {difference or f'equals {file}'}")
    return lines


def _print_result(result: network_run.Result, layers: bool) -> None:
    operations = result.timed.of_layers([layer.unit for layer in result.report.layers])
    ends = {(d.task, d.operation): d.cycle for d in result.done}
    for layer, operation in zip(result.report.layers, operations, strict=True):
        count = 0 if operation is None else operation.end - operation.start
        if layers:
            shapes = " -> ".join(
                "x".join(map(str, s)) for s in (layer.input_shape, layer.output_shape)
            )
            end = ends.get((layer.task, layer.operations[-1])) if layer.operations else None
            print(
                f"{layer.index:3d}  {layer.unit:14s} {shapes:28s} "
                f"{layer.note or layer.precision:14s} {count:10d} cycles  "
                f"{layer.milliseconds:9.3f} ms  saturated {layer.saturated}"
                + ("" if end is None else f"  done at cycle {end}")
            )
    timed = result.timed
    milliseconds = (result.report.end_ns - result.report.start_ns) / 1e6
    note = f", {result.report.note}" if result.report.note else ""
    cycles = (
        f"{result.done[-1].cycle} cycles on {result.chip} (the model says about {timed.cycles})"
        if result.done
        else f"about {timed.cycles} cycles of hardware = {timed.seconds * 1e3:.3g} ms at "
        f"{timed.clock_mhz:g} MHz"
    )
    print(
        f"{result.config}: {len(result.report.layers)} layers, {result.report.macs} MACs, "
        f"{cycles}, {milliseconds:.1f} ms here{note}"
    )
    for number, (tensor, values) in enumerate(zip(result.tensors, result.values, strict=True)):
        _print_values(number, tensor.name, values)


def _print_values(number: int, name: str, values: np.ndarray[Any, Any]) -> None:
    shape = "x".join(map(str, values.shape))
    flat = np.atleast_1d(values)[:1].ravel()
    text = " ".join(f"{v:g}" for v in flat[:8].astype(np.float64))
    more = " ..." if flat.size > 8 else ""
    print(f"output {number} {name!r} {shape} {values.dtype}: {text}{more}")


app.add_command(nvdla_export.export)


# --- time ----------------------------------------------------------------------------------------


@app.command("time", arguments=[("[PATHS...]", "Loadables, traces, or folders of them.")])
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
@option(
    "--config",
    type=ConfigName("auto", status=1),
    default="",
    group="Machine",
    help="Configuration; default: what each is for.",
)
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
    found: list[TimedRun] = []
    problems: list[tuple[str, str]] = []
    for run in each(
        nvdla_time.time_runs(list(paths), "" if config in _ANY else config, around), "timing"
    ):
        if isinstance(run, TimedRun):
            found.append(run)
        else:
            problems.append(run)
    if as_json:
        print(json.dumps(nvdla_time.runs_as_json(found, problems), indent=1))
    else:
        for each_run in found:
            print("\n".join(nvdla_time.run_table(each_run, around)))
    for name, why in problems:
        tell(f"cudla-sim nvdla time: {name}: {why}")
    raise click.exceptions.Exit(1 if problems or not found else 0)


def _show_sheet(layers: Path, as_json: bool) -> None:
    try:
        sheet = nvdla_time.read(layers)
    except OSError as error:
        raise fail("time", f"{error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise fail("time", error) from None
    if as_json:
        print(json.dumps(nvdla_time.as_json(sheet), indent=1))
    else:
        print("\n".join(nvdla_time.table(sheet)))


# --- layout --------------------------------------------------------------------------------------


@app.command("layout", arguments=[("LOADABLE", "An NVDLA loadable.")])
@path_argument("loadable")
@option(
    "--element", multiple=True, metavar="N,C,H,W", help="Where this element of each tensor lies."
)
def show_layout(loadable: Path, element: tuple[str, ...]) -> None:
    """Draw where the elements of a loadable's inputs and outputs lie in memory."""
    try:
        network = Loadable.parse(loadable.read_bytes())
        for kind, tensors in (("input", network.inputs), ("output", network.outputs)):
            for number, tensor in enumerate(tensors):
                print(f"{kind} {number} {layout_picture.picture(tensor)}")
                for word in element:
                    n, c, h, w = (int(i) for i in word.split(","))
                    print(layout_picture.where(tensor, n, c, h, w))
                print()
    except OSError as error:
        raise fail("layout", f"{error.filename}: {error.strerror}") from None
    except (NvdlaError, ValueError) as error:
        raise fail("layout", error) from None
