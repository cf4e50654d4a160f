"""Loading ahead, against cycles of the public RTL: from the start of a convolution's load to its
end, with 8 bytes a cycle and a latency of 32."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cudla_sim.nvdla import Loadable
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.facts.configs import config
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.held import Held
from cudla_sim.nvdla.timing.parameters import Surroundings

WHOLE = [42725, 57508]
"""Two halves that fill the buffer: the second loads when the first has computed."""
CUT = [10627, 11117, 10561, 10561, 10561, 10561]
"""The first of eight pieces of which two fit: each loads while the one before computes."""


@pytest.mark.parametrize(("without", "wanted"), [(["cuts"], WHOLE), ([], CUT)])
def test_a_convolution_loads_ahead_if_there_is_room(without: list[str], wanted: list[int]) -> None:
    random = np.random.default_rng(3)
    net = Network(("data", (1, 64, 60, 60)), "int8", "nv_small")
    net.conv2d(random.normal(size=(8, 64, 1, 1)), relu=True)
    image = net.build(random.normal(size=(1, 64, 60, 60)), without=without)
    run = runs.loadable(Loadable.parse(image), "", "nv_small", Surroundings(interrupt_cycles=74))
    took = [o.end - o.start for o in run.operations][: len(wanted)]
    assert took == pytest.approx(wanted, rel=0.05)


@pytest.mark.parametrize(
    ("begin", "load", "room", "loaded"),
    [(0, 100, 1.0, 500), (0, 100, 0.25, 575), (0, 100, 0.0, 600), (450, 100, 1.0, 550)],
)
def test_what_has_no_room_comes_later(begin: int, load: int, room: float, loaded: int) -> None:
    """The convolution before gives its entries back in cycle 500."""
    assert max(Held((8, 8), 0, 0.0, 500).loaded(begin, load, room), 500) == loaded


@pytest.mark.parametrize(
    ("banks", "entries", "weights", "first", "room"),
    [
        ((8, 8), 0, 0, 0, 1.0),
        ((8, 7), 0, 0, 0, 0.0),  # another share: CDMA waits
        ((8, 8), 8 * 512 - 300, 0, 0, 0.5),  # 600 entries are wanted
        ((8, 8), 8 * 512, 0, 0, 0.0),
        ((8, 8), 0, 30 * 1024, 4096, 0.5),
    ],
)
def test_there_is_room_beside_what_is_held(
    banks: tuple[int, int], entries: int, weights: int, first: int, room: float
) -> None:
    """nv_small: a bank has 512 entries of 8 bytes."""
    source: Any = SimpleNamespace(
        data_banks=8, weight_banks=8, data_reuse=0, entries=60, height=10, batches=1
    )
    found = Held(banks, entries, weights, 0).room(config("nv_small"), source, first)
    assert min(found, 1) == room
