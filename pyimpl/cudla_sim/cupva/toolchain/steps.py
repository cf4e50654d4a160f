"""Running the tools: a C++ compiler, ld, objcopy."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from ...workers import full_disk
from ...workers.answers import answer, processor
from ..processor import MACROS

NO_COMPILER = (
    "no C++ compiler was found: VPU kernels are compiled natively. Install g++ (or clang) and "
    "binutils, or name one in CXX."
)


KIND = "vpu"
"""Of the cache."""


class StepFailed(Exception):
    """A tool failed; its own words have been shown, or the text says why."""


def compiler() -> list[str]:
    """The C++ compiler as words. Raises StepFailed."""
    chosen = os.environ.get("CXX")
    if chosen and shutil.which(shlex.split(chosen)[0]):
        return shlex.split(chosen)
    for name in ("g++", "clang++", "c++"):
        found = shutil.which(name)
        if found:
            return [found]
    raise StepFailed(NO_COMPILER)


@cache
def target(compiler: tuple[str, ...]) -> str:
    """The machine that a compiler makes programs for: ``x86_64``, ``aarch64``; "" if unknown."""
    words = (*compiler[1:], "-dumpmachine")
    machine = answer(KIND, compiler[0], words, lambda: _said([compiler[0], *words]) or None)
    return machine.partition("-")[0]


def machine_flags(compiler: Sequence[str], given: Sequence[str]) -> list[str]:
    """All instructions of this machine, for a compiler that makes programs for it.

    Vectors of 512 bits are several times faster with them. Empty when ``given`` names a machine.
    """
    if any(flag.startswith(("-march", "-mcpu", "-m32")) for flag in given):
        return []
    if target(tuple(compiler)) != platform.machine():
        return []
    return ["-march=native" if platform.machine() == "x86_64" else "-mcpu=native"]


def needs(compiler: Sequence[str], flags: Sequence[str]) -> str:
    """What a processor must have to run what these flags make: words of /proc/cpuinfo."""
    chosen = [flag for flag in flags if flag.startswith("-m")]
    words = (*compiler[1:], *chosen, "-dM", "-E", "-x", "c++", os.devnull)

    def ask() -> str | None:
        lines = _said([compiler[0], *words]).splitlines()
        defined = {line.split()[1] for line in lines if line.startswith("#define ")}
        wanted = " ".join(flag for flag, macro in MACROS.items() if macro in defined)
        return wanted if defined else None

    return answer(KIND, compiler[0], (words, processor(), tuple(MACROS)), ask)


def _said(command: Sequence[str]) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout


def run(command: Sequence[str], verbose: bool = False, told: bool = True) -> None:
    """Runs a tool; its diagnostics go to standard error, those of a failure if they are ``told``.

    Raises StepFailed, DiskFull.
    """
    if verbose:
        sys.stderr.write(shlex.join(command) + "\n")
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace")
    except OSError as cause:
        raise StepFailed(f"{command[0]}: {cause.strerror}") from None
    if done.returncode:
        behind = [after for word, after in pairwise(command) if word == "-o"]
        full_disk.refuse(done.stderr, [*behind, command[-1]])
    if done.stderr and (told or not done.returncode):
        sys.stderr.write(done.stderr)
    if done.returncode:
        raise StepFailed("")
