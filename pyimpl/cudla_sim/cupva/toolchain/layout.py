"""Places a kernel's variables in VMEM and writes the linker script that puts them there.

VMEM has three superbanks of 128 KiB; the first 64 bytes of A are reserved (open kernel driver).
Behind each variable a gap of at least 64 bytes is left, by which the runtime finds overruns. Gaps
use address space between the banks, so they do not count against the 128 KiB.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile

from ...constants.pva_protocol import BANK_STRIDE, VMEM_WINDOW
from .steps import StepFailed

BANKS = "ABC"
BANK_BYTES = 128 << 10
RESERVED = {"A": 64}
GAP = 64


class Variable(NamedTuple):
    """A section with one variable in VMEM."""

    section: str
    name: str
    size: int
    alignment: int


def variables(kernel: Path) -> dict[str, list[Variable]]:
    """The variables of each bank in the object file of the whole kernel. Raises StepFailed."""
    found: dict[str, list[Variable]] = {bank: [] for bank in BANKS}
    with kernel.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            match = re.fullmatch(r"\.vmem\.(\w+)\.[xn]\.(\w+)", section.name)
            if not match:
                continue
            bank, name = match[1], match[2]
            if bank not in found:
                raise StepFailed(f"VMEM variable {name!r}: superbank {bank!r}; A, B and C exist")
            size, alignment = section["sh_size"], max(section["sh_addralign"], 1)
            found[bank].append(Variable(section.name, name, size, alignment))
    return found


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def check(banks: dict[str, list[Variable]]) -> None:
    """Raises StepFailed when a superbank is too small, with the bank and the bytes."""
    problems = []
    for bank, content in banks.items():
        at = RESERVED.get(bank, 0)
        for variable in sorted(content, key=lambda v: (-v.alignment, v.size % v.alignment)):
            at = _up(at, variable.alignment) + variable.size
        if at > BANK_BYTES:
            largest = sorted(content, key=lambda v: -v.size)[:3]
            names = ", ".join(f"{v.name} {v.size}" for v in largest)
            problems.append(
                f"superbank {bank} overflows by {at - BANK_BYTES} bytes: its variables need {at} "
                f"bytes of {BANK_BYTES} (largest: {names})"
            )
    if problems:
        raise StepFailed("\n".join(problems))


class _Bank:
    """One output section and what the runtime must know of it."""

    def __init__(self, bank: str, content: list[Variable]) -> None:
        start = VMEM_WINDOW + BANKS.index(bank) * BANK_STRIDE
        at = RESERVED.get(bank, 0)
        self.gaps: list[tuple[int, int]] = []
        lines = []
        if at and content:
            self.gaps.append((start, start + at))
        for variable in content:
            place = _up(at, variable.alignment)
            if place > at:
                self.gaps.append((start + at, start + place))
            lines.append(f"    . = {place:#x}; *({variable.section})")
            at = place + variable.size + GAP
            self.gaps.append((start + place + variable.size, start + at))
        self.end = start + at if content else start
        self.text = ""
        if content:
            body = "\n".join([*lines, f"    . = {at:#x};"])
            self.text = f"  .vmem.{bank} {start:#x} : {{\n{body}\n  }}\n"


def script(kernel: Path, banks: dict[str, list[Variable]]) -> str:
    """What is put into the linker's own script."""
    placed = [_Bank(bank, content) for bank, content in banks.items()]
    gaps = [g for b in placed for g in b.gaps]
    table = "".join(f"    QUAD({start:#x}) QUAD({end:#x})\n" for start, end in gaps)
    ends = " ".join(f"QUAD({b.end:#x})" for b in placed)
    return f"""\
SECTIONS {{
  .vpu_kernel : ALIGN(64) {{
    __vpu_kernel_start = .;
    "{kernel}"(.data .data.* .bss .bss.* COMMON)
    . = ALIGN(64);
    __vpu_kernel_end = .;
  }}
  .vpu_tables : ALIGN(8) {{
    __vpu_gaps = .;
{table}    __vpu_gaps_end = .;
    __vpu_bank_ends = .;
    {ends}
  }}
{"".join(b.text for b in placed)}}}
INSERT AFTER .bss;
"""
