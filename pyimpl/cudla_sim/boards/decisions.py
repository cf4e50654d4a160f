"""DLA or GPU: the rules applied to each layer of a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from packaging.version import Version

from ..board_table import MARKS
from .facts import Neighbours, facts
from .layers import Layer, Network
from .rules.expressions import Facts
from .rules.rule import Rule

UNSUPPORTED = "documented"
"""The mark of "no rule names it": the tables of the developer guide are said to be whole."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that a layer breaks: *text* quotes the number and the value."""

    rule: str
    text: str
    source: str
    mark: str
    effect: str = "gpu"
    message: str = ""
    cure: str = ""
    rewrite: str = ""


_NO_SCALE = Finding(
    "no-scale",
    "an input has no scale: FP16 (the build fails with --precisionConstraints=obey)",
    "Developer guide 8.4, Working with DLA: INT8 needs a dynamic range for every tensor",
    "documented",
    effect="fp16",
    cure="calibrate it, or setDynamicRange",
)


@dataclass(frozen=True, slots=True)
class Decision:
    """Where a layer runs. *device* is "DLA" or "GPU", *precision* "int8" or "fp16" there.

    *findings* are the rules that decided against the DLA or changed the precision, the surest
    first, and notes; *taken_by* is the rule that lets it in. *mark* is how sure the decision is.
    """

    layer: Layer
    device: str
    precision: str
    findings: tuple[Finding, ...]
    taken_by: str
    mark: str

    @property
    def reason(self) -> str:
        """Why it is not on the DLA; "" where it is."""
        return next((f.text for f in self.findings if f.effect == "gpu"), "")


def decide(
    network: Network,
    rules: Sequence[Rule],
    generation: str,
    tensorrt: Version,
    precision: str,
    reads_hwc4: bool = False,
    scaled: bool = False,
) -> list[Decision]:
    """A decision for each layer, in graph order.

    *precision* is "int8" or "fp16": the best that is allowed. *reads_hwc4*: inputs of the network
    are in kDLA_HWC4. *scaled*: the tensors' scales are known, one without has none. Raises DlaError
    for a rule that asks what a layer does not have.
    """
    valid = [rule for rule in rules if rule.holds_for(generation, tensorrt)]
    around = Neighbours.of(network)
    names = {tensor.name for tensor in network.inputs}
    decisions = []
    for layer in network.layers:
        hwc4 = reads_hwc4 and any(tensor.name in names for tensor in layer.inputs)
        if scaled and precision == "int8" and any(t.scale is None for t in layer.inputs):
            lowered = _one(layer, valid, around, "fp16", hwc4)
            decisions.append(replace(lowered, findings=(*lowered.findings, _NO_SCALE)))
        else:
            decisions.append(_one(layer, valid, around, precision, hwc4))
    return decisions


def _one(
    layer: Layer, rules: Sequence[Rule], around: Neighbours, precision: str, hwc4: bool
) -> Decision:
    known = facts(layer, around, precision, hwc4)
    about = [rule for rule in rules if rule.is_about(layer, known)]
    if precision == "int8" and any(r.effect == "fp16" and _breaks(r, known) for r in about):
        lowered = facts(layer, around, "fp16", hwc4)
        rest = _one_at(layer, [r for r in rules if r.is_about(layer, lowered)], lowered, "fp16")
        why = tuple(_finding(r, known) for r in about if r.effect == "fp16" and _breaks(r, known))
        return Decision(
            layer, rest.device, "fp16", (*rest.findings, *why), rest.taken_by, rest.mark
        )
    return _one_at(layer, about, known, precision)


def _breaks(rule: Rule, known: Facts) -> bool:
    return rule.broken_by(known) is not None


def _one_at(layer: Layer, about: Sequence[Rule], known: Facts, precision: str) -> Decision:
    takes = [rule for rule in about if rule.takes]
    findings = [_finding(rule, known) for rule in about if not rule.takes and _breaks(rule, known)]
    against = [finding for finding in findings if finding.effect == "gpu"]
    if not takes and not against:
        text = f"no layer of the DLA is {_named(layer)}"
        source = "Developer guide, DLA supported layers: not in the list"
        findings.append(Finding("not-listed", text, source, UNSUPPORTED))
        against = findings[-1:]
    findings.sort(key=lambda finding: (finding.effect != "gpu", MARKS.index(finding.mark)))
    if against:
        mark = min((finding.mark for finding in against), key=MARKS.index)
        return Decision(layer, "GPU", precision, tuple(findings), "", mark)
    best = min(takes, key=lambda rule: MARKS.index(rule.mark))
    return Decision(layer, "DLA", precision, tuple(findings), best.id, best.mark)


def _named(layer: Layer) -> str:
    function = layer.parameters.get("function", "")
    words = f"{layer.kind} {function}".strip()
    return f"{layer.operator} ({words})" if layer.operator else words


def _finding(rule: Rule, known: Facts) -> Finding:
    return Finding(
        rule.id,
        rule.broken_by(known) or "",
        rule.source,
        rule.mark,
        rule.effect,
        rule.message,
        rule.cure,
        rule.rewrite,
    )
