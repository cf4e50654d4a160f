"""The command line of the DPU compiler, as programs in the wild write it.

Source of the rules: UPMEM SDK 2025.1, user manual, "Compiling and linking"; a DPU program takes its
number of tasklets and its stack sizes from ``-D`` options given at compile or at link time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from ..assembler.start import DEFAULT_STACK as DEFAULT_STACK_BYTES

MAX_TASKLETS = {"v1A": 24, "v1B": 16}

_WITH_VALUE = {
    *("-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter"),
    *("-o", "-x", "-L", "-l", "-T", "-u", "-target", "-MF", "-MT", "-MQ", "-Xlinker"),
    *(
        "-Xclang",
        "-Xassembler",
        "-Xpreprocessor",
        "-arch",
        "-e",
        "-mllvm",
        "-isysroot",
        "--sysroot",
    ),
}
_PREPROCESSOR = ("-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter")
_DEPENDENCY = {"-M", "-MM", "-MD", "-MMD", "-MP", "-MG", "-MV"}
_IGNORED = {
    *("-nostartfiles", "-nostdlib", "-nodefaultlibs", "-static", "-pipe", "-rdynamic", "-fPIC"),
    *("-fpic", "-fPIE", "-fpie", "-pie", "-no-pie", "-pthread", "-p", "-save-temps"),
    *("-fuse-init-array", "-nostdinc", "-ffreestanding"),
}
_IGNORED_START = (
    *("-flto", "-fno-lto", "-mcpu=", "-march=", "-mtune=", "-fuse-ld", "-fsanitize", "--rtlib"),
    *("-fstack-size-section", "-stdlib=", "--gcc-toolchain", "-resource-dir", "-fcoverage"),
    *("-fprofile", "-funsafe-math", "-ffast-math", "-Ofast", "-fassociative-math", "-femulated"),
)
_CXX = (".cpp", ".cc", ".cxx", ".c++", ".cp", ".CPP", ".C")
_LANGUAGES = {
    ".c": "c",
    ".i": "cpp-output",
    ".S": "assembler-with-cpp",
    ".sx": "assembler-with-cpp",
    ".s": "assembler",
    **dict.fromkeys(_CXX, "c++"),
    ".ii": "c++-cpp-output",
}
_SUPPORTED = frozenset(_LANGUAGES.values())
_HEADERS = {
    ".h": "c-header",
    **dict.fromkeys((".hh", ".hpp", ".hxx", ".H", ".h++", ".hp"), "c++-header"),
}
"""Only preprocessed: a DPU program has no precompiled headers."""
_UNSUPPORTED = {
    ".ll": "ir",
    ".bc": "ir",
    ".m": "objective-c",
    ".mm": "objective-c++",
    ".M": "objective-c++",
    ".mi": "objective-c-cpp-output",
    ".mii": "objective-c++-cpp-output",
    ".cl": "cl",
    ".cu": "cuda",
    ".cui": "cuda-cpp-output",
    ".hip": "hip",
    ".rs": "renderscript",
    ".asm": "assembler-with-cpp of Windows",
    ".pch": "ast",
    ".ast": "ast",
    ".pcm": "precompiled module",
    ".cppm": "c++-module",
    **dict.fromkeys((".f", ".f90", ".f95", ".F", ".F90", ".F95", ".for", ".FOR"), "f95"),
    **dict.fromkeys((".ads", ".adb"), "ada"),
    ".d": "d",
    ".go": "go",
}
"""Languages that clang knows and a DPU program cannot be made of here."""
_OTHERS = {*_UNSUPPORTED.values(), *_HEADERS.values()}
_LINKED = {".o", ".obj", ".a", ".lo", ".so", ".lib", ""}
"""Endings of files that are only linked."""

# Options that the compiler behind us understands or refuses; all others are unknown here.
_COMPILERS = re.compile(
    r"-(O.*|g.*|f.+|W.*|w|m.+|d[A-Z]+|pedantic(-errors)?|P|C|CC|H|Q.*|R.+|s|B.+|time|ftime.*"
    r"|trigraphs|undef|traditional(-cpp)?|nostdinc\+\+|nostdlib\+\+|no-canonical-prefixes"
    r"|(no-)?integrated-as|emit-llvm)"
    r"|--(param=.*|std=.*|driver-mode=.*|config=.*|verbose|coverage|pedantic(-errors)?)"
)


class UsageError(Exception):
    """A command line that no compiler could follow; the text is what to print."""


@dataclass
class Input:
    """A file, or ``-`` for the standard input; ``language`` is empty for what only links."""

    path: str
    language: str


@dataclass
class Options:
    action: str = "link"  # link, compile (-c), assemble (-S), preprocess (-E), dependencies (-M)
    inputs: list[Input] = field(default_factory=list)
    output: str | None = None
    preprocess: list[str] = field(default_factory=list)
    compile: list[str] = field(default_factory=list)
    dependencies: list[str] = field(default_factory=list)
    link: list[str] = field(default_factory=list)  # in order: @index of inputs, -l, -L, -Wl values
    defines: dict[str, str] = field(default_factory=dict)
    generation: str = "v1A"
    verbose: bool = False
    dry_run: bool = False
    query: str | None = None  # --version and the like: nothing is compiled

    @property
    def tasklets(self) -> int:
        """NR_TASKLETS, 1 when the command line does not say. Raises UsageError above the limit."""
        count = _integer("NR_TASKLETS", self.defines.get("NR_TASKLETS", "1"))
        limit = MAX_TASKLETS[self.generation]
        if not 1 <= count <= limit:
            raise UsageError(
                f"NR_TASKLETS is {count}: a DPU of generation {self.generation} runs 1 to {limit}"
            )
        return count

    def stack_bytes(self, tasklet: int) -> int:
        """Declared stack of a tasklet in bytes, a multiple of 8."""
        text = self.defines.get(f"STACK_SIZE_TASKLET_{tasklet}") or self.defines.get(
            "STACK_SIZE_DEFAULT", str(DEFAULT_STACK_BYTES)
        )
        return (_integer("stack size", text) + 7) & ~7

    @property
    def stdout_buffer_bytes(self) -> int:
        """Declared buffer of what assembly prints: STDOUT_BUFFER_SIZE, 0 without it."""
        return (
            _integer("STDOUT_BUFFER_SIZE", self.defines.get("STDOUT_BUFFER_SIZE", "0")) + 7
        ) & ~7


def _integer(name: str, text: str) -> int:
    digits = text.strip().strip("()").rstrip("uUlL")
    try:
        return int(digits, 0)
    except ValueError:
        raise UsageError(f"{name} must be a number here, not {text!r}") from None


def _language(path: str, chosen: str | None) -> str:
    if chosen:
        return chosen
    suffix = Path(path).suffix
    if path == "-":
        return "-"
    if suffix in _LANGUAGES:
        return _LANGUAGES[suffix]
    return _HEADERS.get(suffix) or _UNSUPPORTED.get(suffix, "")


def check_inputs(o: Options) -> None:
    """Refuses what no step could take, in clang's words, before anything is compiled.

    Raises UsageError.
    """
    missing = [i.path for i in o.inputs if i.path != "-" and not Path(i.path).exists()]
    if missing:
        lines = [f"no such file or directory: '{path}'" for path in missing]
        if len(missing) == len(o.inputs):
            lines.append("no input files")
        raise UsageError(*lines)
    for source in o.inputs:
        _check_input(o, source)


def _check_input(o: Options, source: Input) -> None:
    preprocessed = o.action in ("preprocess", "dependencies")
    if source.language == "-":
        if not preprocessed:
            raise UsageError("-E or -x required when input is from standard input")
        source.language = "c"
    if source.language in ("c-header", "c++-header") and preprocessed:
        source.language = source.language.removesuffix("-header")
    if source.language and source.language not in _SUPPORTED:
        raise UsageError(
            f"'{source.path}': language not supported: '{source.language}'; a DPU program is "
            "compiled from C (.c, .i), C++ (.cpp, .ii) and assembly (.S, .s)"
        )
    if not source.language and o.action != "link" and Path(source.path).suffix not in _LINKED:
        raise UsageError(
            f"'{source.path}': file type not recognized; -x says which language it is: "
            + ", ".join(sorted(_SUPPORTED))
        )


def expand_files(arguments: list[str]) -> list[str]:
    """``@file`` replaced by the words of that file, as compilers do."""
    result = []
    for argument in arguments:
        if argument.startswith("@") and Path(argument[1:]).is_file():
            import shlex

            result += expand_files(shlex.split(Path(argument[1:]).read_text()))
        else:
            result.append(argument)
    return result


def parse(arguments: list[str], generation: str = "v1A") -> Options:
    """Reads a command line. Raises UsageError."""
    o = Options(generation=generation)
    chosen: str | None = None
    words = iter(expand_files(arguments))
    for word in words:
        name, value = word, None
        if word in _WITH_VALUE:
            value = next(words, None)
            if value is None:
                raise UsageError(f"argument to '{word}' is missing (expected 1 value)")
        elif match := re.match(r"-(?:include|isystem|iquote|idirafter|MF|MT|MQ|[IDUoxLlTu])", word):
            name, value = match[0], word[match.end() :]
        if word == "-" or not word.startswith("-"):
            o.inputs.append(Input(word, _language(word, chosen)))
            o.link.append(f"@{len(o.inputs) - 1}")
        elif name == "-o":
            o.output = value
        elif name == "-x" and value is not None:
            if value not in _SUPPORTED and value not in _OTHERS and value != "none":
                raise UsageError(f"language not recognized: '{value}'")
            chosen = None if value == "none" else value
        elif name in _PREPROCESSOR and value is not None:
            o.preprocess += [name, value]
            if name == "-D":
                key, _, text = value.partition("=")
                o.defines[key] = text or "1"
        elif name in ("-MF", "-MT", "-MQ") and value is not None:
            o.dependencies += [name, value]
        elif name in ("-L", "-l") and value is not None:
            o.link.append(name + value)
        elif name == "-Xlinker" and value is not None:
            _linker(o, [value])
        elif name in ("-Xclang", "-mllvm") and value is not None:
            o.compile += [name, value]
        elif not _simple(o, word) and value is None:
            if not _COMPILERS.fullmatch(word):
                raise UsageError(f"unknown argument: '{word}'")
            o.compile.append(word)
    if not any("NR_TASKLETS" in word for word in arguments):
        o.preprocess += ["-D", "NR_TASKLETS=1"]  # as the SDK's driver defines it
    if o.query is None:
        if not o.inputs:
            raise UsageError("no input files")
        check_inputs(o)
    return o


def _linker(o: Options, words: list[str]) -> None:
    keep = (
        "--whole-archive",
        "--no-whole-archive",
        "--start-group",
        "--end-group",
        "--gc-sections",
    )
    for word in words:
        if word in keep or word.startswith(("-Map", "--defsym=", "-u")):
            o.link.append(word)


def _simple(o: Options, word: str) -> bool:
    """Options of one word that are not just handed to the compiler."""
    actions = {
        "-c": "compile",
        "-S": "assemble",
        "-E": "preprocess",
        "-fsyntax-only": "syntax",
    }
    if word in actions:
        o.action = actions[word]
    elif word in _DEPENDENCY:
        o.dependencies.append(word)
        if word in ("-M", "-MM"):
            o.action = "dependencies"
    elif word.startswith("-Wl,"):
        _linker(o, word.split(",")[1:])
    elif word.startswith("-Wp,"):
        o.preprocess.append(word)
    elif word.startswith("-std=") or word == "-ansi":
        o.compile.append(word)
        o.preprocess.append(word)
    elif word.startswith("-mcpu="):
        if word[6:] not in MAX_TASKLETS:
            raise UsageError(f"unknown target CPU '{word[6:]}': valid are v1A, v1B")
        o.generation = word[6:]
    elif word in (
        "--version",
        "-dumpversion",
        "-dumpmachine",
        "--print-target-triple",
        "--help",
        "-help",
    ) or word.startswith(("-print-", "--print-")):
        o.query = word
    elif word == "-pg":
        o.preprocess += ["-D", "DPU_PROFILING"]
    elif word == "-v":
        o.verbose = True
    elif word == "-###":
        o.dry_run = True
    elif word == "-Ofast":
        o.compile.append("-O3")
    elif word in _IGNORED or word.startswith(_IGNORED_START) or word.startswith("--target="):
        pass
    else:
        return False
    return True
