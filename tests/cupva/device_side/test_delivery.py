"""When data moves, and what is said of kernels whose results depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.cupva.dma import Move
from cudla_sim.cupva.workers.checks import Checks
from cudla_sim.cupva.workers.protocol import Cause
from cudla_sim.cupva.workers.worker import FlowRequest, LaunchRequest, LaunchResult

from .bench import Bench, dram
from .bench import modes as names
from .conftest import Image

M = names("races.h")
SIZE, TILES, TARGET = 64, 4, 4096
OFF = Checks("off", "off")
RIGHT = ["WAITS", "DOUBLE_BUFFERED", "GATHERS", "SEQUENCE", "UNIFIED", "TWO_AHEAD"]
TWO_BUFFERS = ("DOUBLE_BUFFERED", "WRITES_WHAT_COMES", "GATHERS", "GATHERS_UNSYNCED", "SEQUENCE")


@pytest.fixture(scope="module")
def races(image: Image) -> Iterator[Bench]:
    bench = Bench(image("races"))
    yield bench
    bench.close()


def requests(bench: Bench, mode: str) -> list[FlowRequest]:
    row = (1, 0)
    halves = ((2, SIZE), (2, 0)) if mode in (*TWO_BUFFERS, "TWO_AHEAD") else (row, (TILES, 0))
    outside = (row, (TILES, SIZE))
    away = Move(
        SIZE, 1, 1, bench.side("out", SIZE, halves), dram(TARGET, SIZE, outside), per_trigger=1
    )
    into = Move(SIZE, 1, 1, dram(0, SIZE, outside), bench.side("in", SIZE, halves), per_trigger=1)
    if mode == "UNIFIED":
        flows = [bench.static("unified_source", into), bench.static("unified_target", away)]
        info = {"layout": 1, "line_pitch": SIZE, "tiles": TILES}
        return [FlowRequest(f.kind, f.handler_offset, f.descriptors, info) for f in flows]
    if mode.startswith("GATHERS"):
        tiles = Move(SIZE, 1, 1, dram(0, SIZE * TILES), bench.side("gathered", SIZE))
        flow = bench.static("gather", tiles)
        info = {"planes": TILES, "line_pitch": SIZE, "layout": 1}
        first = FlowRequest(flow.kind, flow.handler_offset, flow.descriptors, info)
    elif mode == "SEQUENCE":
        first = bench.static("sequence", Move(SIZE, 1, 1, dram(0), bench.side("in")))
    else:
        first = bench.static("source", into)
    return [first, bench.static("target", away)]


def asked(
    bench: Bench, mode: str, delivery: str, checks: Checks = OFF, seed: int = 0
) -> LaunchRequest:
    """A launch, and the memory that it works on."""
    source = np.random.default_rng(7).integers(0, 200, TILES * SIZE).astype(np.uint8)
    bench.dram[: source.size] = source
    bench.dram[TARGET : TARGET + source.size] = 255
    parameters = [bench.parameter("mode", M[mode])]
    return LaunchRequest(
        parameters, requests(bench, mode), delivery=delivery, seed=seed, checks=checks
    )


def written(bench: Bench) -> np.ndarray:
    return bench.dram[TARGET : TARGET + TILES * SIZE].reshape(TILES, SIZE).copy()


def run(
    bench: Bench, mode: str, delivery: str, checks: Checks = OFF, seed: int = 0
) -> tuple[LaunchResult, np.ndarray]:
    """The result, and the four tiles that the kernel wrote."""
    result = bench.worker.launch(asked(bench, mode, delivery, checks, seed), 10.0)
    return result, written(bench)


def expected(bench: Bench, mode: str) -> np.ndarray:
    source = bench.dram[: TILES * SIZE].reshape(TILES, SIZE).copy()
    if mode.startswith("GATHERS"):
        source = source[::-1]
    if mode == "SEQUENCE":
        source = np.repeat(source[:1], TILES, 0)
    return np.asarray(source + 1)


@pytest.mark.parametrize("mode", RIGHT)
@pytest.mark.parametrize("delivery", ["trigger", "sync"])
def test_a_kernel_that_waits_has_the_same_results(races: Bench, mode: str, delivery: str) -> None:
    result, found = run(races, mode, delivery, Checks("fault", "fault"))
    assert (result.status, result.text, result.warnings) == ("done", "", ())
    assert (found == expected(races, mode)).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), mode=st.sampled_from(RIGHT))
def test_a_kernel_that_waits_has_them_at_any_moment(races: Bench, seed: int, mode: str) -> None:
    result, found = run(races, mode, "random", Checks("fault", "fault"), seed)
    assert (result.status, result.text) == ("done", "")
    assert (found == expected(races, mode)).all()


def test_a_kernel_without_syncs_uses_what_was_there(races: Bench) -> None:
    """Right when data moves within the trigger; its input is zero when it comes later."""
    result, found = run(races, "NEVER_WAITS", "trigger")
    assert (found == expected(races, "NEVER_WAITS")).all()
    result, found = run(races, "NEVER_WAITS", "sync")
    assert result.status == "done"
    assert (found == 1).all()


def test_a_random_moment_depends_on_the_seed_only(races: Bench) -> None:
    seen = []
    for seed in range(12):
        first, again = (run(races, "NEVER_WAITS", "random", seed=seed)[1] for _ in range(2))
        assert (first == again).all()
        seen.append(first.tobytes())
    assert len(set(seen)) > 2


def test_triggers_without_syncs_are_reported(races: Bench) -> None:
    result, _ = run(races, "NEVER_WAITS", "trigger", Checks())
    assert result.status == "done"
    source, target = result.warnings
    assert "dataflow 0 (handler 'source') was triggered 4 times, and 4 of them have no" in source
    assert "dataflow 1 (handler 'target')" in target
    result, _ = run(races, "NEVER_WAITS", "trigger", Checks(sync="fault"))
    assert result.status == "fault"
    assert result.text == source


def test_a_launch_that_is_posted_reports_too(races: Bench) -> None:
    found: list[LaunchResult] = []
    run(races, "WAITS", "trigger")
    for checks in (Checks(), Checks(sync="fault")):
        assert races.worker.post(asked(races, "NEVER_WAITS", "sync", checks), found.append)
        races.worker.help(-1)
        assert (written(races) == 1).all()
    warned, failed = found
    assert (warned.status, len(warned.warnings)) == ("done", 2)
    assert (failed.status, failed.text) == ("fault", warned.warnings[0])


def test_the_moment_may_change_between_launches_of_the_same_dataflows(races: Bench) -> None:
    request = asked(races, "NEVER_WAITS", "trigger")
    for delivery in ("trigger", "sync", "trigger"):
        asked(races, "NEVER_WAITS", delivery)
        result = races.worker.launch(replace(request, delivery=delivery), 10.0)
        assert result.status == "done"
        right = expected(races, "NEVER_WAITS") if delivery == "trigger" else 1
        assert (written(races) == right).all()


def test_a_gather_without_sync(races: Bench) -> None:
    result, found = run(races, "GATHERS_UNSYNCED", "trigger", Checks())
    assert (found == expected(races, "GATHERS")).all()
    assert "(handler 'gather') was triggered after its last sync" in result.warnings[0]
    _, found = run(races, "GATHERS_UNSYNCED", "sync")
    assert (found == 1).all(), "the tiles came when the kernel had ended"


def test_a_buffer_that_is_filled_while_it_is_sent(races: Bench) -> None:
    _, right = run(races, "WRITES_TOO_SOON", "trigger")
    assert (right == expected(races, "WAITS")).all()
    _, late = run(races, "WRITES_TOO_SOON", "sync")
    assert (late[:, 7] == right[:, 7] + 1).all()
    for delivery in ("trigger", "sync"):
        result, _ = run(races, "WRITES_TOO_SOON", delivery, Checks(pending="fault"))
        assert (result.status, result.cause) == ("fault", Cause.PENDING)
        assert "out + 7 was written to" in result.text
        assert "between trigger and sync of dataflow 1 (handler 'target')" in result.text
        assert "(races.c:35)" in result.text
    result, found = run(races, "WRITES_TOO_SOON", "trigger", Checks(pending="warn"))
    assert (result.status, len(result.warnings)) == ("done", 1)
    assert (found == right).all()


def test_a_buffer_that_is_written_to_while_it_is_filled(races: Bench) -> None:
    for delivery in ("trigger", "sync", "random"):
        result, _ = run(races, "WRITES_WHAT_COMES", delivery, Checks(pending="fault"))
        assert result.cause == Cause.PENDING
        assert "between trigger and sync of dataflow 0 (handler 'source')" in result.text
