"""Simplification of the graph: what hardware need not compute, or computes better together."""

from __future__ import annotations

from ...graph import Graph
from ...passes import Pass, Watch, run
from . import affine, curves, dead, limits, lrn, pads, ports, shuffles, statistics


def _together(graph: Graph) -> None:
    while any([affine.drop_identities(graph), affine.merge(graph), limits.merge(graph)]):
        pass


def _into_convolutions(graph: Graph) -> None:
    while any(
        [
            pads.fold(graph),
            affine.fold(graph),
            affine.merge(graph),
            affine.drop_identities(graph),
            limits.merge(graph),
        ]
    ):
        pass


def _outputs(graph: Graph) -> None:
    dead.remove(graph)
    curves.refuse_comparisons(graph)
    ports.separate(graph)


PASSES: tuple[Pass[Graph], ...] = (
    Pass("read", "the ONNX model as operations on four dimensions", lambda graph: None),
    Pass("remove-dead", "operations that no output needs are left out", dead.remove),
    Pass("merge-limits", "limits in a row become one", limits.merge),
    Pass(
        "recognise-curves",
        "SiLU, GELU, Mish, HardSwish and others by their parts",
        curves.recognise,
    ),
    Pass(
        "recognise-statistics",
        "normalisation by the data's own statistics, which wants more than 8 bits",
        statistics.recognise,
    ),
    Pass("merge-affine", "factors and sums in a row become one", _together),
    Pass("recognise-lrn", "local response normalisation by its parts", lrn.recognise),
    Pass("recognise-shuffles", "channel shuffles by their parts", shuffles.recognise),
    Pass("fold-affine", "pads, factors and sums go into convolutions", _into_convolutions),
    Pass("separate-outputs", "every output is a value of its own", _outputs),
)


def simplify(graph: Graph, watch: Watch | None = None) -> None:
    """Changes the graph in place; what it computes stays the same. *watch* is called behind every
    pass.

    Comparisons that are no part of an activation are refused.
    """
    run(PASSES, graph, watch)
