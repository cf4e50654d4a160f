"""Applies the rewrites that rules name, as long as they bring layers to the DLA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...compiler.front import shapes as shapes_of_inputs
from ...compiler.front.reading import check_opsets, inlined, parsed, wanted_outputs
from ..checking import Report, check
from ..decisions import Decision
from ..errors import DlaError
from . import channels, functions, matrices, pools, quantization, resizes, selections  # noqa: F401
from .edit import Edit, NotPossible
from .registry import ON_REQUEST, REWRITES
from .verify import FP16_STEP, difference

if TYPE_CHECKING:
    import onnx

STRIP = "strip-qdq"


@dataclass(frozen=True, slots=True)
class Step:
    """A rewrite of one node; *text* is what stands there now, or why nothing does."""

    rewrite: str
    node: str
    operator: str
    text: str


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A rewritten model, and what came of it.

    *steps* were done, *refused* were not. *outputs*: results of the network with another shape, by
    name. *scales*: what Q/DQ said that were taken out, for a calibration cache; real value of one
    int8 step. *difference*: the largest of a result on random inputs, as a share of its largest
    value, computed by onnxruntime; None where it was not asked for.
    """

    model: onnx.ModelProto
    before: Report
    after: Report
    steps: tuple[Step, ...]
    refused: tuple[Step, ...]
    outputs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    scales: Mapping[str, float] = field(default_factory=dict)
    difference: float | None = None

    @property
    def equal(self) -> bool:
        """Whether results are equal within what FP16 tells apart."""
        return self.difference is None or self.difference <= FP16_STEP


def rewrite(
    model: str | Path | onnx.ModelProto,
    board: str = "orin",
    *,
    only: Sequence[str] = (),
    shapes: Mapping[str, Sequence[int]] | None = None,
    outputs: Sequence[str] = (),
    compare: bool = True,
    **options: Any,
) -> Rewriting:
    """Rewrites what the DLA of *board* refuses, where a rewrite is known.

    *only*: names of rewrites (``cudla-sim dla rules``); default all that bring layers to the DLA.
    *compare*: run both models with onnxruntime. The rest as of :func:`cudla_sim.boards.check`.
    Nodes that compute constants become constants, dynamic shapes are fixed.

    Raises DlaError for unknown rewrites, CompileError for a model that cannot be read.
    """
    for name in only:
        if name not in REWRITES:
            raise DlaError(f"{name!r} is no rewrite; {', '.join(sorted(REWRITES))} are")
    proto = _prepared(model, shapes or {}, outputs)

    def looked(changed: onnx.ModelProto) -> Report:
        return check(changed, board, **options)

    before = looked(proto)
    folded = Edit.of(proto)
    folded.fold()
    reference = folded.model()
    work = _Work(reference, looked)
    if not only or STRIP in only:
        work.rounds([STRIP])
        reference = work.model if work.steps else reference
    wanted = only or [name for name in REWRITES if name not in ON_REQUEST]
    work.rounds([name for name in REWRITES if name != STRIP and name in wanted])
    return Rewriting(
        model=work.model,
        before=before,
        after=work.report,
        steps=tuple(work.steps),
        refused=tuple(work.refused),
        outputs=dict(work.outputs),
        scales=dict(work.scales),
        difference=difference(reference, work.model) if compare else None,
    )


class _Work:
    """The model as far as it is rewritten, with its report."""

    def __init__(self, model: onnx.ModelProto, looked: Any) -> None:
        self.model = model
        self._looked = looked
        self.report: Report = looked(model)
        self.steps: list[Step] = []
        self.refused: list[Step] = []
        self._tried: set[tuple[str, str]] = set()
        self.outputs: dict[str, tuple[int, ...]] = {}
        self.scales: dict[str, float] = {}

    def rounds(self, allowed: Sequence[str]) -> None:
        """Until nothing is left to do."""
        while (todo := self._next(allowed)) is not None:
            decision, name = todo
            self._apply(decision, name)

    def _next(self, allowed: Sequence[str]) -> tuple[Decision, str] | None:
        for decision in self.report.decisions:
            for finding in decision.findings:
                for name in finding.rewrite.split():
                    layer = decision.layer
                    fits = name in allowed and layer.operator in REWRITES[name].operators
                    if fits and (layer.node, name) not in self._tried:
                        return decision, name
        return None

    def _apply(self, decision: Decision, name: str) -> None:
        layer = decision.layer
        self._tried.add((layer.node, name))
        edit = Edit.of(self.model)
        node = next((n for n in edit.nodes if n.name == layer.node), None)
        try:
            if node is None:
                raise NotPossible("it is inside a branch")
            text = REWRITES[name].change(edit, node)
            changed = edit.model()
            report = self._looked(changed)
            _better(report, self.report)
        except NotPossible as error:
            self.refused.append(Step(name, layer.node, layer.operator, str(error)))
            return
        self.model, self.report = changed, report
        self.outputs.update(edit.outputs)
        self.scales.update(edit.scales)
        self.steps.append(Step(name, layer.node, layer.operator, text))


def _better(after: Report, before: Report) -> None:
    """Raises NotPossible where a step brings nothing to the DLA, and puts something on the GPU."""
    more = len(after.on_gpu) - len(before.on_gpu)
    gains = len(after.on_dla) > len(before.on_dla) or len(after.subgraphs) < len(before.subgraphs)
    if more < 0 or (more == 0 and gains):
        return
    known = {decision.layer.name for decision in before.on_gpu}
    worse = next((d for d in after.on_gpu if d.layer.name not in known), None)
    if worse is not None:
        raise NotPossible(f"{worse.layer.kind} would be on the GPU: {worse.reason}")


def _prepared(
    model: str | Path | onnx.ModelProto,
    shapes: Mapping[str, Sequence[int]],
    outputs: Sequence[str],
) -> onnx.ModelProto:
    """A copy with fixed shapes and a name for each node, cut at *outputs*."""
    import onnx

    source, _ = parsed(model)
    proto = onnx.ModelProto()
    proto.CopyFrom(inlined(source))
    check_opsets(proto)
    fixed = shapes_of_inputs.fixed(proto, shapes)
    wanted = wanted_outputs(proto, outputs)
    for port in proto.graph.input:
        if port.name in fixed:
            dims = port.type.tensor_type.shape.dim
            del dims[:]
            for size in fixed[port.name]:
                dims.add().dim_value = int(size)
    del proto.graph.value_info[:]
    if outputs:
        del proto.graph.output[:]
        for name in wanted:
            proto.graph.output.add().name = name
    used: set[str] = set()
    for node in proto.graph.node:
        wished = node.name or next((name for name in node.output if name), node.op_type)
        name, number = wished, 1
        while name in used:
            number += 1
            name = f"{wished}:{number}"
        used.add(name)
        node.name = name
    return proto
