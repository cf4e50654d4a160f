"""What only a device has belongs to one file: two files may define the same name.

nvcc's manual, "Whole program compilation mode", and the CUDA C++ Programming Guide, "Device memory
space specifiers": without ``-rdc=true`` a ``__device__`` function and a variable of a device have
internal linkage. ``static`` would not do: members that are defined outside of their class and
specializations of templates cannot have it. So they get a visibility that nobody else uses, and the
object's symbols of it become local.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .bodies import has_declarations
from .kernels import CLOSING, GLOBAL
from .tokens import SPACE, WORD, Token

DEVICE, HOST, CONSTANT, MANAGED = "__device__", "__host__", "__constant__", "__managed__"
_KINDS = (DEVICE, HOST, CONSTANT, MANAGED)
OWN = ' __attribute__((visibility("internal"))) '
_USED = "__attribute__((used))"
_SHARED = ("inline", "constexpr", "static", "__forceinline__", HOST, GLOBAL)
"""Of these a linker keeps one, or they are the file's own, or the host has them."""
_CLASSES = ("class", "struct", "union", "enum")
_SYMBOL = re.compile(r"\s(?:FUNC|OBJECT|TLS)\s+GLOBAL\s+INTERNAL\s+(?!UND)\S+\s+(\S+)")


def as_attributes(found: Sequence[Token], *, separate: bool) -> None:
    """The words for where code and variables are become attributes, or nothing, in place.

    With *separate* (``-rdc=true``) names are those of the whole program.
    """
    own, kept = _own(found)
    for index, token in enumerate(found):
        if token.kind == WORD and token.text in _KINDS:
            token.kind = SPACE
            # the host reads and writes these by their names: none is what it began as
            token.text = _USED if token.text == CONSTANT or index in kept else ""
            if index in own and not separate:
                token.text += OWN


def _own(found: Sequence[Token]) -> tuple[set[int], set[int]]:
    """The words whose declarations are a device's alone, and those of its ``static`` variables."""
    own: set[int] = set()
    kept: set[int] = set()
    begin = 0  # of the declaration
    inside: list[bool] = []  # of braces: whether these are a namespace's or a class's
    classes: list[bool] = []
    closed = 0  # parentheses around
    for index, token in enumerate(found):
        text = token.text
        if token.kind == WORD and text in _KINDS:
            if not closed and all(inside):
                if _is_own(found, begin, index):
                    own.add(index)
                if text == DEVICE and not any(classes) and _is_static(found, begin, index):
                    kept.add(index)
        elif text == "{":
            inside.append(has_declarations(found, begin, index))
            classes.append(any(t.text in _CLASSES for t in found[begin:index]))
            begin = index + 1
        elif text == "}":
            if inside:
                inside.pop()
                classes.pop()
            begin = index + 1
        elif text == ";":
            begin = index + 1
        elif text in CLOSING:
            closed += 1
        elif text in (")", "]"):
            closed = max(closed - 1, 0)
    return own, kept


def _is_own(found: Sequence[Token], begin: int, index: int) -> bool:
    """Whether the declaration from *begin* on is a device's alone, by its word at *index*."""
    at = begin
    while at < len(found):
        text = found[at].text
        if text in _SHARED or (at < index and text in ("=", "]")):  # of a lambda
            return False
        if at > index and text in ("(", ";", "{", "="):
            return True
        at += 1
    return False


def _is_static(found: Sequence[Token], begin: int, index: int) -> bool:
    """Whether the declaration from *begin* on, with a word at *index*, is a ``static`` variable."""
    at, static = begin, False
    while at < len(found) and found[at].text not in ("(", "{", ";", "=", "["):
        if found[at].text == "template":
            return False
        static = static or found[at].text == "static"
        at += 1
    return static and index < at < len(found) and found[at].text in (";", "=", "[")


def keep_to_itself(compiler: str, object_file: Path) -> None:
    """Symbols of that visibility become local. Raises OSError and subprocess.CalledProcessError."""
    told = _run([tool(compiler, "readelf"), "-sW", str(object_file)])
    names = sorted(set(_SYMBOL.findall(told)))
    if not names:
        return
    listed = object_file.with_name(object_file.name + ".own")
    try:
        listed.write_text("\n".join(names) + "\n")
        objcopy = tool(compiler, "objcopy")
        _run([objcopy, f"--localize-symbols={listed}", str(object_file)])
    finally:
        listed.unlink(missing_ok=True)


def tool(compiler: str, name: str) -> str:
    """The one that the compiler has beside it, or the one on the path."""
    return _run([compiler, f"-print-prog-name={name}"]).strip() or name


def _run(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
