"""The steps from a C or C++ file to an object file: preprocess, widen longs, compile, convert."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from ...workers import full_disk
from . import counting, local_arrays, races
from .arithmetic import INLINE, PURE, lower
from .assembly import translate, wants_macros
from .longs import widen
from .mixed import signatures
from .routes import Route

CXX = ("c++", "c++-cpp-output")
"""Languages."""
_CONSTRUCTORS = (
    "{}: warning: a variable of static lifetime is initialised by code, which nobody runs: a DPU "
    "begins at main, and the variable is 0 (constexpr or constinit shows which one it is)\n"
)


class StepFailed(Exception):
    """A tool failed; its own words have been shown. ``status`` is for the driver to exit with."""

    def __init__(self, status: int) -> None:
        super().__init__(f"exit status {status}")
        self.status = status


def run(command: Sequence[str], text: bytes | None = None) -> bytes:
    """Runs a tool, passes its diagnostics on, gives its output. Raises StepFailed, DiskFull."""
    done = subprocess.run(command, input=text, capture_output=True)
    if done.returncode:
        full_disk.refuse(done.stderr.decode(errors="replace"), _written(command))
    if done.stderr:
        sys.stderr.write(done.stderr.decode(errors="replace"))
    if done.returncode:
        raise StepFailed(done.returncode if done.returncode > 0 else 1)
    return done.stdout


def _written(command: Sequence[str]) -> list[str]:
    """Files that a tool writes, as far as its command says."""
    behind = [after for word, after in pairwise(command) if word == "-o"]
    return [*behind, command[-1]]


def preprocess(
    route: Route, source: str, language: str, flags: Sequence[str], generation: str, syslib: Path
) -> bytes:
    if language.endswith("cpp-output"):
        text = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        return _with_macros(text, syslib)
    standard = next(
        (f for f in reversed(flags) if f.startswith("-std=") or f == "-ansi"), "-std=gnu"
    )
    gnu = standard.startswith("-std=gnu")
    command = [route.compiler, *route.preprocess_flags(generation, gnu), *flags]
    if language in CXX:
        command += ["-nostdinc++", *(() if route.clang else ("-D_Static_assert=static_assert",))]
    command += ["-isystem", str(syslib), "-E", "-x", language, source]
    return _with_macros(run(command), syslib)


def _with_macros(text: bytes, syslib: Path) -> bytes:
    """Preprocessed C with the macros of dpu_asm.h in front, if it uses them: the DPU's assembler
    knows them without any header."""
    if not wants_macros(text.decode("latin-1")):
        return text
    header = (syslib / "dpu_asm.h").read_text()
    statement = header[header.index("__asm__(") : header.rindex("#endif")]
    first = b"" if text.startswith(b"#") else b'# 1 "<stdin>"\n'
    return " ".join(statement.split("\n")).encode() + b"\n" + first + text


def compile_text(
    route: Route,
    text: bytes,
    flags: Sequence[str],
    output: str,
    name: str,
    *,
    assembly: bool = False,
    cxx: bool = False,
    native: bool = False,
    counted: bool = False,
    profiled: bool = False,
    watched: bool = False,
) -> None:
    """Compiles preprocessed C to an ELF64 object, or to assembly.

    ``native``: with the arithmetic of this machine (the runtime itself); otherwise with the DPU's,
    as far as the compiler lets us (gcc does not: there INT_MIN / -1 is repaired where it traps, and
    floating point is this machine's).

    ``counted``: the program counts the instructions of a DPU, ``profiled``: also by source line;
    needs clang. ``watched``: it tells the runtime its accesses to memory (``race_watch.c``); clang.
    """
    source = text.decode("latin-1")
    refused: dict[str, str] = {}
    if not native:
        source, refused = translate(source)
        if not route.clang:
            _refuse(list(refused.values()))
    text = (widen(source) if route.x32 else source).encode("latin-1")
    language = "c++-cpp-output" if cxx else "cpp-output"
    command = [route.compiler, *flags, *(races.FLAGS if watched else ())]
    if route.clang and not native:
        front = [*command, "-Xclang", "-main-file-name", "-Xclang", Path(name).name]
        front += ["-Xclang", "-disable-llvm-passes", "-emit-llvm", "-S", "-x", language, "-"]
        module = run([*front, "-o", "-"], text).decode("latin-1")
        _refuse([message for name, message in refused.items() if f"@{name}(" in module])
        module = signatures.marked(local_arrays.expose(module) if watched else module)
        text = lower(module, PURE if counted else INLINE).encode("latin-1")
        language = "ir"
        command = [route.compiler, *(f for f in flags if not f.startswith(("-std=", "-ansi")))]
        last = [*command, *(races.FLAGS if watched else ())]
        if counted:
            optimised = [*command, *counting.OPTIMISER, "-emit-llvm", "-S", "-x", "ir", "-"]
            module = run([*optimised, "-o", "-"], text).decode("latin-1")
            text = counting.count(module, profiled).encode("latin-1")
        command = last
    command += ["-S" if assembly else "-c", "-x", language, "-", "-o", output]
    run(command, text)
    unasked = native or assembly or not (cxx or "constructor" in source)
    if not unasked and b".init_array" in Path(output).read_bytes():
        sys.stderr.write(_CONSTRUCTORS.format(name))
    if route.x32 and not assembly:
        run(["objcopy", "-I", "elf32-x86-64", "-O", "elf64-x86-64", output])


def _refuse(messages: list[str]) -> None:
    """Raises StepFailed if there are any."""
    if messages:
        sys.stderr.write("".join(f"{message}\n" for message in messages))
        raise StepFailed(1)


def assemble(
    route: Route,
    source: str,
    language: str,
    flags: Sequence[str],
    output: str,
    *,
    text: bool = False,
) -> None:
    """Assembles x86 assembly of ours, or what ``-S`` wrote; ``text``: only preprocesses it."""
    command = [route.compiler, *route.arguments, *flags, "-E" if text else "-c"]
    command += ["-x", language, source, "-o", output]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        full_disk.refuse(done.stderr, [output])
    unknown = re.search(
        r":(\d+):(?:\d+:)? [Ee]rror: (?:.*instruction mnemonic '|no such instruction: `)([\w.]+)",
        done.stderr,
    )
    if unknown:
        sys.stderr.write(
            f"{source}:{unknown[1]}: error: '{unknown[2]}' is an instruction neither of a DPU "
            "nor of this machine\n"
        )
    elif done.stderr:
        sys.stderr.write(done.stderr)
    if done.returncode:
        raise StepFailed(done.returncode if done.returncode > 0 else 1)
    if route.x32 and not text:
        run(["objcopy", "-I", "elf32-x86-64", "-O", "elf64-x86-64", output])
