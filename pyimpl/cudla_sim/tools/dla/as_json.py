"""A report of ``cudla-sim dla check`` as data (``schemas/dla-check.schema.json``)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...boards.checking import Report, macs
from ...boards.rewrites import Rewriting

VERSION = 1


def described(report: Report, rewriting: Rewriting | None = None) -> dict[str, Any]:
    """What ``--json`` prints; *rewriting* is what led to the report."""
    more = {} if rewriting is None else {"rewriting": _rewriting(rewriting)}
    return {**_report(report), **more}


def _rewriting(rewriting: Rewriting) -> dict[str, Any]:
    return {
        "steps": [asdict(step) for step in rewriting.steps],
        "refused": [asdict(step) for step in rewriting.refused],
        "layers_on_gpu_before": len(rewriting.before.on_gpu),
        "subgraphs_before": len(rewriting.before.subgraphs),
        "outputs": {name: list(shape) for name, shape in rewriting.outputs.items()},
        "scales": dict(rewriting.scales),
        "difference": rewriting.difference,
    }


def _report(report: Report) -> dict[str, Any]:
    place = {
        decision.layer.name: number
        for number, subgraph in enumerate(report.subgraphs)
        for decision in subgraph.decisions
    }
    return {
        "schema_version": VERSION,
        "version": VERSION,
        "network": report.network.name,
        "board": report.board.name,
        "generation": report.board.generation,
        "tensorrt": str(report.tensorrt),
        "precision": report.precision,
        "standalone": report.standalone,
        "buildable": report.buildable,
        "layers": [
            {
                "name": decision.layer.name,
                "type": decision.layer.kind,
                "operator": decision.layer.operator,
                "node": decision.layer.node,
                "device": decision.device,
                "precision": decision.precision,
                "mark": decision.mark,
                "rule": decision.taken_by,
                "subgraph": place.get(decision.layer.name),
                "multiplications": macs(decision.layer),
                "findings": [asdict(finding) for finding in decision.findings],
            }
            for decision in report.decisions
        ],
        "subgraphs": [
            {
                "name": subgraph.name,
                "layers": len(subgraph.decisions),
                "inputs": [tensor.name for tensor in subgraph.inputs],
                "outputs": [tensor.name for tensor in subgraph.outputs],
                "local_bytes": subgraph.local_bytes,
                "global_bytes": subgraph.global_bytes,
            }
            for subgraph in report.subgraphs
        ],
        "transitions": report.transitions,
        "share_of_multiplications": report.share,
        "messages": [asdict(message) for message in report.messages],
        "notes": list(report.notes),
    }
