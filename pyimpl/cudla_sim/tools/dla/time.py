"""``cudla-sim dla time``: how long the DLA of a board would take for a model, layer by layer."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...compiler.errors import CompileError
from ...core.text import tell
from ..command import JSON, Command, option, path_argument
from ..text_table import Table
from .options import target

if TYPE_CHECKING:
    from ...boards.timing import Interval, Times
    from ...boards.timing.parameters import Range

_GROUP = "Time"


@click.command("time", cls=Command, arguments=[("MODEL", "An ONNX model.")])
@path_argument("model")
@target
@option(
    "--power-mode",
    "mode",
    default="",
    metavar="NAME",
    group=_GROUP,
    help="MAXN, 50W, 30W, 15W, ...; default: the board's first.",
)
@option(
    "--clock",
    type=float,
    default=None,
    metavar="MHZ",
    group=_GROUP,
    help="Of the DLA, in place of the mode's.",
)
@option(
    "--batch",
    type=int,
    default=None,
    metavar="N",
    group=_GROUP,
    help="Pictures of a submission; default: as the model has it.",
)
@option(
    "--cores",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    group=_GROUP,
    help="DLA cores that run the network at once.",
)
@option("--sparse", is_flag=True, group=_GROUP, help="Weights are 2:4 sparse (INT8 on Orin).")
@option(
    "--sram",
    type=float,
    default=None,
    metavar="MIB",
    group=_GROUP,
    help="As trtexec's dlaSRAM; default 1, 0 is none.",
)
@option(
    "--fp16-layers",
    multiple=True,
    metavar="PATTERN",
    group=_GROUP,
    help="Layers that are kept in FP16, by name ('/model.24/*').",
)
@option(
    "--to-dla",
    type=click.FloatRange(min=0),
    default=None,
    metavar="MS",
    group=_GROUP,
    help="A tensor's way from the GPU; default: as published.",
)
@option(
    "--from-dla",
    type=click.FloatRange(min=0),
    default=None,
    metavar="MS",
    group=_GROUP,
    help="A tensor's way to the GPU; default: as published.",
)
@JSON
def time_model(
    model: Path,
    board: str,
    tensorrt: str,
    int8: bool,
    fp16: bool,
    standalone: bool,
    no_fallback: bool,
    hwc4: bool,
    calibration: Path | None,
    shapes: Mapping[str, Sequence[int]] | None,
    outputs: str,
    rules: tuple[Path, ...],
    without: tuple[str, ...],
    mode: str,
    clock: float | None,
    batch: int | None,
    cores: int,
    sparse: bool,
    sram: float | None,
    fp16_layers: tuple[str, ...],
    to_dla: float | None,
    from_dla: float | None,
    as_json: bool,
) -> None:
    """Estimate how long the DLA takes: each operation, subgraph and inference, with an interval.

    Exit status: 0 done; 1 nothing runs on the DLA; 2 wrong usage or no model.
    """
    from ...boards import check
    from ...boards.errors import DlaError
    from ...boards.timing import estimate

    try:
        report = check(
            model,
            board,
            tensorrt=tensorrt,
            int8=int8,
            fp16=fp16,
            standalone=standalone,
            fallback=not no_fallback,
            shapes=shapes,
            outputs=[name.strip() for name in outputs.split(",") if name.strip()],
            hwc4=hwc4,
            calibration=calibration,
            rules=rules,
            without=without,
        )
        times = estimate(
            report,
            mode,
            clock_mhz=clock,
            batch=batch,
            cores=cores,
            sparse=sparse,
            sram_bytes=None if sram is None else round(sram * 2**20),
            fp16_layers=fp16_layers,
            to_dla=_fixed(to_dla),
            from_dla=_fixed(from_dla),
        )
    except (CompileError, DlaError) as error:
        tell(f"cudla-sim dla time: {error}")
        sys.exit(2)
    if as_json:
        from .times_json import described

        print(json.dumps(described(times), indent=1))
    else:
        _show(times)
    if not times.operations:
        tell("cudla-sim dla time: no layer is on the DLA; dla check says why")
    sys.exit(not times.operations)


def _fixed(ms: float | None) -> Range | None:
    from ...boards.timing.parameters import Range

    return None if ms is None else Range(ms, ms, ms)


def _show(times: Times) -> None:
    table = Table(
        ["operation", "type", "on", "precision", "compute ms", "memory ms", "ms", "bound by"],
        right=frozenset({4, 5, 6}),
    )
    for row in times.operations:
        table.add(
            row.name,
            row.kind,
            row.engine,
            row.precision,
            f"{row.compute_ms:.4f}",
            f"{row.memory_ms:.4f}",
            f"{row.ms:.4f}",
            row.bound,
        )
    table.show()
    if table.rows:
        print()
    _show_subgraphs(times)
    print(summary(times))
    for note in times.notes:
        print(f"note: {note}")


def _show_subgraphs(times: Times) -> None:
    table = Table(["subgraph", "operations", "ms", "from", "to"], right=frozenset({1, 2, 3, 4}))
    for part in times.subgraphs:
        table.add(part.name, str(part.operations), *_three(part.ms))
    if times.to_dla or times.from_dla:
        table.add(
            f"{times.to_dla} tensors to the DLA, {times.from_dla} from it", "",
            *_three(times.transitions),
        )  # fmt: skip
    table.show()
    if table.rows:
        print()


def _three(ms: Interval) -> tuple[str, str, str]:
    return f"{ms.value:.3f}", f"{ms.low:.3f}", f"{ms.high:.3f}"


def summary(times: Times) -> str:
    """One line: latency and throughput with their intervals."""
    mode = f" {times.mode}" if times.mode else ""
    pictures = f", batch {times.batch}" if times.batch > 1 else ""
    cores = f", {times.cores} cores" if times.cores > 1 else ""
    sparse = ", 2:4 sparse" if times.sparse else ""
    latency, rate = times.latency, times.throughput
    gpu = " without the GPU's layers" if times.gpu_layers else ""
    return (
        f"{times.network} on {times.board}{mode} ({times.clock_mhz:g} MHz), "
        f"{times.precision.upper()}{sparse}{pictures}{cores}: {latency.value:.3g} ms "
        f"({latency.low:.3g} to {latency.high:.3g}), {_rate(rate.value)} images/s "
        f"({_rate(rate.low)} to {_rate(rate.high)}){gpu}"
    )


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
