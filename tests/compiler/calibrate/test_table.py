"""TensorRT's calibration cache."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.compiler import calibrate
from cudla_sim.compiler.calibrate import Table
from cudla_sim.compiler.calibrate.results import remembered
from cudla_sim.compiler.errors import CompileError
from tests.compiler.calibrate.test_ranges import loaded

PUBLISHED = """TRT-8600-EntropyCalibration2
images: 3c00f9f4
(Unnamed Layer* 3) [Convolution]_output: 3d000000
a line without one
/model.0/conv:0: 3F800000
"""


def test_a_published_line() -> None:
    table = Table.parse(PUBLISHED)
    assert table.algorithm == "EntropyCalibration2"
    assert table.scales["images"] == pytest.approx(0.00787209, abs=1e-8)
    assert table.scales["(Unnamed Layer* 3) [Convolution]_output"] == 2**-5
    assert table.scales["/model.0/conv:0"] == 1


names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)


@given(st.dictionaries(names, st.floats(2**-60, 2.0**100, width=32)))
def test_what_is_written_is_read(scales: dict[str, float]) -> None:
    assert Table.parse(Table.of(scales).text()).scales == scales


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "first line"),
        ("images: 3c00f9f4", "first line"),
        ("TRT-1-x\na: xyz", "line 2: 'xyz'"),
        ("TRT-1-x\na: 7f800000", "scale of 'a' is inf"),
        ("TRT-1-x\na: bf800000", "scale of 'a' is -1"),
    ],
)
def test_broken_files(text: str, why: str) -> None:
    with pytest.raises(CompileError, match=why):
        Table.parse(text)


def test_names_that_fit_and_those_that_do_not() -> None:
    graph = loaded()
    found = calibrate.applied(graph, Table({"x": 0.5, "a": 0.25, "gone": 1.0}))
    assert found.scales == {"x": 0.5, "a": 0.25}
    assert found.missing == ("b", "y")
    assert found.unused == ("gone",)
    with pytest.raises(CompileError, match="gives 'a' the scale 0"):
        calibrate.applied(graph, Table({"a": 0.0}))


def test_results_are_kept_by_content(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    np.save(tmp_path / "x.npy", np.ones((1, 3, 8, 8), np.float32))
    samples = calibrate.load_samples(loaded(), [tmp_path / "x.npy"])
    from cudla_sim.compiler.calibrate.results import key_of

    key = key_of(samples, "minmax", 99.99)
    assert remembered(key, lambda: {"x": 2.0}) == ({"x": 2.0}, False)
    assert remembered(key, lambda: {"x": 3.0}) == ({"x": 2.0}, True)
    assert key_of(samples, "entropy", 99.99) != key
    with monkeypatch.context() as patched:
        patched.setattr("cudla_sim.compiler.calibrate.results.__version__", "of tomorrow")
        assert key_of(samples, "minmax", 99.99) != key
    assert key_of(samples, "minmax", 99.99) == key
    np.save(tmp_path / "x.npy", np.zeros((1, 3, 8, 8), np.float32))
    assert key_of(samples, "minmax", 99.99) != key
