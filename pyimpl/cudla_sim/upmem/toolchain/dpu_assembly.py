"""Sources in the DPU's own assembly: programs of the DPU's instructions, which are interpreted.

Programs in C run natively here, and assembly that is linked with C does so, too: ``mixed``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from ..assembler import operands
from ..assembler.expressions import AsmError
from ..assembler.program import build
from ..assembler.start import Options as Program
from ..assembler.statements import codes, statements
from .mixed import unit as mixed_unit
from .options import Input, Options, UsageError
from .routes import real_tool
from .runtime import syslib
from .steps import StepFailed

_MACROS = ("__dpu__=1", "__DPU__=1", "__DPU=1", "DPU=1", "__ASSEMBLER__=1")
_SUFFIXES = (".S", ".s")
_THIS_MACHINE = {"ret", "retq", "jmp", "leave", "endbr64"}
_THIS_REGISTER = re.compile(r"%[a-z]")


def preprocess(source: str, flags: Sequence[str], avoid: Path | None = None) -> str:
    """The text of a ``.S`` file after the C preprocessor, that of others as it is.

    Raises OSError; UsageError: there is no preprocessor, or it failed.
    """
    if not Path(source).exists():
        raise FileNotFoundError(2, "No such file or directory", source)
    if Path(source).suffix != ".S":
        return Path(source).read_bytes().decode("latin-1")
    tool = real_tool("clang", avoid) or real_tool("gcc", avoid) or real_tool("cc", avoid)
    if tool is None:
        raise UsageError("no C preprocessor was found: install gcc or clang")
    command = [tool, "-E", "-x", "assembler-with-cpp", "-nostdinc", "-isystem", str(syslib())]
    command += [*(f"-D{macro}" for macro in _MACROS), *flags, source]
    done = subprocess.run(command, capture_output=True)
    if done.stderr:
        sys.stderr.write(done.stderr.decode(errors="replace"))
    if done.returncode:
        raise UsageError(f"the preprocessor failed for {source}")
    # gcc writes a space between a backslash and what a macro of the preprocessor stands for
    return re.sub(r"\\ (?=[A-Za-z_.$])", r"\\", done.stdout.decode("latin-1"))


def is_dpu(text: str) -> bool:
    """Whether assembly is the DPU's and not this machine's, which has registers with ``%``."""
    found = False
    for statement in chain.from_iterable(statements(*code) for code in codes(text, "")):
        if statement.kind != "instruction":
            continue
        if statement.name in _THIS_MACHINE or _THIS_REGISTER.search(statement.rest):
            return False
        found = found or operands.is_mnemonic(statement.name)
    return found


def _texts(options: Options, avoid: Path | None) -> list[tuple[str, str]]:
    """Text and name of each source that is DPU assembly."""
    found = []
    for source in options.inputs:
        if source.language.startswith("assembler") and Path(source.path).suffix in _SUFFIXES:
            try:
                text = preprocess(source.path, options.preprocess, avoid)
                if is_dpu(text):
                    found.append((text, source.path))
            except AsmError:
                continue  # the other assembler says what is wrong
            except FileNotFoundError:
                raise UsageError(f"no such file or directory: '{source.path}'") from None
    return found


def _alone(inputs: list[Input], texts: list[tuple[str, str]]) -> bool:
    """Whether all that is linked are sources of the DPU's assembly."""
    own = {name for _, name in texts}
    return all(source.path in own for source in inputs)


def unit(
    options: Options, source: Input, flags: Sequence[str], counted: bool, avoid: Path | None = None
) -> str | None:
    """The C of a source in DPU assembly, for a program of both; None for this machine's assembly.

    Raises UsageError, OSError; StepFailed: the messages have been shown.
    """
    if Path(source.path).suffix not in _SUFFIXES:
        return None
    try:
        text = preprocess(source.path, flags, avoid)
        if not is_dpu(text):
            return None
        return mixed_unit.translate(text, source.path, options.tasklets, counted)
    except AsmError as error:
        sys.stderr.write(f"{error}\n")
        raise StepFailed(1) from None


def drive(options: Options, avoid: Path | None = None) -> int | None:
    """Makes the program if all of its sources are DPU assembly; the exit status, None for others.

    Raises UsageError, OSError.
    """
    texts = _texts(options, avoid)
    if not texts or not _alone(options.inputs, texts):
        return None
    program = Program(
        options.tasklets,
        [options.stack_bytes(tasklet) for tasklet in range(options.tasklets)],
        options.stdout_buffer_bytes,
    )
    try:
        image = build(texts, program)
    except AsmError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    Path(options.output or "a.out").write_bytes(image)
    return 0
