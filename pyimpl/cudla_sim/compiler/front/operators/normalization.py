"""Normalisation layers with constants, and those that the hardware lacks."""

from __future__ import annotations

import numpy as np

from ...errors import Unsupported
from ...graph import Lrn
from ..tensors import Item
from ..views import broadcast_to_value
from .convolutions import picture, placed
from .registry import Call, floats, operator


@operator("BatchNormalization")
def _batch_normalization(call: Call) -> Item:
    x = call.tensor()
    if call.attribute("training_mode", 0) and call.version >= 14:
        if any(call.outputs[1:]):
            raise Unsupported("it is in training mode", "export for inference (model.eval())")
        raise Unsupported(
            "it takes mean and variance from the data (training_mode)",
            "export for inference (model.eval())",
        )
    if x.rank < 2:
        raise Unsupported(f"its input has {x.rank} dimensions", "at least two are needed")
    names = ("scale", "bias", "mean", "variance")
    parts = [floats(call.constant(i + 1, name)).astype(np.float64) for i, name in enumerate(names)]
    scale, bias, mean, variance = parts
    epsilon = call.attribute("epsilon", 1e-5)
    if (variance + epsilon <= 0).any():
        raise Unsupported("a variance is negative", "export the model again")
    factor = scale / np.sqrt(variance + epsilon)
    shape = (-1, *(1,) * (x.rank - 2))
    shift = (bias - mean * factor).reshape(shape)
    factor = factor.reshape(shape)
    result = call.build.affine(
        x.view.value, broadcast_to_value(x.view, factor), broadcast_to_value(x.view, shift)
    )
    return x.viewed(x.view.on(result))


@operator("LRN")
def _lrn(call: Call) -> Item:
    x = call.tensor()
    value, groups = picture(call, x)
    result = call.build.add(
        Lrn,
        [value],
        value.shape,
        size=int(call.attribute("size")),
        alpha=float(call.attribute("alpha", 1e-4)),
        beta=float(call.attribute("beta", 0.75)),
        k=float(call.attribute("bias", 1.0)),
    )
    return placed(x, result, groups)


@operator("InstanceNormalization", "GroupNormalization", "LayerNormalization", "RMSNormalization")
@operator("MeanVarianceNormalization", "LpNormalization")
@operator("SkipLayerNormalization", "GroupNorm", domain="com.microsoft")
def _from_data(call: Call) -> Item:
    raise Unsupported(
        "its mean and variance come from the data at run time",
        "train with BatchNormalization, or leave it to the host",
    )
