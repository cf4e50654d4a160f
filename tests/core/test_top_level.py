"""`cudla_sim` as an editor sees it."""

from __future__ import annotations

import inspect

import pytest

import cudla_sim
from cudla_sim import given
from cudla_sim.core import config


def test_the_types_of_settings_are_those_of_their_sections() -> None:
    known = {name: str(config.declared(name)[1].type) for name in config.names()}
    declared = given.Settings.__annotations__
    assert {name: kind.__forward_arg__ for name, kind in declared.items()} == known


def test_dir_is_the_api() -> None:
    assert dir(cudla_sim) == sorted([*cudla_sim.__all__, "__version__"])
    assert all(hasattr(cudla_sim, name) for name in dir(cudla_sim))


@pytest.mark.parametrize(
    ("name", "parameter"), [("evaluate", "keep_outputs"), ("report", "accuracy")]
)
def test_signatures_name_their_parameters(name: str, parameter: str) -> None:
    parameters = inspect.signature(getattr(cudla_sim, name)).parameters
    assert parameter in parameters
    assert all(p.kind != p.VAR_KEYWORD for p in parameters.values())


def test_an_index_that_is_not_there_yet_explains_itself() -> None:
    cudla_sim.reset()
    with pytest.raises(IndexError, match=r"^devices\[0\]: there is none yet; .*cudlaCreateDevice"):
        _ = cudla_sim.dla.devices[0]
    with pytest.raises(IndexError, match=r"^sets\[2\]: there is none yet; .*dpu_alloc"):
        _ = cudla_sim.upmem.sets[2]
