"""Converters of ONNX operators, by name."""

from __future__ import annotations

from .registry import CONVERTERS, Call

__all__ = ["CONVERTERS", "Call", "load_all"]


def load_all() -> None:
    """Fills the registry."""
    from . import (  # noqa: F401
        activations,
        arithmetic,
        arrangement,
        convolutions,
        normalization,
        pooling,
        quantization,
        reductions,
        resizing,
        selection,
    )
