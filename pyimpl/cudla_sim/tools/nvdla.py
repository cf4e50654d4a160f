"""``cudla-sim nvdla replay`` and ``cudla-sim nvdla run``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..core.errors import ConfigError
from ..core.memory import Bytes
from ..nvdla import layout_picture
from ..nvdla.errors import NvdlaError
from ..nvdla.hw.configs import config
from ..nvdla.loadable import Loadable
from ..nvdla.replay import Outcome, TraceError, play, read
from ..nvdla.timing.runs import TimedRun
from . import dimg, images, network_run, nvdla_check, nvdla_real, nvdla_time
from . import timing_options as options

app = typer.Typer(no_args_is_help=True, help="Run NVDLA loadables and register traces.")


_PACKAGE = b"PK\x03\x04"
"""How a network in parts begins (``cudla-sim compile --fallback cpu``)."""


def _fail(what: str, error: object) -> typer.Exit:
    print(f"cudla-sim nvdla {what}: {error}", file=sys.stderr)
    return typer.Exit(1)


def _config_name(what: str, name: str) -> str:
    try:
        return config(name).name if name else ""
    except NvdlaError as error:
        raise _fail(what, error) from None


# --- replay --------------------------------------------------------------------------------------


@app.command()
def replay(
    paths: Annotated[list[Path], typer.Argument(help=".cfg, .txn, .jsonl(.gz), or folders.")],
    config: Annotated[str, typer.Option(help="Configuration; default: what the trace says.")] = "",
    all_configs: Annotated[
        bool, typer.Option("--all-configs", help="Play on every configuration it is for.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="A line for passes, too.")] = False,
) -> None:
    """Replay register traces on the chip model and compare with their goldens."""
    wish = _config_name("replay", config)
    outcomes: list[Outcome] = []
    problems: list[str] = []
    for path in paths:
        try:
            for trace in read(path):
                wanted = [wish] if wish else trace.configs if all_configs else trace.configs[:1]
                for name in wanted:
                    try:
                        outcomes.append(play(trace, name))
                    except TraceError as error:
                        problems.append(str(error))
        except TraceError as error:
            problems.append(str(error))
    if as_json:
        print(json.dumps({"traces": [_as_json(o) for o in outcomes], "errors": problems}, indent=1))
    else:
        _print_outcomes(outcomes, problems, verbose)
    bad = any(o.verdict in ("fail", "unsupported") for o in outcomes)
    raise typer.Exit(1 if bad or problems or not outcomes else 0)


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
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for column in ("verdict", "trace", "configuration", "checks", "layers", "ms", ""):
        table.add_column(column, overflow="fold")
    colors = {"pass": "green", "fail": "red", "unsupported": "yellow", "no check": "cyan"}
    for o in outcomes:
        if o.verdict == "pass" and not verbose and len(outcomes) > 20:
            continue
        why = o.unsupported or (o.failures[0] if o.failures else "")
        verdict = f"[{colors[o.verdict]}]{o.verdict}[/]"
        counts = (str(o.checks), str(len(o.layers)), f"{o.seconds * 1e3:.1f}")
        table.add_row(verdict, o.name, o.config, *counts, why)
    console = Console()
    if table.row_count:
        console.print(table)
    for problem in problems:
        print(f"cudla-sim nvdla replay: {problem}", file=sys.stderr)
    totals = {v: sum(o.verdict == v for o in outcomes) for v in colors}
    text = ", ".join(f"{count} {verdict}" for verdict, count in totals.items() if count)
    print(f"{len(outcomes)} replayed: {text or 'nothing'}; {len(problems)} unreadable")


app.command(name="check")(nvdla_check.check)


# --- run -----------------------------------------------------------------------------------------


@app.command()
def run(
    loadable: Annotated[Path, typer.Argument(help="An NVDLA loadable.")],
    input: Annotated[
        list[str] | None,
        typer.Option(help="N=FILE: raw buffer, .npy (n,c,h,w), .pgm, .ppm, .jpg, .png."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for outN.bin and outN.npy.")] = None,
    config: Annotated[str, typer.Option(help="Configuration; default: the loadable's.")] = "",
    mean: Annotated[str, typer.Option(help="a,b,c,d: subtracted per channel (fp16).")] = "",
    normalize: Annotated[float, typer.Option(help="Divides after the mean (fp16).")] = 1.0,
    write_dimg: Annotated[bool, typer.Option("--dimg", help="Also outN.dimg.")] = False,
    rawdump: Annotated[bool, typer.Option("--rawdump", help="Also outN.txt.")] = False,
    layers: Annotated[bool, typer.Option("--layers", help="A line per hardware layer.")] = False,
    dump_layers: Annotated[
        Path | None, typer.Option(help="Folder for every layer's output as .npy.")
    ] = None,
    compare: Annotated[
        list[str] | None, typer.Option(help="[N=]FILE: expected output; reports a difference.")
    ] = None,
    real: Annotated[
        bool, typer.Option("--real", help="NAME=FILE.npy: real numbers as the ONNX model has them.")
    ] = False,
    clock: options.Clock = None,
    latency: options.Latency = None,
    bytes_per_cycle: options.BytesPerCycle = None,
    dram_gbps: options.DramGbps = None,
    sram_latency: options.SramLatency = None,
    sram_bytes_per_cycle: options.SramBytesPerCycle = None,
    sram_gbps: options.SramGbps = None,
    register_cycles: options.RegisterCycles = None,
    interrupt_cycles: options.InterruptCycles = None,
    software_us: options.SoftwareUs = None,
) -> None:
    """Run a loadable once on input files."""
    try:
        around = options.surroundings(
            clock=clock,
            latency=latency,
            bytes_per_cycle=bytes_per_cycle,
            dram_gbps=dram_gbps,
            sram_latency=sram_latency,
            sram_bytes_per_cycle=sram_bytes_per_cycle,
            sram_gbps=sram_gbps,
            register_cycles=register_cycles,
            interrupt_cycles=interrupt_cycles,
            software_us=software_us,
        )
    except ConfigError as error:
        print(f"cudla-sim nvdla run: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    if real or _in_parts(loadable):
        _run_real(loadable, input or [], output, config)
        return
    try:
        network = Loadable.parse(loadable.read_bytes())
        name = network_run.choose_config(network, config)
        buffers = read_inputs(network, input or [], mean, normalize)
        result = network_run.run(
            network, name, buffers, dump_layers=dump_layers is not None, around=around
        )
        for folder in (output, dump_layers):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        if output is not None:
            _write(result, output, write_dimg, rawdump)
        if dump_layers is not None:
            for label, array in result.intermediate:
                np.save(dump_layers / f"{label}.npy", array)
        differences = _compare(result, compare or [])
    except OSError as error:
        raise _fail("run", f"{error.filename}: {error.strerror}") from None
    except (NvdlaError, images.InputError, ValueError) as error:
        raise _fail("run", error) from None
    _print_result(result, layers)
    for text in differences:
        print(text)
    raise typer.Exit(1 if any("differ" in d or "shape" in d for d in differences) else 0)


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
        raise _fail("run", f"{error.filename}: {error.strerror}") from None
    except NvdlaError as error:
        raise _fail("run", error) from None
    if report is not None:
        spent = (report.end_ns - report.start_ns) / 1e6
        print(f"{name}: {len(report.layers)} layers, {report.macs} MACs, {spent:.1f} ms here")
    for number, (tensor, values) in enumerate(results.items()):
        _print_values(number, tensor, values)


def _numbered(words: list[str], count: int, what: str) -> dict[int, Path]:
    """``N=FILE``; a bare FILE is number 0. Raises ValueError."""
    found: dict[int, Path] = {}
    for word in words:
        number, equals, file = word.partition("=")
        index = int(number) if equals and number.isdigit() else 0
        if not equals or not number.isdigit():
            file = word
        if index >= count:
            raise ValueError(f"{what} {index}: the network has {count}, numbered from 0")
        found[index] = Path(file)
    return found


def read_inputs(
    network: Loadable, words: list[str], mean: str, normalize: float
) -> dict[int, Bytes]:
    means = [float(m) for m in mean.split(",")] if mean else []
    if normalize == 0:
        raise ValueError("--normalize is 0; it is a divisor")
    files = _numbered(words, len(network.inputs), "input")
    return {n: images.load(f, network.inputs[n], means, normalize) for n, f in files.items()}


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
    for number, file in _numbered(words, len(result.values), "output").items():
        golden = network_run.load_golden(file, result.tensors[number])
        difference = network_run.first_difference(result.values[number], golden)
        lines.append(f"output {number}: {difference or f'equals {file}'}")
    return lines


def _print_result(result: network_run.Result, layers: bool) -> None:
    timed = result.timed.of_layers([layer.unit for layer in result.report.layers])
    for layer, operation in zip(result.report.layers, timed, strict=True):
        count = 0 if operation is None else operation.end - operation.start
        if layers:
            shapes = " -> ".join(
                "x".join(map(str, s)) for s in (layer.input_shape, layer.output_shape)
            )
            print(
                f"{layer.index:3d}  {layer.unit:14s} {shapes:28s} "
                f"{layer.note or layer.precision:14s} {count:10d} cycles  "
                f"{layer.milliseconds:9.3f} ms  saturated {layer.saturated}"
            )
    milliseconds = (result.report.end_ns - result.report.start_ns) / 1e6
    note = f", {result.report.note}" if result.report.note else ""
    print(
        f"{result.config}: {len(result.report.layers)} layers, {result.report.macs} MACs, "
        f"about {result.timed.cycles} cycles of hardware = {result.timed.seconds * 1e3:.3g} ms at "
        f"{result.timed.clock_mhz:g} MHz, {milliseconds:.1f} ms here{note}"
    )
    for number, (tensor, values) in enumerate(zip(result.tensors, result.values, strict=True)):
        _print_values(number, tensor.name, values)


def _print_values(number: int, name: str, values: np.ndarray[Any, Any]) -> None:
    shape = "x".join(map(str, values.shape))
    flat = np.atleast_1d(values)[:1].ravel()
    text = " ".join(f"{v:g}" for v in flat[:8].astype(np.float64))
    more = " ..." if flat.size > 8 else ""
    print(f"output {number} {name!r} {shape} {values.dtype}: {text}{more}")


# --- time ----------------------------------------------------------------------------------------


@app.command(name="time")
def show_time(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Loadables, traces, or folders of them.")
    ] = None,
    layers: Annotated[
        Path | None, typer.Option(help="JSON: network, config and layers (spreadsheet).")
    ] = None,
    model: Annotated[
        str, typer.Option(help="pipeline, or spreadsheet: NVIDIA's own estimate.")
    ] = "",
    config: Annotated[str, typer.Option(help="Configuration; default: what each is for.")] = "",
    clock: options.Clock = None,
    latency: options.Latency = None,
    bytes_per_cycle: options.BytesPerCycle = None,
    dram_gbps: options.DramGbps = None,
    sram_latency: options.SramLatency = None,
    sram_bytes_per_cycle: options.SramBytesPerCycle = None,
    sram_gbps: options.SramGbps = None,
    register_cycles: options.RegisterCycles = None,
    interrupt_cycles: options.InterruptCycles = None,
    software_us: options.SoftwareUs = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say how long the hardware would take, without computing results."""
    chosen = model or ("spreadsheet" if layers else "pipeline")
    wrong = ""
    if chosen not in ("pipeline", "spreadsheet"):
        wrong = f"--model {model}: there are pipeline and spreadsheet"
    elif chosen == "spreadsheet" and (layers is None or paths):
        wrong = "the spreadsheet takes --layers FILE.json and no other file"
    elif chosen == "pipeline" and (layers is not None or not paths):
        wrong = "the pipeline model takes loadables and traces"
    if wrong:
        print(f"cudla-sim nvdla time: {wrong}", file=sys.stderr)
        raise typer.Exit(2)
    if layers is not None:
        _show_sheet(layers, as_json)
        return
    try:
        around = options.surroundings(
            clock=clock,
            latency=latency,
            bytes_per_cycle=bytes_per_cycle,
            dram_gbps=dram_gbps,
            sram_latency=sram_latency,
            sram_bytes_per_cycle=sram_bytes_per_cycle,
            sram_gbps=sram_gbps,
            register_cycles=register_cycles,
            interrupt_cycles=interrupt_cycles,
            software_us=software_us,
        )
    except ConfigError as error:
        print(f"cudla-sim nvdla time: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    found: list[TimedRun] = []
    problems: list[tuple[str, str]] = []
    for run in nvdla_time.time_runs(paths or [], _config_name("time", config), around):
        if isinstance(run, TimedRun):
            found.append(run)
        else:
            problems.append(run)
    if as_json:
        print(json.dumps(nvdla_time.runs_as_json(found, problems), indent=1))
    else:
        for each in found:
            print("\n".join(nvdla_time.run_table(each, around)))
    for name, why in problems:
        print(f"cudla-sim nvdla time: {name}: {why}", file=sys.stderr)
    raise typer.Exit(1 if problems or not found else 0)


def _show_sheet(layers: Path, as_json: bool) -> None:
    try:
        sheet = nvdla_time.read(layers)
    except OSError as error:
        raise _fail("time", f"{error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise _fail("time", error) from None
    if as_json:
        print(json.dumps(nvdla_time.as_json(sheet), indent=1))
    else:
        print("\n".join(nvdla_time.table(sheet)))


# --- layout --------------------------------------------------------------------------------------


@app.command(name="layout")
def show_layout(
    loadable: Annotated[Path, typer.Argument(help="An NVDLA loadable.")],
    element: Annotated[
        list[str] | None, typer.Option(help="n,c,h,w: where this element of each tensor lies.")
    ] = None,
) -> None:
    """Draw where the elements of a loadable's inputs and outputs lie in memory."""
    try:
        network = Loadable.parse(loadable.read_bytes())
        for kind, tensors in (("input", network.inputs), ("output", network.outputs)):
            for number, tensor in enumerate(tensors):
                print(f"{kind} {number} {layout_picture.picture(tensor)}")
                for word in element or []:
                    n, c, h, w = (int(i) for i in word.split(","))
                    print(layout_picture.where(tensor, n, c, h, w))
                print()
    except OSError as error:
        raise _fail("layout", f"{error.filename}: {error.strerror}") from None
    except (NvdlaError, ValueError) as error:
        raise _fail("layout", error) from None
