"""Links objects to a DPU program, with the memory limits of a DPU.

WRAM and MRAM are exact: data, bss and declared stacks must fit in 64 KiB, MRAM variables in 64 MiB.
IRAM holds 4096 instructions (v1B: 3968), but the code here is x86 code of another length. It is
rejected above 16 bytes for each DPU instruction, four times the size of an average x86 instruction:
what is larger cannot have fitted, and all of the PrIM benchmarks stay far below.
Source of the sizes: UPMEM SDK 2025.1, user manual, "Memory management"; messages in lld's wording.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...workers import full_disk
from .options import MAX_TASKLETS, Options
from .runtime import sources
from .steps import StepFailed

WRAM_BYTES = {"v1A": 65536, "v1B": 63488}
IRAM_INSTRUCTIONS = {"v1A": 4096, "v1B": 3968}
TEXT_BYTES_PER_INSTRUCTION = 16


def script(options: Options) -> str:
    """The linker script for these options. Raises UsageError."""
    tasklets = options.tasklets
    stacks = [options.stack_bytes(k) for k in range(tasklets)]
    symbols = [f"NR_TASKLETS = {tasklets};", f"__rt_v1b = {int(options.generation == 'v1B')};"]
    symbols += [f"STACK_SIZE_TASKLET_{k} = {size};" for k, size in enumerate(stacks)]
    sizes = stacks + [0] * (MAX_TASKLETS["v1A"] - tasklets)
    values = {
        "WRAM_SIZE": str(WRAM_BYTES[options.generation]),
        "TEXT_SIZE": str(IRAM_INSTRUCTIONS[options.generation] * TEXT_BYTES_PER_INSTRUCTION),
        "SYMBOLS": "\n".join(symbols),
        "STACKS_SIZE": str(sum(stacks)),
        "SW_CACHE_SIZE": str(8 * tasklets),
        "STACK_SIZES": " ".join(f"LONG({size})" for size in sizes),
    }
    text = (sources() / "program.ld").read_text()
    return re.sub(r"@([A-Z_]+)@", lambda match: values.get(match[1], match[0]), text)


def _explain(errors: str) -> str:
    """GNU ld's two lines for a full memory as the one line that lld (and the SDK) prints."""
    overflow = dict(re.findall(r"region [`'](\w+)' overflowed by (\d+) bytes", errors))
    lines = []
    for line in errors.splitlines():
        if match := re.search(r"section [`']([^']+)' will not fit in region [`'](\w+)'", line):
            section, region = match[1], match[2]
            size = overflow.get(region, "?")
            lines.append(
                f"ld.lld: error: section '{section}' will not fit in region '{region}': "
                f"overflowed by {size} bytes"
            )
        elif "overflowed by" not in line and "discarded output section" not in line:
            lines.append(line)
    return "\n".join(dict.fromkeys(lines)) + "\n" if lines else ""


def link(
    options: Options, objects: dict[int, str], runtime: Path, output: str, more: Sequence[str] = ()
) -> None:
    """``objects``: the file for each input by index; ``more``: objects of our own.

    Raises StepFailed, UsageError, DiskFull.
    """
    command = ["ld", "-m", "elf_x86_64", "-static", "-z", "noexecstack", "--build-id=none"]
    command.append("--gc-sections")
    command += ["-z", "max-page-size=4096", "--no-warn-mismatch", "-o", output]
    with tempfile.NamedTemporaryFile("w", suffix=".ld", prefix="dpu-") as file:
        file.write(script(options))
        file.flush()
        command += ["-T", file.name, str(runtime / "note.o")]
        for word in options.link:
            command.append(objects[int(word[1:])] if word.startswith("@") else word)
        command += [*more, str(runtime / "librt.a")]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode:
        full_disk.refuse(done.stderr, [output])
    if done.stderr:
        sys.stderr.write(_explain(done.stderr))
    if done.returncode:
        Path(output).unlink(missing_ok=True)
        raise StepFailed(1)
