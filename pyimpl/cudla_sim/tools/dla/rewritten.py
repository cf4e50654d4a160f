"""What ``cudla-sim dla check --rewrite`` writes and says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...core.output import write_whole
from ..text_table import Table

if TYPE_CHECKING:
    from ...boards.rewrites import Rewriting

CACHE = ".cache"
"""Of the calibration cache beside the model."""


def write_rewritten(rewriting: Rewriting, out: Path) -> None:
    """Writes the model, and the scales of Q/DQ as TensorRT's calibration cache beside it.

    Raises OutputError.
    """
    write_whole(out, rewriting.model.SerializeToString())
    if rewriting.scales:
        from ...compiler.calibrate.table import Table as Cache

        write_whole(out.with_suffix(CACHE), Cache.of(rewriting.scales).text().encode())


def show_rewriting(rewriting: Rewriting) -> None:
    """What was rewritten, what was not and why, and that it computes the same."""
    table = Table(["rewrite", "node", "operator", "what stands there"])
    for step in rewriting.steps:
        table.add(step.rewrite, step.node, step.operator, step.text)
    for step in rewriting.refused:
        table.add(step.rewrite, step.node, step.operator, f"not rewritten: {step.text}")
    table.show()
    if table.rows:
        print()
    print(f"before: {rewriting.before.summary}")
    if rewriting.difference is not None and rewriting.steps:
        print(f"results differ by at most {rewriting.difference:.1e} of the largest (onnxruntime)")
    for name, shape in rewriting.outputs.items():
        print(f"output {name} is {' x '.join(map(str, shape))} now")
    if rewriting.scales:
        print(f"{len(rewriting.scales)} scales went to a calibration cache: --int8 --calib")
    print()
