"""Random enables in random order: the chip that computes and the one that tells times release the
same events in the same order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.nvdla.facts import registers
from cudla_sim.nvdla.facts.configs import config
from cudla_sim.nvdla.hw import chip as chips
from cudla_sim.nvdla.hw.chains import RULES, Chain, Release
from cudla_sim.nvdla.hw.chip import Chip
from cudla_sim.nvdla.hw.csb import LAUNCHED
from cudla_sim.nvdla.hw.glb import Interrupt
from cudla_sim.nvdla.hw.launch import Launched, Site
from cudla_sim.nvdla.hw.memory import Memory, Windows
from cudla_sim.nvdla.hw.units.registry import UNITS
from cudla_sim.nvdla.timing.parameters import Surroundings
from cudla_sim.nvdla.timing.pipeline import TimedChip

Event = tuple[tuple[str, ...], int | None, int]
CONFIG = config("nv_full")
MODES = {
    "SDP": ("D_FEATURE_MODE_CFG", "D_DP_BS_CFG", "D_DP_BS_ALU_CFG"),
    "SDP_RDMA": ("D_FEATURE_MODE_CFG", "D_BRDMA_CFG", "D_NRDMA_CFG", "D_ERDMA_CFG"),
    "PDP": ("D_OPERATION_MODE_CFG",),
}
"""Registers that decide which units work together. All others stay as after reset."""


class Both:
    """The two chips, with what each released."""

    def __init__(self) -> None:
        nothing = Memory(Windows([]))
        self.chips: tuple[Chip, TimedChip] = (
            Chip(CONFIG, nothing),
            TimedChip(CONFIG, Surroundings()),
        )
        self.events: dict[int, list[Event]] = defaultdict(list)

    def write(self, block: str, register: str, value: int) -> None:
        for chip in self.chips:
            chip.write(registers.block(CONFIG.line, block).address(register), value)

    def enable(self, block: str, modes: dict[str, int]) -> None:
        """Program and enable the group that the producer points to; go to the other one."""
        if block == "BDMA":
            group = modes["D_OPERATION_MODE_CFG"] & 1
            if self.chips[0].csb.bdma.busy[group]:
                return
            self.write("BDMA", "CFG_OP", 1)
            self.write("BDMA", f"CFG_LAUNCH{group}", 1)
            return
        state = self.chips[0].csb.blocks[block]
        if state.enabled[state.producer]:
            return
        for register in MODES.get(block, ()):
            self.write(block, register, modes[register])
        self.write(block, "D_OP_ENABLE", 1)
        self.write(block, "S_POINTER", 1 - state.producer)

    def drain(self) -> None:
        for chip in self.chips:
            while chip.step():
                pass

    def released(self) -> tuple[list[Event], list[Event]]:
        computed, timed = (self.events[id(chip.csb)] for chip in self.chips)
        return computed, timed


def compute_nothing(site: Site, chain: Chain) -> Launched:
    return Launched(None, chain.releases(site.csb))


@contextmanager
def both() -> Iterator[Both]:
    pair = Both()
    happen = Release.happen

    def note(release: Release, csb: registers.Register) -> None:
        pair.events[id(csb)].append((release.blocks, release.interrupt, release.group))
        happen(release, csb)  # type: ignore[arg-type]

    with (
        patch.object(Release, "happen", note),
        patch.object(chips, "UNITS", dict.fromkeys(RULES, compute_nothing)),
    ):
        yield pair


def by_source(events: list[Event]) -> dict[object, list[Event]]:
    """Events of one interrupt source (or of one block, where there is none) in their order."""
    found: dict[object, list[Event]] = defaultdict(list)
    for event in events:
        found[event[0] if event[1] is None else event[1]].append(event)
    return found


modes = st.fixed_dictionaries(
    {
        "D_FEATURE_MODE_CFG": st.integers(0, 3),
        "D_DP_BS_CFG": st.sampled_from([0, 1]),
        "D_DP_BS_ALU_CFG": st.sampled_from([0, 1]),
        "D_BRDMA_CFG": st.integers(0, 1),
        "D_NRDMA_CFG": st.just(1),
        "D_ERDMA_CFG": st.just(1),
        "D_OPERATION_MODE_CFG": st.sampled_from([0, 1 << 4]),
    }
)
# Convolutions need seven blocks, which chance would rarely enable together.
blocks = st.sampled_from(
    [*((name,) for name in (*LAUNCHED, "BDMA")), LAUNCHED[:5], LAUNCHED[:5], LAUNCHED[:7]]
)
enables = st.lists(st.tuples(blocks, modes), max_size=25)


def test_every_rule_has_a_unit_that_computes_and_a_cost() -> None:
    assert set(UNITS) == set(RULES) == set(TimedChip(CONFIG, Surroundings())._cost)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(enables)
def test_one_enable_after_the_other(steps: list[tuple[tuple[str, ...], dict[str, int]]]) -> None:
    with both() as pair:
        for names, values in steps:
            for name in names:
                pair.enable(name, values)
                pair.drain()
                computed, timed = pair.released()
                assert computed == timed


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(enables, max_size=4))
def test_enables_at_once(rounds: list[list[tuple[tuple[str, ...], dict[str, int]]]]) -> None:
    """Units that work side by side end when they do; each of them in the same order."""
    with both() as pair:
        for steps in rounds:
            for names, values in steps:
                for name in names:
                    pair.enable(name, values)
            pair.drain()
            computed, timed = pair.released()
            assert by_source(computed) == by_source(timed)


@pytest.mark.parametrize("flying", [0, 1])
def test_an_idle_sdp_rdma_is_done_at_once(flying: int) -> None:
    """On the fly and without operands it has nothing to fetch, and no interrupt says so."""
    with both() as pair:
        idle = dict.fromkeys(MODES["SDP_RDMA"], 1) | {"D_FEATURE_MODE_CFG": flying}
        pair.enable("SDP_RDMA", idle)
        pair.drain()
        expected = [(("SDP_RDMA",), None, 0)] if flying else []
        assert pair.released() == (expected, expected)


def test_an_idle_sdp_rdma_serves_no_later_sdp() -> None:
    """It is done before the SDP that works on the other group comes to want one."""
    convolution = LAUNCHED[:5]
    flying = {"D_FEATURE_MODE_CFG": 1, "D_DP_BS_CFG": 1, "D_DP_BS_ALU_CFG": 0}
    with both() as pair:
        pair.enable("SDP_RDMA", dict.fromkeys(MODES["SDP_RDMA"], 1))
        pair.enable("SDP", flying)
        pair.enable("SDP", flying | {"D_FEATURE_MODE_CFG": 0})
        for name in convolution:
            pair.enable(name, {})
        pair.drain()
        computed, timed = pair.released()
        assert by_source(computed) == by_source(timed)
        assert (("SDP_RDMA",), None, 0) in computed
        assert (("SDP",), Interrupt.SDP, 0) in computed
        assert not [event for event in computed if event[1] == Interrupt.SDP and event[2] == 1]


@pytest.mark.parametrize("off_flying", [0, 1])
def test_sdp_hands_its_result_only_to_a_pdp_that_waits_for_it(off_flying: int) -> None:
    with both() as pair:
        pair.enable("PDP", {"D_OPERATION_MODE_CFG": off_flying << 4})
        to_pdp = {"D_FEATURE_MODE_CFG": 1 << 1, "D_DP_BS_CFG": 1, "D_DP_BS_ALU_CFG": 0}
        pair.enable("SDP", to_pdp)
        pair.enable("SDP_RDMA", dict.fromkeys(MODES["SDP_RDMA"], 0))
        pair.drain()
        computed, timed = pair.released()
        assert computed == timed
        assert len(computed) == 2 * (not off_flying)
