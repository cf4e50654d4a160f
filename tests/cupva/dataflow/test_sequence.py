"""SequenceDataFlow: transfers in order, synchronised as their modes ask for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.cupva.dataflow.sequence import (
    MAX_TRANSFERS,
    SequenceDataFlow,
    Transfer,
    TransferMode,
)
from cudla_sim.cupva.errors import CupvaError

from .bench import HANDLER, Bench, bench


def sequence(machine: Bench, modes: list[TransferMode]) -> tuple[SequenceDataFlow, np.ndarray]:
    """Transfer i moves 2 x 2 tiles of 4 bytes to place 16 * i."""
    data = np.arange(16 * len(modes), dtype=np.uint8)
    source, target = machine.dram(data), machine.variable(data.nbytes)
    flow = SequenceDataFlow()
    flow.handler(HANDLER)
    for number, mode in enumerate(modes):
        transfer = flow.add_transfer()
        transfer.tile(4)
        transfer.transfer_mode(mode)
        transfer.src(source + 16 * number)
        transfer.dst(target + 16 * number)
        for side in ("source", "destination"):
            transfer.dim(side, 1, 2, 4)
            transfer.dim(side, 2, 2, 8)
    return flow, data


STEPS = {
    TransferMode.CONTINUOUS: [16],
    TransferMode.TILE: [4, 4, 4, 4],
    TransferMode.DIM1: [8, 8],
    TransferMode.DIM2: [16],
    TransferMode.DIM3: [16],
}


@given(st.lists(st.sampled_from(list(TransferMode)), min_size=1, max_size=6))
def test_bytes_that_each_trigger_moves(modes: list[TransferMode]) -> None:
    """A continuous transfer runs on into the next one; the others stop."""
    expected: list[int] = []
    run_on = 0
    for mode in modes:
        steps = STEPS[mode].copy()
        steps[0] += run_on
        run_on = steps.pop() if mode is TransferMode.CONTINUOUS else 0
        expected += steps
    if run_on:
        expected.append(run_on)
    with bench() as machine:
        flow, data = sequence(machine, modes)
        moved = [0]
        for _ in machine.step(flow):
            moved.append(int((machine.vmem[128 : 128 + len(data)] != 0xEE).sum()))
        assert np.diff(moved).tolist() == expected
        assert (machine.vmem[128 : 128 + len(data)] == data).all()
        triggers = [t.trigger for t in flow.tiles(machine.memory.locate)]
        assert max(triggers) == len(expected) - 1
        assert triggers == sorted(triggers)


def test_a_sequence_needs_a_handler_and_transfers() -> None:
    with bench() as machine:
        flow, _ = sequence(machine, [TransferMode.TILE])
        flow.handler_symbol = None
        with pytest.raises(CupvaError, match="handler"):
            flow.moves(machine.memory.locate)
        empty = SequenceDataFlow()
        empty.handler(HANDLER)
        with pytest.raises(CupvaError, match="no transfer"):
            empty.moves(machine.memory.locate)


def test_limits_and_modes() -> None:
    flow = SequenceDataFlow()
    for _ in range(MAX_TRANSFERS):
        flow.add_transfer()
    with pytest.raises(CupvaError, match=f"more than {MAX_TRANSFERS}"):
        flow.add_transfer()
    with pytest.raises(CupvaError, match="transfer mode 9"):
        Transfer().transfer_mode(9)


def test_an_error_names_its_transfer() -> None:
    with bench() as machine:
        flow, _ = sequence(machine, [TransferMode.TILE, TransferMode.TILE])
        flow.transfers[1].dim("source", 3, 2, 1)
        with pytest.raises(CupvaError, match=r"transfer 1: .*same number"):
            flow.moves(machine.memory.locate)
