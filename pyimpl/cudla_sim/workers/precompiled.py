"""Headers that g++ compiles once: for which compilers, and what make is told of them.

Source: GCC manual, "Using Precompiled Headers".
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path


def can(compiler: str) -> bool:
    """Whether a compiler is g++: by its name, for a question to it would cost what is saved."""
    return "g++" in os.path.basename(os.path.realpath(shutil.which(compiler) or compiler))


def name_source(dependencies: Path, made: Path, source: Path) -> None:
    """In a file of dependencies for make the header *made* and what lies beside it, which may be
    gone when make is called again, become the *source* that they stand for."""
    text = dependencies.read_text("utf-8", "surrogateescape")
    for name in (f"{made}.gch", str(made)):
        word = re.escape(_escaped(name))
        text = re.sub(rf"^{word}:.*\n|[ \t]{word}(?=[ \t\n])", "", text, flags=re.MULTILINE)
    text = re.sub(r":(?=[ \t])", lambda _: f": {_escaped(str(source))}", text, count=1)
    dependencies.write_text(text, "utf-8", "surrogateescape")


def _escaped(name: str) -> str:
    """A name as g++ writes it for make."""
    return name.replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
