"""Random networks compute what onnxruntime says, or are refused with a reason."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cudla_sim.compiler import front
from cudla_sim.compiler.errors import Refused
from tests.compiler.random_networks import network
from tests.compiler.reference import assert_same


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.integers(0, 2**31), st.integers(1, 16))
def test_random_networks(seed: int, length: int) -> None:
    model = network(seed, length)
    try:
        graph = front.load(model)
    except Refused as error:
        reasons = {refusal.reason for refusal in error.refusals}
        assert all(any(w in r for w in ("batch", "dimensions", "repeats")) for r in reasons)
        assume(False)
    assert_same(graph, model, rtol=1e-3, atol=1e-4, seed=seed)
