"""Which configuration a loadable is for: decided once, for everyone who runs one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork, NvdlaError, target
from cudla_sim.nvdla.annotation import BLOB, Annotation
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.errors import WrongConfiguration
from cudla_sim.nvdla.facts.configs import CONFIGS


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
        ("nv_small", "nv_large", "nv_small_256_full"),  # its strides say that this is wrong
        ("nv_small", "nv_unknown", "nv_small_256_full"),
        ("nv_small", ["nv_small"], "nv_small_256_full"),
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
    assert target.choose(loadable) == "nv_small_256_full"


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
