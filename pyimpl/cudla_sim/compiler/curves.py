"""Functions of one variable that a look-up table of SDP can hold, by name.

Names are those of the ONNX operators, or of the pattern where ONNX has none (SiLU).
Source: ONNX operator specification.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erf, pi, sqrt

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]


def _sigmoid(x: Real) -> Real:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def _softplus(x: Real) -> Real:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def _erf(x: Real) -> Real:
    return np.asarray(np.vectorize(erf, otypes=[np.float64])(x))


def _elu(x: Real, alpha: float = 1.0) -> Real:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _hard_sigmoid(x: Real, alpha: float = 0.2, beta: float = 0.5) -> Real:
    return np.asarray(np.clip(alpha * x + beta, 0, 1))


def _gelu_tanh(x: Real) -> Real:
    return np.asarray(0.5 * x * (1 + np.tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))))


def _selu(
    x: Real, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875
) -> Real:
    return gamma * _elu(x, alpha)


def _pow(x: Real, exponent: float = 2.0) -> Real:
    return np.asarray(np.power(x, exponent))


CURVES: dict[str, Callable[..., Real]] = {
    "Sigmoid": _sigmoid,
    "Tanh": np.tanh,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": lambda x: x * _hard_sigmoid(x, 1 / 6, 0.5),
    "SiLU": lambda x, beta=1.0: x * _sigmoid(beta * x),
    "GELU": lambda x: 0.5 * x * (1 + _erf(x / sqrt(2))),
    "GELUTanh": _gelu_tanh,
    "Mish": lambda x: x * np.tanh(_softplus(x)),
    "Softplus": _softplus,
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Elu": _elu,
    "Selu": _selu,
    "Celu": lambda x, alpha=1.0: (
        np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(np.minimum(x, 0) / alpha))
    ),
    "ThresholdedRelu": lambda x, alpha=1.0: np.where(x > alpha, x, 0),
    "Exp": np.exp,
    "Log": np.log,
    "Sqrt": np.sqrt,
    "Reciprocal": lambda x: 1 / x,
    "Erf": _erf,
    "Sin": np.sin,
    "Cos": np.cos,
    "Abs": np.abs,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Round": np.round,
    "Pow": _pow,
    "Greater": lambda x, threshold=0.0: np.where(x > threshold, 1.0, 0.0),
}
"""Each takes float64 and the node's parameters by name."""
