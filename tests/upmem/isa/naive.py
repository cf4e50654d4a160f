"""A naive DPU: executes words one by one, slowly and plainly, with a decoder of its own.

Written from the description of the instruction set. It knows nothing of cycles: running tasklets
take turns, one instruction each, lowest number first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .naive_arithmetic import (
    M32,
    Result,
    add,
    holds,
    logic,
    one_operand,
    product,
    shift,
    signed,
    subtract,
)

TASKLETS = 24
WRAM, IRAM = 65536, 4096
SET = (6, 7, 10, 11)


class Fault(Exception):
    """The DPU stops: ``kind`` is software, memory, dma or illegal."""

    def __init__(self, kind: str, number: int = 0, where: str = "") -> None:
        super().__init__(f"{kind} {number} {where}")
        self.kind, self.number = kind, number
        self.tasklet = self.pc = -1


@dataclass
class Tasklet:
    number: int
    registers: list[int] = field(default_factory=lambda: [0] * 24)
    z: bool = False
    c: bool = False
    pc: int = 0
    running: bool = False


@dataclass
class Dpu:
    """State of a DPU, and what single instructions do to it."""

    iram: list[int]
    wram: bytearray = field(default_factory=lambda: bytearray(WRAM))
    mram: bytearray = field(default_factory=lambda: bytearray(1 << 16))
    tasklets: list[Tasklet] = field(default_factory=lambda: [Tasklet(i) for i in range(TASKLETS)])
    atomic: list[bool] = field(default_factory=lambda: [False] * 256)
    flags: set[int] = field(default_factory=set)
    """Run bits above those of tasklets."""
    executed: int = 0

    # -- registers and fields

    def read(self, t: Tasklet, number: int) -> int:
        constants = {24: 0, 25: 1, 26: M32, 27: 0x8000_0000}
        if number < 24:
            return t.registers[number]
        return constants.get(number, t.number << (number - 28) if number >= 28 else 0)

    def write(self, t: Tasklet, where: tuple[str, int], value: int) -> None:
        """``where``: none, word, s, u or pair, and the register."""
        kind, number = where
        if kind == "word":
            t.registers[number] = value & M32
        elif kind == "pair":
            t.registers[number], t.registers[number + 1] = value >> 32 & M32, value & M32
        elif kind in ("s", "u"):
            high = M32 if kind == "s" and value >> 31 & 1 else 0
            t.registers[number], t.registers[number + 1] = high, value & M32

    def pair(self, t: Tasklet, number: int) -> int:
        return t.registers[number] << 32 | t.registers[number + 1]

    # -- one instruction

    def step(self, t: Tasklet) -> None:
        here = t.pc
        try:
            if here >= len(self.iram):
                raise Fault("illegal", where="outside of the program")
            t.pc = here + 1
            self.executed += 1
            self.execute(t, self.iram[here])
        except Fault as fault:
            fault.tasklet, fault.pc, t.pc = t.number, here, here
            raise

    def execute(self, t: Tasklet, w: int) -> None:
        c = w >> 44
        destination_high, second_high = w >> 42 & 3, w >> 32 & 3
        if c == 7:
            self.class7(t, w, destination_high == 3, second_high == 3)
        elif c < 7 and destination_high == 3:
            self.group_a(t, w, second_high == 3)
        elif c < 7 and second_high == 3:
            self.wide(t, w)
        elif c in (8, 9):
            self.group_s(t, w, second_high == 3)
        else:
            raise Fault("illegal", where=f"{w:012x}")

    def finish(self, t: Tasklet, w: int, kind: str, cc: int, setting: bool, x: Result,
               where: tuple[str, int], extended: bool = False) -> None:  # fmt: skip
        """Writes the result or 1 or 0, flags, and branches."""
        value = x.r
        if cc and setting:
            value = int(holds(kind, cc, x))
        elif cc and holds(kind, cc, x):
            t.pc = w & 0xFFFF
        self.write(t, where, value)
        t.z = x.xz if extended else x.z
        if x.carry is not None:
            t.c = x.carry

    def wide(self, t: Tasklet, w: int) -> None:
        c, ra, rc, imm = w >> 44, w >> 34 & 31, w >> 39 & 31, constant(w) | w & 0xFF00_0000
        if c == 5 and ra == 26:
            self.write(t, ("s" if w >> 39 & 1 else "u", (w >> 40 & 15) * 2), imm)
            t.z = imm == 0
            return
        a = self.read(t, ra)
        borrow = int(t.c)
        if c == 0:
            x = add(a, imm, 0, t.z)
        elif c == 1:
            x = add(a, imm, borrow, t.z)
        elif c == 2:
            x = subtract(imm, a, 0, a, imm, t.z)
        elif c == 3:
            x = subtract(imm, a, borrow, a, imm, t.z)
        else:
            x = Result(logic((8, 10, 11)[c - 4], a, imm), a, imm, t.z)
        self.finish(t, w, "", 0, False, x, ("word", rc), extended=c in (1, 3))

    def group_a(self, t: Tasklet, w: int, immediate: bool) -> None:
        c, op, cc, n = w >> 44, w >> 29 & 7, w >> 24 & 31, w >> 20 & 15
        low = w >> 39 & 7
        if c < 3:
            where = ("word", c * 8 + low)
        elif c == 3:
            where = ("none", 0)
        else:
            where = ("s" if low & 1 else "u", ((c & 3) * 4 + (low >> 1)) * 2)
        a = self.read(t, w >> 34 & 31)
        setting = cc in SET or op >= 6
        if immediate:
            if cc == 0 or setting:
                b = signed(constant(w) | low << 24, 27) if c == 3 else signed(constant(w), 24)
            else:
                b = signed(short(w) | low << 8, 11) if c == 3 else signed(short(w), 8)
            b &= M32
        else:
            b = self.read(t, second(w))
            if op == 0 and n < 12:
                x = Result(product(n, a, b), a, b, t.z)
                self.finish(t, w, "multiply", cc, setting, x, where)
                return
            if n != 12:
                raise Fault("illegal", where="time, or no instruction")
        borrow = int(t.c) if op & 1 else 0
        if op in (0, 1):
            x = add(a, b, borrow, t.z)
        elif op in (2, 3):
            x = subtract(b, a, borrow, a, b, t.z)
        else:
            x = subtract(a, b, borrow, a, b, t.z)
        kind = "add" if op < 2 else "sub"
        self.finish(t, w, kind, cc, setting, x, where, extended=bool(op & 1))

    def group_s(self, t: Tasklet, w: int, immediate: bool) -> None:
        rc = w >> 39 & 31
        nowhere = rc >= 24
        if nowhere:
            where = ("none", 0)
        elif w >> 44 == 8:
            where = ("word", rc)
        else:
            where = ("s" if rc & 1 else "u", rc & ~1)
        a, cc = self.read(t, w >> 34 & 31), w >> 24 & 15
        if immediate:
            self.group_s_immediate(t, w, a, cc, where, nowhere)
        else:
            self.group_s_registers(t, w, a, cc, where)

    def group_s_immediate(self, t: Tasklet, w: int, a: int, cc: int, where: tuple[str, int],
                          nowhere: bool) -> None:  # fmt: skip
        h, n = w >> 28 & 15, w >> 20 & 15
        high = (w >> 44 & 1) << 3 | w >> 39 & 7
        if h in range(4, 8):
            cc |= (w >> 29 & 1) << 4
            s = n | (w >> 28 & 1) << 4
            x = Result(shift(w >> 16 & 15, a, s), a, s, t.z)
            self.finish(t, w, "shift", cc, cc in SET, x, where)
            return
        if h == 3:
            x = Result(one_operand(n, a), a, 0, t.z)
            self.finish(t, w, "count" if n < 4 else "logic", cc, cc in SET, x, where)
            return
        if cc == 0 or cc in SET:
            b = signed(constant(w) | high << 24, 28) if nowhere else signed(constant(w), 24)
        else:
            b = signed(short(w) | high << 8, 12) if nowhere else signed(short(w), 8)
        if h == 0:
            back, t.pc = t.pc, (a + b) & M32
            self.write(t, where, back)
            return
        if h < 8:
            raise Fault("illegal", where="hash or sats")
        x = Result(logic(h, a, b & M32), a, b & M32, t.z)
        self.finish(t, w, "logic", cc, cc in SET, x, where)

    def group_s_registers(self, t: Tasklet, w: int, a: int, cc: int,
                          where: tuple[str, int]) -> None:  # fmt: skip
        op, bit28, n, pair = w >> 29 & 7, w >> 28 & 1, w >> 20 & 15, w >> 16 & 1
        s = n | bit28 << 4
        rb = second(w)
        if op < 6 and pair:
            self.pairs(t, w, op, a, s, self.pair(t, rb), (w >> 39 & 31))
            return
        b = self.read(t, rb)
        if op < 4:
            if op == 0:
                raise Fault("illegal", where="rol_add")
            r = (b + (a >> s), b + (a << s), b - (a << s))[op - 1] & M32
            self.finish(t, w, "", cc, False, Result(r, a, b, t.z), where)
        elif op == 4:
            r = sum((a >> i & 255 == b >> i & 255) << i for i in (0, 8, 16, 24))
            self.finish(t, w, "logic", cc, cc in SET, Result(r, a, b, t.z), where)
        elif bit28:
            cc |= (w >> 29 & 1) << 4
            x = Result(shift(n, a, b & 31), a, b, t.z)
            self.finish(t, w, "shift", cc, cc in SET, x, where)
        elif n == 0:
            back, t.pc = t.pc, (a + b) & M32
            self.write(t, where, back)
        else:
            x = Result(logic(n, a, b), a, b, t.z)
            self.finish(t, w, "logic", cc, cc in SET, x, where)

    def pairs(self, t: Tasklet, w: int, op: int, a: int, s: int, old: int, rc: int) -> None:
        even, odd, cc = old >> 32, old & M32, w >> 24 & 15
        if op == 1:
            new = old
        elif op == 5:
            new = odd << 32 | even
        elif op == 2:
            new = even >> 1 << 32 | (odd + (a << s if even & 1 else 0)) & M32
        else:
            taken = odd >= a << s
            new = (2 * even + taken & M32) << 32 | (odd - (a << s if taken else 0)) & M32
        x = Result(new >> 32, a, 0, t.z)
        if cc and holds("step", cc, x):
            t.pc = w & 0xFFFF
        self.write(t, ("pair", rc), new)
        if op == 2:
            t.z = x.z

    # -- class 7

    def class7(self, t: Tasklet, w: int, nowhere: bool, immediate: bool) -> None:
        high = w >> 28 & 15
        a = self.read(t, w >> 34 & 31)
        if not nowhere and immediate:
            self.load(t, w, (a + signed(constant(w), 24)) & M32)
        elif not nowhere:
            self.dma(t, w, a, self.read(t, second(w)))
        elif high & 8 and immediate:
            self.bits(t, w, a)
        elif high == 4:
            self.store(t, w, a, immediate)
        elif immediate and high in (0, 2, 3):
            self.control(t, w, a)
        else:
            raise Fault("illegal", where="class 7")

    def place(self, address: int, size: int) -> int:
        if address % size or address + size > WRAM:
            raise Fault("memory", address)
        return address

    def load(self, t: Tasklet, w: int, address: int) -> None:
        kind = w >> 24 & 7
        size = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 6: 8}[kind]
        start = self.place(address % (1 << 30), size)  # usecase_upvc has a shift in the bits above
        order = "big" if w >> 27 & 1 else "little"
        value = int.from_bytes(self.wram[start : start + size], order)
        if kind in (1, 3):
            value = signed(value, size * 8) & M32
        if kind == 6:
            where = ("pair", w >> 39 & 31)
        elif w >> 28 & 15 == 6:
            where = ("s" if w >> 39 & 1 else "u", (w >> 40 & 15) * 2)
        else:
            where = ("word", w >> 39 & 31)
        self.write(t, where, value)

    def store(self, t: Tasklet, w: int, a: int, immediate: bool) -> None:
        size = 1 << (w >> 25 & 3)
        offset = w >> 20 & 15 | (w >> 39 & 7) << 4 | (w >> 24 & 1) << 7
        offset |= (w >> 15 & 1) << 8 | (w >> 14 & 1) << 9 | (w >> 13 & 1) << 10
        offset |= (w >> 12 & 1) << 11
        if immediate:
            offset = signed(offset, 12)
            value = w >> 16 & 15 | (w & 0xFFF) << 4
            value = signed(value & 0xFF, 8) if size == 1 else signed(value, 16)
        else:
            offset = signed(offset | (w & 0xFFF) << 12, 24)
            value = self.pair(t, second(w) & ~1) if size == 8 else self.read(t, second(w))
        start = self.place((a + offset) & M32, size)
        order = "big" if w >> 27 & 1 else "little"
        self.wram[start : start + size] = (value % (1 << 8 * size)).to_bytes(size, order)

    def dma(self, t: Tasklet, w: int, a: int, b: int) -> None:
        inner, outer = a & 0x00FF_FFF8, b & 0x03FF_FFF8
        size = 8 * (1 + ((w >> 24 & 255) + (a >> 24)) % 256)
        kind = w & 3
        limit = IRAM * 8 if kind == 1 else WRAM
        if inner + size > limit or outer + size > len(self.mram):
            raise Fault("dma")
        if kind == 0:
            self.wram[inner : inner + size] = self.mram[outer : outer + size]
        elif kind == 2:
            self.mram[outer : outer + size] = self.wram[inner : inner + size]
        else:
            self.iram += [0] * ((inner + size) // 8 - len(self.iram))
            for i in range(0, size, 8):
                data = self.mram[outer + i : outer + i + 8]
                self.iram[(inner + i) // 8] = int.from_bytes(data, "little")

    def bits(self, t: Tasklet, w: int, a: int) -> None:
        imm = w >> 20 & 15 | (w >> 16 & 15) << 4 | (w >> 26 & 31) << 8 | (w >> 39 & 7) << 13
        number = (a + signed(imm, 16)) & M32
        if number == 256 and not w >> 24 & 3:
            return  # start code releases one bit too many, when all are free
        if 255 < number < 0xFFFF_FF80:  # programs load their numbers as signed bytes, too
            raise Fault("illegal", where="the hash of large atomic numbers")
        number &= 255
        old, cc = self.atomic[number], w >> 24 & 3
        self.atomic[number] = cc != 0
        if (old and cc in (0, 1, 3)) or (not old and cc in (1, 2)):
            t.pc = w & 0xFFFF

    def control(self, t: Tasklet, w: int, a: int) -> None:
        high, what, cc = w >> 28 & 15, w >> 39 & 7, w >> 24 & 15
        imm = signed(short(w), 8)
        target = (a + imm) & 0xFF
        if high == 0:
            return
        if (high, what) == (2, 4):
            raise Fault("software", short(w))
        after, result = w & 0xFFFF, 0
        if (high, what) == (2, 5):
            t.running = False
        elif (high, what) == (3, 0):
            result = self.runs(target)
        elif (high, what) == (2, 1):
            result = self.runs(target)
            self.start(target, False)
        else:
            result = self.runs(target)
            if not result:
                self.start(target, True, from_zero=what == 3)
        if cc and holds("", cc, Result(int(result), a, 0, t.z)):
            t.pc = after

    def runs(self, number: int) -> bool:
        return self.tasklets[number].running if number < TASKLETS else number in self.flags

    def start(self, number: int, running: bool, from_zero: bool = False) -> None:
        if number >= TASKLETS:
            (self.flags.add if running else self.flags.discard)(number)
            return
        self.tasklets[number].running = running
        if from_zero:
            self.tasklets[number].pc = 0


def short(w: int) -> int:
    """imm8."""
    return w >> 20 & 15 | (w >> 16 & 15) << 4


def constant(w: int) -> int:
    """imm24: four bits of it stand the other way round."""
    value = short(w) | (w & 0xFFF) << 12
    return (
        value | (w >> 15 & 1) << 8 | (w >> 14 & 1) << 9 | (w >> 13 & 1) << 10 | (w >> 12 & 1) << 11
    )


def second(w: int) -> int:
    return w >> 17 & 7 | (w >> 32 & 3) << 3


def run(
    words: Sequence[int],
    registers: Sequence[int] = (),
    wram: bytes = b"",
    mram: bytes = b"",
    *,
    z: bool = False,
    c: bool = False,
    steps: int | None = None,
    running: int = 1,
    most: int = 100_000,
) -> Dpu:
    """Runs a program from instruction 0 until all tasklets stand, or for ``steps`` instructions.

    The first ``running`` tasklets run; ``registers`` and flags are those of tasklet 0.
    """
    dpu = Dpu(list(words))
    dpu.wram[: len(wram)] = wram
    dpu.mram[: len(mram)] = mram
    first = dpu.tasklets[0]
    first.registers[: len(registers)] = registers
    first.z, first.c = z, c
    for tasklet in dpu.tasklets[:running]:
        tasklet.running = True
    limit = most if steps is None else steps
    while any(t.running for t in dpu.tasklets):
        for tasklet in dpu.tasklets:
            if dpu.executed >= limit:
                if steps is None:
                    raise TimeoutError(f"{most} instructions, and no end")
                return dpu
            if tasklet.running:
                dpu.step(tasklet)
    return dpu
