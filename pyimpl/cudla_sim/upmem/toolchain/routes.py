"""Which installed compiler can make DPU programs, and how.

Best first: clang for x32 has the DPU's data model and the optimiser of the DPU's own compiler, so
that even undefined behaviour tends to agree; gcc for x32 has the data model; the 64-bit routes have
pointers of 8 bytes and run all programs that do not depend on pointer size.
"""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

from ..workers.executable import NATIVE
from .options import MAX_TASKLETS

# Flags for all: code at fixed addresses below 4 GiB, without what a DPU has not. No jump tables:
# a compare tree keeps them out of WRAM, where the constants of a DPU program lie.
_COMMON = (
    *("-fno-pic", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"),
    *("-fno-jump-tables", "-ffp-contract=off", "-fcf-protection=none", "-fno-common"),
    *("-fno-builtin-printf", "-fno-builtin-puts", "-fno-builtin-putchar", "-fno-builtin-exit"),
    "-fno-builtin-abort",
)
# What would fire here and not on a DPU, also under -Werror: the text is already preprocessed,
# pointers may be 64 bits, printf knows other types.
_QUIET = (
    *("-Wno-int-to-pointer-cast", "-Wno-pointer-to-int-cast", "-Wno-format", "-Wno-psabi"),
    *("-Wno-int-conversion", "-Wno-attributes", "-Wno-parentheses"),
)
_QUIET_CLANG = (
    *("-Wno-unknown-warning-option", "-Wno-unused-command-line-argument"),
    *("-Wno-parentheses-equality", "-Wno-self-assign", "-Wno-tautological-compare"),
    *("-Wno-int-to-void-pointer-cast", "-Wno-void-pointer-to-int-cast", "-Wno-extra-semi"),
    *("-Wno-incompatible-library-redeclaration", "-Wno-main-return-type", "-Wno-unused-value"),
    *("-Wno-pointer-to-enum-cast", "-Wno-constant-logical-operand", "-Wno-gnu"),
    "-Wno-c11-extensions",
    # newer than the clang 12 that the SDK is made of
    *("-Wno-error=unused-but-set-variable", "-Wno-error=unused-but-set-parameter"),
    *("-Wno-error=strict-prototypes", "-Wno-error=deprecated-non-prototype"),
    *("-Wno-error=bitwise-instead-of-logical", "-Wno-error=null-pointer-subtraction"),
    *("-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int"),
)
_QUIET_GCC = (
    *("-Wno-builtin-declaration-mismatch", "-Wno-main", "-Wno-overflow", "-Wno-array-bounds"),
    *("-Wno-stringop-overflow", "-Wno-stringop-overread", "-Wno-pointer-arith"),
    # what the SDK's clang has not, or not in -Wall and -Wextra
    *("-Wno-unused-but-set-variable", "-Wno-unused-but-set-parameter"),
    *("-Wno-stringop-truncation", "-Wno-maybe-uninitialized", "-Wno-address"),
    *("-Wno-implicit-fallthrough", "-Wno-type-limits", "-Wno-restrict"),
    *("-Wno-strict-aliasing", "-Wno-cast-function-type", "-Wno-nonnull"),
    *("-Wno-use-after-free", "-Wno-dangling-pointer", "-Wno-array-parameter"),
    *("-Wno-old-style-declaration", "-Wno-clobbered", "-Wno-infinite-recursion"),
)
# A DPU has neither unwinding nor type information, and one tasklet's local statics are another's.
_CXX = (
    *("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-use-cxa-atexit"),
    "-fno-sized-deallocation",
)
_C_ALONE = {
    *("-Wno-int-to-pointer-cast", "-Wno-pointer-to-int-cast", "-Wno-int-conversion"),
    *("-Wno-builtin-declaration-mismatch", "-Wno-old-style-declaration"),
}
_HOST_MACROS = (
    *("__x86_64__", "__x86_64", "__amd64__", "__amd64", "__linux__", "__linux", "linux"),
    *("__unix__", "__unix", "unix", "__gnu_linux__", "__SSE__", "__SSE2__", "__SSE_MATH__"),
    *("__SSE2_MATH__", "__MMX__", "__FXSR__", "__k8", "__k8__", "__SEG_FS", "__SEG_GS"),
    "_GNU_SOURCE",
)


ROUTES = ("clang-x32", "gcc-x32", "clang-m64", "gcc-m64")
"""Best first."""


@dataclass(frozen=True)
class Route:
    """A way to compile. ``x32`` objects are rewritten for 64-bit longs and converted to ELF64."""

    name: str
    compiler: str
    arguments: tuple[str, ...]
    x32: bool
    clang: bool

    def preprocess_flags(self, generation: str, gnu: bool = True) -> list[str]:
        """``gnu``: the language is a gnu mode, which has the plain macro ``DPU`` too."""
        flags = [*self.arguments, "-nostdinc", *(f"-U{name}" for name in _HOST_MACROS)]
        macros = ("__dpu__=1", f"__dpu_{generation}__=1", "__DPU__=1", "__DPU=1")
        flags += [f"-D{macro}" for macro in (*macros, f"NR_THREADS={MAX_TASKLETS[generation]}")]
        if gnu:
            flags.append("-DDPU=1")
        if self.x32:
            for name, value in (
                ("__SIZEOF_LONG__", "8"),
                ("__SIZEOF_LONG_DOUBLE__", "8"),
                ("__LONG_MAX__", "9223372036854775807L"),
                ("__LONG_WIDTH__", "64"),
            ):
                flags += [f"-U{name}", f"-D{name}={value}"]
        return flags

    def compile_flags(self, user: list[str], lines: bool = True, cxx: bool = False) -> list[str]:
        """The user's flags, ours around them: a user's ``-W`` cannot bring back what is quiet.
        ``cxx``: for C++.

        Sections are as the SDK's driver makes them: the linker leaves out what is not used.

        ``lines``: at least the line numbers are kept, they name the place of a fault.
        """
        flags = [*self.arguments, "-O0", *user, *_COMMON, *_QUIET, "-fdata-sections"]
        if [word for word in ("-O0", *user) if word.startswith("-O")][-1] != "-O0":
            flags.append("-ffunction-sections")
        flags += _QUIET_CLANG if self.clang else _QUIET_GCC
        if cxx:
            flags = [*(flag for flag in flags if self.clang or flag not in _C_ALONE), *_CXX]
        if lines and not any(word.startswith("-g") and word != "-g0" for word in user):
            flags.append("-gline-tables-only" if self.clang else "-g1")
        if lines:
            flags.append("-gdwarf-4")
        return flags


def real_tool(name: str, avoid: Path | None = None) -> str | None:
    """``name`` on PATH outside the folder ``avoid``, where our drivers of the same name lie."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    kept = [f for f in folders if f and (avoid is None or Path(f).resolve() != avoid)]
    return shutil.which(name, path=os.pathsep.join(kept))


def available(avoid: Path | None = None) -> list[Route]:
    """The routes whose compiler is installed, best first.

    None on processors other than NATIVE.
    DPU_COMPILER_ROUTE asks for one of ROUTES.
    """
    if platform.machine() != NATIVE:
        return []
    routes = []
    clang, gcc = real_tool("clang", avoid), real_tool("gcc", avoid)
    if clang:
        routes.append(Route("clang-x32", clang, ("--target=x86_64-linux-gnux32",), True, True))
    if gcc:
        routes.append(Route("gcc-x32", gcc, ("-mx32",), True, False))
    if clang:
        routes.append(Route("clang-m64", clang, ("--target=x86_64-linux-gnu",), False, True))
    if gcc:
        routes.append(Route("gcc-m64", gcc, ("-m64",), False, False))
    wanted = os.environ.get("DPU_COMPILER_ROUTE")
    return [route for route in routes if wanted in (None, "", route.name)]
