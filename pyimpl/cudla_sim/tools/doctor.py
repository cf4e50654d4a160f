"""``cudla-sim doctor``: what everything resolves to on this machine, and what is wrong."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .. import flags, paths
from ..core.config import from_environment
from ..core.errors import ConfigError
from ..families import libraries
from .text_table import Table

VERSION = 1
"""Of what ``--json`` prints."""

Check = tuple[str, str, str]  # what, what was found, what is wrong ("" when nothing is)

# Advice, not problems: programs linked with --libs need no LD_LIBRARY_PATH, PYTHONPATH does not
# reach C programs, and without compilers everything that is compiled already works.
_ADVICE = (
    *("path", "LD_LIBRARY_PATH", "PYTHONPATH"),
    *("C compiler", "C++ compiler", "make", "DPU compiler"),
)

_SPACE = (
    "gcc app.c $(cudla-sim --cflags) splits it, as it splits pkg-config's words; these do not: "
    'eval "gcc app.c $(cudla-sim --cflags)", $(shell cudla-sim --cflags) in a Makefile, '
    'eval "$(cudla-sim --env)" and no flags'
)


def checks() -> Iterator[Check]:
    """All checks, one after the other."""
    yield "cudla-sim", str(paths.PACKAGE), ""
    if flags.escaped(str(paths.PACKAGE)) != str(paths.PACKAGE):
        yield "path", "has a space or the like in it", _SPACE
    yield "Python", f"{platform.python_version()} {sys.executable}", ""
    wish = os.environ.get("CUDLA_SIM_PYTHON", "")
    if wish:
        wrong = "" if os.access(wish, os.X_OK) else "CUDLA_SIM_PYTHON names no executable"
        yield "CUDLA_SIM_PYTHON", wish, wrong
    home = os.environ.get("PYTHONHOME", "")
    if home:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        good = (Path(home.split(":")[0]) / "lib" / version / "os.py").exists()
        yield "PYTHONHOME", home, "" if good else f"there is no {version} library in it; unset it"
    yield from _python_path()
    library = paths.library()
    if not library.exists():
        yield "library", str(library), "it is missing: run pip install again (a compiler is needed)"
        return
    yield "library", str(library), ""
    yield from _drop_in()
    cuda = not paths.real_cuda_present()
    yield "CUDA", "ours" if cuda else "an NVIDIA driver is here; ours stays away", ""
    searched = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    at_run_time = str(paths.lib_dir()) in searched
    yield (
        "LD_LIBRARY_PATH",
        "holds our folder" if at_run_time else "does not hold our folder",
        "" if at_run_time else 'programs linked without --libs need: eval "$(cudla-sim --env)"',
    )
    try:
        from_environment(os.environ)
        yield "settings", "understood", ""
    except ConfigError as error:
        yield "settings", "not understood", str(error)
    yield from _compilers()
    yield from _dpu_compiler()
    yield from _start()


def _dpu_compiler() -> Iterator[Check]:
    """Compiles an empty DPU program with the best of the installed compilers."""
    tool = paths.sdk_dir() / "bin" / "dpu-upmem-dpurte-clang"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.c"
        source.write_text("int main(void) { return 0; }\n")
        command = [str(tool), "-v", str(source), "-o", str(source.with_suffix(""))]
        try:
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            yield "DPU compiler", str(tool), str(error)
            return
    lines = run.stderr.splitlines()
    used = [line.partition(": ")[2] for line in lines if line.startswith("Compiles with: ")]
    wrong = "" if run.returncode == 0 else run.stderr.strip()
    yield "DPU compiler", used[0] if used else "none", wrong


def _python_path() -> Iterator[Check]:
    """Packages of another Python in PYTHONPATH; C programs do not see it, ``python`` does."""
    needed = ("cudla_sim", "numpy", "cffi", "elftools")
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        found = [n for n in needed if folder and (Path(folder) / n).exists()]
        if found and Path(folder).resolve() != paths.PACKAGE.parent:
            wrong = f"in Python its {' and '.join(found)} come before this environment's"
            yield "PYTHONPATH", folder, wrong


def _drop_in() -> Iterator[Check]:
    """The vendors' library names."""
    bad = []
    names = libraries()
    for name in names:
        file = paths.lib_dir() / name
        if file.is_symlink():
            bad.append(f"{name} is a link that an older version left behind")
        elif not file.exists():
            bad.append(f"{name} is missing")
    more = f" (and {len(bad) - 1} more)" if bad[1:] else ""
    wrong = f"{bad[0]}{more}; install again" if bad else ""
    yield "vendors' names", f"{len(names)} in {paths.lib_dir()}", wrong


def _compilers() -> Iterator[Check]:
    """What programs of each API are compiled with; nothing here stops programs that exist."""
    for what, names, need in (
        ("C compiler", ("cc", "gcc", "clang"), "C programs"),
        ("C++ compiler", ("c++", "g++", "clang++"), "C++ and cuPVA programs"),
        ("make", ("make",), "the samples"),
    ):
        where = next((w for w in map(shutil.which, names) if w), "")
        if not where:
            yield what, "none", f"{need} cannot be built; install one of: {', '.join(names)}"
            continue
        command = [where, "--version"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        version = run.stdout.splitlines()[0] if run.stdout else ""
        yield what, f"{where}: {version}", ""


def _start() -> Iterator[Check]:
    """The first call of a compiled C program, in the environment as it is."""
    program = paths.lib_dir() / "first_call"
    try:
        run = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    except OSError as error:
        yield "first call", str(program), f"the program cannot be run: {error}"
        return
    told = dict(line.partition(" ")[::2] for line in run.stdout.splitlines())
    if "libpython" in told:
        yield "libpython", told["libpython"], ""
    wrong = ""
    if run.returncode != 0:
        wrong = told.get("why") or run.stderr.strip() or f"exit status {run.returncode}"
    yield "first call", "works" if not wrong else "fails", wrong


def report(as_json: bool = False) -> int:
    """Prints the checks; 1 if there are problems that stop programs."""
    found = [
        {
            "what": what,
            "found": value,
            "problem": " ".join(wrong.split()) or None,
            "fatal": bool(wrong) and what not in _ADVICE,
        }
        for what, value, wrong in checks()
    ]
    problems = any(item["fatal"] for item in found)
    if as_json:
        print(
            json.dumps({"schema_version": VERSION, "good": not problems, "checks": found}, indent=1)
        )
        return int(problems)
    table = Table(("", "what", "found", "problem"), colors={"x": "red", "+": "green"})
    for item in found:
        table.add(
            "x" if item["fatal"] else "+",
            str(item["what"]),
            str(item["found"]),
            str(item["problem"] or ""),
        )
    table.show()
    return int(problems)
