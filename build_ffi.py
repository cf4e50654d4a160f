"""Builds cudla-sim: headers -> generated files -> shared libraries -> install tree.

    python build_ffi.py             write the generated files, compile
    python build_ffi.py --generate  write the generated files only
    python build_ffi.py --verify    fail when the exported names differ from codegen/exports.txt
    python build_ffi.py --exports   write codegen/exports.txt
    python build_ffi.py --clean     remove build output, generated files included

Generated files are not committed. codegen/exports.txt is, so that a change of the exported names is
deliberate.

It is also the PEP 517 build backend (`pyproject.toml`): every build first compiles the libraries
for the interpreter that runs it, then hands over to setuptools.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import gc
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT / "pyimpl")]

from codegen import (  # noqa: E402  (needs the paths above)
    descriptors,
    dpu_isa,
    emit,
    exports,
    layouts,
    native,
    packages,
    parse,
    private,
    prototypes,
    sdk,
    sources,
)
from cudla_sim.families import HEADERS  # noqa: E402

PACKAGE = ROOT / "pyimpl" / "cudla_sim"
GENERATED = ROOT / "shim" / "generated"
CONSTANTS = PACKAGE / "constants"
CAPI = PACKAGE / "capi" / "generated"
MANUAL_PAGES = ROOT / "docs" / "man"
EXPORTS = ROOT / "codegen" / "exports.txt"

# Generated folders: a build removes files in them that it does not write.
GENERATED_FOLDERS = (GENERATED, CONSTANTS, CAPI, MANUAL_PAGES)
# Generated files beside hand-written ones.
GENERATED_FILES = (
    "lib/pkgconfig/*.pc",
    "lib/cmake/cudla-sim/cudla-simTargets.cmake",
    "lib/cmake/cudla-sim/cudla-simConfigVersion.cmake",
    "nvdla/dla_interface.py",
)

# What workers and their host share: module of constants -> prefix of the names, headers.
SHARED = {
    "dpu_protocol": ("dpu_", "dpu_run/protocol.h"),
    "pva_protocol": ("pva_", "vpu_run/protocol.h", "vpu_run/gate.h", "vpu_run/dma.h"),
    "confine": ("", "confine/confine.h"),
}


@functools.cache
def api() -> parse.Api:
    """The headers, and who answers their functions."""
    include = ROOT / "include"
    found = parse.read([include / h for h in HEADERS], include, ROOT / "shim" / "parse_include")
    sources.mark(found, PACKAGE, ROOT / "shim")
    return found


def _contents() -> dict[Path, str]:
    """Every generated file with what it should hold."""
    include = ROOT / "include"
    declared = api()
    internal = private.read(ROOT / "shim" / "internal.h", include, ROOT / "shim")
    files = {
        GENERATED / "cdef.h": emit.cdef(declared),
        GENERATED / "exports.c": emit.exports_c(declared, HEADERS, internal),
        GENERATED / "hand_written.h": emit.hand_written_h(declared, HEADERS),
        GENERATED / "bridge.h": emit.bridge_h(declared, HEADERS, internal),
        GENERATED / "bridge.c": emit.bridge_c(declared, internal),
        GENERATED / "exports.map": emit.version_script(declared, cudart=False),
        GENERATED / "cudart_exports.c": emit.cudart_exports_c(declared, HEADERS),
        GENERATED / "cudart_exports.map": emit.version_script(declared, cudart=True),
        GENERATED / "driver_table.c": emit.driver_table_c(declared),
        GENERATED / "dpu_isa.h": dpu_isa.header(),
        CONSTANTS / "handlers.py": emit.modules_py(declared, internal, PACKAGE),
        CONSTANTS / "__init__.py": f'"""{emit.BANNER}"""\n',
        CAPI / "__init__.py": f'"""{emit.BANNER}"""\n',
        CAPI / "prototypes.py": prototypes.ctypes_py(declared),
        CAPI / "declarations.py": prototypes.declarations_py(declared),
        CAPI / "functions.pyi": prototypes.functions_pyi(declared),
    }
    files.update(packages.files(PACKAGE / "lib"))
    for name, (prefix, *headers) in SHARED.items():
        found = layouts.read([ROOT / "shim" / h for h in headers], include, ROOT / "shim")
        sources_of = ", ".join(f"shim/{h}" for h in headers)
        files[CONSTANTS / f"{name}.py"] = layouts.python(found, sources_of, prefix)
    interface = include / "nvdla" / "dla_interface.h"
    files[PACKAGE / "nvdla" / "dla_interface.py"] = descriptors.module(
        interface, include, ROOT / "shim"
    )
    found = layouts.read([ROOT / "shim" / "native" / "native.h"], include, ROOT / "shim")
    files[CONSTANTS / "native_types.py"] = layouts.typed(found, "shim/native/native.h")
    for family in sorted({emit.family(f.header) for f in declared.functions}):
        files[CONSTANTS / f"{family}.py"] = emit.constants_py(declared, family)
        files[CONSTANTS / f"{family}.pyi"] = emit.constants_pyi(declared, family)
        files[CONSTANTS / f"{family}_parameters.py"] = emit.parameters_py(declared, family)
    return files


def generate() -> None:
    """Writes the generated files that changed and removes those of earlier builds."""
    files = _contents()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for path in _generated():
        if path not in files and path.parent != MANUAL_PAGES:
            path.unlink()
    _write_manual_pages()


def _generated() -> list[Path]:
    """The generated files that are there."""
    found = [p for folder in GENERATED_FOLDERS for p in folder.glob("*") if p.is_file()]
    return [*found, *(path for pattern in GENERATED_FILES for path in PACKAGE.glob(pattern))]


def _write_manual_pages() -> None:
    """In a process of its own, which imports the modules that were just generated."""
    # not PYTHONPATH: pip's build environments drop folders from it that the outer one has
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from cudla_sim.tools import manpages; "
        "sys.exit(manpages.main(sys.argv[2:]))"
    )
    command = [sys.executable, "-c", program, str(PACKAGE.parent), str(MANUAL_PAGES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not any(MANUAL_PAGES.glob("*.1")):
        raise SystemExit(f"build_ffi: the manual pages could not be written\n{done.stderr}")


def verify(listed: Path = EXPORTS) -> int:
    """Prints how the exported names differ from the committed list; the exit status."""
    lines = listed.read_text().splitlines() if listed.exists() else []
    exported = exports.listing(api()).splitlines()
    name = f"codegen/{listed.name}"
    for line in difflib.unified_diff(lines, exported, name, "exported", lineterm="", n=0):
        print(line)
    if lines != exported:
        print(f"{name}: differs from the exported names; write it: python build_ffi.py --exports")
    return int(lines != exported)


def build(editable: bool) -> None:
    """Compiles into the package, so that wheel and editable installs look the same."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise SystemExit("build_ffi: a free-threaded Python has no stable ABI; use an ordinary one")
    generate()
    python = sys.executable if editable else ""
    native.compile_all(ROOT, HEADERS, PACKAGE, api(), python)
    _install(ROOT / "include", PACKAGE / "include", editable)
    # the DPU compiler compiles these sources into every DPU program
    _install(ROOT / "shim" / "dpu_run", PACKAGE / "dpu_run", editable)
    _install(ROOT / "shim" / "vpu_run", PACKAGE / "vpu_run", editable)
    sdk.make(PACKAGE, editable, python)


def _install(source: Path, installed: Path, editable: bool) -> None:
    """Puts a folder into the package: a copy in a wheel, a link where one works on the source."""
    if installed.is_symlink():
        installed.unlink()
    elif installed.exists():
        shutil.rmtree(installed)
    if editable:
        installed.symlink_to(source)
    else:
        shutil.copytree(source, installed)


# --- PEP 517 / 660 hooks ---------------------------------------------------------------------


def _backend() -> Any:
    from setuptools import build_meta

    return build_meta


def _platform_wheel(settings: dict[str, Any] | None) -> dict[str, Any]:
    """The wheel holds libraries for one platform and every CPython from 3.10; its name says so."""
    platform = os.environ.get("CUDLA_SIM_WHEEL_PLATFORM") or sysconfig.get_platform()
    platform = platform.replace("-", "_").replace(".", "_")
    options = [f"--plat-name={platform}", "--python-tag=cp310"]
    return {**(settings or {}), "--build-option": options}


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(directory: str, config_settings: Any = None) -> str:
    return str(_backend().prepare_metadata_for_build_wheel(directory, config_settings))


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


# What builds and first uses leave in a checkout, relative to the package.
_MADE_HERE = (
    *("include", "dpu_run", "vpu_run", "lib/cuda", "toolkit"),
    *("sdk/bin", "sdk/include", "sdk/lib", "sdk/share/upmem/include"),
)


def build_wheel(directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Builds in a copy of the sources: a checkout that is installed editable stays as it is."""
    with tempfile.TemporaryDirectory(prefix="cudla-sim-wheel-") as scratch:
        copy = Path(scratch) / "source"
        shutil.copytree(ROOT, copy, ignore=_not_sources)
        command = [sys.executable, str(copy / "build_ffi.py"), "--wheel", directory]
        subprocess.run(command, cwd=copy, check=True)
    return max(Path(directory).glob("cudla_sim-*.whl"), key=lambda p: p.stat().st_mtime).name


def _not_sources(folder: str, names: list[str]) -> set[str]:
    """For copytree: what is not a source of the wheel."""
    here = Path(folder)
    if here == ROOT:
        wanted = {"codegen", "include", "shim", "pyimpl", "docs", "build_ffi.py", "pyproject.toml"}
        return set(names) - wanted - {"MANIFEST.in", "README.md", "LICENSE"}
    out = {n for n in names if n == "__pycache__" or n.endswith(".egg-info") or ".so" in n}
    for name in names:
        path = here / name
        if path.is_relative_to(PACKAGE) and str(path.relative_to(PACKAGE)) in _MADE_HERE:
            out.add(name)
    return out


def _wheel(directory: str) -> None:
    """In the copy: compile, then what setuptools does."""
    build(editable=False)
    name = _backend().build_wheel(directory, _platform_wheel(None))
    # setuptools knows no stable ABI for extensions that it did not compile
    tags = [sys.executable, "-m", "wheel", "tags", "--remove", "--abi-tag", "abi3"]
    subprocess.run([*tags, str(Path(directory) / name)], check=True)


def clean() -> None:
    """Removes what builds and first uses made in this checkout."""
    for name in _MADE_HERE:
        path = PACKAGE / name
        if path.is_symlink():
            path.unlink()
        elif path.exists():
            shutil.rmtree(path)
    extensions = [*(PACKAGE / "native").glob("*.so"), *(PACKAGE / "abi").glob("*.so")]
    programs = [PACKAGE / "lib" / name for name in ("confine", "dpu_isa", "first_call")]
    for file in [*(PACKAGE / "lib").glob("*.so*"), *extensions, *programs, *_generated()]:
        file.unlink(missing_ok=True)
    for folder in GENERATED_FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)


def build_editable(
    directory: str, config_settings: Any = None, metadata_directory: Any = None
) -> str:
    build(editable=True)
    return str(_backend().build_editable(directory, config_settings, metadata_directory))


def build_sdist(directory: str, config_settings: Any = None) -> str:
    return str(_backend().build_sdist(directory, config_settings))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--verify", action="store_true", help="only compare codegen/exports.txt")
    parser.add_argument("--exports", action="store_true", help="only write codegen/exports.txt")
    parser.add_argument("--generate", action="store_true", help="do not compile")
    parser.add_argument("--clean", action="store_true", help="remove what builds made")
    parser.add_argument("--wheel", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    gc.disable()  # what the headers hold stays; looking through it takes a tenth of the time
    if options.clean:
        clean()
        return 0
    if options.wheel:
        _wheel(options.wheel)
        return 0
    if options.verify:
        return verify()
    if options.exports:
        EXPORTS.write_text(exports.listing(api()))
        return 0
    if options.generate:
        generate()
    else:
        build(editable=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
