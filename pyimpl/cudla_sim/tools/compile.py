"""``cudla-sim compile``: an ONNX model to an NVDLA loadable."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..compiler.errors import CompileError, Refused
from ..compiler.options import Options
from ..nvdla.errors import NvdlaError
from ..nvdla.hw.configs import config as hardware
from .output import check_writable, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .compilation import Request, Result

PRECISIONS = ("int8", "int16", "fp16")
_METHODS = ("auto", "minmax", "entropy", "percentile", "mse")


def _say(text: str) -> None:
    print(f"cudla-sim compile: {text}", file=sys.stderr)


def _numbers(text: str, option: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")] if text else []
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no list of numbers", param_hint=option) from None


def compile_model(
    model: Annotated[Path, typer.Argument(help="An ONNX model.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The loadable.")],
    config: Annotated[str, typer.Option(help="nv_full, nv_large, nv_small, ...")] = "nv_full",
    precision: Annotated[str, typer.Option(help="int8, int16 or fp16.")] = "int8",
    calib: Annotated[
        list[Path] | None,
        typer.Option(help="Data (.npy, .npz, pictures, folders) or a TensorRT calibration cache."),
    ] = None,
    calib_method: Annotated[
        str, typer.Option(help="auto, minmax, entropy, percentile or mse.")
    ] = "minmax",
    percentile: Annotated[float, typer.Option(help="For --calib-method percentile.")] = 99.99,
    mean: Annotated[str, typer.Option(help="Of pictures, one or one a channel: 123,117,104.")] = "",
    scale: Annotated[str, typer.Option(help="Of pictures, after the mean: 0.017.")] = "",
    save_calib: Annotated[
        Path | None, typer.Option(help="Write the scales as a TensorRT calibration cache.")
    ] = None,
    invent_ranges: Annotated[
        bool, typer.Option("--invent-ranges", help="int8 without data: for timing only.")
    ] = False,
    input_format: Annotated[
        list[str] | None, typer.Option(help="NAME=int8:dla_hwc4, ...:chw32, ...:chw16.")
    ] = None,
    output_format: Annotated[list[str] | None, typer.Option(help="NAME=fp16:chw16, ...")] = None,
    keep_fp16: Annotated[
        list[str] | None, typer.Option(help="An ONNX node that runs in fp16 (nv_full).")
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option(help="Cut the network at this tensor; again for more.")
    ] = None,
    shapes: Annotated[
        list[str] | None, typer.Option(help="NAME:1x3x224x224 for dynamic inputs.")
    ] = None,
    fallback: Annotated[
        str, typer.Option(help="cpu: nodes that the hardware cannot do run in onnxruntime.")
    ] = "",
    accuracy: Annotated[
        bool, typer.Option("--accuracy", help="Compare layer by layer with the float network.")
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Write what is known as JSON.")] = None,
) -> None:
    """Compile an ONNX model to an NVDLA loadable."""
    from . import compilation

    if precision not in PRECISIONS:
        raise typer.BadParameter(f"{precision!r} is none of {', '.join(PRECISIONS)}")
    if calib_method not in _METHODS:
        raise typer.BadParameter(f"{calib_method!r} is none of {', '.join(_METHODS)}")
    if fallback not in ("", "cpu"):
        raise typer.BadParameter(f"{fallback!r}; cpu is possible", param_hint="--fallback")
    try:
        hardware_name = hardware(config).name
    except NvdlaError as error:
        raise typer.BadParameter(str(error), param_hint="--config") from None
    try:
        formats = [
            {
                name: compilation.format_word(word)
                for name, word in compilation.named(words or [], option).items()
            }
            for words, option in (
                (input_format, "--input-format"),
                (output_format, "--output-format"),
            )
        ]
        request = compilation.Request(
            model=model,
            options=Options(
                config=hardware_name,
                precision=precision,
                input_formats=formats[0],
                output_formats=formats[1],
                keep_fp16=tuple(keep_fp16 or ()),
            ),
            outputs=[name for word in outputs or [] for name in word.split(",")],
            shapes=compilation.shapes_of(shapes or []),
            calib=calib or [],
            method=calib_method,
            percentile=percentile,
            mean=_numbers(mean, "--mean"),
            scale=_numbers(scale, "--scale"),
            invent=invent_ranges,
            save_calib=save_calib,
        )
        for path in (out, report, save_calib):
            if path is not None:
                check_writable(path)
        try:
            with _progress() as step:
                result = compilation.run(request, _say, step)
        except Refused:
            if not fallback:
                raise
            _in_parts(request, out, report)
            return
        write_whole(out, result.compiled.loadable)
        if accuracy:
            _accuracy(result)
        if report is not None:
            text = json.dumps(result.report, indent=2, default=str)
            write_whole(report, text.encode())
    except compilation.UsageError as error:
        raise typer.BadParameter(str(error)) from None
    except Refused as error:
        for refusal in error.refusals:
            _say(str(refusal))
        raise typer.Exit(1) from None
    except (CompileError, NvdlaError) as error:
        _say(str(error))
        raise typer.Exit(1) from None
    _summary(out, result.report)


def _in_parts(request: Request, out: Path, report: Path | None) -> None:
    """Write a network in parts, because the hardware refuses some of it."""
    from . import fallback

    package = fallback.compile_package(request, _say)
    data = package.encode()
    write_whole(out, data)
    for number, part in enumerate(package.parts):
        print(f"part {number}, {part}")
    if report is not None:
        text = json.dumps(fallback.report(request, package, len(data)), indent=2)
        write_whole(report, text.encode())
    print(f"{out}: {package.config}, {len(package.parts)} parts, {len(data)} bytes")


@contextmanager
def _progress() -> Iterator[Callable[[int], None] | None]:
    """Counts calibration samples on a terminal."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("compiling")
        yield lambda done: bar.update(task, description=f"calibrating: {done} samples")


def _accuracy(result: Result) -> None:
    from rich.console import Console

    from ..compiler import accuracy
    from . import compilation

    found = compilation.accuracy_of(result, _say)
    result.report["accuracy"] = found.as_dict()
    for table in accuracy.tables(found):
        Console().print(table)


def _summary(out: Path, report: dict[str, Any]) -> None:
    operations = report.get("operations", {})
    count = sum(operations.values()) if isinstance(operations, dict) else len(operations)
    seconds = sum(report["seconds"].values())
    print(
        f"{out}: {report['config']}, {report['precision']}, {report['bytes']} bytes, "
        f"{count} operations, {seconds:.1f} s"
    )
