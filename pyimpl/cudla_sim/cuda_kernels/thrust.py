"""The Thrust of a user's CCCL: which of its systems is the device, and what that has to be told.

Its C++ system compiles in half the time. Its CUDA system is for programs that name it, as in
``thrust::cuda::par.on(stream)``, or that count on what its headers include: ``thrust::device``
without <thrust/execution_policy.h>. Either runs its algorithms on the host, in functions that
Thrust calls sequential: they wait for what was launched before, and their memory is the device's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .kernels import before, begins_body
from .tokens import MARK, Token, names_a_line, of_a_system, with_added

SYSTEM = "THRUST_DEVICE_SYSTEM"
USUAL = f"-D{SYSTEM}={SYSTEM}_CPP"
_CUDA = re.compile(r"\bthrust\s*::\s*(?:system\s*::\s*)?cuda\b|\bcuda_cub\s*::")
_POLICY = re.compile(r"\bthrust\s*::\s*(?:device|seq)\b")
_EXECUTION = "thrust/execution_policy.h"
SEQUENTIAL = "thrust/system/detail/sequential/"
"""Where the functions are that run on the host."""
_SEQUENTIAL = re.compile(rf'(?:{SEQUENTIAL}|thrust/(mr)/)(\w+)\.(?:h|inl)"')
_MEMORY = "malloc_and_free"
_ALLOCATORS = ("malloc", "free")
_RESOURCE = "mr new"


def needs_cuda_system(text: str) -> bool:
    """Whether the preprocessed *text* is of a program that the C++ system does not compile."""
    if "thrust" not in text:
        return False
    if _in_the_program(text, _CUDA):
        return True
    return _EXECUTION not in text and _in_the_program(text, _POLICY)


def _in_the_program(text: str, pattern: re.Pattern[str]) -> bool:
    """Whether it is found outside what CCCL's headers mark as a system's."""
    for found in pattern.finditer(text):
        mark = text.rfind("\n# ", 0, found.start())
        line = text[mark + 1 : text.find("\n", mark + 1)]
        if not of_a_system(line):
            return True
    return False


def told(found: list[Token]) -> list[Token]:
    """The tokens, with what Thrust's sequential functions have to be told among them."""
    added: dict[int, str] = {}
    name, head = "", 0  # of the header, and where a declaration begins
    for index, token in enumerate(found):
        if token.kind == MARK and not names_a_line(token.text):
            continue
        if token.kind == MARK:
            match = _SEQUENTIAL.search(token.text)
            name = " ".join(filter(None, match.groups())) if match else ""
        elif token.text in (";", "}"):
            head = index + 1
        elif token.text == "{":
            if name and name != _MEMORY and begins_body(found, index):
                texts = {t.text for t in found[head:index]}
                if "execution_policy" in texts and "constexpr" not in texts:
                    added[index + 1] = " ::cudla_sim::Ordered cudla_sim_ordered;"
            head = index + 1
        elif name == _MEMORY and token.text in _ALLOCATORS:
            _take_from_the_device(found, index, ("::", "std", "cuda"))
        elif name == _RESOURCE and token.text in ("new", "delete"):
            _take_from_the_device(found, index, ("::", "operator"))
    return with_added(found, added)


def _take_from_the_device(found: list[Token], index: int, scope: Sequence[str]) -> None:
    """``std::malloc``, ``::operator new`` and their like, with what is before them."""
    at = before(found, index - 1)
    if found[at].text not in scope:
        return
    while found[at].text in scope:
        found[at].text = ""
        at = before(found, at - 1)
    found[index].text = f" ::cudla_sim::thrust_{found[index].text}"
