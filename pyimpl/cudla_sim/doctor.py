"""``cudla-sim doctor``: what everything resolves to on this machine, and what is wrong."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import flags, paths
from .core.config import from_environment
from .core.errors import ConfigError

Check = tuple[str, str, str]  # what, what was found, what is wrong ("" when nothing is)

# Advice, not problems: programs linked with --libs need no LD_LIBRARY_PATH, and without a DPU
# compiler everything but UPMEM programs works.
_ADVICE = ("LD_LIBRARY_PATH", "DPU compiler")


def _needed(library: Path) -> dict[str, str]:
    """NEEDED name -> what the loader makes of it ("" when it does not find it)."""
    ldd = shutil.which("ldd")
    if ldd is None:
        return {}
    run = subprocess.run([ldd, str(library)], capture_output=True, text=True, check=False)
    found = {}
    for line in run.stdout.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow:
            found[name] = "" if "not found" in rest else rest.split(" (")[0]
    return found


def checks() -> Iterator[Check]:
    """All checks, one after the other."""
    yield "cudla-sim", str(paths.PACKAGE), ""
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
    library = paths.library()
    if not library.exists():
        yield "library", str(library), "it is missing: run pip install again (a compiler is needed)"
        return
    yield "library", str(library), ""
    python = [n for n in _needed(library) if n.startswith("libpython")]
    for name, where in _needed(library).items():
        if name in python or not where:
            yield name, where or "not found", "" if where else "the loader does not find it"
    if not sysconfig.get_config_var("Py_ENABLE_SHARED") and not python:
        yield "libpython", "static only", "this Python has no shared libpython to embed"
    try:
        paths.make_links()
        yield "drop-in links", f"{len(paths.LINKS)} in {paths.lib_dir()}", ""
    except OSError as error:
        yield "drop-in links", str(paths.lib_dir()), f"they cannot be made: {error}"
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


def _start() -> Iterator[Check]:
    """Starts the library the way a C program does, in a process of its own."""
    program = (
        "import ctypes; l = ctypes.CDLL('libcudla_sim.so'); v = ctypes.c_uint64();"
        "raise SystemExit(l.cudlaGetVersion(ctypes.byref(v)) or v.value != 1005000)"
    )
    search = flags.environment(cuda=False)["LD_LIBRARY_PATH"]
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "LD_LIBRARY_PATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    wrong = "" if run.returncode == 0 else run.stderr.strip() or f"exit status {run.returncode}"
    yield "first call", "works" if not wrong else "fails", wrong


def report() -> int:
    """Prints the checks as a table; the number of problems that stop programs."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for column in ("", "what", "found", "problem"):
        table.add_column(column, overflow="fold")
    problems = 0
    for what, found, wrong in checks():
        fatal = bool(wrong) and what not in _ADVICE
        problems += fatal
        table.add_row("[red]x[/]" if fatal else "[green]+[/]", what, found, wrong)
    Console().print(table)
    return 1 if problems else 0
