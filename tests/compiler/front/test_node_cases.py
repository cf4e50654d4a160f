"""ONNX's own node tests: read, written again, computed by onnxruntime, compared."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from cudla_sim.compiler import front
from cudla_sim.compiler.errors import Refused
from tests.compiler import node_cases
from tests.compiler.reference import run_graph

REFUSED = {
    "argmax": "indices",
    "maxpool_2d_dilations": "dilated",
    "training": "training",
    "blocked": "blocked",
    "pow_types_float32_": "exponents",
    "pow_bcast_array": "exponents",
    "pow_example": "exponents",
    "matmul_bcast": "stack",
    "matmul_1d_3d": "stack",
}
"""Words in names of cases, and the word of the reason."""
EXACTLY = {"pow": "exponents", "gather_0": "batch", "tile": "batch"}
OTHER = {
    # the reference divides by a length that is no whole number there, onnxruntime does not
    "resize_downsample_scales_linear_align_corners",
    "resize_downsample_scales_cubic_align_corners",
}


@pytest.mark.parametrize("operator", node_cases.OPERATORS)
def test_cases(operator: str) -> None:
    cases = node_cases.cases(operator)
    if not onnx.defs.has(operator):
        pytest.skip(f"onnx {onnx.__version__} has no such operator yet")
    assert cases
    for case in cases:
        if case.name in OTHER:
            continue
        reason = next((why for word, why in REFUSED.items() if word in case.name), "")
        reason = EXACTLY.get(case.name, reason)
        if reason:
            with pytest.raises(Refused) as caught:
                front.load(case.model)
            assert reason in str(caught.value), case.name
            continue
        graph = front.load(case.model)
        found = run_graph(graph, case.inputs)
        for port, expected in zip(case.model.graph.output, case.expected, strict=False):
            if port.name not in found:  # the mask of Dropout
                assert any(port.name in note for note in graph.notes)
                continue
            assert found[port.name].shape == expected.shape, case.name
            np.testing.assert_allclose(
                found[port.name], expected, rtol=5e-4, atol=1e-5, err_msg=case.name
            )
