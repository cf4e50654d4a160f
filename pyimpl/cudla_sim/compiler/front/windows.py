"""Window arithmetic of convolutions and pooling: pads and output sizes."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from cudla_sim.nvdla.facts.windows import extent

from ..errors import Unsupported
from .operators.registry import Call


def two(values: Sequence[int] | None, default: int = 1) -> tuple[int, int]:
    """(y, x) of an attribute for one or two spatial dimensions; one is x."""
    found = [int(v) for v in values] if values else []
    if len(found) > 2:
        raise Unsupported("it has three spatial dimensions", "use two-dimensional layers")
    found = [default] * (2 - len(found)) + found
    return found[0], found[1]


def pads_of(
    call: Call,
    size: tuple[int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
) -> tuple[int, int, int, int]:
    """Top, bottom, left, right, resolved from ``pads`` or ``auto_pad``."""
    mode = call.attribute("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        return four_pads(call.attribute("pads"))
    if mode == "VALID":
        return (0, 0, 0, 0)
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise Unsupported(f"its auto_pad {mode!r} is unknown", "repair the model")
    found = []
    for length, k, s, d in zip(size, kernel, stride, dilation, strict=True):
        total = max((ceil(length / s) - 1) * s + extent(k, d) - length, 0)
        small, large = total // 2, total - total // 2
        found.append((small, large) if mode == "SAME_UPPER" else (large, small))
    return (*found[0], *found[1])


def four_pads(pads: Sequence[int] | None) -> tuple[int, int, int, int]:
    """ONNX's order (begins, then ends) as top, bottom, left, right."""
    values = [int(p) for p in pads] if pads else [0, 0, 0, 0]
    if len(values) == 2:
        values = [0, values[0], 0, values[1]]
    if len(values) != 4:
        raise Unsupported("it has three spatial dimensions", "use two-dimensional layers")
    top, left, bottom, right = values
    return top, bottom, left, right


def needed_stride(stride: int, span: int) -> int:
    """The stride, no more than what keeps a second window out of *span* further lines."""
    return min(stride, span + 1)
