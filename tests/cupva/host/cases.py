"""Programs that hold many cases: each is compiled and run once, and its cases are tests."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from cudla_sim import flags
from cudla_sim.testing import Compiler

PROGRAMS = Path(__file__).parent / "programs"
_CASE = re.compile(r"^CASE\((\w+)\)", re.MULTILINE)
_STRICT = ["-Wextra", "-Wpedantic", "-DCUPVA_DEVICE=0"]


def names(program: str) -> list[str]:
    """The cases in a file of ``programs/``."""
    found = _CASE.findall((PROGRAMS / program).read_text())
    assert found, program
    return found


def build(compiler: Compiler, program: str, *objects: Path) -> Path:
    """Compiles as strictly as users may: C11, C++14, every warning an error."""
    path = PROGRAMS / program
    standard = "-std=c11" if path.suffix == ".c" else "-std=c++14"
    libraries = [*map(str, objects), *shlex.split(flags.libs(cuda=True))]
    return compiler.build(path, options=[standard, *_STRICT], libraries=libraries)


class Cases:
    """What became of the cases of each program."""

    def __init__(self, compiler: Compiler, subject: Path) -> None:
        self.compiler = compiler
        self.subject = subject
        self._outcomes: dict[str, dict[str, str]] = {}
        self._ends: dict[str, str] = {}

    def outcome(self, program: str, case: str) -> str:
        """Empty, or what was wrong."""
        if program not in self._outcomes:
            self._run(program)
        return self._outcomes[program].get(case, f"did not end; {self._ends[program]}")

    def _run(self, program: str) -> None:
        built = build(self.compiler, program, self.subject)
        result = self.compiler.run(built, timeout_s=120)
        found = {}
        for line in result.out.splitlines():
            word, _, rest = line.partition(" ")
            name, _, text = rest.partition(": ")
            if word in ("ok", "FAILED"):
                found[name] = text if word == "FAILED" else ""
        self._outcomes[program] = found
        self._ends[program] = (
            f"exit status {result.status}\n{result.out[-2000:]}{result.err[-2000:]}"
        )
