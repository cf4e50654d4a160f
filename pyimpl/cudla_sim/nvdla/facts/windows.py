"""Windows of convolutions and poolings along one axis."""

from __future__ import annotations


def extent(taps: int, dilation: int = 1) -> int:
    """Elements from the first tap of a window to its last."""
    return (taps - 1) * dilation + 1


def output_size(size: int, window: int, stride: int, before: int, after: int) -> int:
    """Positions of a *window* (its extent) over *size* elements and the pads around them."""
    return (size + before + after - window) // stride + 1
