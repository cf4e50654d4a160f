"""What every .cu file begins with, precompiled: g++ reads it in a moment, and the rewriter has only
the user's text before it. What no kernel inlines of the engine is compiled with it, once, and is
joined to each object.

Source: GCC manual, "Using Precompiled Headers", and ``-fpch-preprocess`` in "Options Controlling
the Preprocessor".
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from .. import paths
from ..workers import runtime
from ..workers.precompiled import can

KIND = "cuda"
"""Of the cache."""
_NAME = "kernels.hpp"
_ENGINE = "engine.o"
APART = "-DCUDLA_SIM_APART"
"""The object gets the rest of the engine by ``join``: include/cuda/kernels/once.hpp."""
_ONE_OBJECT = (
    "--coverage", "-coverage", "-fprofile", "-ftest-coverage", "-fauto-profile", "-gsplit-dwarf",
    "-save-temps",
)  # fmt: skip
_ONE_OBJECT_EXACTLY = ("-p", "-pg")
"""Options that leave more than an object, or look at all of its functions."""
_MANNER = ("-include", "-imacros", "-nostdinc", "-undef", "-U", "-isysroot", "--sysroot", "-P")
"""Options with which the headers may be others, or come behind something."""

_MEANT = (
    "NDEBUG", "_GLIBCXX_", "_FORTIFY_SOURCE", "_FILE_OFFSET_BITS", "_GNU_SOURCE", "_POSIX_",
    "_XOPEN_", "__STDC_", "__CUDA_NO_", "CUDA_API_PER_THREAD_DEFAULT_STREAM",
)  # fmt: skip
"""Macros of a user's that mean something to the headers, and are common."""


def source() -> Path:
    """The header itself."""
    return paths.include_dir() / "cuda" / "kernels" / _NAME


def behind() -> Path:
    """What is read as text behind it."""
    return source().with_name("reserved.hpp")


def apart(words: Sequence[str]) -> bool:
    """Whether objects that are compiled with *words* get the rest of the engine by ``join``."""
    return not any(word.startswith(_ONE_OBJECT) or word in _ONE_OBJECT_EXACTLY for word in words)


def join(compiler: str, header: Path, target: Path) -> None:
    """The object *target*, compiled behind *header*, gets the engine.

    Its functions are inline ones: a program's linker keeps one of each.

    Raises OSError and subprocess.CalledProcessError.
    """
    joined = target.with_name(f"{target.name}.joined")
    command = [compiler, "-r", "-nostdlib", str(target), str(header.with_name(_ENGINE))]
    try:
        subprocess.run([*command, "-o", str(joined)], check=True, capture_output=True, text=True)
        joined.replace(target)
    finally:
        joined.unlink(missing_ok=True)


def header(compiler: str, words: Sequence[str], given: Sequence[str]) -> Path | None:
    """The header that stands for ``source()``: beside it lies what g++ made of it with *words*.

    *given* are the user's words for the preprocessor; where other macros among them than the
    common ones mean something to the headers g++ finds that out, and reads the text.
    None for another compiler, without a cache
    that can be written, and where it cannot be made: the compilation says why then.
    """
    if not can(compiler):
        return None
    if any(word.startswith(_MANNER) for word in given):
        return None
    files = [path for path in paths.include_dir().glob("cuda/**/*") if path.is_file()]
    try:
        words = [*words, *_meant(given)]
        key = runtime.key((str(source()), words), compiler, files)
        folder = runtime.kept(
            KIND, key, f"{_NAME}.gch", lambda folder: _make(compiler, words, folder)
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return None if folder is None else folder / _NAME


def _meant(given: Sequence[str]) -> list[str]:
    """Definitions among a user's words that are the headers', too."""
    found = []
    for index, word in enumerate(given):
        name = given[index + 1] if word == "-D" and index + 1 < len(given) else word[2:]
        if word.startswith("-D") and name.startswith(_MEANT):
            found.append(f"-D{name}")
    return found


def _make(compiler: str, words: Sequence[str], folder: Path) -> None:
    """As the user's compilations see it; g++ remembers the name by which it was made."""
    text = folder / _NAME
    text.write_text(f'#include "{source()}"\n')
    commands = [[*words, "-w", "-x", "c++-header", str(text), "-o", f"{text}.gch"]]
    if APART in words:
        whole = [word for word in words if word != APART]
        engine = source().with_name("engine.cpp")
        commands.append([*whole, "-w", "-c", str(engine), "-o", str(folder / _ENGINE)])
    from concurrent.futures import ThreadPoolExecutor  # 10 ms, which most runs need not wait for

    with ThreadPoolExecutor(len(commands)) as both:
        for done in [both.submit(_run, [compiler, *command]) for command in commands]:
            done.result()


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
