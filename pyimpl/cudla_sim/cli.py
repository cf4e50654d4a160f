"""The ``cudla-sim`` command."""

from __future__ import annotations

import sys

from . import flags, paths
from .core.text import tell


def main() -> int:
    """``cudla-sim --cflags`` and siblings answer at once; everything else is a sub-command."""
    words = sys.argv[1:]
    options = [w for w in words if w in flags.OPTIONS]
    if options and all(w in flags.OPTIONS or w == "--no-cuda" for w in words):
        cuda = "--no-cuda" not in words and not paths.real_cuda_present()
        try:
            print(*(flags.answer(option, cuda) for option in options))
        except OSError as error:
            tell(f"cudla-sim: the links to the libraries cannot be made: {error}")
            return 1
        return 0
    try:
        from .tools import root as commands  # after the options: build systems call those often

        return commands.run_command(words)
    except KeyboardInterrupt:
        return 130  # as shells say of a command that SIGINT ended
