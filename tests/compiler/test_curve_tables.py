"""Tables of curves: near the curve over the range that was measured, and never outside of what the
curve can be, whatever comes in."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.options import Options
from cudla_sim.nvdla.real_numbers import RealNetwork

SHAPE = (1, 1, 8, 512)

# written down from the definitions, not taken from the compiler
FUNCTIONS: dict[str, Any] = {
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Tanh": np.tanh,
    "SiLU": lambda x: x / (1 + np.exp(-x)),
    "GELU": lambda x: 0.5 * x * (1 + _erf(x / np.sqrt(2))),
    "Mish": lambda x: x * np.tanh(np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)),
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Softplus": lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "Exp": np.exp,
    "Log": np.log,
    "Sqrt": np.sqrt,
    "Reciprocal": lambda x: 1 / x,
    "Erf": lambda x: _erf(x),
    "Pow": lambda x: x**2,
    "Abs": np.abs,
}
RANGES = {
    "Sigmoid": (0, 1),
    "Tanh": (-1, 1),
    "SiLU": (-0.2785, np.inf),
    "GELU": (-0.17, np.inf),
    "Mish": (-0.3089, np.inf),
    "HardSwish": (-0.375, np.inf),
    "Softplus": (0, np.inf),
    "Softsign": (-1, 1),
    "Elu": (-1, np.inf),
    "Exp": (0, np.inf),
    "Sqrt": (0, np.inf),
    "Erf": (-1, 1),
    "Pow": (0, np.inf),
    "Abs": (0, np.inf),
}
POSITIVE = ("Log", "Sqrt", "Reciprocal")
RISING = ("Sigmoid", "Tanh", "Softplus", "Softsign", "Elu", "Exp", "Log", "Sqrt", "Erf")


def _erf(x: Any) -> Any:
    from math import erf

    return np.vectorize(erf, otypes=[float])(x)


@cache
def compiled(function: str, low: float, high: float, precision: str) -> tuple[bytes, float, float]:
    """A network of one curve, calibrated with inputs from *low* to *high*."""
    x, y = g.Value("x", SHAPE), g.Value("y", SHAPE)
    node = g.Curve(name="curve", inputs=[x], output=y, function=function)
    ports = [g.Port(name=value.name, shape=value.shape, value=value) for value in (x, y)]
    points = np.linspace(low, high, 4096)
    made = FUNCTIONS[function](points)
    spans = {"x": (low, high), "y": (float(made.min()), float(made.max()))}
    largest = max(abs(low), abs(high)), float(np.abs(made).max())
    scales = {} if precision == "fp16" else {"x": largest[0] / 127, "y": (largest[1] or 1.0) / 127}
    graph = g.Graph(inputs=ports[:1], outputs=ports[1:], nodes=[node])
    result = compile_graph(graph, scales, Options(precision=precision), spans=spans)
    return result.loadable, largest[1], result.report["curves"]["curve"]


def outputs(loadable: bytes, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    with RealNetwork(loadable) as network:
        return np.asarray(network.run({"x": x.reshape(SHAPE).astype(np.float32)})["y"]).reshape(-1)


def decibels(function: str, low: float, high: float, precision: str) -> float:
    """Signal to noise over equally spaced inputs, as they are stored."""
    loadable, _, _ = compiled(function, low, high, precision)
    x = np.linspace(low, high, 4096)
    if precision == "fp16":
        x = x.astype(np.float16).astype(np.float64)
    else:
        step = max(abs(low), abs(high)) / {"int8": 127, "int16": 32767}[precision]
        x = np.rint(x / step) * step
    want = FUNCTIONS[function](x)
    noise = ((outputs(loadable, x) - want) ** 2).mean()
    return float(10 * np.log10((want**2).mean() / max(noise, 1e-30)))


@pytest.mark.parametrize(
    ("function", "low", "high", "least"),
    [
        ("Sigmoid", -139, 92, 75),
        ("Exp", -60, 0, 60),
        ("Tanh", -250, 250, 75),
        ("SiLU", -200, 300, 70),
        ("GELU", -10, 500, 70),
        ("Mish", -5, 5, 65),
        ("HardSwish", -60, 60, 70),
        ("Log", 1, 500, 55),
        ("Sqrt", 0, 500, 60),
        ("Reciprocal", 1, 500, 40),
        ("Erf", -50, 50, 75),
        ("Pow", -250, 250, 65),
        ("Softsign", -250, 250, 60),
    ],
)
def test_wide_ranges(function: str, low: float, high: float, least: float) -> None:
    assert decibels(function, low, high, "fp16") >= least
    assert decibels(function, low, high, "int16") >= least - 5


def test_what_is_said_of_a_table_is_true() -> None:
    _, _, said = compiled("Softsign", -40.0, 300.0, "fp16")
    assert abs(decibels("Softsign", -40.0, 300.0, "fp16") - said) < 3


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(sorted(FUNCTIONS)),
    st.floats(-250, 250),
    st.floats(0.5, 500),
    st.sampled_from(["int8", "int16", "fp16"]),
    st.floats(1, 40),
)
def test_a_curve_is_never_left(
    function: str, low: float, span: float, precision: str, beyond: float
) -> None:
    """Inside the measured range and far beyond it."""
    low, high = round(low, 2), round(low + span, 2)
    if function in POSITIVE:
        low, high = 0.25, 0.25 + round(span, 2)
    if function == "Exp":
        low, high = max(low - 250, -400), min(high, 9.0)
        low = min(low, high - 0.5)
    loadable, largest, _ = compiled(function, low, high, precision)
    middle, half = (low + high) / 2, (high - low) / 2 * beyond
    x = np.linspace(middle - half, middle + half, 4096)
    if function in POSITIVE:
        x = np.linspace(0.25, high * beyond, 4096)
    x = np.clip(x, -60000, 60000)
    found = outputs(loadable, x)
    step = {"int8": largest / 127, "int16": largest / 32767, "fp16": 0.0}[precision]
    least, most = RANGES.get(function, (-np.inf, np.inf))
    slack = step / 2 + 2e-3 * max(abs(least), abs(most) if np.isfinite(most) else 0, 1e-6)
    assert found.min() >= least - slack
    assert found.max() <= most + slack
    if function in RISING:
        falls = -np.diff(found)
        # halves between two entries are rounded twice
        rounding = np.maximum(np.abs(found[1:]), np.abs(found[:-1])) * 2e-3 + step * 1.01
        assert (falls <= rounding).all()
