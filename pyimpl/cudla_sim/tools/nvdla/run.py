"""``cudla-sim nvdla run``: a loadable once, on files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...core.text import because
from ...nvdla.errors import NvdlaError
from ...nvdla.settings import COMPARE, Settings
from ...nvdla.timing.parameters import Surroundings
from ..command import JSON, Command, configuration, option, path_argument, path_option
from ..progress import Progress
from ..timing_options import timed
from .inputs import (
    ANY,
    INPUT,
    configuration_for,
    fail,
    files,
    loadable_of,
    prepared,
    read_inputs,
    read_loadable,
    tell_zeros,
)

if TYPE_CHECKING:
    import numpy as np

    from ...nvdla import network_run
    from ...nvdla.pictures import Preparation


@click.command(cls=Command, arguments=[("LOADABLE", "An NVDLA loadable, or a network in parts.")])
@path_argument("loadable")
@INPUT
@option(
    "--real",
    is_flag=True,
    group="Input",
    help=".npy or pictures: real numbers as the ONNX model has them.",
)
@prepared
@configuration()
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
@path_option("-o", "--output", metavar="FOLDER", group="Output", help="Gets outN.bin and outN.npy.")
@option("--dimg", "write_dimg", is_flag=True, group="Output", help="Also outN.dimg.")
@option("--rawdump", is_flag=True, group="Output", help="Also outN.txt.")
@option("--layers", is_flag=True, group="Output", help="A line per hardware layer.")
@path_option(
    "--dump-layers", metavar="FOLDER", group="Output", help="Gets every layer's output as .npy."
)
@option(
    "--compare",
    multiple=True,
    metavar="[NAME=]FILE",
    group="Output",
    help="Expected output; reports a difference.",
)
@JSON
@timed
def run(
    loadable: Path,
    input: tuple[str, ...],
    real: bool,
    pictures: Preparation,
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
    as_json: bool,
    around: Surroundings,
) -> None:
    """Run a loadable once on input files.

    Exit status: 0 done, 1 an output differs from --compare or something failed, 2 wrong usage.
    """
    import numpy as np

    from ...core import process
    from ...nvdla import images, network_run
    from . import run_json
    from .parts import in_parts

    of_loadables = {
        "--on": chip,
        "--dimg": write_dimg,
        "--rawdump": rawdump,
        "--layers": layers,
        "--dump-layers": dump_layers,
        "--compare": compare,
    }
    given = [name for name, value in of_loadables.items() if value]
    if given and in_parts(loadable):
        raise fail("run", f"{loadable} is a network in parts; {given[0]} is of single loadables")
    if real or in_parts(loadable):
        _run_real(loadable, list(input), pictures, output, config, as_json)
        return
    try:
        network = read_loadable(loadable)
        chip = chip or process.current().config.of(Settings).chip
        name = config
        if not chip:
            name = configuration_for(network, config, "nvdla run", loadable.name)
        buffers = read_inputs(network, list(input), pictures)
        tell_zeros(network, buffers)
        with Progress(f"running {loadable.name}").shown():
            result = network_run.run(
                network,
                "" if name in ANY else name,
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
        raise fail("run", because(error, output or "")) from None
    except (NvdlaError, images.InputError, ValueError) as error:
        raise fail("run", error) from None
    if as_json:
        print(json.dumps(run_json.of_run(result, differences), indent=1))
    else:
        _print_result(result, layers)
        for text in differences:
            print(text)
    raise click.exceptions.Exit(1 if any("differ" in d or "shape" in d for d in differences) else 0)


def _run_real(
    loadable: Path,
    words: list[str],
    pictures: Preparation,
    output: Path | None,
    config: str,
    as_json: bool,
) -> None:
    from ...nvdla.parts.package import MAGIC, Package
    from . import real as real_numbers
    from . import run_json

    try:
        data = loadable.read_bytes()
        if not data.startswith(MAGIC):
            loadable_of(loadable, data)
        if data.startswith(MAGIC):
            package = Package.decode(data)
            results = real_numbers.run_package(
                package, words, pictures, output, config, quiet=as_json
            )
            report, name = None, package.config if config in ANY else config
        else:
            results, report, name = real_numbers.run(data, words, pictures, output, config)
    except OSError as error:
        raise fail("run", because(error, output or "")) from None
    except NvdlaError as error:
        raise fail("run", error) from None
    if as_json:
        layers = () if report is None else report.layers
        print(json.dumps(run_json.of_real(results, name, layers), indent=1))
        return
    if report is not None:
        spent = (report.end_ns - report.start_ns) / 1e6
        print(f"{name}: {len(report.layers)} layers, {report.macs} MACs, {spent:.1f} ms here")
    for number, (tensor, values) in enumerate(results.items()):
        _print_values(number, tensor, values)


def _write(result: network_run.Result, folder: Path, write_dimg: bool, rawdump: bool) -> None:
    import numpy as np

    from . import outputs

    for number, (tensor, buffer, values) in enumerate(
        zip(result.tensors, result.buffers, result.values, strict=True)
    ):
        (folder / f"out{number}.bin").write_bytes(buffer.tobytes())
        np.save(folder / f"out{number}.npy", values)
        if write_dimg:
            (folder / f"out{number}.dimg").write_bytes(outputs.dimg(tensor, values))
        if rawdump:
            (folder / f"out{number}.txt").write_text(outputs.raw_dump(values))


def _compare(result: network_run.Result, words: list[str]) -> list[str]:
    from . import outputs

    lines = []
    for number, file in files(words, [tensor.name for tensor in result.tensors], "output").items():
        golden = outputs.load_golden(file, result.tensors[number])
        difference = outputs.first_difference(result.values[number], golden)
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
    import numpy as np

    shape = "x".join(map(str, values.shape))
    flat = np.atleast_1d(values)[:1].ravel()
    text = " ".join(f"{v:g}" for v in flat[:8].astype(np.float64))
    more = " ..." if flat.size > 8 else ""
    print(f"output {number} {name!r} {shape} {values.dtype}: {text}{more}")
