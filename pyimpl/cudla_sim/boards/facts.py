"""What rules may ask of a layer: its parameters, its shapes, its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import Any

from ..nvdla.facts.windows import extent
from .layers import Layer, Network, Shape, Tensor, batch
from .rules.expressions import Facts

_ENTRY = 128
"""Bytes of an entry of the convolution buffer (developer guide 8.4)."""
_BANK = 256 * _ENTRY
_ATOM = 32
"""Bytes of channels that lie side by side in kCHW32 and kCHW16."""
_CHANNELS_AN_ENTRY, _COLUMNS_AN_ENTRY = 32, 4
_FLOATS = ("float32", "float16", "bfloat16", "float64")
_EACH = {"CHANNEL": "channel", "ELEMENTWISE": "element", "BATCH": "picture"}


@dataclass(frozen=True)
class Neighbours:
    """Who makes and who reads the tensors of a network."""

    makers: Mapping[str, Layer]
    readers: Mapping[str, Sequence[Layer]]

    @staticmethod
    def of(network: Network) -> Neighbours:
        readers: dict[str, list[Layer]] = {}
        for layer in network.layers:
            for tensor in layer.inputs:
                readers.setdefault(tensor.name, []).append(layer)
        makers = {tensor.name: layer for layer in network.layers for tensor in layer.outputs}
        return Neighbours(makers, readers)

    def before(self, layer: Layer) -> list[Layer]:
        return [self.makers[t.name] for t in layer.inputs if t.name in self.makers]

    def behind(self, layer: Layer) -> list[Layer]:
        return [reader for t in layer.outputs for reader in self.readers.get(t.name, ())]


def convolution_banks(layer: Layer, size: int) -> tuple[int, int]:
    """Banks of the convolution buffer for the lines of one kernel's height, and for one kernel.

    *size* is that of an element in bytes. Source: developer guide 8.4, formula of the convolution
    buffer: 16 banks of 256 entries of 128 bytes.
    """
    get = layer.parameters
    taps = int(get["kernel_h"]) * int(get["kernel_w"])
    channels = int(get["c"])
    width = layer.inputs[0].shape[-1] if layer.kind == "CONVOLUTION" else 1
    kernel = ceil(channels * taps * size / _ENTRY) * _ENTRY
    line = ceil(ceil(channels * size / _CHANNELS_AN_ENTRY) * width / _COLUMNS_AN_ENTRY)
    lines = extent(int(get["kernel_h"]), int(get["dilation_h"]))
    return ceil(line * lines * _ENTRY / _BANK), ceil(kernel / _BANK)


def _largest(tensors: Sequence[Tensor]) -> int:
    return max((size for t in tensors for size in t.shape[-3:][len(t.shape) < 4 :]), default=1)


def facts(layer: Layer, around: Neighbours, precision: str, hwc4: bool = False) -> Facts:
    """The names of rules' expressions. *precision* is the one asked for, *hwc4* whether the layer
    reads an input of the network in kDLA_HWC4."""
    first = layer.inputs[0] if layer.inputs else Tensor("", ())
    result = layer.outputs[0] if layer.outputs else Tensor("", ())
    tensors = [*layer.inputs, *layer.outputs]
    shape, size = first.shape, 1 if precision == "int8" else 2
    compares = layer.parameters.get("function") in ("EQUAL", "GREATER", "LESS")
    types = sorted({t.dtype for t in layer.inputs if t.dtype not in _FLOATS})
    before, behind = around.before(layer), around.behind(layer)
    scales = [t.scale for t in tensors]
    known: dict[str, Any] = {
        "kind": layer.kind,
        "operator": layer.operator,
        "precision": precision,
        "function": "",
        "constant": "",
        "constant_first": False,
        "broadcast": False,
        "spread": "",
        "hwc4": hwc4,
        "rank": len(shape),
        "output_rank": len(result.shape),
        "batch": max((batch(t.shape) for t in tensors), default=1),
        "largest": _largest(tensors),
        "dynamic": any(size < 0 for t in tensors for size in t.shape),
        "h": shape[-2] if len(shape) > 1 else 1,
        "w": shape[-1] if shape else 1,
        "input_text": _text(shape),
        "output_text": _text(result.shape),
        "smaller": _text(min((t.shape for t in layer.inputs), key=prod, default=())),
        "types": ", ".join(types),
        "floats": not types or _after_comparison(layer, before) or (compares and not types),
        "consumers": [reader.kind for reader in behind],
        "consumers_text": ", ".join(reader.kind for reader in behind) or "none",
        "comparison_before": _after_comparison(layer, before),
        "beside_slice_or_concat": any(
            other.kind in ("SLICE", "CONCATENATION") for other in (*before, *behind)
        ),
        "has_scales": bool(scales) and all(scale is not None for scale in scales),
        "input_scale": first.scale or 0.0,
        "output_scale": result.scale or 0.0,
        "equal_input_scales": len({t.scale for t in layer.inputs}) < 2,
        **layer.parameters,
    }
    known["constant_text"] = _EACH.get(str(known.get("constant", "")), "position")
    known["backwards_text"] = " backwards" if known.get("backwards") else ""
    if layer.kind == "CONCATENATION":
        channels = [t.shape[1] if len(t.shape) > 1 else 1 for t in layer.inputs]
        known["channels_text"] = ", ".join(map(str, channels))
        known["atom"] = _ATOM // size
        known["aligned"] = all(count % (_ATOM // size) == 0 for count in channels[:-1])
    if layer.kind in ("CONVOLUTION", "FULLY_CONNECTED"):
        known["data_banks"], known["weight_banks"] = convolution_banks(layer, size)
        known["fp16_banks"] = sum(convolution_banks(layer, 2))
    if "kernel_h" in known:
        known["kernel_extent_h"] = extent(int(known["kernel_h"]), int(known["dilation_h"]))
        known["kernel_extent_w"] = extent(int(known["kernel_w"]), int(known["dilation_w"]))
        pads = ("pad_top", "pad_bottom", "pad_left", "pad_right")
        known["padding"] = ", ".join(str(known[name]) for name in pads)
    return Facts(known)


def _after_comparison(layer: Layer, before: Sequence[Layer]) -> bool:
    compares = ("EQUAL", "GREATER", "LESS")
    return layer.kind == "CAST" and any(b.parameters.get("function") in compares for b in before)


def _text(shape: Shape) -> str:
    return " x ".join("?" if size < 0 else str(size) for size in shape) or "a number"
