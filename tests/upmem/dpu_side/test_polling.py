"""Tasklets that ask under a lock, again and again, whether another one has done something."""

from __future__ import annotations

import pytest

from .bench import Bench
from .conftest import Build

RELAY = """
#include <defs.h>
#include <mutex.h>
#include <mutex_pool.h>
#include <stdint.h>
MUTEX_INIT(door);
MUTEX_POOL_INIT(doors, 4);
__host uint32_t turn, asked;
int main(void) {
    for (uint32_t round = 0; round < 1000; round++) {
        uint32_t now;
        do {
            LOCK;
            now = turn;
            asked++;
            UNLOCK;
        } while (now % NR_TASKLETS != me());
        LOCK;
        turn++;
        UNLOCK;
    }
    return 0;
}
"""
LOCKS = {
    "mutex": ("mutex_lock(door)", "mutex_unlock(door)"),
    "try": ("while (!mutex_trylock(door))", "mutex_unlock(door)"),
    "pool": ("mutex_pool_lock(&doors, 5)", "mutex_pool_unlock(&doors, 5)"),
}


@pytest.mark.parametrize("name", LOCKS)
def test_others_get_a_turn_while_one_asks(name: str, bench: Bench, build: Build) -> None:
    """On a DPU all advance together. Put aside by ticks alone, they ask for ever so long."""
    lock, unlock = LOCKS[name]
    text = RELAY.replace("UNLOCK", unlock).replace("LOCK;", f"{lock};")
    bench.load(build(text, 16))
    ended = bench.launch(slots=[0])
    assert not ended.faulted
    assert bench.var("turn")[0] == 16_000
    # some 256 questions until the next one has its turn; a tick is 100 times longer
    assert bench.var("asked")[0] < 16_000 * 300
