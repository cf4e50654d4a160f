"""The ``cudla-sim`` command."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module

from . import flags, paths
from .core.text import because, tell

_NOWHERE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
"""What happens to writers, whatever they write."""

COMPILERS = {"nvcc": "cuda_kernels.driver", "pva-cc": "cupva.toolchain.cli"}
"""Commands that builds call for each source, and where the ``main`` of each is: they begin at once,
without what the other commands need. ``tools/root.py`` has them among the others, for the help."""


def main() -> int:
    """The command's exit status; what stops its output is told in a line, or in none."""
    try:
        status = _main()
        sys.stdout.flush()
    except BrokenPipeError:
        _close_output()
        return 141  # as shells say of a command that SIGPIPE ended
    except OSError as error:
        if error.errno not in _NOWHERE:
            raise
        _close_output()
        tell(f"cudla-sim: {because(error, 'the output')}")
        return 1
    return status


def _close_output() -> None:
    """What is still buffered has nowhere to go; Python would complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _main() -> int:
    """``cudla-sim --cflags`` and siblings, and compilers, begin at once; everything else is a
    sub-command."""
    words = sys.argv[1:]
    options = [w for w in words if w in flags.OPTIONS]
    if options and all(w in flags.OPTIONS or w == "--no-cuda" for w in words):
        cuda = "--no-cuda" not in words and not paths.real_cuda_present()
        print(*(flags.answer(option, cuda) for option in options))
        return 0
    try:
        if words and words[0] in COMPILERS:
            return int(import_module(f".{COMPILERS[words[0]]}", __package__).main(words[1:]))
        from .tools import root as commands  # after the options: build systems call those often

        return commands.run_command(words)
    except KeyboardInterrupt:
        return 130  # as shells say of a command that SIGINT ended
