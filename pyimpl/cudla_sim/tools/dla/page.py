"""A report of ``cudla-sim dla check`` as one HTML page: the graph coloured by where layers run."""

from __future__ import annotations

from ...boards.checking import Report, macs
from ...boards.decisions import Decision
from ..report.graphs import Edge, Layer, LayerGraph
from ..report.page import Page, Section, Table

GPU = "GPU"


def page(report: Report) -> str:
    """The page. Raises ReportError without Plotly."""
    return Page(
        f"DLA of {report.board.title}: {report.network.name}",
        report.summary,
        [_summary(report), _graph(report), _layers(report), _subgraphs(report), _messages(report)],
    ).html()


def _summary(report: Report) -> Section:
    facts = [
        ("board", report.board.title),
        ("TensorRT", str(report.tensorrt)),
        ("precision", report.precision.upper()),
        ("layers on the DLA", f"{len(report.on_dla)} of {len(report.decisions)}"),
        ("multiplications on the DLA", f"{report.share:.1%}"),
        ("subgraphs", str(len(report.subgraphs))),
        ("tensors to or from the GPU", str(report.transitions)),
    ]
    return Section("Summary", "summary", list(report.notes), facts)


def _places(report: Report) -> dict[str, str]:
    """Where each layer runs, by its name."""
    found = dict.fromkeys((d.layer.name for d in report.on_gpu), GPU)
    for number, subgraph in enumerate(report.subgraphs, 1):
        found.update(dict.fromkeys((layer.name for layer in subgraph.layers), f"DLA {number}"))
    return found


def _graph(report: Report) -> Section:
    makers = {t.name: d.layer.name for d in report.decisions for t in d.layer.outputs}
    edges = [
        Edge(makers[t.name], d.layer.name, "x".join(map(str, t.shape)))
        for d in report.decisions
        for t in d.layer.inputs
        if t.name in makers
    ]
    if not report.decisions:
        return Section("Graph", "graph")
    places = _places(report)
    boxes = [_box(decision, places[decision.layer.name]) for decision in report.decisions]
    text = [
        "A colour for each subgraph. A click on a box or a row of the table chooses the layer; the "
        "attributes say why it is on the GPU."
    ]
    return Section("Graph", "graph", text, graphs=[LayerGraph(boxes, edges, "where it runs")])


def _box(decision: Decision, place: str) -> Layer:
    layer = decision.layer
    attributes = [("layer", layer.name), ("type", layer.kind), ("on", place)]
    if decision.device == "DLA":
        attributes.append(("precision", decision.precision))
    attributes += [("multiplications", f"{macs(layer):,}")] if macs(layer) else []
    for finding in decision.findings:
        attributes += [("why", finding.text)]
        attributes += [("what would help", finding.cure)] if finding.cure else []
    return Layer(layer.name, layer.kind, [layer.name], place, attributes=attributes)


def _layers(report: Report) -> Section:
    columns = [
        ("layer", "text"), ("type", "text"), ("on", "text"), ("precision", "text"),
        ("multiplications", "number"), ("why", "text"), ("what would help", "text"),
        ("source", "text"), ("sure", "text"),
    ]  # fmt: skip
    places = _places(report)
    table = Table(
        columns,
        [
            (
                d.layer.name,
                d.layer.kind,
                places[d.layer.name],
                d.precision if d.device == "DLA" else "",
                macs(d.layer),
                "; ".join(f.text for f in d.findings),
                "; ".join(f.cure for f in d.findings if f.cure),
                "; ".join(f.source for f in d.findings) or d.taken_by,
                d.mark,
            )
            for d in report.decisions
        ],
        [d.layer.name for d in report.decisions],
    )
    return Section("Layers", "layers", tables=[table])


def _subgraphs(report: Report) -> Section:
    columns = [
        ("subgraph", "text"), ("layers", "number"), ("inputs", "text"), ("outputs", "text"),
        ("bytes of tensors", "number"), ("bytes of weights", "number"),
    ]  # fmt: skip
    table = Table(
        columns,
        [
            (
                s.name,
                len(s.decisions),
                ", ".join(t.name for t in s.inputs),
                ", ".join(t.name for t in s.outputs),
                s.local_bytes,
                s.global_bytes,
            )
            for s in report.subgraphs
        ],
    )
    return Section("Subgraphs", "subgraphs", tables=[table] if report.subgraphs else [])


def _messages(report: Report) -> Section:
    table = Table(
        [("severity", "text"), ("what TensorRT would print", "text")],
        [(message.severity, message.text) for message in report.messages],
    )
    return Section("Messages", "messages", tables=[table])
