"""Votes and shuffles from before CUDA 9, which have no mask: ``__any``, ``__shfl`` and their like.

They are of the lanes that come to the same place, so a call says which place that is. A program
that has a function of such a name itself (for types that CUDA's did not take) keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .kernels import after, before
from .tokens import WORD, Token

_NAMES = frozenset(
    ("__any", "__all", "__ballot", "__shfl", "__shfl_up", "__shfl_down", "__shfl_xor")
)
_MEMBER_OF = (".", "->", "::")
_BEFORE_EXPRESSIONS = ("return", "else", "do", "co_return", "co_yield", "throw")
_BEHIND_TYPES = ("*", "&", ">")


def tell_places(found: Sequence[Token]) -> None:
    """Changes the tokens of such calls."""
    calls = [index for index, token in enumerate(found) if token.text in _NAMES]
    if not calls:
        return
    own = {found[index].text for index in calls if _declared(found, index)}
    for index in calls:
        opening = after(found, index + 1)
        behind = found[before(found, index - 1)].text
        called = opening < len(found) and found[opening].text == "("
        if called and found[index].text not in own and behind not in _MEMBER_OF:
            found[index].text = f"::cudla_sim::unmasked{found[index].text}"
            found[opening].text = f"({index + 1}, "


def _declared(found: Sequence[Token], index: int) -> bool:
    earlier = before(found, index - 1)
    if earlier < 0:
        return False
    behind = found[earlier]
    if behind.kind == WORD:
        return behind.text not in _BEFORE_EXPRESSIONS
    return behind.text in _BEHIND_TYPES and _parameters(found, index)


def _parameters(found: Sequence[Token], index: int) -> bool:
    """Whether what is in the brackets begins like a parameter: with two words."""
    first = after(found, after(found, index + 1) + 1)
    second = after(found, first + 1) if first < len(found) else first
    return second < len(found) and found[first].kind == found[second].kind == WORD
