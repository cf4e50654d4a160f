"""Command lines of helper processes in Python that import nothing from the caller's folder."""

from __future__ import annotations

import os
import sys

_RUN_MODULE = (
    "import runpy, sys; sys.path[:] = sys.argv.pop(1).split(':'); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


def command(module: str, *arguments: str) -> list[str]:
    """Returns the command line that runs ``module`` as a program, with the import path of this
    process.

    ``python -m`` puts the current folder first, and an empty entry of PYTHONPATH stands for it as
    well: a ``numpy.py`` beside the user's data would be executed.
    """
    path = os.pathsep.join(filter(None, sys.path))
    return [sys.executable, "-I", "-c", _RUN_MODULE, path, module, *arguments]
