"""Group A and the wide group: add, subtract, multiply, time, and what takes 32-bit constants."""

from __future__ import annotations

from collections.abc import Iterator

from . import fields as f
from .conditions import CLASSES, SET_BY_OPERATION, SETTING
from .forms import NEVER_RC, NO_FLAG, Bits, Destination, Flag, Form, Role
from .results import GROUP_A, Operation, of_immediates, of_registers

_SUMS = (("ADD", "add"), ("ADDC", "addc"), ("RSUB", "rsub"), ("RSUBC", "rsubc"), ("SUB", "sub"),
         ("SUBC", "subc"))  # fmt: skip
"""By operation code: RSUB is b - a, SUB is a - b."""
_SIGNS = ("ul_ul", "ul_uh", "uh_ul", "uh_uh", "sl_sl", "sl_sh", "sh_sl", "sh_sh",
          "sl_ul", "sl_uh", "sh_ul", "sh_uh")  # fmt: skip
_IMMEDIATE_FIRST = "dest imm a cc pc"
_NO_SUB_ALIAS = frozenset(SET_BY_OPERATION)
_SUB_ALIAS = frozenset(set(CLASSES["SUB"]) | set(SETTING)) - _NO_SUB_ALIAS


def _sums() -> Iterator[Form]:
    for code, (name, mnemonic) in enumerate(_SUMS):
        operation = Operation(mnemonic, name, "ADD" if code < 2 else "SUB", f.CC5)
        yield from _both(operation, code)
    for code, (name, mnemonic) in enumerate(_SUMS[4:], start=6):
        for tag, flags, numbers in (
            ("ALL", NO_FLAG, _NO_SUB_ALIAS),
            ("ALIAS", Flag.ALIAS, _SUB_ALIAS),
        ):
            operation = Operation(
                mnemonic, name, "SUB", f.CC5, roles=(Role.SET,), flags=flags, setting=numbers,
                tag=tag,
            )  # fmt: skip
            yield from _both(operation, code)


def _both(operation: Operation, code: int) -> Iterator[Form]:
    registers = {"a": f.RA, "b": f.RB}
    yield from of_registers(operation, GROUP_A, Bits({(31, 29): code, (23, 20): 12}), registers)
    if operation.name.startswith("RSUB"):
        operation = Operation(
            operation.mnemonic[1:], operation.name, "SUB", f.CC5, order=_IMMEDIATE_FIRST
        )
    yield from of_immediates(operation, GROUP_A, Bits({(31, 29): code}))


def _products() -> Iterator[Form]:
    for code, signs in enumerate(_SIGNS):
        operation = Operation(f"mul_{signs}", f"MUL_{signs.upper()}", "MULTIPLY", f.CC5)
        fixed = Bits({(31, 29): 0, (23, 20): code})
        yield from of_registers(operation, GROUP_A, fixed, {"a": f.RA, "b": f.RB})


def _times() -> Iterator[Form]:
    roles = (Role.PLAIN, Role.BRANCH)
    fixed = Bits({(33, 32): 0, (31, 29): 1, (23, 20): 8})
    time = Operation("time", "TIME", "TRUE", f.CC5, roles=roles)
    yield from of_registers(time, GROUP_A, fixed | Bits({(38, 34): 24}), {}, "")
    fixed = Bits({(38, 34): 25, (31, 29): 1, (23, 20): 8})
    configure = Operation("time_cfg", "TIME_CFG", "TRUE", f.CC5, roles=roles)
    yield from of_registers(configure, GROUP_A, fixed, {"b": f.RB}, "R")


_WIDE = (*_SUMS[:4], ("XOR", "xor"), ("AND", "and"), ("OR", "or"))


def _wide() -> Iterator[Form]:
    for code, (name, mnemonic) in enumerate(_WIDE):
        reverse = name.startswith("RSUB")
        never: tuple[tuple[int, int], ...] = (NEVER_RC,)
        if name == "AND":  # with this source it is a move into a pair
            never += ((0b11111 << 34, f.ALL_ONES << 34),)
        bits = _bits({(47, 44): code}, f.RC, f.RA)
        yield Form(
            name=f"{name}_WORD_WIDE_PLAIN",
            mnemonic=mnemonic[reverse:],
            operation=name,
            mask=bits.mask,
            value=bits.value,
            role=Role.PLAIN,
            destination=Destination.WORD,
            dest=f.RC,
            a=f.RA,
            imm=f.IMM32,
            never=never,
            order=_IMMEDIATE_FIRST if reverse else "dest a b imm cc pc",
        )
    for destination, suffix, sign in (
        (Destination.PAIR_S, ".s", 1),
        (Destination.PAIR_U, ".u", 0),
    ):
        bits = _bits({(47, 44): 5, (38, 34): f.ALL_ONES, 39: sign}, f.DC)
        yield Form(
            name=f"MOVE_{destination.name}_WIDE_PLAIN",
            mnemonic="move" + suffix,
            operation="MOVE",
            mask=bits.mask,
            value=bits.value,
            role=Role.PLAIN,
            destination=destination,
            dest=f.DC,
            imm=f.IMM32,
            never=(NEVER_RC,),
        )


def _bits(places: dict[tuple[int, int] | int, int], *fields: f.Field) -> Bits:
    return (Bits(places) | Bits({(33, 32): 3})).filled((*fields, f.IMM32))


def forms() -> Iterator[Form]:
    """All of them."""
    yield from _sums()
    yield from _products()
    yield from _times()
    yield from _wide()
