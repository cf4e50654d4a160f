"""Many small copies in a row: few messages, and the same bytes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudla_sim.upmem.cluster.machine import RemoteMachine
from cudla_sim.upmem.machine import machine
from tests.upmem.host.hosting import FROM_DPU, MRAM, TO_DPU, Host, pointer
from tests.upmem.host.kernels import Kernel

SUM = """
#include <stdint.h>
#include <mram.h>
__mram_noinit uint64_t values[256];
__host uint64_t total;
int main(void)
{
    __dma_aligned uint64_t cache[256];
    mram_read(values, cache, sizeof(cache));
    total = 0;
    for (int i = 0; i < 256; i++) total += cache[i];
    return 0;
}
"""


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each method of the actors was called."""
    counted: Counter[str] = Counter()
    call = RemoteMachine.call

    def counting(self: RemoteMachine, method: str, *arguments: Any) -> Any:
        counted[method] += 1
        return call(self, method, *arguments)

    monkeypatch.setattr(RemoteMachine, "call", counting)
    return counted


def push(host: Host, made: Any, rows: np.ndarray, offset: int, way: int) -> None:  # type: ignore[type-arg]
    for i, dpu in enumerate(host.dpus(made)):
        host.ok(host.api.dpu_prepare_xfer(dpu, pointer(rows[i])))
    host.ok(host.api.dpu_push_xfer_symbol(made, way, MRAM, offset, rows.shape[1] * 8, 0))


def test_rows_of_copies(host: Host, messages: Counter[str]) -> None:
    """200 writes of a row, 200 reads of one: a tenth of the messages and less."""
    random = np.random.default_rng(5)
    matrix = random.integers(0, 1 << 62, (200, 70, 3), np.uint64)
    with host.alloc(70) as made:
        for i, rows in enumerate(matrix):
            push(host, made, rows, 24 * i, TO_DPU)
        back = np.zeros_like(matrix)
        for i, rows in enumerate(back):
            push(host, made, rows, 24 * i, FROM_DPU)
    assert (back == matrix).all()
    assert messages["write"] <= 20
    assert messages["read"] <= 20


def test_a_launch_sees_what_was_written_before(host: Host, kernel: Kernel) -> None:
    values = np.arange(256, dtype=np.uint64)
    total = np.zeros(1, np.uint64)
    with host.alloc(70) as made:
        host.ok(host.api.dpu_load(made, str(kernel(SUM)).encode(), None))
        for turn in (1, 2):
            for i in range(256):
                value = values[i : i + 1] * np.uint64(turn)
                host.ok(host.api.dpu_broadcast_to(made, b"values", 8 * i, pointer(value), 8, 0))
            host.ok(host.api.dpu_launch(made, 1))
            for dpu in host.dpus(made):
                host.ok(host.api.dpu_copy_from(dpu, b"total", 0, pointer(total), 8))
                assert total[0] == turn * 255 * 128


ROW = st.tuples(
    st.sampled_from(["write", "same", "read", "one", "look"]),
    st.integers(0, 40),
    st.integers(1, 12),
    st.integers(0, 69),
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(ROW, min_size=5, max_size=40), st.integers(0, 1 << 30))
def test_any_order_of_copies(host: Host, rows: list[tuple[str, int, int, int]], seed: int) -> None:
    """Against a numpy array that gets the same."""
    random = np.random.default_rng(seed)
    with host.alloc(70) as made:
        expected = np.zeros((70, 64), np.uint64)
        dpus = host.dpus(made)
        for what, at, count, number in rows:
            place = slice(at, at + count)
            fresh = random.integers(0, 1 << 62, (70, count), np.uint64)
            if what == "write":
                push(host, made, fresh, 8 * at, TO_DPU)
                expected[:, place] = fresh
            elif what == "same":
                one = fresh[0]
                host.ok(host.api.dpu_copy_to_symbol(made, MRAM, 8 * at, pointer(one), 8 * count))
                expected[:, place] = one
            elif what == "read":
                push(host, made, fresh, 8 * at, FROM_DPU)
                assert (fresh == expected[:, place]).all()
            elif what == "one":
                host.ok(
                    host.api.dpu_copy_to_symbol(
                        dpus[number], MRAM, 8 * at, pointer(fresh[0]), 8 * count
                    )
                )
                expected[number, place] = fresh[0]
            else:
                slot = machine().sets[0].dpus[number]
                assert (slot.bytes(0, 512).view(np.uint64) == expected[number]).all()
