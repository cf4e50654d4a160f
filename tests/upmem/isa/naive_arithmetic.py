"""What the DPU's instructions compute: numbers in, numbers out, no state.

Written from the description of the instruction set, not from the table that the package decodes by.
Words are Python integers 0 .. 2**32 - 1.
"""

from __future__ import annotations

from dataclasses import dataclass

M32 = 0xFFFF_FFFF


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


@dataclass
class Result:
    """A result with what conditions ask of it."""

    r: int
    a: int
    b: int
    z_before: bool
    carry: bool | None = None
    """New carry flag; None: unchanged."""
    overflow: bool = False
    carry_in: int = 0
    exact: int = 0
    """x - y - borrow in exact signed arithmetic, of subtractions."""

    @property
    def z(self) -> bool:
        return self.r == 0

    @property
    def xz(self) -> bool:
        return self.z and self.z_before


def add(a: int, b: int, carry: int, z_before: bool) -> Result:
    total = a + b + carry
    r = total & M32
    overflow = signed(a) + signed(b) + carry != signed(r)
    return Result(
        r, a, b, z_before, total > M32, overflow, carry_in=carry, exact=signed(a) + signed(b)
    )


def subtract(x: int, y: int, borrow: int, a: int, b: int, z_before: bool) -> Result:
    """x - y - borrow; a and b are the sources as the word lists them."""
    exact = signed(x) - signed(y) - borrow
    r = (x - y - borrow) & M32
    return Result(r, a, b, z_before, x - y - borrow < 0, exact != signed(r), exact=exact)


def common(number: int, x: Result) -> bool | None:
    """Conditions that mean the same in every class."""
    answers = {
        1: True,
        2: x.z, 6: x.z,
        3: not x.z, 7: not x.z,
        4: x.xz, 10: x.xz,
        5: not x.xz, 11: not x.xz,
        12: x.a == 0,
        13: x.a != 0,
        14: signed(x.a) >= 0,
        15: signed(x.a) < 0,
    }  # fmt: skip
    return answers.get(number)


def holds(kind: str, number: int, x: Result) -> bool:
    """Whether a condition of a class holds."""
    answer = common(number, x)
    if answer is not None:
        return answer
    if kind == "count":
        return {8: x.r == 32, 9: x.r != 32}[number]
    if kind == "multiply":
        low = (x.a | x.b) & 0xFF00 == 0
        return {30: low, 31: not low}[number]
    if number in (8, 9):
        return (signed(x.r) >= 0) == (number == 8)
    if kind == "shift":
        return {
            24: x.r % 2 == 0, 25: x.r % 2 == 1,
            28: x.b >> 5 & 1 == 0, 29: x.b >> 5 & 1 == 1,
            30: x.a % 2 == 0, 31: x.a % 2 == 1,
        }[number]  # fmt: skip
    if number in (18, 19):
        return x.overflow == (number == 18)
    if kind == "add":
        if number in (20, 21):
            return x.carry == (number == 20)
        n = number - 17
        return x.a % 2**n + x.b % 2**n + x.carry_in < 2**n
    below_unsigned, below_signed = bool(x.carry), x.exact < 0
    return {
        20: below_unsigned, 21: not below_unsigned,
        22: below_signed, 23: not below_signed,
        24: below_signed or x.z, 25: not (below_signed or x.z),
        26: below_unsigned or x.z, 27: not (below_unsigned or x.z),
        28: below_signed or x.xz, 29: not (below_signed or x.xz),
        30: below_unsigned or x.xz, 31: not (below_unsigned or x.xz),
    }[number]  # fmt: skip


def logic(code: int, a: int, b: int) -> int:
    return {
        8: a ^ b, 9: ~(a ^ b), 10: a & b, 11: a | b,
        12: ~a & b, 13: ~a | b, 14: ~(a | b), 15: ~(a & b),
    }[code] & M32  # fmt: skip


def shift(kind: int, a: int, s: int) -> int:
    ones = (1 << s) - 1
    if kind == 2:
        return (a << s | a >> (32 - s)) & M32
    if kind == 4:
        return a << s & M32
    if kind == 5:
        return a >> (32 - s)
    if kind == 6:
        return (a << s | ones) & M32
    if kind == 8:
        return signed(a) >> s & M32
    if kind == 10:
        return (a >> s | a << (32 - s)) & M32
    if kind == 12:
        return a >> s
    if kind == 13:
        return a << (32 - s) & M32
    if kind == 14:
        return (a >> s | ones << (32 - s)) & M32
    raise ValueError(f"the facts do not say what shift kind {kind} does")


def leading(a: int, bit: str) -> int:
    text = f"{a:032b}"
    return 32 - len(text.lstrip(bit))


def one_operand(code: int, a: int) -> int:
    if code == 0:
        return f"{a:b}".count("1")
    if code == 1:
        return leading(a, "1")
    if code == 2:
        return leading(a, f"{a:032b}"[0])
    if code == 3:
        return leading(a, "0")
    bits, is_signed = (8, 8, 16, 16)[code - 4], code % 2 == 1
    low = a & ((1 << bits) - 1)
    return signed(low, bits) & M32 if is_signed else low


_PRODUCTS = (
    "ul_ul", "ul_uh", "uh_ul", "uh_uh", "sl_sl", "sl_sh",
    "sh_sl", "sh_sh", "sl_ul", "sl_uh", "sh_ul", "sh_uh",
)  # fmt: skip


def product(code: int, a: int, b: int) -> int:
    """8 x 8 bits; the letters of ul_ul and so on by code."""
    factors = []
    for value, (sign, half) in zip((a, b), _PRODUCTS[code].split("_"), strict=True):
        byte = value >> (8 if half == "h" else 0) & 0xFF
        factors.append(signed(byte, 8) if sign == "s" else byte)
    return factors[0] * factors[1] & M32
