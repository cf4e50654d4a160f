"""What functions do that a kernel names: wait for other threads, change what they are given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from ..kernels import after, before, begins_body, closed, opened
from ..tokens import MARK, STRING, WORD, Token, names_a_line, of_a_system
from .constants import constants

STEP = "cudla_sim::in_"
"""Of what steps.py adds between statements and in them; all of it is in one token."""
BARRIERS = ("__syncthreads", "__syncwarp")
_THEIR_OWN = re.compile(
    r"__syncthreads\w*|__syncwarp|__shfl\w*|__any\w*|__all\w*|__ballot\w*|__match_\w+|__reduce_\w+"
    r"|__activemask|__barrier_sync\w*|\w+_sync|__pipeline_\w+|sync|shfl\w*|ballot|any|all"
    r"|match_any|match_all|reduce|inclusive_scan|exclusive_scan|coalesced_threads"
    r"|binary_partition|labeled_partition|invoke_one\w*|memcpy_async|wait\w*|arrive\w*|barrier_\w+"
    r"|this_grid|this_multi_grid|this_cluster"
    r"|tiled_partition|in_step|in_loop|gather|block_barrier|lanes_barrier|tile_barrier|meet_\w+"
    r"|suspend|exit_thread|cudaDeviceSynchronize|cudaLaunch\w+"
)
"""Of the headers before each source, and of the libraries that come with CUDA."""
_GROUPS = (
    "grid_group", "multi_grid_group", "cluster_group", "thread_block_tile", "coalesced_group",
)  # fmt: skip
_NO_FUNCTIONS = ("sizeof", "alignof", "__attribute__", "alignas", "decltype", "static_assert", "if")
_CHANGE = ("swap", "exchange", "move", "forward", "tie", "ref")
"""Of the standard library, whose text is not seen."""
_CALLS = ("(", "<")
_IN_PTX = re.compile(r"\bbar\b|\bbarrier\b|\.sync\b|\bexit\b|\bret\b|\bactivemask\b|\bmbarrier\b")


class Waiting:
    """*found* are the tokens of a file: functions of it wait where they call one that does."""

    def __init__(self, found: Sequence[Token]) -> None:
        self.found = found
        self.known: dict[str, bool] = {}

    def has_barrier(self, begin: int, end: int) -> bool:
        """Whether there is one for which regions are worth while."""
        return any(token.text in (*BARRIERS, "sync") for token in self.found[begin:end])

    def may(self, token: Token, behind: str) -> bool:
        """Whether a thread may wait where the token is said, with *behind* next to it."""
        if token.kind == STRING:
            return _IN_PTX.search(token.text) is not None
        if token.kind != WORD or token.text in _NO_FUNCTIONS:
            return False
        return token.text in _GROUPS or (behind in _CALLS and self._named(token.text))

    def may_change(self, name: str) -> bool:
        """Whether the function may give its arguments other values."""
        bodies = self._bodies.get(name)
        if bodies is None:
            return name in _CHANGE
        return any(
            token.text == "&"
            for begin, _ in bodies
            for token in self.found[self._opening(begin) : begin]
        )

    def _named(self, name: str) -> bool:
        if name not in self.known:
            own = _THEIR_OWN.fullmatch(name) is not None
            bodies = self._bodies.get(name, [])
            self.known[name] = own  # a function that calls itself
            self.known[name] = (
                own
                or (not bodies and name in self._elsewhere)
                or any(self._waits_in(begin, end) for begin, end in bodies)
            )
        return self.known[name]

    def _waits_in(self, begin: int, end: int) -> bool:
        found = self.found
        return any(
            STEP in token.text
            or (
                token.kind in (WORD, STRING)
                and self.may(token, found[after(found, index + 1)].text)
            )
            for index, token in enumerate(found[begin:end], begin)
        )

    @cached_property
    def constants(self) -> set[str]:
        """Names of the file that always have the same value."""
        return constants(self.found)

    @cached_property
    def _bodies(self) -> dict[str, list[tuple[int, int]]]:
        """Where the braces of all functions are, by name."""
        bodies: dict[str, list[tuple[int, int]]] = {}
        for index, token in enumerate(self.found):
            if token.text == "{" and begins_body(self.found, index):
                name = self._function(index)
                if name:
                    bodies.setdefault(name, []).append((index, closed(self.found, index)))
        return bodies

    @cached_property
    def _elsewhere(self) -> set[str]:
        """Functions that are declared here and not by a system's header."""
        names, system, index = set(), False, 0
        while index < len(self.found):
            token = self.found[index]
            if token.kind == MARK and names_a_line(token.text):
                system = of_a_system(token.text)
            elif token.text == "{" and begins_body(self.found, index):
                index = closed(self.found, index)
            elif token.text == "(" and not system:
                name = self.found[before(self.found, index - 1)]
                index = closed(self.found, index)
                behind = after(self.found, index + 1)
                if (
                    name.kind == WORD
                    and name.text not in _NO_FUNCTIONS
                    and self.found[min(behind, len(self.found) - 1)].text == ";"
                ):
                    names.add(name.text)
            index += 1
        return names

    def _opening(self, brace: int) -> int:
        """Where the parameters of the function begin whose body does there."""
        at = before(self.found, brace - 1)
        while at >= 0 and self.found[at].text != ")":
            at = before(self.found, at - 1)
        return opened(self.found, at)

    def _function(self, brace: int) -> str:
        """The name of the function whose body begins there."""
        at = before(self.found, self._opening(brace) - 1)
        if at >= 0 and self.found[at].text == ")":  # operator()
            at = before(self.found, opened(self.found, at) - 1)
        return self.found[at].text if at >= 0 and self.found[at].kind == WORD else ""
