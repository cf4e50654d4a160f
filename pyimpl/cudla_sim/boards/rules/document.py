"""The rules in words: the page of the documentation is made from the table."""

from __future__ import annotations

from collections.abc import Sequence

from ...board_table import GENERATIONS
from .rule import PRECISIONS, Rule


def about(rule: Rule) -> str:
    """The layers of a rule."""
    parts = [", ".join(names) for names in (rule.layers, rule.functions, rule.operators) if names]
    return "; ".join(parts) or "all layers"


def asks(rule: Rule) -> str:
    """What must hold."""
    if rule.takes:
        return "runs on the DLA" + (f" if {rule.when}" if rule.when else "")
    if rule.require == "False":
        text = rule.says
    elif rule.require:
        text = rule.require
    elif rule.one_of:
        text = f"{rule.value}: one of {', '.join(f'{n:g}' for n in rule.one_of)}"
    else:
        low = f"{rule.least:g} <= " if rule.least is not None else ""
        high = f" <= {rule.most:g}" if rule.most is not None else ""
        text = f"{low}{rule.value}{high}"
    effect = {"fp16": "else FP16: ", "note": "note: "}.get(rule.effect, "")
    return effect + text + (f" (if {rule.when})" if rule.when else "")


def where(rule: Rule) -> str:
    """Boards, releases and precisions, where these are not all."""
    parts = []
    if tuple(rule.boards) != GENERATIONS:
        parts.append(", ".join(name.capitalize() for name in rule.boards))
    if rule.tensorrt:
        parts.append(f"TensorRT {rule.tensorrt}")
    if tuple(rule.precision) != PRECISIONS:
        parts.append(", ".join(name.upper() for name in rule.precision))
    return "; ".join(parts) or "everywhere"


def page(rules: Sequence[Rule]) -> str:
    """Markdown: a table of what the DLA has, one of what is asked."""
    lines = [
        "# Rules for the DLA",
        "",
        "What TensorRT asks of a layer before it gives it to the DLA of Xavier or Orin.",
        "`cudla-sim dla rules --markdown` prints this page from `boards/rules/table.toml`. A rule",
        "that is recalled is from the developer guide as remembered: check before relying on it,",
        "or leave it out by `--without recalled`.",
    ]
    for title, rows in (
        ("What the DLA has", [rule for rule in rules if rule.takes]),
        ("What is asked", [rule for rule in rules if not rule.takes]),
    ):
        lines += ["", f"## {title}", "", "| rule | about | asks | where | source | mark |"]
        lines += ["|---|---|---|---|---|---|"]
        for rule in rows:
            cells = (rule.id, about(rule), asks(rule), where(rule), rule.source, rule.mark)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
