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
from ..processor import MACROS

NO_COMPILER = (
    "no C++ compiler was found: VPU kernels are compiled natively. Install g++ (or clang) and "
    "binutils, or name one in CXX."
)


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
    command = [*compiler, "-dumpmachine"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.partition("-")[0]


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
    command = [*compiler, *chosen, "-dM", "-E", "-x", "c++", os.devnull]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    defined = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("#define ")}
    return " ".join(flag for flag, macro in MACROS.items() if macro in defined)


def run(command: Sequence[str], verbose: bool = False, told: bool = True) -> None:
    """Runs a tool; its diagnostics go to standard error if they are to be ``told``.

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
    if done.stderr and told:
        sys.stderr.write(done.stderr)
    if done.returncode:
        raise StepFailed("")
