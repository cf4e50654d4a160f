"""Which configuration a loadable is for: decided once, for everyone who runs one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cudla_sim.core import process
from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork, NvdlaError, target
from cudla_sim.nvdla.annotation import BLOB, Annotation
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.errors import WrongConfiguration
from cudla_sim.nvdla.facts.configs import CONFIGS
from cudla_sim.nvdla.inspect import describe, render


def made(config: str, said: object = None, raw: bytes = b"") -> Loadable:
    """A loadable that was compiled for *config* and says *said*, if anything."""
    net = Network(input=("x", (1, 8, 4, 4)), precision="int8", config=config)
    net.max_pool(2)
    note = Annotation(inputs=(), outputs=(), options={"config": said})
    loadable = Loadable.parse(net.build(np.ones((1, 8, 4, 4))))
    blobs = dict(loadable.blobs)
    there = blobs.pop(BLOB)
    if said is not None or raw:
        blobs[BLOB] = replace(there, data=memoryview(raw or note.encode()))
    return replace(loadable, blobs=blobs)


@pytest.mark.parametrize(
    ("config", "said", "chosen"),
    [
        ("nv_large", None, "nv_full"),  # as far as its operations tell
        ("nv_large", "nv_large", "nv_large"),
        ("nv_small", "nv_small_256", "nv_small_256"),
        ("nv_small", "nv_large", "nv_small"),  # its strides say that this is wrong
        ("nv_small", "nv_unknown", "nv_small"),
        ("nv_small", ["nv_small"], "nv_small"),
    ],
)
def test_what_the_loadable_says_counts_unless_its_operations_contradict(
    monkeypatch: pytest.MonkeyPatch, config: str, said: object, chosen: str
) -> None:
    loadable = made(config, said)
    assert target.choose(loadable) == target.choose(loadable, "auto") == chosen
    assert Core("auto").settle(loadable).name == chosen


def test_an_annotation_that_cannot_be_read_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    loadable = made("nv_small", raw=b"{")
    assert target.choose(loadable) == "nv_small"


def test_a_wish_counts_before_all(monkeypatch: pytest.MonkeyPatch) -> None:
    loadable = made("nv_large", "nv_large")
    assert [target.choose(loadable, name) for name in CONFIGS] == list(CONFIGS)
    assert target.choose(loadable, "small") == "nv_small"
    with pytest.raises(NvdlaError, match="unknown"):
        target.choose(loadable, "nv_none")


def test_where_everything_is_contradicted_the_loadable_knows_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing = dict.fromkeys(CONFIGS, "no")
    monkeypatch.setattr(target, "candidates", lambda loadable: nothing)
    assert target.choose(made("nv_large", "nv_large")) == "nv_large"
    assert target.choose(made("nv_large")) == target.DEFAULT


def test_the_error_of_another_configuration_names_the_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loadable = made("nv_small", "nv_small_256")
    with pytest.raises(WrongConfiguration, match="CUDLA_SIM_CONFIG=nv_small_256 makes it fit"):
        LoadedNetwork(loadable, AddressSpace(), "nv_full")


def test_a_loadable_that_fits_several_says_which_one_is_taken() -> None:
    small = ("nv_small_256_full", "nv_small_256", "nv_small")
    chosen = target.choice(made("nv_small"))
    assert chosen.among == small
    assert str(chosen) == f"fits {', '.join(small)}: taking nv_small"
    assert target.choice(made("nv_small", "nv_small")) == target.Choice("nv_small")
    assert str(target.choice(made("nv_small"), "nv_small_256")) == "nv_small_256"


@pytest.mark.parametrize(
    ("setting", "chosen"), [("nv_small_256", "nv_small_256"), ("nv_full", "nv_small")]
)
def test_of_several_that_fit_the_setting_is_taken(setting: str, chosen: str) -> None:
    before = process.current().config
    process.replace(before.replace(config=setting))
    try:
        assert target.choose(made("nv_small")) == chosen
        assert target.choose(made("nv_small", "nv_small")) == "nv_small"
    finally:
        process.replace(before)


def test_inspect_says_what_the_loadable_says_and_else_what_it_fits() -> None:
    said, silent = (describe(made("nv_small", word)) for word in ("nv_small", None))
    assert said["target"]["compiled_for"] == "nv_small"
    assert silent["target"]["compiled_for"] is None
    assert "\ncompiled for nv_small\n" in render(said)
    assert "\nfits nv_small_256_full, nv_small_256, nv_small\n" in render(silent)
