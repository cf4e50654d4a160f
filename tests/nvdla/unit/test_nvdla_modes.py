"""Modes of units: each is computed by its unit, and named wherever names are shown."""

from __future__ import annotations

import numpy as np
import pytest

from cudla_sim.compiler.layers.reference import POOLS
from cudla_sim.constants import nvdla as published
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.facts.maps.enums import ENUMS
from cudla_sim.nvdla.facts.modes import Alu, Pooling, Rubik, by_word, word
from cudla_sim.nvdla.hw.units.pdp import reference as pdp
from cudla_sim.nvdla.hw.units.rubik import reference as rubik
from cudla_sim.nvdla.hw.units.sdp.reference import stages


def test_numbers_are_those_of_the_published_headers() -> None:
    """dla_interface.h for descriptors; the register headers number the fields alike."""
    assert published.POOL_MODE_AVG == Pooling.AVERAGE == 0
    assert (published.POOL_MODE_MAX, published.POOL_MODE_MIN) == (Pooling.MAX, Pooling.MIN)
    assert published.RUBIK_MODE_MERGE == Rubik.MERGE
    assert published.RUBIK_MODE_SPLIT == Rubik.SPLIT
    assert ENUMS["pooling"]["POOLING_METHOD_MIN"] == 2
    assert ENUMS["x_alu"] == {"MAX": 0, "MIN": 1, "SUM": 2}
    assert ENUMS["y_alu"] == {"MAX": 0, "MIN": 1, "SUM": 2, "EQL": 3}
    assert ENUMS["rubik_mode"] == {"CONTRACT": 0, "SPLIT": 1, "MERGE": 2}


def test_every_mode_is_computed() -> None:
    assert set(pdp.METHODS) == set(Pooling)
    assert set(stages.ALU) == set(Alu)
    assert set(rubik.MODES) == set(Rubik)
    assert set(POOLS) == set(by_word(Pooling))


def test_an_unknown_mode_is_shown_as_its_number() -> None:
    assert (word(Pooling, 2), word(Pooling, 99)) == ("min", "99")


def test_network_names_the_methods_and_functions_that_exist() -> None:
    net = Network(input=("x", (1, 8, 4, 4)), precision="int8", config="nv_full")
    with pytest.raises(NvdlaError, match=r"'median' does not exist; there are average, max, min"):
        net.pool("median", 2)
    with pytest.raises(NvdlaError, match=r"'relu6' does not exist; there are sigmoid, tanh"):
        net.curve("relu6")
    net.pool("min", 2, name="least")
    net.curve("tanh")
    x = np.linspace(-2, 2, 128).reshape(1, 8, 4, 4).astype(np.float32)
    expected = np.tanh(x.reshape(1, 8, 2, 2, 2, 2).min(axis=(3, 5)))
    np.testing.assert_allclose(net.reference(x), expected, rtol=1e-6)
