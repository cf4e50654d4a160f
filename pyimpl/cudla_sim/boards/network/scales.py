"""Scales of tensors: out of a model's Q/DQ, or out of a calibration cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..layers import Layer, Network, Tensor


def of_pairs(network: Network) -> Network:
    """The network without Q and DQ: what they say is the ``scale`` of the tensors beside them.

    Q/DQ of a scale an axis, and of one that is computed, stay layers.
    """
    found: dict[str, Tensor] = {}
    for layer in network.layers:
        if _pair(layer):
            first, second = layer.inputs[0], layer.outputs[0]
            source = found.get(first.name, first)
            scale = float(layer.parameters["scale"])
            found[second.name] = replace(source, dtype="float32", scale=scale)
    kept = [layer for layer in network.layers if not _pair(layer)]
    made = {tensor.name: tensor for tensor in reversed(list(found.values()))}
    return replace(
        network,
        inputs=tuple(made.get(tensor.name, tensor) for tensor in network.inputs),
        outputs=tuple(found.get(tensor.name, tensor) for tensor in network.outputs),
        layers=tuple(
            replace(
                layer,
                inputs=tuple(found.get(tensor.name, tensor) for tensor in layer.inputs),
                outputs=tuple(made.get(tensor.name, tensor) for tensor in layer.outputs),
            )
            for layer in kept
        ),
    )


def of_cache(network: Network, scales: Mapping[str, float]) -> Network:
    """The network with the scales of a calibration cache."""

    def known(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(replace(t, scale=scales.get(t.name, t.scale)) for t in tensors)

    return replace(
        network,
        inputs=known(network.inputs),
        outputs=known(network.outputs),
        layers=tuple(
            replace(layer, inputs=known(layer.inputs), outputs=known(layer.outputs))
            for layer in network.layers
        ),
    )


def _pair(layer: Layer) -> bool:
    return layer.kind in ("QUANTIZE", "DEQUANTIZE") and bool(layer.parameters.get("scale"))
