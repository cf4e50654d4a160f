"""Every node of a graph as nodes that units of the configuration compute."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from cudla_sim.nvdla.facts.limits import LARGEST, NORMALISED_CHANNELS

from .. import graph as g
from ..errors import Refused
from .builder import Rewriter


def lrn(out: Rewriter, node: g.Lrn) -> None:
    sizes = ", ".join(map(str, NORMALISED_CHANNELS))
    if node.size not in NORMALISED_CHANNELS:
        out.refuse(node, f"size {node.size}: CDP has windows of {sizes} channels")
    else:
        out.add(node)


_KEPT = (g.Affine, g.Clip, g.PRelu, g.Concat)
"""SDP, or the arrangement of memory, does it as it is."""

RULES = {
    g.Conv: "convolution:rewrite",
    g.Deconv: "deconv:rewrite",
    g.Curve: "pointwise:curve",
    g.Binary: "pointwise:binary",
    g.Pool: "pooling:rewrite",
    g.Slice: "arrange:slice_",
    g.ChannelGather: "arrange:channel_gather",
    g.DepthToSpace: "arrange:depth_to_space",
    g.SpaceToDepth: "arrange:space_to_depth",
    g.Resize: "resize:rewrite",
    g.Pad: "arrange:pad",
    g.Lrn: "rewrite:lrn",
    g.Softmax: "softmax:rewrite",
    g.Transpose: "arrange:transpose",
    g.Reshape: "arrange:reshape",
}
"""The function that rewrites a node; its module is imported when a network has one."""


def _rule(kind: type[g.Node]) -> Callable[[Rewriter, Any], None]:
    module, _, function = RULES[kind].partition(":")
    found: Callable[[Rewriter, Any], None] = getattr(
        import_module(f".{module}", __package__), function
    )
    return found


def run(out: Rewriter, nodes: list[g.Node]) -> list[g.Node]:
    """Rewrite all nodes; raises Refused with everything that cannot be done."""
    for node in nodes:
        if node.output.shape[1] > LARGEST:
            out.refuse(node, f"its output {node.output.shape} has more than {LARGEST} channels")
        elif isinstance(node, _KEPT):
            out.add(node)
        elif type(node) not in RULES:
            out.refuse(node, f"{node.kind} has no unit")
        else:
            _rule(type(node))(out, node)
    if out.refusals:
        raise Refused(out.refusals)
    return out.nodes
