"""``cudla-sim dla check``: DLA or GPU for each layer of a model, with the rule that decided."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...compiler.errors import CompileError
from ...core.output import OutputError, check_writable, write_whole
from ...core.text import tell
from ..command import JSON, Command, option, path_argument, path_option
from ..text_table import Table
from .options import target
from .rewritten import show_rewriting, write_rewritten

if TYPE_CHECKING:
    from ...boards.checking import Report
    from ...boards.rewrites import Rewriting


@click.command(cls=Command, arguments=[("MODEL", "An ONNX model.")])
@path_argument("model")
@target
@option("--all", "whole", is_flag=True, group="Output", help="List layers on the DLA, too.")
@option("--messages", is_flag=True, group="Output", help="Print what TensorRT would print.")
@JSON
@path_option("--html", metavar="FILE", group="Output", help="A page with the graph, coloured.")
@path_option(
    "--rewrite",
    metavar="OUT.onnx",
    group="Rewriting",
    help="Write the model with what is known to bring layers to the DLA.",
)
@option(
    "--only",
    multiple=True,
    metavar="NAME",
    group="Rewriting",
    help="Only this rewrite, as `dla rules` names them; may be repeated.",
)
@option("--require-all", is_flag=True, group="For CI", help="Fail if a layer is on the GPU.")
@option(
    "--max-subgraphs",
    type=click.IntRange(min=0),
    default=None,
    metavar="N",
    group="For CI",
    help="Fail if there are more.",
)
def check_model(
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
    whole: bool,
    messages: bool,
    as_json: bool,
    html: Path | None,
    rewrite: Path | None,
    only: tuple[str, ...],
    require_all: bool,
    max_subgraphs: int | None,
) -> None:
    """Say which layers TensorRT puts on the DLA, and why not the others.

    Exit status: 0 done; 1 a standalone loadable cannot be built, --require-all or --max-subgraphs
    is not met, or a rewritten model computes something else; 2 wrong usage or no model. With
    --rewrite what is shown is the rewritten model.
    """
    from ...boards.errors import DlaError

    try:
        for path in (html, rewrite):
            if path is not None:
                check_writable(path)
        options = {
            "board": board,
            "tensorrt": tensorrt,
            "int8": int8,
            "fp16": fp16,
            "standalone": standalone,
            "fallback": not no_fallback,
            "shapes": shapes,
            "outputs": [name.strip() for name in outputs.split(",") if name.strip()],
            "hwc4": hwc4,
            "calibration": calibration,
            "rules": rules,
            "without": without,
        }
        report, rewriting = _looked(model, options, rewrite, only)
    except (CompileError, DlaError, OutputError) as error:
        tell(f"cudla-sim dla check: {error}")
        sys.exit(2)
    if html is not None:
        _write_page(report, html)
    if as_json:
        from .as_json import described

        print(json.dumps(described(report, rewriting), indent=1))
    elif messages:
        for message in report.messages:
            print(f"[{message.severity}] [TRT] {message.text}")
    else:
        if rewriting is not None:
            show_rewriting(rewriting)
        _show(report, whole)
    failed = _failed(report, require_all, max_subgraphs)
    if rewriting is not None and not rewriting.equal:
        failed.append(f"the rewritten model differs by {rewriting.difference:.2g} of its results")
    for text in failed:
        tell(f"cudla-sim dla check: {text}")
    sys.exit(bool(failed))


def _looked(
    model: Path, options: dict[str, Any], out: Path | None, only: Sequence[str]
) -> tuple[Report, Rewriting | None]:
    from ...boards import check

    if out is None:
        return check(model, **options), None
    from ...boards.rewrites import rewrite

    rewriting = rewrite(model, only=only, **options)
    write_rewritten(rewriting, out)
    return rewriting.after, rewriting


def _failed(report: Report, require_all: bool, most: int | None) -> list[str]:
    found = []
    if not report.buildable:
        found.append(
            f"TensorRT does not build it: {len(report.on_gpu)} layers are not on the DLA"
            if report.on_gpu
            else f"no standalone loadable: {len(report.subgraphs)} subgraphs, one is possible"
        )
    elif require_all and report.on_gpu:
        found.append(f"--require-all: {len(report.on_gpu)} layers are on the GPU")
    if most is not None and len(report.subgraphs) > most:
        found.append(f"--max-subgraphs {most}: there are {len(report.subgraphs)}")
    return found


def _write_page(report: Report, html: Path) -> None:
    from ..report.page import ReportError
    from .page import page

    try:
        write_whole(html, page(report).encode())
    except (OutputError, ReportError) as error:
        tell(f"cudla-sim dla check: {error}")
        sys.exit(2)


def _show(report: Report, whole: bool) -> None:
    table = Table(
        ["layer", "type", "on", "why", "source"],
        colors={"DLA": "green", "GPU": "red", "DLA fp16": "yellow"},
    )
    for decision in report.decisions:
        on = decision.device
        if on == "DLA" and decision.precision != report.precision:
            on = f"DLA {decision.precision}"
        told = [f for f in decision.findings if f.effect == "gpu" or on.startswith("DLA")]
        if not told and not whole:
            continue
        if not told:
            table.add(decision.layer.name, _kind(decision.layer), on, "", decision.taken_by)
        for number, finding in enumerate(told):
            words = finding.text + (f"; {finding.cure}" if finding.cure else "")
            first = (decision.layer.name, _kind(decision.layer), on)
            table.add(*(first if not number else ("", "", "")), words, _source(finding))
    table.show()
    if table.rows:
        print()
    _show_subgraphs(report)
    print(report.summary)
    for note in report.notes:
        print(f"note: {note}")


def _kind(layer: Any) -> str:
    function = str(layer.parameters.get("function", ""))
    return f"{layer.kind} {function}".strip()


def _source(finding: Any) -> str:
    return f"{finding.mark}: {finding.rule}"


def _show_subgraphs(report: Report) -> None:
    table = Table(
        ["subgraph", "layers", "inputs", "outputs", "tensors", "weights"],
        right=frozenset({1, 2, 3, 4, 5}),
    )
    for subgraph in report.subgraphs:
        table.add(
            subgraph.name,
            str(len(subgraph.decisions)),
            str(len(subgraph.inputs)),
            str(len(subgraph.outputs)),
            f"{subgraph.local_bytes / 2**20:.1f} MiB",
            f"{subgraph.global_bytes / 2**20:.1f} MiB",
        )
    table.show()
    if table.rows:
        print()
