"""Tables of curves: near the curve over the range that was measured, and never outside of what the
curve can be, whatever comes in."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.compiler.compilation import COARSE
from tests.compiler.curve_cases import (
    FUNCTIONS,
    ON_THE_PAGE,
    PAGE,
    POINTS,
    STEPS,
    WIDTHS,
    compiled,
    near,
    outputs,
    row,
    unknown,
)

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


@pytest.mark.slow
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
    assert near(function, low, high, "fp16")[0] >= least
    assert near(function, low, high, "int16")[0] >= least - 5


@pytest.mark.slow
@pytest.mark.parametrize("function", ON_THE_PAGE)
def test_the_page_says_how_near(function: str) -> None:
    rows = PAGE.read_text().splitlines()
    for width in WIDTHS:
        made = row(function, width)
        written = next(line for line in rows if line.split("|")[:3] == made.split("|")[:3])
        for found, said in zip(
            *(re.findall(r"(\d+) \(", text) for text in (made, written)), strict=True
        ):
            assert abs(int(found) - int(said)) <= 1


def test_what_is_said_of_a_table_is_true() -> None:
    _, _, said = compiled("Softsign", -40.0, 300.0, "fp16")
    assert abs(near("Softsign", -40.0, 300.0, "fp16")[0] - said) < 3


@pytest.mark.slow
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
    x = np.linspace(middle - half, middle + half, POINTS)
    if function in POSITIVE:
        x = np.linspace(0.25, high * beyond, POINTS)
    x = np.clip(x, -60000, 60000)
    found = outputs(loadable, x)
    step = largest / STEPS[precision] if precision in STEPS else 0.0
    least, most = RANGES.get(function, (-np.inf, np.inf))
    slack = step / 2 + 2e-3 * max(abs(least), abs(most) if np.isfinite(most) else 0, 1e-6)
    assert found.min() >= least - slack
    assert found.max() <= most + slack
    if function in RISING:
        falls = -np.diff(found)
        # halves between two entries are rounded twice
        rounding = np.maximum(np.abs(found[1:]), np.abs(found[:-1])) * 2e-3 + step * 1.01
        assert (falls <= rounding).all()


@pytest.mark.parametrize("precision", ["int8", "int16", "fp16"])
@pytest.mark.parametrize(("low", "high"), [(-8.0, -7.0), (-30.0, -20.0)])
def test_a_curve_that_is_next_to_nothing(low: float, high: float, precision: str) -> None:
    """GELU far below zero: where all that was measured has no result to speak of."""
    loadable, _, _ = compiled("GELU", low, high, precision)
    assert np.abs(outputs(loadable, np.linspace(low, high, POINTS))).max() < 1e-4


@pytest.mark.parametrize("function", ["Sqrt", "Log", "Reciprocal"])
def test_inputs_of_any_magnitude(function: str) -> None:
    """Where nothing is known, positive inputs of any size have results of the right size."""
    loadable, told = unknown(function)
    least, near = (0.2, 0.13) if function == "Reciprocal" else (2.0**-14, 0.03)
    x = np.geomspace(least, 6e4, POINTS).astype(np.float16).astype(np.float64)
    want = FUNCTIONS[function](x)
    error = np.abs(outputs(loadable, x) - want)
    assert (error <= near * np.maximum(np.abs(want), 0.5 if function == "Log" else 0)).all()
    assert (told < COARSE) == (function == "Reciprocal")
