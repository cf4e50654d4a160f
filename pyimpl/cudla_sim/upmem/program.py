"""A DPU program: what the host knows of the file that dpu_load is given.

Our compiler wrapper writes an x86-64 executable whose sections lie where a DPU has its memories
(see ``workers.protocol``); the vendor's compiler writes instructions of the DPU (see ``vendor``).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from . import notices
from .errors import DpuError, Status, error
from .symbols import Segment, Symbol

if TYPE_CHECKING:
    from .vendor import Code

STDOUT_BUFFER = "__stdout_buffer"


@dataclass(eq=False)
class Program:
    """One loaded program. Two loads of the same file are two programs, as in the SDK."""

    path: str
    image: bytes
    symbols: dict[str, Symbol]
    segments: list[Segment] = field(repr=False, default_factory=list)
    code: Code | None = None
    """Of a program in the DPU's own instructions; None: it runs natively."""
    host_path: str | None = None
    """What ``program_path`` of the C structure says; ``path`` is for messages."""

    @property
    def registers(self) -> bytes | None:
        """Of a core file: a serialized context."""
        return next((s.data for s in self.segments if s.memory == "regs"), None)

    @property
    def tasklets(self) -> int:
        symbol = self.symbols.get("NR_TASKLETS")
        return symbol.address if symbol else 1

    @property
    def log_buffer(self) -> Symbol | None:
        """Where printf writes, None in a program that does not print."""
        return self.symbols.get(STDOUT_BUFFER)

    def symbol(self, name: str) -> Symbol:
        """Raises DpuError(DPU_ERR_UNKNOWN_SYMBOL), naming what was probably meant."""
        found = self.symbols.get(name)
        if found is None:
            text = self._unknown(name)
            notices.refuse("dpu_get_symbol", text)
            raise error(Status.DPU_ERR_UNKNOWN_SYMBOL, text)
        return found

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        from .elf import names

        text = f"{self.path} has no symbol {name!r} that the host may see"
        if name in names(self.image):
            return f"{text}; the variable is there, but not declared __host or __mram"
        near = get_close_matches(name, self.symbols, 1)
        return f"{text}; did you mean {near[0]!r}?" if near else text


def read_file(path: str, function: str = "dpu_load") -> Program:
    """Reads a program file. ``function``: the public name of who asks, for its own words on
    standard error.

    Raises DpuError: DPU_ERR_ELF_NO_SUCH_FILE when it cannot be read, DPU_ERR_ELF_INVALID_FILE when
    it is no DPU program.
    """
    try:
        image = Path(path).read_bytes()
    except (OSError, ValueError) as cause:
        text = f"{path!r} cannot be read: {cause}"
        notices.refuse(function, text)
        raise error(Status.DPU_ERR_ELF_NO_SUCH_FILE, text) from None
    return read(image, path, function, os.path.realpath(path))


def read(
    image: bytes, path: str, function: str = "dpu_load", host_path: str | None = None
) -> Program:
    """The same for a file's contents; ``path`` is for messages, ``host_path`` for the host."""
    from .elf import parse  # pyelftools: only for programs that load

    same = _same(image)
    try:
        symbols, segments, code = parse(same, path)
    except DpuError as refused:
        notices.refuse(function, refused.explanation)
        raise
    return Program(path, same, symbols, segments, code, host_path)


@lru_cache(maxsize=32)
def _same(image: bytes) -> bytes:
    """One object for equal contents: a program may load the same file a thousand times."""
    return image
