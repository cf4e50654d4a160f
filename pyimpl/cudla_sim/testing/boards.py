"""``assert_on_dla``: a test that a network stays on the DLA of a board."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import onnx

    from ..boards.checking import Report
    from ..boards.decisions import Decision


def assert_on_dla(
    model: str | Path | onnx.ModelProto,
    board: str = "orin",
    except_: Sequence[str] = (),
    max_subgraphs: int | None = None,
    **options: Any,
) -> Report:
    """Fails if a layer of an ONNX model is not on the DLA, and says which rule decided.

    *except_*: names of layers, nodes or operators that may be on the GPU, with * and ?. A name that
    fits nothing on the GPU fails, too: the list stays true. *max_subgraphs*: how many there may be.
    *options*: those of :func:`cudla_sim.boards.check` (int8, tensorrt, shapes, ...). Returns the
    report.
    """
    __tracebackhide__ = True
    from ..boards.checking import check

    report = check(model, board, **options)
    used: set[str] = set()
    wrong = []
    for decision in report.on_gpu:
        fits = [name for name in except_ if _fits(decision, name)]
        used.update(fits)
        if not fits:
            layer = decision.layer
            wrong.append(f"{layer.name} ({layer.kind}): {decision.reason} [{decision.mark}]")
    unused = [name for name in except_ if name not in used]
    parts = len(report.subgraphs)
    where = f"{report.board.name}, TensorRT {report.tensorrt}"
    if wrong:
        raise AssertionError(f"not on the DLA of {where}:\n  " + "\n  ".join(wrong))
    if unused:
        raise AssertionError(f"except_ names {unused[0]!r}, but nothing of it is on the GPU")
    if max_subgraphs is not None and parts > max_subgraphs:
        raise AssertionError(f"{parts} subgraphs on {where}; at most {max_subgraphs} are wanted")
    return report


def _fits(decision: Decision, name: str) -> bool:
    layer = decision.layer
    return any(fnmatchcase(word, name) for word in (layer.name, layer.node, layer.operator))
