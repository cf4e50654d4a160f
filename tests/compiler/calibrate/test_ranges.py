"""Ranges: numbers of numpy and of a plain loop beside those of the calibration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from cudla_sim.compiler import calibrate, front
from cudla_sim.compiler.calibrate.histogram import Histogram
from cudla_sim.compiler.calibrate.methods import METHODS
from cudla_sim.compiler.errors import CompileError
from cudla_sim.compiler.graph import Graph
from tests.compiler.reference import run

RANDOM = np.random.default_rng(5)
WEIGHTS = RANDOM.normal(size=(4, 3, 3, 3)).astype(np.float32)


def network(dtype: int = TensorProto.FLOAT):  # type: ignore[no-untyped-def]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Sigmoid", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", dtype, (1, 3, 8, 8))],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("a", "b", "y")],
        [numpy_helper.from_array(WEIGHTS, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def samples(count: int) -> list[dict[str, NDArray[np.float32]]]:
    return [{"x": RANDOM.normal(size=(1, 3, 8, 8)).astype(np.float32)} for _ in range(count)]


def loaded() -> Graph:
    return front.load(network())


def test_minmax_is_the_largest_of_all_samples() -> None:
    data = samples(5)
    found = calibrate.ranges(loaded(), data)
    outputs = [{**sample, **run(network(), sample)} for sample in data]
    for name in ("x", "a", "b", "y"):
        largest = max(np.abs(o[name]).max() for o in outputs)
        assert found[name] == pytest.approx(largest / 127, rel=1e-5)


@pytest.mark.parametrize("method", ["entropy", "percentile", "mse"])
def test_inputs_are_never_clipped(method: str) -> None:
    data = samples(3)
    data[0]["x"][0, 0, 0, 0] = 100
    found = calibrate.ranges(loaded(), data, method, percentile=90)
    assert found["x"] == pytest.approx(100 / 127)
    whole = calibrate.ranges(loaded(), data)
    assert found["a"] <= whole["a"] * 1.001


def test_progress_counts_samples() -> None:
    seen: list[int] = []
    calibrate.ranges(loaded(), samples(3), progress=seen.append)
    assert seen == [1, 2, 3]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 2**31), min_size=1, max_size=5),
    st.floats(0.01, 100),
)
def test_histograms_keep_every_element(seeds: list[int], spread: float) -> None:
    histogram = Histogram()
    total = 0
    everything = []
    for number, seed in enumerate(seeds):
        random = np.random.default_rng(seed)
        array = (random.normal(size=300) * spread * 3**number).astype(np.float32)
        array[::7] = 0
        histogram.add(array, float(np.abs(array).max()))
        total += np.count_nonzero(array)
        everything.append(np.abs(array))
    joined = np.concatenate(everything)
    assert histogram.counts.sum() == total
    assert histogram.largest == pytest.approx(joined.max())
    width = histogram.limit / 2048
    assert METHODS["percentile"](histogram, 90) == pytest.approx(
        np.quantile(joined[joined > 0], 0.9, method="inverted_cdf"), abs=2 * width
    )


def filled(array: NDArray[np.float32]) -> Histogram:
    histogram = Histogram()
    histogram.add(array, float(np.abs(array).max()))
    return histogram


def test_mse_is_the_best_limit_of_a_search_over_the_elements() -> None:
    array = RANDOM.standard_t(3, size=20000).astype(np.float32)
    limits = np.abs(array).max() * np.linspace(0.02, 1, 400)

    def error(limit: float) -> float:
        step = limit / 127
        rounded = np.clip(np.rint(array / step), -127, 127) * step
        return float(((rounded - array) ** 2).mean())

    best = min(error(limit) for limit in limits if limit >= 0.2 * np.abs(array).max())
    assert error(METHODS["mse"](filled(array), 0)) <= best * 1.02


def test_entropy_clips_tails_but_not_uniform_numbers() -> None:
    tails = RANDOM.laplace(size=200_000).astype(np.float32)
    assert METHODS["entropy"](filled(tails), 0) < 0.9 * np.abs(tails).max()
    even = RANDOM.uniform(-1, 1, size=200_000).astype(np.float32)
    assert METHODS["entropy"](filled(even), 0) > 0.95


def test_mistakes_say_what_is_wrong() -> None:
    graph = loaded()
    with pytest.raises(CompileError, match="no samples"):
        calibrate.ranges(graph, [])
    with pytest.raises(CompileError, match="0 in all samples"):
        calibrate.ranges(graph, [{"x": np.zeros((1, 3, 8, 8), np.float32)}])
    with pytest.raises(CompileError, match="'x' is 1 x 3 x 4 x 4, not 1 x 3 x 8 x 8"):
        calibrate.ranges(graph, [{"x": np.ones((1, 3, 4, 4), np.float32)}])
    with pytest.raises(CompileError, match="NaN or infinite"):
        calibrate.ranges(graph, [{"x": np.full((1, 3, 8, 8), np.nan, np.float32)}])
    with pytest.raises(CompileError, match="no calibration method 'kl'"):
        calibrate.ranges(graph, samples(1), "kl")
