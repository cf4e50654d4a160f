"""Functions of one variable that a look-up table of SDP can hold, by name: what they compute, where
they are defined, where they become straight, and what values they can have.

Names are those of the ONNX operators, or of the pattern where ONNX has none (SiLU).
Source: ONNX operator specification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

Parameters = Mapping[str, float]

_STRAIGHT: dict[str, tuple[float, float, float]] = {
    "Sigmoid": (12.0, 0.0, 0.0),
    "Tanh": (6.0, 0.0, 0.0),
    "HardSigmoid": (4.0, 0.0, 0.0),
    "SiLU": (12.0, 0.0, 1.0),
    "GELU": (6.0, 0.0, 1.0),
    "GELUTanh": (6.0, 0.0, 1.0),
    "Mish": (12.0, 0.0, 1.0),
    "HardSwish": (4.0, 0.0, 1.0),
    "Softplus": (12.0, 0.0, 1.0),
    "Erf": (4.0, 0.0, 0.0),
    "Elu": (10.0, 0.0, 1.0),
    "Selu": (10.0, 0.0, 1.05070098735548),
    "Celu": (10.0, 0.0, 1.0),
    "Abs": (1.0, -1.0, 1.0),
}
"""Beyond which magnitude a curve is straight, and its slopes below and above."""

_INF = float("inf")

_BOUNDS: dict[str, tuple[float, float]] = {
    "Sigmoid": (0.0, 1.0),
    "Tanh": (-1.0, 1.0),
    "HardSigmoid": (0.0, 1.0),
    "HardSwish": (-0.375, _INF),
    "SiLU": (-0.2784645427610738, _INF),
    "GELU": (-0.16997120747990369, _INF),
    "GELUTanh": (-0.17004075058125435, _INF),
    "Mish": (-0.3088432502543845, _INF),
    "Softplus": (0.0, _INF),
    "Softsign": (-1.0, 1.0),
    "Elu": (-1.0, _INF),
    "Selu": (-1.7580993408473766, _INF),
    "Celu": (-1.0, _INF),
    "ThresholdedRelu": (0.0, _INF),
    "Exp": (0.0, _INF),
    "Sqrt": (0.0, _INF),
    "Erf": (-1.0, 1.0),
    "Sin": (-1.0, 1.0),
    "Cos": (-1.0, 1.0),
    "Abs": (0.0, _INF),
    "Greater": (0.0, 1.0),
}
"""Values that a curve never leaves, with its usual parameters."""

SCALELESS = ("Sqrt", "Log", "Reciprocal", "Pow")
"""Curves that look alike at all magnitudes: there are no usual inputs."""

_EXP = -17.0, 11.0
"""Inputs of Exp with results that fp16 can tell apart."""

_USUAL = 8.0
"""Largest input of other curves, where nothing is known of it."""


def straight(function: str, given: Parameters) -> tuple[float, float, float] | None:
    """Beyond which magnitude a curve with its parameters is straight, and the slopes below and
    above; multiples of a 192nd of it hit its corners. None for a curve that always bends."""
    found = _STRAIGHT.get(function)
    if found is None or not given:
        return found
    reach, below, above = found
    if function == "HardSigmoid":
        alpha, beta = given.get("alpha", 0.2), given.get("beta", 0.5)
        corner = max(abs(beta), abs(1 - beta)) / max(abs(alpha), 1e-6)
        return corner * 4 / 3, below, above
    if function == "SiLU":
        beta = given.get("beta", 1.0)
        slopes = (below, above) if beta > 0 else (above, below)
        return reach / max(abs(beta), 1e-3), *slopes
    if function == "Celu":
        return reach * max(given.get("alpha", 1.0), 0.1), below, above
    if function == "Selu":
        return reach, below, given.get("gamma", above)
    return found


def bounds(function: str, given: Parameters) -> tuple[float, float]:
    """The least and the largest value that a curve with its parameters can have."""
    low, high = _BOUNDS.get(function, (-_INF, _INF))
    if function in ("Elu", "Celu"):
        low = min(-given.get("alpha", 1.0), 0.0)
    elif function == "Selu" and given:
        alpha = given.get("alpha", 1.67326319217681884765625)
        low = min(-alpha * given.get("gamma", 1.05070102214813232421875), 0.0)
    elif function == "SiLU" and given.get("beta", 1.0) != 1.0:
        beta = given["beta"]
        low, high = (low / beta, _INF) if beta > 0 else (-_INF, low / beta)
    elif function == "ThresholdedRelu":
        low = min(given.get("alpha", 1.0), 0.0)
    elif function == "Pow":
        exponent = given.get("exponent", 2.0)
        low = -_INF if float(exponent).is_integer() and exponent % 2 else 0.0
    return low, high


def defined(function: str, given: Parameters) -> float:
    """The least input that a curve is defined for."""
    fraction = not float(given.get("exponent", 2.0)).is_integer()
    return 0.0 if function in ("Sqrt", "Log") or (function == "Pow" and fraction) else -_INF


def pole(function: str, given: Parameters) -> bool:
    """Whether results grow without end towards an input of 0, on both sides of it. Inputs are
    sums, roots and counts, mostly: seldom negative."""
    return function == "Reciprocal" or (function == "Pow" and given.get("exponent", 2.0) < 0)


def usual_inputs(function: str, given: Parameters) -> tuple[float, float]:
    """Inputs that a curve should be good for where nobody has measured them."""
    found = straight(function, given)
    if found is not None:
        return -found[0], found[0]
    return _EXP if function == "Exp" else (max(-_USUAL, defined(function, given)), _USUAL)
