"""Other names that assembly text has for forms, some with operands that need not be written."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from .conditions import CLASSES, NZ, Z
from .fields import ZERO
from .forms import Form
from .table import BY_NAME


@dataclass(frozen=True)
class Alias:
    """A name for words of one form whose ``fixed`` operands have these values."""

    mnemonic: str
    form: Form
    fixed: tuple[tuple[str, int], ...]
    order: str
    """Operands that are written; ``target`` is an immediate that names an instruction."""


_COMPARED = ("ltu", "geu", "lts", "ges", "les", "gts", "leu", "gtu")


def _comparisons() -> list[Alias]:
    on_constant, on_register = BY_NAME["SUB_NONE_I_BRANCH"], BY_NAME["SUB_NONE_R_BRANCH"]
    names = {"eq": Z, "neq": NZ}
    names |= {name: number for number, name in CLASSES["SUB"].items() if name in _COMPARED}
    found = [
        Alias(f"j{name}", on_constant, (("cc", number), ("imm", 0)), "a pc")
        for name, number in (("z", Z), ("nz", NZ))
    ]
    for name, number in names.items():
        for form in (on_constant, on_register):
            found.append(Alias(f"j{name}", form, (("cc", number),), "a b imm pc"))
    return found


def _moves() -> list[Alias]:
    found = []
    for where, suffix in (("WORD", ""), ("PAIR_S", ".s"), ("PAIR_U", ".u")):
        for role, order in (("PLAIN", ""), ("SET", " cc"), ("BRANCH", " cc pc")):
            form, name = BY_NAME[f"OR_{where}_I_{role}"], f"move{suffix}"
            found.append(Alias(name, form, (("imm", 0),), f"dest a{order}"))
            if role == "BRANCH":
                found.append(Alias(name, form, (("a", ZERO),), f"dest imm{order}"))
    found.append(Alias("move", BY_NAME["OR_WORD_WIDE_PLAIN"], (("a", ZERO),), "dest imm"))
    return found


def _calls() -> list[Alias]:
    call, jump = BY_NAME["CALL_WORD_I_PLAIN"], BY_NAME["CALL_NONE_I_PLAIN"]
    absolute, direct = (("a", ZERO),), (("imm", 0),)
    return [
        Alias("call", call, absolute, "dest target"),
        Alias("call", call, direct, "dest a"),
        Alias("jump", jump, absolute, "target"),
        Alias("jump", jump, direct, "a"),
        Alias("jump", jump, (), "a imm"),
        Alias("jump", BY_NAME["CALL_NONE_R_PLAIN"], (), "a b"),
    ]


def _others() -> list[Alias]:
    return [
        Alias("nop", BY_NAME["TELL"], (("a", ZERO), ("imm", 0)), ""),
        Alias("bkp", BY_NAME["FAULT"], (("imm", 0),), ""),
    ]


ALIASES: tuple[Alias, ...] = (*_comparisons(), *_moves(), *_calls(), *_others())
"""The first that fits a word is how its text is written."""


def _by_form() -> dict[str, tuple[Alias, ...]]:
    found = defaultdict[str, list[Alias]](list)
    for alias in ALIASES:
        found[alias.form.name].append(alias)
    return {name: tuple(aliases) for name, aliases in found.items()}


_BY_FORM = _by_form()


def alias_of(form: Form, word: int) -> Alias | None:
    """The name that a word of ``form`` goes by, None if it is the form's own."""
    for alias in _BY_FORM.get(form.name, ()):
        if all(getattr(form, slot).read(word) == value for slot, value in alias.fixed):
            return alias
    return None
