"""``cudla-sim compile``: an ONNX model to an NVDLA loadable."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...compiler.errors import CompileError, Refused
from ...compiler.options import OPTIMISATIONS, Options
from ...core.output import OutputError, check_writable, write_whole
from ...core.text import tell
from ...nvdla.errors import NvdlaError
from ..command import Command, ConfigName, Size, near, option, path_argument, path_option
from ..progress import Progress
from ..text_table import Table
from .calibration_options import (
    AUTO,
    Calibration,
    calibrated,
    fallback,
    max_parts,
    precision,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...compiler.accuracy import Accuracy
    from ...compiler.compilation import Request, Result
    from ...compiler.passes import Watch

VERSION = 1
"""Of the file that ``--report`` writes."""


def _say(text: str) -> None:
    tell(f"cudla-sim compile: {text}")


def _list_passes(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from ...compiler import compilation

        listed = compilation.listed()
        width = max(len(item.name) for item in listed)
        for item in listed:
            click.echo(f"{item.name:{width}}  {item.summary}")
        context.exit()


def _optimisations(context: click.Context, option: click.Parameter, names: str) -> tuple[str, ...]:
    """The names of an option; a usage error for one that there is not."""
    found = tuple(name.strip() for name in names.split(",") if name.strip())
    for name in found:
        if name not in OPTIMISATIONS:
            text = f"{name!r} is no optimisation{near(name, list(OPTIMISATIONS))}: "
            raise click.BadParameter(text + ", ".join(OPTIMISATIONS), context, option)
    return found


class PassName(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A pass of the compiler."""

    name = "pass"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from ...compiler import compilation

        known = [item.name for item in compilation.listed()]
        if value in known:
            return str(value)
        text = f"{value!r} is no pass{near(value, known)}: {', '.join(known)}"
        raise click.BadParameter(text, ctx, param)


def _picture_line() -> int:
    """Bytes that a line of a picture is a multiple of, on the board of this environment."""
    if not os.environ.get("CUDLA_SIM_BOARD"):
        return Options().picture_line
    from .board import machine, picture_line

    return picture_line(machine())


def _dumping(names: Collection[str]) -> Watch:
    """Prints the network behind the passes of these names."""
    from ...compiler import dump

    def watch(name: str, state: Any) -> None:
        if name in names:
            click.echo(dump.text(name, state), nl=False)

    return watch


def _following(shown: Progress, watch: Watch | None) -> Watch:
    """Names the pass that runs, and tells *watch* of those that are over."""
    from ...compiler.compilation import listed

    names = [item.name for item in listed()]
    after = dict(pairwise(names))

    def followed(name: str, state: Any) -> None:
        shown.at(0, f"compiling: {after.get(name, 'the rest')}")
        if watch is not None:
            watch(name, state)

    return followed


@click.command("compile", cls=Command, arguments=[("MODEL", "An ONNX model.")])
@path_argument("model")
@path_option(
    "-o",
    "--output",
    "out",
    was=["--out"],
    required=True,
    metavar="FILE",
    group="Output",
    help="The loadable.",
)
@option(
    "--config",
    type=ConfigName(),
    default="nv_full",
    show_default=True,
    group="Machine",
    help="nv_full, nv_large, nv_small, ...",
)
@precision("Machine", auto=True)
@option(
    "--keep-fp16",
    multiple=True,
    metavar="NODE",
    group="Machine",
    help="An ONNX node that runs in fp16 (nv_full).",
)
@option(
    "--target-db",
    type=float,
    group="Machine",
    help="SQNR for an int8 network to reach: the layers that this takes run in fp16 (nv_full).",
)
@option(
    "--cvsram",
    type=Size(),
    default=0,
    metavar="SIZE",
    group="Machine",
    help="Second memory (CVSRAM) that activations may take, as 2MiB; default: none.",
)
@option(
    "--batch",
    type=click.IntRange(1, 1024),
    default=1,
    metavar="N",
    group="Network",
    help="Pictures of a submission, for each of the model's.",
)
@option(
    "--no-batch-mode",
    is_flag=True,
    group="Machine",
    help="Each picture has operations of its own, where one could take several (nv_full).",
)
@option(
    "--winograd",
    is_flag=True,
    group="Machine",
    help="Winograd for 3 x 3 convolutions where that is faster (nv_full); less exact.",
)
@option(
    "--symmetric",
    is_flag=True,
    group="Machine",
    help="int8 without zero points: 0 is 0 in all tensors, one bit less behind a ReLU.",
)
@option(
    "--equalise",
    is_flag=True,
    group="Calibration",
    help="int8: give channels between convolutions like ranges (cross-layer equalisation).",
)
@fallback("Machine")
@max_parts("Machine")
@calibrated("Calibration", pictures="Calibration")
@path_option(
    "--save-calib",
    metavar="FILE",
    group="Calibration",
    help="Write the scales as a TensorRT calibration cache.",
)
@option(
    "--invent-ranges", is_flag=True, group="Calibration", help="int8 without data: for timing only."
)
@option(
    "--input-format",
    multiple=True,
    metavar="NAME=FORMAT",
    group="Network",
    help="int8:dla_hwc4, ...:chw32, ...:chw16.",
)
@option(
    "--output-format", multiple=True, metavar="NAME=FORMAT", group="Network", help="fp16:chw16, ..."
)
@option(
    "--outputs",
    multiple=True,
    metavar="TENSOR",
    group="Network",
    help="Cut the network at this tensor; again for more.",
)
@option(
    "--shapes",
    multiple=True,
    metavar="NAME:SHAPE",
    group="Network",
    help="For dynamic inputs: NAME:1x3x224x224.",
)
@option(
    "--pixels",
    multiple=True,
    metavar="NAME:LAYOUT",
    group="Network",
    help="This input is 8-bit pictures, nhwc or nchw: --mean and --scale go into the network.",
)
@option(
    "--accuracy",
    is_flag=True,
    group="Output",
    help="Compare layer by layer with the float network.",
)
@path_option("--report", metavar="FILE", group="Output", help="Write what is known as JSON.")
@path_option(
    "--emit-c",
    metavar="FILE",
    group="Output",
    help="Write a C program that quantises, runs and dequantises.",
)
@option(
    "--without",
    default="",
    metavar="NAMES",
    callback=_optimisations,
    group="Passes",
    help=f"Optimisations to leave out, with commas: {', '.join(OPTIMISATIONS)}.",
)
@option(
    "--passes",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_passes,
    group="Passes",
    help="List the passes of a compilation in their order.",
)
@option(
    "--dump-after",
    type=PassName(),
    multiple=True,
    group="Passes",
    help="Print the network as it is behind this pass; again for more.",
)
def compile_model(
    model: Path,
    out: Path,
    config: str,
    precision: str,
    keep_fp16: tuple[str, ...],
    target_db: float | None,
    cvsram: int,
    batch: int,
    no_batch_mode: bool,
    winograd: bool,
    symmetric: bool,
    equalise: bool,
    fallback: str | None,
    max_parts: int | None,
    calibration: Calibration,
    save_calib: Path | None,
    invent_ranges: bool,
    input_format: tuple[str, ...],
    output_format: tuple[str, ...],
    outputs: tuple[str, ...],
    shapes: tuple[str, ...],
    pixels: tuple[str, ...],
    accuracy: bool,
    report: Path | None,
    emit_c: Path | None,
    without: tuple[str, ...],
    dump_after: tuple[str, ...],
) -> None:
    """Compile an ONNX model to an NVDLA loadable.

    Exit status: 0 written, 1 it cannot be compiled (each node with reason and cure), 2 wrong usage.
    """
    from ...compiler import compilation

    if target_db is not None and precision not in ("int8", AUTO):
        raise click.UsageError("--target-db is for --precision int8 and auto")
    try:
        formats = [
            {
                name: compilation.format_word(word)
                for name, word in compilation.named(words, name_of).items()
            }
            for words, name_of in (
                (input_format, "--input-format"),
                (output_format, "--output-format"),
            )
        ]
        request = compilation.Request(
            model=model,
            options=Options(
                config=config,
                precision="int8" if precision == AUTO else precision,
                input_formats=formats[0],
                output_formats=formats[1],
                keep_fp16=keep_fp16,
                without=without,
                cvsram=cvsram,
                batch_mode=not no_batch_mode,
                winograd=winograd,
                zero_points=not symmetric,
                picture_line=_picture_line(),
            ),
            outputs=[name for word in outputs for name in word.split(",")],
            shapes=compilation.shapes_of(shapes),
            calib=calibration.paths,
            method=calibration.method,
            percentile=calibration.percentile,
            mean=calibration.mean,
            scale=calibration.scale,
            invent=invent_ranges,
            equalise=equalise,
            save_calib=save_calib,
            pixels=compilation.pixels_of(pixels),
            target=target_db,
            whole=precision == AUTO,
            batch=batch,
            watch=_dumping(dump_after) if dump_after else None,
            parts=bool(fallback),
        )
        for path in (out, report, save_calib, emit_c):
            if path is not None:
                check_writable(path)
        try:
            with Progress("reading").shown() as shown:
                request.watch = _following(shown, request.watch)
                result = compilation.run(
                    request, shown.beside(_say), lambda done: shown.at(done, "calibrating: samples")
                )
        except Refused:
            if not fallback:
                raise
            if emit_c is not None:
                raise CompileError(
                    "--emit-c writes programs for one loadable, not for parts"
                ) from None
            _in_parts(request, out, report, max_parts)
            return
        write_whole(out, result.compiled.loadable)
        if emit_c is not None:
            from .emit_c import program

            write_whole(emit_c, program(result.compiled.loadable, model.name).encode())
        if accuracy:
            _accuracy(result)
        if report is not None:
            text = json.dumps(
                {"schema_version": VERSION, "version": VERSION, **result.report},
                indent=2,
                default=str,
            )
            write_whole(report, text.encode())
    except compilation.UsageError as error:
        raise click.BadParameter(str(error)) from None
    except Refused as error:
        for line in error.lines():
            _say(line)
        raise click.exceptions.Exit(1) from None
    except (CompileError, NvdlaError, OutputError) as error:
        _say(str(error))
        raise click.exceptions.Exit(1) from None
    _summary(out, result.report)


def _in_parts(request: Request, out: Path, report: Path | None, most: int | None) -> None:
    """Write a network in parts, because the hardware refuses some of it."""
    from ...compiler import fallback
    from ...nvdla.parts.summary import part_line, summary
    from ..nvdla.parts import surroundings

    if request.target is not None or request.whole:
        _say("--target-db is not asked for in a network of parts")
    if request.equalise:
        _say("--equalise does nothing in a network of parts")
    with Progress("compiling parts").shown() as shown:
        package = fallback.compile_package(request, shown.beside(_say), most)
    data = package.encode()
    write_whole(out, data)
    for number in range(len(package.parts)):
        print(part_line(package, number))
    if report is not None:
        share = summary(package, surroundings()).as_dict()
        known = {**fallback.report(request, package, len(data)), "share": share}
        text = json.dumps({"schema_version": VERSION, "version": VERSION, **known}, indent=2)
        write_whole(report, text.encode())
    print(summary(package, surroundings()))
    print(f"{out}: {package.config}, {len(package.parts)} parts, {len(data)} bytes")


def _accuracy(result: Result) -> None:
    from ...compiler import compilation

    with Progress("measuring accuracy: samples").shown() as shown:
        found = compilation.accuracy_of(result, shown.beside(_say), shown.of)
    result.report["accuracy"] = found.as_dict()
    for table in accuracy_tables(found):
        table.show()


def _summary(out: Path, report: dict[str, Any]) -> None:
    operations = report.get("operations", {})
    count = sum(operations.values()) if isinstance(operations, dict) else len(operations)
    seconds = sum(report["seconds"].values())
    print(
        f"{out}: {report['config']}, {report['precision']}, {report['bytes']} bytes, "
        f"{count} operations, {seconds:.1f} s"
    )


_FIGURES = ("SQNR dB", "cosine", "largest error")
_CENTRED = ("centred dB", "centred cosine")


def accuracy_tables(accuracy: Accuracy) -> list[Table]:
    """What ``--accuracy`` shows: outputs and layers."""
    made = []
    for title, rows in (("output", accuracy.outputs), ("layer, worst first", accuracy.layers)):
        if not rows:
            continue
        figures = (*_FIGURES, *_CENTRED) if rows is accuracy.outputs else _FIGURES
        table = Table((title, *figures, "nodes"), right=frozenset(range(1, len(figures) + 1)))
        for row in rows:
            words = [row.name, f"{row.sqnr:.1f}", f"{row.cosine:.5f}", f"{100 * row.largest:.2f} %"]
            if rows is accuracy.outputs:
                words += [_text(row.centred_sqnr, 1), _text(row.centred_cosine, 4)]
            table.add(*words, " + ".join(row.nodes))
        made.append(table)
    return made


def _text(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
