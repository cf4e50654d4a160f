"""Curves by their definitions, networks of one curve, and how near they come.

``python -m tests.compiler.curve_cases`` writes docs/onnx_curves.md.
"""

from __future__ import annotations

from functools import cache
from math import erf
from typing import Any

import numpy as np

from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.options import Options
from cudla_sim.nvdla.real_numbers import RealNetwork
from tests.conftest import ROOT

SHAPE = (1, 1, 8, 512)
POINTS = 8 * 512
PAGE = ROOT / "docs" / "onnx_curves.md"
PRECISIONS = ("fp16", "int16", "int8")
WIDTHS = (1, 5, 20, 100, 500)

_erf = np.vectorize(erf, otypes=[float])

# written down from the definitions, not taken from the compiler
FUNCTIONS: dict[str, Any] = {
    "Sigmoid": lambda x: 0.5 * (1 + np.tanh(x / 2)),
    "Tanh": np.tanh,
    "SiLU": lambda x: x * 0.5 * (1 + np.tanh(x / 2)),
    "GELU": lambda x: 0.5 * x * (1 + _erf(x / np.sqrt(2))),
    "Mish": lambda x: x * np.tanh(np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)),
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Exp": np.exp,
    "Log": np.log,
    "Sqrt": np.sqrt,
    "Reciprocal": lambda x: 1 / x,
    "Erf": _erf,
    "Pow": lambda x: x**2,
    "Softplus": lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "Abs": np.abs,
}
ON_THE_PAGE = list(FUNCTIONS)[:12]
STEPS = {"int8": 127, "int16": 32767}


def inputs(function: str, width: float) -> tuple[float, float]:
    """A range of this width where the function is defined and fp16 holds its results."""
    if function == "Exp":
        return -width, 0.0
    if function == "Sqrt":
        return 0.0, width
    if function in ("Log", "Reciprocal"):
        return 0.5, 0.5 + width
    return -width / 2, width / 2


@cache
def compiled(function: str, low: float, high: float, precision: str) -> tuple[bytes, float, float]:
    """A network of one curve, calibrated with inputs from *low* to *high*; the largest result, and
    what the compiler says of its tables."""
    x, y = g.Value("x", SHAPE), g.Value("y", SHAPE)
    node = g.Curve(name="curve", inputs=[x], output=y, function=function)
    ports = [g.Port(name=value.name, shape=value.shape, value=value) for value in (x, y)]
    made = FUNCTIONS[function](np.linspace(low, high, POINTS))
    spans = {"x": (low, high), "y": (float(made.min()), float(made.max()))}
    largest = max(abs(low), abs(high)), float(np.abs(made).max())
    scales = {} if precision == "fp16" else {"x": largest[0] / 127, "y": (largest[1] or 1.0) / 127}
    graph = g.Graph(inputs=ports[:1], outputs=ports[1:], nodes=[node])
    result = compile_graph(graph, scales, Options(precision=precision), spans=spans)
    return result.loadable, largest[1], result.report["curves"]["curve"]


@cache
def unknown(function: str) -> tuple[bytes, float]:
    """The same network in fp16, of whose inputs nothing is known, and what the compiler says."""
    x, y = g.Value("x", SHAPE), g.Value("y", SHAPE)
    node = g.Curve(name="curve", inputs=[x], output=y, function=function)
    ports = [g.Port(name=value.name, shape=value.shape, value=value) for value in (x, y)]
    graph = g.Graph(inputs=ports[:1], outputs=ports[1:], nodes=[node])
    result = compile_graph(graph, {}, Options(precision="fp16"))
    return result.loadable, result.report["curves"]["curve"]


def outputs(loadable: bytes, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What the model of the hardware computes."""
    with RealNetwork(loadable) as network:
        return np.asarray(network.run({"x": x.reshape(SHAPE).astype(np.float32)})["y"]).reshape(-1)


def near(function: str, low: float, high: float, precision: str) -> tuple[float, float]:
    """Signal to noise in decibels over equally spaced inputs, as they are stored, and the largest
    error beside the largest result."""
    loadable, largest, _ = compiled(function, low, high, precision)
    x = np.linspace(low, high, POINTS)
    if precision == "fp16":
        x = x.astype(np.float16).astype(np.float64)
    else:
        step = max(abs(low), abs(high)) / STEPS[precision]
        x = np.rint(x / step) * step
        if function in ("Log", "Reciprocal"):  # nothing is stored between 0 and one step
            x = np.maximum(x, step)
    want = FUNCTIONS[function](x)
    error = outputs(loadable, x) - want
    decibels = 10 * np.log10((want**2).mean() / max(float((error**2).mean()), 1e-30))
    return float(decibels), float(np.abs(error).max()) / largest


HEAD = """# Curves

How near SDP's look-up tables come to a curve, over equally spaced inputs of a range: signal to
noise in decibels, and in brackets the largest error beside the largest result, in thousandths. The
inputs are those that the precision can store (an int8 input over a range of 500 has steps of 2 to
4), so what is shown is the table's error and the rounding of the result: about 48 dB are the eight
bits of int8, about 70 the eleven of fp16. The compiler says for which curves of a network it comes
no nearer than 40 dB. Generated by `python -m tests.compiler.curve_cases`, checked by the tests.

"""


def row(function: str, width: float) -> str:
    """One line of the page."""
    low, high = inputs(function, width)
    cells = [near(function, low, high, precision) for precision in PRECISIONS]
    told = " | ".join(f"{db:.0f} ({1000 * worst:.1f})" for db, worst in cells)
    return f"| {function} | {low:g} ... {high:g} | {told} |"


def page() -> str:
    """The whole page."""
    head = f"| curve | inputs | {' | '.join(PRECISIONS)} |\n|---|---|{'---|' * len(PRECISIONS)}\n"
    rows = [row(function, width) for function in ON_THE_PAGE for width in WIDTHS]
    return HEAD + head + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
