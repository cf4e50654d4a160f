"""Class 7: loads, stores, DMA, atomic bits and the run state of tasklets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from . import fields as f
from .conditions import CLASSES
from .forms import NEVER_RB, NEVER_RC, NO_FLAG, SUFFIXES, Bits, Destination, Flag, Form, Role

_NONE, _WORD, _PAIR = Destination.NONE, Destination.WORD, Destination.PAIR
_LOADS = {0: "lbu", 1: "lbs", 2: "lhu", 3: "lhs", 4: "lw", 6: "ld"}
_STORES = ("sb", "sh", "sw", "sd")
_BIG = (NO_FLAG, Flag.BIG_ENDIAN)


def _form(
    mnemonic: str,
    name: str,
    fixed: Bits,
    places: dict[str, f.Field],
    role: Role = Role.PLAIN,
    destination: Destination = _NONE,
    flags: Flag = NO_FLAG,
    condition_class: str = "NONE",
    never: tuple[tuple[int, int], ...] = (),
    order: str = "",
    operation: str = "",
) -> Form:
    bits = (Bits({(47, 44): 7}) | fixed).filled(tuple(places.values()))
    if "b" in places:
        never += (NEVER_RB,)
    if flags & Flag.BIG_ENDIAN:
        name += "_BIG"
    return Form(
        name=name,
        mnemonic=mnemonic,
        operation=operation or mnemonic.upper(),
        mask=bits.mask,
        value=bits.value,
        role=role,
        destination=destination,
        flags=flags,
        condition_class=condition_class,
        conditions=frozenset(CLASSES[condition_class]),
        never=never,
        order=order,
        **places,
    )


def _loads() -> Iterator[Form]:
    order = "dest a imm"
    for (code, mnemonic), big in product(_LOADS.items(), _BIG):
        fixed = Bits({(33, 32): 3, 27: big is not NO_FLAG, (26, 24): code})
        pair = code == 6
        dest = {"dest": f.DC if pair else f.RC}
        where = Bits({39: 0}) if pair else Bits()
        for high, flag, suffix in ((4, NO_FLAG, ""), (5, Flag.SAFE | Flag.UNKNOWN, "s")):
            yield _form(
                mnemonic + suffix,
                f"{mnemonic}{suffix}".upper(),
                fixed | where | Bits({(31, 28): high}),
                {**dest, "a": f.RA, "imm": f.IMM24},
                destination=_PAIR if pair else _WORD,
                flags=big | flag,
                never=(NEVER_RC,),
                order=order,
            )
        for destination in () if pair else (Destination.PAIR_S, Destination.PAIR_U):
            signed = destination is Destination.PAIR_S
            yield _form(
                mnemonic + SUFFIXES[destination],
                f"{mnemonic.upper()}_{destination.name}",
                fixed | Bits({(31, 28): 6, 39: signed}),
                {"dest": f.DC, "a": f.RA, "imm": f.IMM24},
                destination=destination,
                operation=mnemonic.upper(),
                flags=big,
                never=(NEVER_RC,),
                order=order,
            )


def _stores() -> Iterator[Form]:
    every = product(enumerate(_STORES), _BIG, ((4, ""), (5, "s"), (6, "_id")))
    for (size, mnemonic), big, (high, suffix) in every:
        fixed = Bits({(43, 42): 3, (31, 28): high, 27: big is not NO_FLAG, (26, 25): size})
        flags = big | {4: NO_FLAG, 5: Flag.SAFE | Flag.UNKNOWN, 6: Flag.UNKNOWN}[high]
        name = (mnemonic + suffix).upper()
        pair = size == 3
        if high != 6:
            yield _form(
                mnemonic + suffix,
                f"{name}_R",
                fixed | Bits({(17, 16): 1} if pair else {16: 0}),
                {"a": f.RA, "offset": f.OFFSET24, "b": f.DB if pair else f.RB},
                flags=flags,
                order="a offset b",
                operation=name,
            )
        yield _form(
            mnemonic + suffix,
            f"{name}_I",
            fixed | Bits({(33, 32): 3}),
            {"a": f.RA, "offset": f.OFFSET12, "imm": f.STORED16 if size else f.STORED8},
            flags=flags,
            order="a offset imm",
            operation=name,
        )


def _transfers() -> Iterator[Form]:
    for code, mnemonic in enumerate(("ldma", "ldmai", "sdma")):
        fixed = Bits({(43, 42): 0, (1, 0): code})
        operands = {"a": f.RA, "b": f.RB, "imm": f.DMA8}
        yield _form(mnemonic, mnemonic.upper(), fixed, operands, order="a b imm")


def _atomic() -> Iterator[Form]:
    fixed = Bits({(43, 42): 3, (33, 31): 7})
    operands = {"a": f.RA, "imm": f.ATOMIC16, "pc": f.PC16}
    yield _form(
        "acquire", "ACQUIRE", fixed, {**operands, "cc": f.CC2}, Role.BRANCH,
        condition_class="ACQUIRE", order="a imm cc pc",
    )  # fmt: skip
    released = fixed | Bits({(25, 24): 0})
    yield _form("release", "RELEASE", released, operands, order="a imm pc")


_RUN_STATE = {(2, 1): "clr_run", (2, 2): "resume", (2, 3): "boot", (3, 0): "read_run"}


def _tasklets() -> Iterator[Form]:
    control = Bits({(43, 42): 3, (33, 32): 3})
    for (high, low), mnemonic in _RUN_STATE.items():
        fixed = control | Bits({(31, 28): high, (41, 39): low})
        operands = {"a": f.RA, "imm": f.IMM8}
        yield from _controls(mnemonic, fixed, "a imm", operands)
    stop = control | Bits({(31, 28): 2, (41, 39): 5, (38, 34): f.TASKLET})
    yield from _controls("stop", stop, "", {})
    fault = control | Bits({(31, 28): 2, (41, 39): 4, (38, 34): f.ZERO})
    yield _form("fault", "FAULT", fault, {"imm": f.FAULT8}, order="imm")
    tell = control | Bits({(31, 28): 0, (41, 39): 0})
    yield _form("tell", "TELL", tell, {"a": f.RA, "imm": f.IMM24}, order="a imm")


def _controls(
    mnemonic: str, fixed: Bits, order: str, operands: dict[str, f.Field]
) -> Iterator[Form]:
    name = mnemonic.upper()
    yield _form(mnemonic, f"{name}_PLAIN", fixed, operands, order=order)
    # without a condition there is no jump, but compilers leave the next instruction's index there
    yield _form(
        mnemonic, f"{name}_ALIAS_PLAIN", fixed | Bits({(27, 24): 0}),
        {**operands, "pc": f.PC16}, flags=Flag.ALIAS, never=((f.PC16.mask, 0),), order=order,
    )  # fmt: skip
    yield _form(
        mnemonic, f"{name}_BRANCH", fixed, {**operands, "cc": f.CC4, "pc": f.PC16}, Role.BRANCH,
        condition_class="COMMON", order=f"{order} cc pc".strip(),
    )  # fmt: skip


def forms() -> Iterator[Form]:
    """All of them."""
    yield from _loads()
    yield from _stores()
    yield from _transfers()
    yield from _atomic()
    yield from _tasklets()
