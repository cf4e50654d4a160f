"""Simplification of the graph: what hardware need not compute, or computes better together."""

from __future__ import annotations

from ...graph import Graph
from . import affine, curves, dead, limits, lrn, pads, ports, shuffles, statistics


def simplify(graph: Graph) -> None:
    """Changes the graph in place; what it computes stays the same.

    Raises Refused for comparisons that are no part of an activation and for normalisation by
    the data's own statistics.
    """
    dead.remove(graph)
    limits.merge(graph)
    curves.recognise(graph)
    statistics.refuse(graph)
    while any([affine.drop_identities(graph), affine.merge(graph), limits.merge(graph)]):
        pass
    lrn.recognise(graph)
    shuffles.recognise(graph)
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
    dead.remove(graph)
    curves.refuse_comparisons(graph)
    ports.separate(graph)
