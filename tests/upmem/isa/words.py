"""Instructions and operands for tests: every form, every condition, values at the edges."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from cudla_sim.upmem.isa import fields as f
from cudla_sim.upmem.isa.forms import Flag, Form, Role

EDGES = (
    0, 1, 2, 3, 7, 8, 31, 32, 33, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFF00, 0xFFFF,
    0x1_0000, 0x7FFF_FFFE, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FF80, 0xFFFF_FFFE,
    0xFFFF_FFFF,
)  # fmt: skip
ADDRESSES = (0, 8, 16, 64, 4096, 65528, 65532, 65535, 65536)
CONTROLS = {"BOOT", "RESUME", "CLR_RUN", "READ_RUN", "STOP", "TIME", "TIME_CFG", "LDMAI"}
"""What one word alone does not show."""


@dataclass
class Case:
    """A word with the state that it meets."""

    word: int
    registers: list[int]
    z: bool
    c: bool


def _value(random: Random, form: Form, slot: str, field: f.Field) -> int:
    if slot == "cc":
        return random.choice(sorted(form.conditions))
    if slot == "pc" or (form.operation == "CALL" and slot == "imm"):
        return random.randrange(2, 60)
    if field in (f.RC, f.RC_SPLIT, f.RB):
        return random.randrange(24)
    if field in (f.DC, f.DC_SPLIT, f.DB):
        return 2 * random.randrange(12)
    if field is f.RA:
        return random.randrange(32)
    if random.random() < 0.5:
        return max(field.least, min(field.most, random.choice((0, 1, -1, 8, 255, -128, 1 << 30))))
    return random.randint(field.least, field.most)


def word_of(random: Random, form: Form, **given: int) -> int:
    """A word of the form; ``given`` are operands by slot."""
    slots = {
        slot: field
        for slot in ("dest", "a", "b", "imm", "offset", "pc", "cc")
        if (field := getattr(form, slot)) is not None
    }
    while True:
        word = form.value
        for slot, field in slots.items():
            value = given[slot] if slot in given else _value(random, form, slot, field)
            word |= field.write(value)
        if form.matches(word):
            return word


def value(random: Random) -> int:
    kind = random.random()
    if kind < 0.5:
        return random.choice(EDGES)
    return random.getrandbits(random.choice((5, 8, 16, 32, 32)))


def case(random: Random, form: Form, number: int | None = None) -> Case:
    """A case of the form, with the condition ``number``."""
    given = {} if number is None else {"cc": number}
    registers = [value(random) for _ in range(24)]
    if form.operation == "CALL":  # somewhere in front of the end, never back
        registers = [random.randrange(2, 1000) for _ in registers]
        if form.role is Role.PLAIN:
            given["a"] = random.choice((*range(24), f.ZERO, 25))
            given["imm"] = random.randrange(2, 1000)
    word = word_of(random, form, **{k: v for k, v in given.items() if getattr(form, k)})
    if form.a is not None and (a := form.a.read(word)) < 24:
        registers[a] = _address(random, form, word, registers[a])
    if form.mnemonic in ("ldma", "sdma") and form.b is not None:
        registers[form.b.read(word)] = random.randrange(1 << 15) | random.choice((0, 1 << 27))
    return Case(word, registers, random.random() < 0.5, random.random() < 0.5)


def _address(random: Random, form: Form, word: int, otherwise: int) -> int:
    """For accesses to memory a first source with which most of them succeed."""
    if form.operation in ("ACQUIRE", "RELEASE"):
        return random.randrange(256) - form.imm.read(word) & 0xFFFF_FFFF  # type: ignore[union-attr]
    if form.operation in ("LDMA", "SDMA"):
        return random.randrange(1 << 16) | random.choice((0, 0, 3, 255)) << 24
    offset = form.offset or (form.imm if form.operation[0] == "L" else None)
    if word >> 44 != 7 or offset is None or random.random() < 0.1:
        return otherwise
    place = random.choice((*ADDRESSES, 8 * random.randrange(8192), random.randrange(65536)))
    return place - offset.read(word) & 0xFFFF_FFFF


def testable(form: Form) -> bool:
    return not form.flags & Flag.UNKNOWN and form.operation not in CONTROLS
