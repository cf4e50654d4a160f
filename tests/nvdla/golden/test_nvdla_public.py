"""The public regression's loadables (old descriptor layout) against their golden images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from golden_nvdla import execute

from cudla_sim.nvdla import layout


def _golden(data: Path, name: str, dtype: str) -> np.ndarray:
    """Elements of the recorded image, planar c, h, w, after its 36-byte header."""
    raw = (data / "public" / "golden" / name / "o_000000.dimg").read_bytes()
    return np.frombuffer(raw[36:], dtype)


def _run(data: Path, name: str, config: str):
    return execute(data / "public" / "loadables" / f"{name}.nvdla", config, [])


@pytest.mark.parametrize(
    ("name", "config", "dtype", "unit"),
    [
        ("CONV_D_L0_0", "nv_full", "<i2", "CONV+SDP"),
        ("CONV_D_L0_0_small", "nv_small", "i1", "CONV+SDP"),
        ("PDP_L0_0", "nv_full", "i1", "PDP"),
        ("PDP_L0_0_small", "nv_small", "i1", "PDP"),
        ("SDP_X1_L0_0_large", "nv_large", "i1", "SDP"),
        ("CDP_L0_0", "nv_full", "<i2", "CDP"),
        ("CDP_L0_0_large", "nv_large", "i1", "CDP"),
        ("BDMA_L0_0", "nv_full", "i1", "BDMA"),
    ],
)
def test_single_layer_loadable(data: Path, name: str, config: str, dtype: str, unit: str) -> None:
    outcome = _run(data, name, config)
    tensor = outcome.loadable.outputs[0]
    # the application reads 32-byte atoms whatever the configuration, and so the golden was made
    view = layout._feature_view(
        np.pad(outcome.outputs[0], (0, 1024)),
        (1, tensor.c, tensor.h, tensor.w),
        np.dtype(dtype),
        32,
        (tensor.strides[1], tensor.strides[2], tensor.size),
    )
    result = view.transpose(0, 1, 4, 2, 3).reshape(-1)[: tensor.c * tensor.h * tensor.w]
    np.testing.assert_array_equal(result, _golden(data, name, dtype))
    assert [layer.unit for layer in outcome.report.layers] == [unit]


def test_fp16_lenet_with_zero_input(data: Path) -> None:
    outcome = _run(data, "NN_L0_0", "nv_full")
    result = layout.unpack_tensor(outcome.loadable.outputs[0], outcome.outputs[0]).ravel()
    golden = _golden(data, "NN_L0_0", "<f2")
    np.testing.assert_array_equal(result.view(np.uint16), golden.view(np.uint16))
    assert outcome.report.note == ""
    units = [layer.unit for layer in outcome.report.layers]
    assert units[0] == "EMU power"
    assert units[-1] == "EMU softmax"


@pytest.mark.parametrize("name", ["NN_L0_0", "CONV_D_L0_0"])
def test_a_loadable_can_run_again(data: Path, name: str) -> None:
    first, second = (_run(data, name, "nv_full").outputs[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
