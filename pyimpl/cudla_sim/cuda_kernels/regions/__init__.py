"""Kernels with barriers as loops over the threads of a block, where their text allows it.

What lies between two barriers is a region; the first thread of a block runs each region for all
threads before the next one begins, so a barrier costs nothing. That is right where every thread
that has not returned meets the same barriers, which the text shows: the conditions around barriers
are of numbers that all threads of a block have in common. Other kernels stay as they are; their
threads have stacks of their own (kernels/engine.hpp).

Variables of threads that live from one region to another become arrays; those that can be computed
again from the thread's number are (kernels/lanes.hpp).

Source of the method: Jääskeläinen et al., "pocl: A Performance-Portable OpenCL Implementation"
(2015), section 4, parallel regions.
"""

from __future__ import annotations

from ..kernels import kernels
from ..tokens import SPACE, Token, tokens
from .body import Body, Unsplit
from .emission import LANES, Emission
from .uniform import Uniform
from .waiting import Waiting

__all__ = ["LANES", "in_regions"]


def in_regions(found: list[Token]) -> list[Token]:
    """The tokens, with the kernels that allow it as regions."""
    waiting = Waiting(found)
    before: dict[int, str] = {}
    behind: dict[int, str] = {}
    for kernel in kernels(found):
        if kernel.body < 0 or not waiting.has_barrier(kernel.body, kernel.end):
            continue
        try:
            body = Body(found, kernel, waiting)
            emission = Emission(body, Uniform(body))
        except (Unsplit, LookupError, ValueError):  # the last two: it is no C++, as g++ will say
            continue
        emission.apply(found)
        before.update(emission.before)
        behind.update(emission.behind)
    if not behind:
        return found
    made: list[Token] = []
    for index, token in enumerate(found):
        if index in before:
            made += [Token(SPACE, " "), *tokens(before[index])]
        made.append(token)
        if index in behind:
            made += [Token(SPACE, " "), *tokens(behind[index])]
    return made
