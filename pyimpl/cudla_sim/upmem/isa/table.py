"""The table: every form of every instruction, and which form a word has."""

from __future__ import annotations

from collections import defaultdict

from . import arithmetic, logic, memory
from .forms import Form

FORMS: tuple[Form, ...] = (*arithmetic.forms(), *logic.forms(), *memory.forms())
OPERATIONS: tuple[str, ...] = tuple(dict.fromkeys(form.operation for form in FORMS))
BY_NAME: dict[str, Form] = {form.name: form for form in FORMS}


def _by_top() -> dict[int, tuple[Form, ...]]:
    """Top four bits -> the forms that words with them may have."""
    found = defaultdict[int, list[Form]](list)
    for form in FORMS:
        for top in range(16):
            if (top ^ form.value >> 44) & form.mask >> 44 == 0:
                found[top].append(form)
    return {top: tuple(forms) for top, forms in found.items()}


_BY_TOP = _by_top()


def decode(word: int) -> Form | None:
    """The form of a 48-bit word; None for what is no instruction."""
    for form in _BY_TOP.get(word >> 44, ()):
        if form.matches(word):
            return form
    return None
