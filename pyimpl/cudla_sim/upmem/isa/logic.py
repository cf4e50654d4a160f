"""Group S: logic, shifts, counts, extensions, calls, shift-and-add, steps."""

from __future__ import annotations

from collections.abc import Iterator

from . import fields as f
from .forms import NO_FLAG, Bits, Flag, Form, Role
from .results import GROUP_S, NONE, PAIR, WORD, Operation, of_immediates, of_registers

_LOGIC = {8: "xor", 9: "nxor", 10: "and", 11: "or", 12: "andn", 13: "orn", 14: "nor", 15: "nand"}
_ONE_OPERAND = ("cao", "clo", "cls", "clz", "extub", "extsb", "extuh", "extsh")
_SHIFTS = {
    2: "rol", 4: "lsl", 5: "lslx", 6: "lsl1", 7: "lsl1x", 8: "asr", 10: "ror", 12: "lsr",
    13: "lsrx", 14: "lsr1", 15: "lsr1x",
}  # fmt: skip
_SHIFT_ADDS = ("rol_add", "lsr_add", "lsl_add", "lsl_sub")
_UNKNOWN = frozenset({"hash", "sats", "rol_add", "lsl1x", "lsr1x"})
_REGISTERS = {"a": f.RA, "b": f.RB}


def _operation(mnemonic: str, condition_class: str, cc: f.Field = f.CC4) -> Operation:
    flags = Flag.UNKNOWN if mnemonic in _UNKNOWN else NO_FLAG
    return Operation(mnemonic, mnemonic.upper(), condition_class, cc, flags=flags)


def _logic() -> Iterator[Form]:
    for code, mnemonic in {1: "hash", **_LOGIC}.items():
        operation = _operation(mnemonic, "LOGIC")
        yield from of_immediates(operation, GROUP_S, Bits({(31, 28): code}))
        fixed = Bits({(31, 28): 12, (23, 20): code})
        yield from of_registers(operation, GROUP_S, fixed, _REGISTERS)


def _one_operand() -> Iterator[Form]:
    for code, mnemonic in enumerate(_ONE_OPERAND):
        operation = _operation(mnemonic, "COUNT" if code < 4 else "LOGIC")
        fixed = Bits({(33, 32): 3, (31, 28): 3, (23, 20): code})
        yield from of_registers(operation, GROUP_S, fixed, {"a": f.RA}, "A")
    fixed = Bits({(33, 32): 3, (31, 28): 2})
    yield from of_registers(_operation("sats", "LOGIC"), GROUP_S, fixed, {"a": f.RA}, "A")


def _shifts() -> Iterator[Form]:
    for kind, mnemonic in _SHIFTS.items():
        operation = _operation(mnemonic, "SHIFT", f.CC_SHIFT)
        fixed = Bits({(33, 32): 3, (31, 30): 1, (19, 16): kind})
        yield from of_registers(
            operation, GROUP_S, fixed, {"a": f.RA, "imm": f.SHIFT5}, "I"
        )  # fmt: skip
        operation = _operation(mnemonic, "SHIFT_BY_REGISTER", f.CC_SHIFT)
        fixed = Bits({(31, 30): 3, 28: 1, (23, 20): kind})
        yield from of_registers(operation, GROUP_S, fixed, _REGISTERS)


def _with_two_sources() -> Iterator[Form]:
    roles = (Role.PLAIN, Role.BRANCH)
    for code, mnemonic in enumerate(_SHIFT_ADDS):
        known = _operation(mnemonic, "SHIFT_ADD")
        operation = Operation(
            mnemonic, known.name, "SHIFT_ADD", f.CC4, roles=roles, flags=known.flags,
            order="dest b a imm cc pc",
        )  # fmt: skip
        operands = {**_REGISTERS, "imm": f.SHIFT5}
        yield from of_registers(operation, GROUP_S, Bits({(31, 29): code, 16: 0}), operands)
    compare = _operation("cmpb4", "COMMON")
    yield from of_registers(compare, GROUP_S, Bits({(31, 28): 8, (23, 20): 0}), _REGISTERS)


def _pairs() -> Iterator[Form]:
    both = Bits({(17, 16): 1})
    for mnemonic, code, step in (
        ("movd", 1, False), ("mul_step", 2, True), ("div_step", 3, True), ("swapd", 5, False),
    ):  # fmt: skip
        operation = Operation(
            mnemonic,
            mnemonic.upper(),
            "STEP" if mnemonic == "mul_step" else "SHIFT_ADD",
            f.CC4,
            destinations=(PAIR,),
            roles=(Role.PLAIN, Role.BRANCH),
            order="dest a b imm cc pc" if step else "dest b cc pc",
        )
        fixed = both | Bits({(31, 29): code})
        operands = {"b": f.DB}
        if step:
            operands |= {"a": f.RA, "imm": f.SHIFT5}
        else:
            fixed = fixed | Bits({(38, 34): f.ZERO, 28: 0, (23, 20): 0})
        yield from of_registers(operation, GROUP_S, fixed, operands)


def _calls() -> Iterator[Form]:
    call = Operation("call", "CALL", "NONE", f.CC4, destinations=(WORD, NONE), roles=(Role.PLAIN,))
    yield from of_immediates(call, GROUP_S, Bits({(31, 28): 0}))
    yield from of_registers(call, GROUP_S, Bits({(31, 28): 12, (23, 20): 0}), _REGISTERS)


def forms() -> Iterator[Form]:
    """All of them."""
    yield from _logic()
    yield from _one_operand()
    yield from _shifts()
    yield from _with_two_sources()
    yield from _pairs()
    yield from _calls()
