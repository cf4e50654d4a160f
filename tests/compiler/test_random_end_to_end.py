"""Random networks, compiled in fp16 and run on the model of the hardware."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cudla_sim.compiler import front
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.errors import Refused
from cudla_sim.compiler.options import Options
from cudla_sim.nvdla.real_numbers import RealNetwork
from tests.compiler.random_networks import network
from tests.compiler.reference import run_graph


@pytest.mark.slow
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,  # sums of opposite numbers lose any number of digits in fp16
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(st.integers(0, 2**31), st.integers(1, 10))
def test_random_networks_run_in_fp16(seed: int, length: int) -> None:
    try:
        graph = front.load(network(seed, length))
        compiled = compile_graph(graph, {}, Options(config="nv_full", precision="fp16"))
    except Refused:
        assume(False)
        return
    x = np.random.default_rng(seed).normal(size=graph.inputs[0].shape).astype(np.float32)
    expected = run_graph(graph, {"x": x})
    with RealNetwork(compiled.loadable) as running:
        found = running.run({"x": x})
    for name, array in expected.items():
        assert found[name].shape == array.shape
        largest = float(np.abs(array).max())
        assert np.abs(found[name] - array).max() <= 0.02 * largest + 1e-4
