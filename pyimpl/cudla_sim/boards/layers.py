"""A network as TensorRT's rules for the DLA see it: layers by their types, tensors with shapes.

An ONNX node becomes the layers that TensorRT's parser makes of it. Everything that depends on
constants only has been folded; what a rule or an estimate asks is a number in ``parameters``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

Number = bool | int | float | str
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor that varies; *dtype* is numpy's name. *scale* is the real value of one int8 step
    where the model's Q/DQ says it."""

    name: str
    shape: Shape
    dtype: str = "float32"
    scale: float | None = None

    @property
    def elements(self) -> int:
        return prod(self.shape)


def batch(shape: Shape) -> int:
    """The product of all dimensions but C, H and W (developer guide); of fewer than four
    dimensions the first."""
    return prod(shape[:-3]) if len(shape) > 3 else (shape[0] if len(shape) > 1 else 1)


@dataclass(frozen=True, slots=True)
class Layer:
    """A TensorRT layer.

    *kind* is the name of ``nvinfer1::LayerType`` without its k (``"CONVOLUTION"``,
    ``"ELEMENTWISE"``, ``"SHUFFLE"``; "PLUGIN" for operators without a layer). *node* and *operator*
    are the ONNX node's. *parameters* by kind, all sizes in elements:

    - CONVOLUTION, DECONVOLUTION, FULLY_CONNECTED: ``c``, ``maps``, ``groups``, ``kernel_h``,
      ``kernel_w``, ``stride_h``, ``stride_w``, ``dilation_h``, ``dilation_w``, ``pad_top``,
      ``pad_bottom``, ``pad_left``, ``pad_right``, ``bias``
    - POOLING: ``mode`` ("MAX", "AVERAGE"), kernel, stride and pads as above
    - ACTIVATION: ``function`` ("RELU", "SIGMOID", ...), ``alpha``, ``beta``
    - ELEMENTWISE, UNARY, REDUCE: ``function`` ("SUM", "PROD", ...)
    - CONCATENATION, SOFTMAX, GATHER: ``axis``
    - RESIZE: ``mode`` ("NEAREST", "LINEAR"), ``scale_h``, ``scale_w``

    *weights* are the shapes of its constants by their roles ("kernel", "bias", "scale", ...).
    """

    name: str
    kind: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    node: str = ""
    operator: str = ""
    parameters: Mapping[str, Number] = field(default_factory=dict)
    weights: Mapping[str, Shape] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Network:
    """Layers in graph order (topological, as the model lists its nodes)."""

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    layers: tuple[Layer, ...]
    notes: tuple[str, ...] = ()
