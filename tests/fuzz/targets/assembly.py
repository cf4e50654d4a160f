"""asm statements of DPU programs, as the DPU compiler reads them."""

from __future__ import annotations

from random import Random

from cudla_sim.upmem.toolchain import assembly

from ..mutate import text_mutated
from .models import explained

OPERATIONS = (
    "add", "addc", "sub", "rsubc", "and", "orn", "lsl", "lsr1", "asr",
    "move", "cao", "clz",
    "extub",
    "cmpb4", "mul_sl_uh", "lsl_add", "rol_add", "ldma", "sdma", "nop", "acquire", "stop", "call",
    "1:", "1: add", "jump", "jeq", "jz", "release", "resume", "lw", "sb", "fault",
)  # fmt: skip
OPERANDS = (
    "%0",
    "%1",
    "%[out]",
    "%[in]",
    "zero",
    "one",
    "lneg",
    "17",
    "-0x10",
    "r5",
    "1f",
    "1b",
    ".",
    "nz",
    "ltu",
    "true",
    "%9",
    "",
    "²",
)
PIECES = ('"', "\\", "(", ")", ":", "[", "]", ",", ";", "asm", "\n", "'", "//", "/*", "{", "}", "%")


def asm_statements(random: Random) -> None:
    """C with asm statements becomes C, or the message names the instruction."""
    lines = [
        f"{random.choice(OPERATIONS)} "
        + ", ".join(random.choice(OPERANDS) for _ in range(random.choice((3, 3, 2, 4, 5, 0, 1))))
        for _ in range(random.randrange(1, 4))
    ]
    body = random.choice(("\\n", ";", "\n", '\\n" "')).join(lines)
    source = (
        '# 3 "file.c"\nint f(int a)\n{\n    int b;\n    '
        f'__asm__ __volatile__("{body}" : [out] "=r"(b) : [in] "r"((a + 1)) : "memory");\n'
        "    return b;\n}\n"
    )
    if random.random() < 0.5:
        source = text_mutated(source, random, PIECES)
    _, refused = assembly.translate(source)
    for message in refused.values():
        explained(assembly.NotUnderstood(message))
