"""The ``dpu-pkg-config`` command: pkg-config for the one package ``dpu``.

It works without pkg-config, and its ``--libs`` may stand before the sources of a compile line: the
library is linked even by a linker that drops what nothing has asked for yet. Programs find the
library at run time through the path that is linked into them.
"""

from __future__ import annotations

import sys

from ... import paths
from ...core.text import tell
from ...flags import escaped

VERSION = "2025.1.0"
_USAGE = "usage: dpu-pkg-config [--cflags] [--libs] [--variable=NAME] [--modversion] [dpu]"


def _include() -> str:
    return str(paths.sdk_dir() / "include" / "dpu")


def _library() -> str:
    return str(paths.lib_dir())


def cflags() -> list[str]:
    return [f"-I{escaped(_include())}"]


def library_path() -> list[str]:
    return [f"-L{escaped(_library())}"]


def libraries() -> list[str]:
    return ["-Wl,--no-as-needed", "-ldpu", "-Wl,--as-needed"]


def run_path() -> list[str]:
    return [f"-Wl,-rpath,{escaped(_library())}"]


def variables() -> dict[str, str]:
    prefix = str(paths.sdk_dir())
    return {
        "prefix": prefix,
        "exec_prefix": prefix,
        "includedir": _include(),
        "libdir": _library(),
        "pcfiledir": str(paths.pkgconfig_dir()),
    }


def main(words: list[str]) -> int:
    """Answers on stdout; 1 for another package or an unknown option, said on stderr."""
    parts: list[str] = []
    for word in words:
        if word in ("--cflags", "--cflags-only-I"):
            parts += cflags()
        elif word == "--libs":
            parts += [*library_path(), *run_path(), *libraries()]
        elif word == "--libs-only-L":
            parts += library_path()
        elif word == "--libs-only-l":
            parts += libraries()
        elif word == "--libs-only-other":
            parts += run_path()
        elif word.startswith("--variable="):
            parts.append(escaped(variables().get(word.partition("=")[2], "")))
        elif word in ("--modversion", "--version"):
            parts.append(VERSION)
        elif word in ("--help", "-h"):
            parts.append(_USAGE)
        elif word not in ("dpu", "--static", "--exists", "--print-errors", "--silence-errors"):
            kind = "option" if word.startswith("-") else "package"
            tell(f"dpu-pkg-config: unknown {kind} {word}; {_USAGE}")
            return 1
    if parts:
        print(*parts)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
