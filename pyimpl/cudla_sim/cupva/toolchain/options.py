"""The command line of ``cudla-sim pva-cc``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

USAGE = """\
usage: cudla-sim pva-cc [options] sources... [-o kernel.o]

Compiles the sources of one VPU kernel to an object file that defines _cupva_exe_data_<name> and
_cupva_exe_size_<name>, which PVA_DECLARE_EXECUTABLE(<name>) of the host program names.

  -o file        the object file; default <name>.o
  --name name    name of the executable; default: the first source without its suffix
  --image file   write the VPU executable itself to a file as well
  -I -D -U -O -g -W -f -m -std= -include -isystem -MD -MF ...
                 as for a C++ compiler; kernels are compiled as C++17 with -O2 for this very
                 machine, and refused by one that cannot run them
  --portable     several builds in one (x86-64-v2, -v3, -v4): the best one for the machine that
                 runs the program is taken; compiling takes three times as long
  -L -l          libraries for the VPU (objects and archives can be named like sources)
  -v             show the commands
"""

_WITH_VALUE = (
    *("-o", "-I", "-D", "-U", "-L", "-l", "-include", "-isystem", "-iquote", "-idirafter"),
    *("-MF", "-MT", "-MQ", "-x", "--name", "-name", "--image"),
)
_LINK = ("-L", "-l")
_JOINED = "-[oLlx](?=.)"
_IGNORED = ("-c", "-fPIC", "-fpic", "-fPIE", "-fpie", "-pie", "-no-pie", "-shared", "-pipe")
_OBJECTS = (".o", ".a", ".so")


class UsageError(Exception):
    """A command line that cannot be followed; the text says why."""


@dataclass
class Options:
    sources: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    compile: list[str] = field(default_factory=list)
    link: list[str] = field(default_factory=list)
    dependencies: list[str] = field(default_factory=list)
    output: str = ""
    name: str = ""
    image: str = ""
    verbose: bool = False
    portable: bool = False
    dependency_output: str = ""

    @property
    def dependency_file(self) -> str:
        """Where the rules of -MD go."""
        return self.dependency_output or str(Path(self.output).with_suffix(".d"))

    @property
    def executable(self) -> str:
        """The name after ``_cupva_exe_data_``; an identifier."""
        return self.name or re.sub(r"\W", "_", Path(self.sources[0]).stem)


def parse(words: list[str]) -> Options:
    """Raises UsageError."""
    options = Options()
    rest = iter(words)
    for word in rest:
        name, value = word, ""
        if word in _WITH_VALUE:
            value = next(rest, "")
            if not value:
                raise UsageError(f"{word} needs a value")
        elif "=" in word and word.partition("=")[0] in ("--name", "-name", "--image"):
            name, _, value = word.partition("=")
        elif match := re.match(_JOINED, word):
            name, value = match[0], word[2:]
        _take(options, word, name, value)
    if not options.sources:
        raise UsageError("no sources")
    if not re.fullmatch(r"[A-Za-z_]\w*", options.executable):
        raise UsageError(f"--name {options.executable!r} is no C identifier")
    options.output = options.output or f"{options.executable}.o"
    return options


def _take(options: Options, word: str, name: str, value: str) -> None:
    if not word.startswith("-"):
        suffix = Path(word).suffix
        (options.objects if suffix in _OBJECTS else options.sources).append(word)
    elif name == "-o":
        options.output = value
    elif name in ("--name", "-name"):
        options.name = value
    elif name == "--image":
        options.image = value
    elif name in _LINK:
        options.link.append(name + value)
    elif name == "-MF":
        options.dependency_output = value
    elif name in ("-MD", "-MMD", "-MP", "-MT", "-MQ"):
        options.dependencies += [name, value] if value else [name]
    elif word == "--portable":
        options.portable = True
    elif word == "-v":
        options.verbose = True
    elif word in _IGNORED or name == "-x" or _is_c_standard(word):
        pass  # kernels are C++ and never position independent
    elif word in _WITH_VALUE:
        options.compile += [name, value]
    else:
        options.compile.append(word)


def _is_c_standard(word: str) -> bool:
    return word == "-ansi" or bool(re.fullmatch(r"-std=(c|gnu|iso9899:)[0-9a-z]+", word))
