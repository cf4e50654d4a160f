"""What ``python -m cudla_sim --cflags`` and its siblings print."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from . import paths
from .families import FAMILIES, INCLUDE_FOLDERS

OPTIONS = {
    "--cflags": "compiler flags to find the headers",
    "--includes": "the same",
    "--libs": "linker flags: folders, run-time path and libraries",
    "--ldflags": "linker flags without the libraries",
    "--libdir": "the folder with the libraries",
    "--cmakedir": "the folder with the CMake package",
    "--pkgconfigdir": "the folder with the .pc files",
    "--cuda-home": "the folder that CUDA programs look for in CUDA_PATH or CUDA_HOME",
    "--upmem-home": "the folder that UPMEM programs look for in UPMEM_HOME",
    "--valgrind-suppressions": "the file for valgrind's option --suppressions",
    "--env": "shell commands that let existing Makefiles and programs find everything",
}


_BY_FILE = {
    "XSCHED_CUDLA_LIB": "libcudla.so",
    "XSCHED_CUDART_LIB": "cuda/libcudart.so",
    "XSCHED_CUDA_LIB": "cuda/libcuda.so",
}
"""Variables of programs that stand between an application and a library, and look for the library
in no other way than by its file. Source: XSched, protocol/include/xsched/protocol/def.h."""


def include_dirs(cuda: bool) -> list[Path]:
    include = paths.include_dir()
    real = {f.folder for f in FAMILIES if f.beside_real}
    return [include / folder for folder in INCLUDE_FOLDERS if cuda or folder not in real]


def library_dirs(cuda: bool) -> list[Path]:
    lib = paths.lib_dir()
    return [lib, lib / "cuda"] if cuda else [lib]


def escaped(word: str) -> str:
    """A word as pkg-config writes it: the shell of a Makefile's recipe, and eval, read it back."""
    return "".join(f"\\{c}" if c in " \t\\'\"$`&();<>|*?" else c for c in word)


def _quoted(words: list[str]) -> str:
    return " ".join(map(escaped, words))


def cflags(cuda: bool) -> str:
    return _quoted([f"-I{d}" for d in include_dirs(cuda)])


def ldflags(cuda: bool) -> str:
    folders = library_dirs(cuda)
    return _quoted([f"-L{d}" for d in folders] + [f"-Wl,-rpath,{d}" for d in folders])


def libs(cuda: bool) -> str:
    ours = sorted(FAMILIES, key=lambda f: f.beside_real)
    names = [p.name for f in ours if cuda or not f.beside_real for p in f.packages]
    return f"{ldflags(cuda)} " + _quoted([f"-l{n}" for n in names])


def environment(cuda: bool) -> dict[str, str]:
    """The variables that ``--env`` sets and ``run`` gives a program, with their old contents."""
    lists = {
        "LD_LIBRARY_PATH": library_dirs(cuda),
        "LIBRARY_PATH": library_dirs(cuda),
        "CPATH": include_dirs(cuda),
        "PKG_CONFIG_PATH": [paths.pkgconfig_dir()],
        "CMAKE_PREFIX_PATH": [paths.PACKAGE],
        "PATH": [paths.tools_dir()],
    }
    found = {"UPMEM_HOME": str(paths.sdk_dir())}
    if cuda and not paths.toolkit_present():
        lists["PATH"].append(paths.toolkit_dir() / "bin")
        found["CUDA_PATH"] = found["CUDA_HOME"] = str(paths.toolkit_dir())
    for name, file in _BY_FILE.items():
        if (cuda or not file.startswith("cuda/")) and name not in os.environ:
            found[name] = str(paths.lib_dir() / file)
    for name, folders in lists.items():
        old = [p for p in os.environ.get(name, "").split(os.pathsep) if p]
        fresh = [str(f) for f in folders]
        found[name] = os.pathsep.join([*fresh, *(p for p in old if p not in fresh)])
    return found


def answer(option: str, cuda: bool) -> str:
    """The text for one of ``OPTIONS``."""
    if option in ("--cflags", "--includes"):
        return cflags(cuda)
    if option == "--libs":
        return libs(cuda)
    if option == "--ldflags":
        return ldflags(cuda)
    if option == "--libdir":
        return str(paths.lib_dir())
    if option == "--cmakedir":
        return str(paths.cmake_dir())
    if option == "--pkgconfigdir":
        return str(paths.pkgconfig_dir())
    if option == "--cuda-home":
        return str(paths.toolkit_dir())
    if option == "--upmem-home":
        return str(paths.sdk_dir())
    if option == "--valgrind-suppressions":
        return str(paths.PACKAGE / "testing" / "valgrind.supp")
    return "\n".join(f"export {n}={shlex.quote(v)}" for n, v in environment(cuda).items())
