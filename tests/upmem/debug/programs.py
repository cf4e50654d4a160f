"""Programs to be debugged, and the naive model that says how they go."""

from __future__ import annotations

from tests.upmem.isa import naive
from tests.upmem.isa.test_programs import code
from tests.upmem.vendor.elves import Elf, program

BREAKPOINT = 0x7E63_2000_0000

SUMS = """
    jeq id, 3, .+2              // each tasklet boots the next one
    boot id, 1
    add r1, id, 1
    move r0, 50
again:
    add r2, r2, r1
    addc r3, r2, r3
    acquire zero, 9, nz, .
    lw r4, zero, 256
    add r4, r4, r1
    sw zero, 256, r4
    release zero, 9, nz, .+1
    add r0, r0, -1, nz, again
    lsl r5, id, 3
    add r5, r5, 512
    ldma r5, r5, 0              // 8 bytes of MRAM
    sw r5, 512, r2
    stop
"""
"""Four tasklets add 1 to 4 fifty times to the word at 256, and keep sums of their own."""
AGAIN = 4
"""Index of the instruction ``again``."""
LOCKS, SUMMING = {1, 6, 10}, {2, 4, 5, 8, 11}
"""What leaves the zero flag open, and what sets it."""
TOTAL = 50 * (1 + 2 + 3 + 4)
ENDLESS = "again: add r0, r0, 1\n jump again\n"


def elf(text: str, tasklets: int = 1) -> Elf:
    return program(code(text), tasklets)


def model(text: str) -> naive.Dpu:
    """Before the first instruction of tasklet 0."""
    words = code(text)
    dpu = naive.Dpu([*words, *[0] * (4096 - len(words))])
    dpu.tasklets[0].running = True
    return dpu
