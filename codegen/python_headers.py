"""Where Python's C headers are, for the compilers of this machine and for cross compilers."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path


def include_options(scratch: Path) -> list[str]:
    """Returns the -I options for ``Python.h``; may write headers below ``scratch``.

    Debian's ``pyconfig.h`` includes ``<x86_64-linux-gnu/python3.11/pyconfig.h>`` or its twin of
    another architecture, which only Debian's own compilers find, and only for this machine. What
    the extensions use of it (the stable ABI) is the same on all 64-bit Linux systems, so each of
    these names gets a copy of this machine's file.
    """
    include = Path(sysconfig.get_paths()["include"])
    options = [f"-I{include}"]
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    real = include.parent / multiarch / include.name / "pyconfig.h"
    if multiarch and real.is_file():
        wrapper = (include / "pyconfig.h").read_text()
        for name in re.findall(r"#\s*include\s*<(\S+/pyconfig\.h)>", wrapper):
            copy = scratch / "python" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(real.read_text())
        options.append(f"-I{scratch / 'python'}")
    return options
