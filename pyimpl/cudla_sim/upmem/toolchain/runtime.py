"""The DPU runtime as an archive, compiled once for each compiler and kept in a cache.

The archive lies in ``$XDG_CACHE_HOME/cudla-sim/dpu/<key>/librt.a``; the key is a hash of the
sources, the flags and the compiler, so a new version never meets an old archive. It is built in a
folder of its own and moved in place: two compilers started at once do not disturb each other.
Without a writable cache it is built in a temporary folder for this one run.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ... import paths
from . import steps
from .routes import Route

_FLAGS = ["-O2", "-std=gnu11", "-fno-builtin", "-fvisibility=hidden", "-w"]


def syslib() -> Path:
    return paths.include_dir() / "upmem" / "syslib"


def sources() -> Path:
    """Where the runtime's C files lie: in the package, or beside it in a source tree."""
    inside = paths.dpu_run_dir()
    return inside if inside.is_dir() else paths.PACKAGE.parents[1] / "shim" / "dpu_run"


def _key(route: Route) -> str:
    digest = hashlib.sha256(repr((route, _FLAGS)).encode())
    compiler = os.stat(os.path.realpath(route.compiler))
    digest.update(f"{compiler.st_size} {compiler.st_mtime_ns}".encode())
    here = Path(__file__).parent
    files = [*sources().iterdir(), *syslib().iterdir(), here / "routes.py", here / "longs.py"]
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:24]


def _cache() -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(base) / "cudla-sim" / "dpu"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def _compile(route: Route, source: Path, folder: Path) -> Path:
    output = folder / (source.stem + ".o")
    if source.suffix == ".S":
        steps.assemble(route, str(source), "assembler-with-cpp", [], str(output))
        return output
    text = steps.preprocess(
        route, str(source), "c", ["-std=gnu11", f"-I{source.parent}"], "v1A", syslib()
    )
    steps.compile_text(
        route, text, route.compile_flags(_FLAGS, lines=False), str(output), source.name
    )
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
    cache = _cache()
    if cache is None:
        folder = Path(tempfile.mkdtemp(prefix="cudla-sim-dpu-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        build(route, folder)
        return folder
    final = cache / f"{route.name}-{_key(route)}"
    if (final / "librt.a").is_file():
        return final
    folder = Path(tempfile.mkdtemp(prefix="building-", dir=cache))
    try:
        build(route, folder)
        try:
            folder.rename(final)
        except OSError:
            if not (final / "librt.a").is_file():
                raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return final
