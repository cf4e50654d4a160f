"""``cudla-sim nvdla evaluate``: accuracy and throughput over a data set."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...compiler.errors import CompileError, Refused
from ...core.text import tell
from ...nvdla.errors import NvdlaError
from ...nvdla.loadable import IDENTIFIER, Loadable
from ..command import JSON, Command, configuration, option, path_argument, path_option
from ..onnx.calibration_options import Calibration, calibrated, fallback, max_parts, precision
from ..progress import Progress as Line
from .inputs import configuration_for

if TYPE_CHECKING:
    from ...evaluation.api import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator


VERSION = 1
"""Of what ``--json`` prints."""


def _say(text: str) -> None:
    tell(f"cudla-sim nvdla evaluate: {text}")


@click.command(
    "evaluate",
    cls=Command,
    arguments=[("NETWORK", "A loadable, a network in parts, or an ONNX model.")],
)
@path_argument("network")
@path_option(
    "--samples",
    "inputs",
    was=["--inputs"],
    required=True,
    group="Data",
    help="A folder, .npz or .npy.",
)
@option(
    "--labels",
    default="",
    metavar="FILE",
    group="Data",
    help="Classes (.npy, .npz, .csv, .txt), or the word: folders.",
)
@path_option(
    "--reference", metavar="FILE", group="Data", help=".npz of expected outputs: SQNR of each."
)
@option(
    "--scores",
    default="",
    metavar="NAME",
    group="Data",
    help="The network's output that holds the classes' scores.",
)
@path_option(
    "-o",
    "--output",
    "out",
    was=["--out"],
    metavar="FILE",
    group="Output",
    help="Results: .parquet or .npz; resumable.",
)
@option(
    "--keep-outputs/--no-keep-outputs",
    default=None,
    group="Output",
    help="Whether results hold outputs; default: up to 256 MiB.",
)
@option(
    "--restart",
    is_flag=True,
    group="Output",
    help="Forget what an interrupted evaluation has done.",
)
@option(
    "--workers",
    type=click.IntRange(min=0),
    default=0,
    group="Machine",
    help="Worker processes; 0: one a core.",
)
@option("--cluster", default="", metavar="ADDRESS", group="Machine", help="Of a Dask scheduler.")
@option(
    "--batch",
    type=click.IntRange(min=0),
    default=0,
    group="Machine",
    help="Samples that a worker gets at once; 0: chosen.",
)
@configuration()
@precision("ONNX")
@calibrated("ONNX", pictures="Data")
@fallback("ONNX")
@max_parts("ONNX")
@JSON
def evaluate_network(
    network: Path,
    inputs: Path,
    labels: str,
    reference: Path | None,
    scores: str,
    out: Path | None,
    keep_outputs: bool | None,
    restart: bool,
    workers: int,
    cluster: str,
    batch: int,
    config: str,
    precision: str,
    calibration: Calibration,
    fallback: str | None,
    max_parts: int | None,
    as_json: bool,
) -> None:
    """Run a network over a data set: top-1 and top-5 accuracy, SQNR, throughput.

    Exit status: 0 done, 1 network, data or workers cannot be used, 2 wrong usage.
    """
    from ...evaluation import EvaluationError, evaluate
    from ...evaluation.results import SUFFIXES, lines

    config = "" if config == "auto" else config
    if out is not None and not scores and out.suffix not in SUFFIXES:
        _say(f"--output {out} names no results; as the name of the scores it is --scores now")
        scores, out = str(out), None
    try:
        image: Path | bytes = network
        _tell_choice(network, config)
        if network.suffix.lower() == ".onnx":
            image = _compiled(network, config, precision, calibration, fallback or "", max_parts)
        with _progress() as step:
            found = evaluate(
                image,
                inputs,
                labels or None,
                reference=reference,
                output=scores,
                cluster=cluster or None,
                workers=workers,
                batch=batch,
                out=out,
                keep_outputs=keep_outputs,
                restart=restart,
                config="" if isinstance(image, bytes) else config,
                mean=calibration.mean,
                scale=calibration.scale,
                progress=step,
            )
    except KeyboardInterrupt:
        journal = None if out is None else out.with_name(out.name + ".journal")
        if journal is not None and journal.exists():
            _say(f"interrupted; the same command goes on (what is done is in {journal})")
        raise
    except Refused as error:
        for refusal in error.refusals:
            _say(str(refusal))
        for hint in error.hints:
            if hint.startswith("--fallback"):
                _say(hint)
        raise click.exceptions.Exit(1) from None
    except (EvaluationError, CompileError) as error:
        _say(str(error))
        raise click.exceptions.Exit(1) from None
    if as_json:
        print(
            json.dumps(
                {
                    "schema_version": VERSION,
                    "version": VERSION,
                    **found.summary(),
                    "network": str(network),
                },
                indent=1,
            )
        )
    else:
        print("\n".join([f"{network}: {found.samples} samples", *lines(found)[1:]]))


def _tell_choice(network: Path, config: str) -> None:
    """A line where a loadable fits several configurations; what cannot be read is told later."""
    try:
        data = network.read_bytes()
        if data[4:8] == IDENTIFIER:
            configuration_for(Loadable.parse(data), config, "nvdla evaluate", network.name)
    except (OSError, NvdlaError):
        pass


def _compiled(
    model: Path,
    config: str,
    precision: str,
    calibration: Calibration,
    fallback: str,
    most: int | None,
) -> bytes:
    """Raises CompileError, EvaluationError."""
    from ...compiler import compilation
    from ...compiler.options import Options
    from ...evaluation.runner import hardware_name

    request = compilation.Request(
        model=model,
        options=Options(config=hardware_name(config) or "nv_full", precision=precision),
        calib=calibration.paths,
        method=calibration.method,
        percentile=calibration.percentile,
        mean=calibration.mean,
        scale=calibration.scale,
        parts=bool(fallback),
    )
    try:
        with Line("compiling").shown() as shown:
            result = compilation.run(
                request, shown.beside(_say), lambda done: shown.at(done, "calibrating: samples")
            )
        return result.compiled.loadable
    except compilation.UsageError as error:
        raise click.BadParameter(str(error)) from None
    except Refused:
        if not fallback:
            raise
        from ...compiler.fallback import compile_package

        return compile_package(request, _say, most).encode()


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar on a terminal."""
    with Line("samples").shown() as bar:

        def step(done: int, total: int) -> None:
            bar.total = total
            bar.at(done)

        yield step
