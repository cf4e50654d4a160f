"""GatherScatterDataFlow: the memory that it takes tiles from."""

from __future__ import annotations

import pytest

from cudla_sim.cupva.dataflow.gather import GatherScatterDataFlow
from cudla_sim.cupva.errors import CupvaError


@pytest.mark.parametrize("extents", [(8, 4, 8), (1, 1, 1), (65535, 1, 65535), (8, 4, 9)])
def test_a_line_may_fill_its_pitch(extents: tuple[int, int, int]) -> None:
    flow = GatherScatterDataFlow()
    flow.extents(*extents)
    assert flow.external == extents


@pytest.mark.parametrize("extents", [(8, 4, 7), (0, 4, 8), (8, 0, 8), (8, 4, 65536)])
def test_extents_that_are_none(extents: tuple[int, int, int]) -> None:
    with pytest.raises(CupvaError, match="line pitch"):
        GatherScatterDataFlow().extents(*extents)


@pytest.mark.parametrize(("count", "right"), [(0, False), (1, True), (32, True), (33, False)])
def test_tiles_of_a_trigger(count: int, right: bool) -> None:
    flow = GatherScatterDataFlow()
    if right:
        flow.tiles_per_trigger(count)
    else:
        with pytest.raises(CupvaError, match="1 to 32"):
            flow.tiles_per_trigger(count)
