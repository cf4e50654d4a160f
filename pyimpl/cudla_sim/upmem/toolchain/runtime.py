"""The DPU runtime as an archive, compiled once for each compiler and kept in a cache."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ... import paths
from ...workers import runtime
from . import steps
from .routes import Route

_FLAGS = ["-O2", "-std=gnu11", "-fno-builtin", "-fvisibility=hidden", "-w", "-ffunction-sections"]
_UNWIND = "-fasynchronous-unwind-tables"
"""For debuggers, in .debug_frame: see rt.h."""


def syslib() -> Path:
    return paths.include_dir() / "upmem" / "syslib"


def sources() -> Path:
    """Where the runtime's C files lie: in the package, or beside it in a source tree."""
    inside = paths.dpu_run_dir()
    return inside if inside.is_dir() else paths.PACKAGE.parents[1] / "shim" / "dpu_run"


def _compile(route: Route, source: Path, folder: Path) -> Path:
    output = folder / (source.stem + ".o")
    if source.suffix == ".S":
        steps.assemble(route, str(source), "assembler-with-cpp", [], str(output))
        return output
    text = steps.preprocess(
        route, str(source), "c", ["-std=gnu11", f"-I{source.parent}"], "v1A", syslib()
    )
    flags = [*route.compile_flags(_FLAGS, lines=False), _UNWIND]
    steps.compile_text(route, text, flags, str(output), source.name, native=True)
    return output


def build(route: Route, folder: Path) -> None:
    """Compiles the runtime into ``folder``. Raises StepFailed, OSError."""
    files = sorted(f for f in sources().iterdir() if f.suffix in (".c", ".S"))
    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda file: _compile(route, file, folder), files))
    loose = [o for o in objects if o.stem == "note"]
    kept = [str(o) for o in objects if o not in loose]
    steps.run(["ar", "rcs", str(folder / "librt.a"), *kept])
    for file in objects:
        if file not in loose:
            file.unlink()


def archive(route: Route) -> Path:
    """The folder with ``librt.a`` and ``note.o`` for this route. Raises StepFailed, OSError."""
    here = Path(__file__).parent
    files = [*sources().iterdir(), *syslib().iterdir(), here / "routes.py", here / "longs.py"]
    key = f"{route.name}-{runtime.key((route, _FLAGS, _UNWIND), route.compiler, files)}"
    return runtime.cached("dpu", key, "librt.a", lambda folder: build(route, folder))
