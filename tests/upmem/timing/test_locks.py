"""Cycles of programs that fight for locks, as they were before their scheduler became fast: it may
change how it finds the next tasklet, never which one it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cudla_sim.upmem.workers.checks import Checks

from ..dpu_side.bench import Bench
from ..dpu_side.conftest import Build

PROGRAM = Path(__file__).parent / "locks.c"
WAYS = (
    "loop",
    "histogram",
    "pool",
    "virtual",
    "barriers",
    "semaphores",
    "chain",
    "mixed",
    "nested",
)
TASKLETS = (1, 2, 7, 11, 16, 24)
FEW = ("barriers", "semaphores", "chain")  # their rounds take longer

# cycles and instructions for each number of tasklets
RECORDED = {
    "loop": (
        (221_023, 20_093),
        (221_067, 40_108),
        (639_114, 406_035),
        (991_107, 989_802),
        (2_080_523, 2_079_359),
        (4_655_440, 4_654_300),
    ),
    "histogram": (
        (299_292, 26_781),
        (300_028, 53_507),
        (799_831, 496_016),
        (1_236_231, 1_203_019),
        (2_536_514, 2_530_958),
        (5_705_184, 5_700_403),
    ),
    "pool": (
        (389_404, 34_973),
        (390_151, 69_892),
        (407_572, 248_815),
        (421_437, 400_565),
        (612_927, 605_834),
        (999_202, 992_769),
    ),
    "virtual": (
        (682_268, 61_597),
        (683_481, 123_142),
        (693_433, 424_082),
        (700_740, 663_697),
        (970_511, 964_009),
        (1_461_391, 1_454_881),
    ),
    "barriers": (
        (191_499, 17_409),
        (294_739, 44_121),
        (832_874, 280_447),
        (1_260_446, 590_158),
        (1_941_591, 1_125_841),
        (3_384_397, 2_329_671),
    ),
    "semaphores": (
        (308_715, 28_065),
        (308_946, 56_052),
        (1_078_176, 200_642),
        (1_693_560, 315_250),
        (2_462_790, 458_510),
        (3_693_579, 687_726),
    ),
    "chain": (
        (74_288, 6_753),
        (239_156, 40_068),
        (386_947, 212_971),
        (388_135, 350_229),
        (525_253, 521_802),
        (799_549, 796_318),
    ),
    "mixed": (
        (3_059_270, 273_667),
        (3_441_172, 557_618),
        (4_092_875, 1_910_524),
        (4_376_404, 3_015_871),
        (5_478_633, 4_407_193),
        (7_704_425, 6_661_675),
    ),
    "nested": (
        (1_281_148, 116_468),
        (1_281_148, 232_703),
        (1_636_886, 909_901),
        (2_431_448, 1_786_857),
        (4_067_441, 3_567_037),
        (8_220_519, 8_020_353),
    ),
}


@pytest.fixture
def ready(counted: Build, bench: Bench, request: pytest.FixtureRequest) -> Bench:
    bench.load(counted(PROGRAM.read_text(), request.param))
    numbers = np.random.default_rng(0).integers(0, 4096, 1 << 18, dtype=np.uint32)
    bench.at(bench.program.symbols["data"][0], numbers.nbytes)[:] = numbers.view(np.uint8)
    return bench


@pytest.mark.parametrize("race", ["off", "warn"])
@pytest.mark.parametrize("ready", TASKLETS, indirect=True)
def test_locks_take_the_cycles_that_they_took(
    ready: Bench, race: str, request: pytest.FixtureRequest
) -> None:
    place = TASKLETS.index(request.node.callspec.params["ready"])
    for number, way in enumerate(WAYS):
        ready.var("way")[:] = number
        ready.var("rounds")[:] = 666 if way in FEW else 2000
        ended = ready.launch(Checks(race=race), slots=[0], timed=True)
        assert not ended.faulted, ended.faulted[0]
        found = ended.times[0]
        assert (found.cycles, found.instructions) == RECORDED[way][place], way


@pytest.mark.parametrize("ready", [7, 16], indirect=True)
@pytest.mark.parametrize("way", WAYS)
def test_the_search_for_races_ends_within_a_launch(
    ready: Bench, way: str, request: pytest.FixtureRequest
) -> None:
    """A worker looks for races in its first launch, whatever it costs, for a number of turns."""
    place = TASKLETS.index(request.node.callspec.params["ready"])
    ready.var("way")[:] = WAYS.index(way)
    ready.var("rounds")[:] = 666 if way in FEW else 2000
    ended = ready.launch(Checks(race="warn"), slots=[0], timed=True)
    assert not ended.faulted, ended.faulted[0]
    found = ended.times[0]
    assert (found.cycles, found.instructions) == RECORDED[way][place]


@pytest.mark.parametrize("ready", [16], indirect=True)
def test_a_histogram_under_a_mutex_loses_nothing(ready: Bench) -> None:
    ready.var("way")[:] = WAYS.index("histogram")
    ready.var("rounds")[:] = 2000
    ready.var("counts")[:] = 0
    ready.time()
    assert ready.var("counts").sum() == 125 * 256  # blocks that begin below 16 * 2000
