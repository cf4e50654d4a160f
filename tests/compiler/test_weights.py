"""Weights are quantised in parts: the result is that of the whole, in a fraction of the memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from cudla_sim.compiler.lower import weights as lowered
from cudla_sim.nvdla.facts.precisions import FP16, INT8

RANDOM = np.random.default_rng(8)


@pytest.mark.parametrize("elements", [1, 50, 1 << 22])
def test_parts_are_the_whole(elements: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowered, "_ELEMENTS", elements)
    stored = RANDOM.normal(size=(7, 3, 2, 2)).astype(np.float32)
    stored[3] = 0.25  # one magnitude: exact
    factor = RANDOM.uniform(0.5, 2, 7)
    weights = lowered.RealWeights(stored, factor)
    whole = stored.astype(np.float64) * factor[:, None, None, None]
    assert np.array_equal(np.concatenate([part for _, part in weights.parts()]), whole)
    found = lowered.quantised(weights, np.zeros(7), INT8, 0.5)
    step = np.abs(whole).max(axis=(1, 2, 3)) / 127
    step[3] *= 127
    assert np.array_equal(found.elements, np.rint(whole / step[:, None, None, None]))
    assert np.allclose(found.step, step * 0.5, rtol=1e-15)
    halves = lowered.quantised(weights, np.zeros(7), FP16, 0.5)
    assert np.array_equal(halves.elements, (whole * 0.5).astype(np.float16))


@pytest.mark.slow
def test_large_layers_need_little_beside_themselves() -> None:
    stored = RANDOM.normal(size=(4096, 8192, 1, 1)).astype(np.float32)
    weights = lowered.RealWeights(stored, np.ones(len(stored)))
    tracemalloc.start()
    try:
        found = lowered.quantised(weights, np.zeros(len(stored)), INT8, 1.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # in float64 the layer alone has eight bytes an element
    assert found.elements.nbytes <= peak < 8 * stored.size
