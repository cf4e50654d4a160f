"""trtexec's command line: which words there are, and what they mean for a DLA loadable.

Words are ``--word`` or ``--word=value`` in any order, those of TensorRT 8 and of TensorRT 11.
Source: the help of trtexec in these releases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

FLAGS = {
    "buildDLAStandalone", "safe", "int8", "fp16", "best", "verbose", "dumpLayerInfo",
    "reportCapabilityDLA", "allowGPUFallback", "stronglyTyped", "help", "inventRanges",
    "adjustForDLA", "skipInference", "buildOnly", "skipBuild", "dumpProfile", "noDataTransfers",
}  # fmt: skip
VALUES = {
    "onnx", "saveEngine", "useDLACore", "inputIOFormats", "outputIOFormats", "calib",
    "precisionConstraints", "layerPrecisions", "layerOutputTypes", "shapes", "minShapes",
    "optShapes", "maxShapes", "memPoolSize", "exportLayerInfo", "config", "loadEngine",
    "board", "tensorrt", "exportProfile", "exportTimes", "iterations", "duration",
    "warmUp", "avgRuns",
}  # fmt: skip
IGNORED = {
    "workspace", "explicitBatch", "noTF32", "sparsity",
    "builderOptimizationLevel", "timingCacheFile", "profilingVerbosity",
    "streams", "useCudaGraph", "useSpinWait", "threads", "separateProfileRun", "exportOutput",
    "dumpOutput", "dumpRefit", "consistency", "noBuilderCache", "tacticSources", "batch",
    "maxBatch", "directIO", "uint8AsymmetricQuantizationDLA", "device",
    "percentile", "idleTime", "sleepTime", "infStreams", "exposeDMA", "useManagedMemory",
    "refit", "versionCompatible", "hardwareCompatibilityLevel", "maxAuxStreams", "markDebug",
    "errorOnTimingCacheMiss", "timeDeserialize", "timeRefit", "bf16",
    "noCompilationCache",
    "allowWeightStreaming", "stripWeights", "monitorMemory", "maxTactics", "tempdir",
    "tempfileControls", "persistentCacheRatio", "preview", "restricted", "nvtxMode",
}  # fmt: skip
ELSEWHERE = {
    "loadInputs": "running an engine on given inputs is `cudla-sim nvdla run`",
    "deploy": "Caffe models are not read; convert to ONNX",
    "model": "Caffe models are not read; convert to ONNX",
    "uff": "UFF models are not read; convert to ONNX",
    "fp8": "the DLA has no fp8; use --int8 or --fp16",
    "int4": "the DLA has no int4; use --int8",
    "plugins": "plugins cannot be compiled for the DLA",
    "staticPlugins": "plugins cannot be compiled for the DLA",
    "dynamicPlugins": "plugins cannot be compiled for the DLA",
}
MOST_SECONDS = 1_000_000
"""Of what is repeated."""
_UNITS = {"": 2**20, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_INPUTS = {"int8": ("chw32", "dla_linear", "dla_hwc4", "hwc4", "chw4"),
           "fp16": ("chw16", "dla_linear", "dla_hwc4", "hwc4", "chw4")}  # fmt: skip
_OUTPUTS = {"int8": ("chw32", "dla_linear"), "fp16": ("chw16", "dla_linear")}


class BadWord(Exception):
    """A word that trtexec would not take."""


@dataclass(slots=True)
class Words:
    """The parsed command line. *notes* are words that have no meaning here."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def value(self, name: str, default: str = "") -> str:
        """The value of a word."""
        return self.values.get(name, default)


def parse(words: Sequence[str]) -> Words:
    """Raises BadWord."""
    found = Words()
    for word in words:
        if word == "-h":
            word = "--help"
        if not word.startswith("--"):
            raise BadWord(f"Unknown option: {word}")
        name, equals, value = word[2:].partition("=")
        if name in FLAGS:
            if equals:
                raise BadWord(f"Option --{name} takes no value")
            found.flags.add(name)
        elif name in VALUES:
            if not value:
                raise BadWord(f"Option --{name} needs a value: --{name}=...")
            found.values[name] = value
        elif name in ELSEWHERE:
            raise BadWord(f"--{name}: {ELSEWHERE[name]}")
        elif name in IGNORED:
            found.notes.append(f"--{name} has no meaning for a DLA loadable and is ignored")
        else:
            raise BadWord(f"Unknown option: {word}")
    return found


def check(words: Words) -> None:
    """What trtexec checks before it builds. Raises BadWord."""
    if ("onnx" in words.values) == ("loadEngine" in words.values):
        raise BadWord("Model missing: say --onnx=FILE, or --loadEngine=FILE and no model")
    pace(words)
    pools(words.value("memPoolSize"))
    core = words.value("useDLACore")
    if core and not core.isdigit():
        raise BadWord(f"--useDLACore={core} is no number")
    if words.value("precisionConstraints", "none") not in ("none", "prefer", "obey"):
        raise BadWord("--precisionConstraints is none, prefer or obey")
    if "buildDLAStandalone" not in words.flags:
        return
    if not core:
        raise BadWord("--buildDLAStandalone needs --useDLACore=N")
    if "allowGPUFallback" in words.flags:
        raise BadWord("--buildDLAStandalone does not go with --allowGPUFallback")
    for name in ("inputIOFormats", "outputIOFormats"):
        if name not in words.values:
            raise BadWord(f"--buildDLAStandalone needs --{name}")


def pace(words: Words) -> dict[str, float]:
    """How long queries are repeated: warmUp (ms), duration (s), iterations, avgRuns, as far as
    they are given. Raises BadWord."""
    found = {}
    for name, least in (("warmUp", 0), ("duration", 0), ("iterations", 1), ("avgRuns", 1)):
        text = words.value(name)
        if not text:
            continue
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        whole = name in ("iterations", "avgRuns")
        if not least <= number <= MOST_SECONDS or (whole and not number.is_integer()):
            kind = "whole number" if whole else "number"
            raise BadWord(f"--{name}={text} is no {kind} from {least} to {MOST_SECONDS}")
        found[name] = number
    return found


def pools(text: str) -> dict[str, int]:
    """``pool:size,...`` of --memPoolSize in bytes. Raises BadWord.

    The SRAM is rounded down to a power of two; the DRAM of a DLA has to be one, of at least 4 KiB.
    Source: help of trtexec; developer guide, Customizing DLA memory pools.
    """
    found = {}
    for part in text.split(",") if text else []:
        name, colon, size = part.partition(":")
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([BKMG]?)", size, re.IGNORECASE)
        if not colon or not match:
            raise BadWord(f"--memPoolSize: {part!r} is not pool:size")
        if name not in ("workspace", "dlaSRAM", "dlaLocalDRAM", "dlaGlobalDRAM", "tacticSharedMem"):
            raise BadWord(f"--memPoolSize: there is no pool {name!r}")
        bytes_ = int(float(match[1]) * _UNITS[match[2].upper()])
        if name == "dlaSRAM" and bytes_:
            bytes_ = 1 << (bytes_.bit_length() - 1)
        if name.startswith("dla") and (bytes_ < 4096 or bytes_ & (bytes_ - 1)):
            raise BadWord(f"--memPoolSize: {part!r} is no power of two of at least 4 KiB")
        found[name] = bytes_
    return found


def io_formats(text: str, precision: str, output: bool) -> list[str]:
    """``type:format+format,...`` as one type:format for each tensor: the first of each that a DLA
    has. Raises BadWord."""
    found = []
    for part in text.split(",") if text else []:
        kind, colon, names = part.partition(":")
        if not colon:  # TensorRT 11: the type is the network's
            kind, names = precision, part
        allowed = (_OUTPUTS if output else _INPUTS).get(kind, ())
        chosen = next((name for name in names.split("+") if name in allowed), "")
        if not chosen:
            which = "--outputIOFormats" if output else "--inputIOFormats"
            options = ", ".join(f"{k}:{n}" for k, v in
                                (_OUTPUTS if output else _INPUTS).items() for n in v)  # fmt: skip
            raise BadWord(f"{which}: {part} is no format of the DLA; there are {options}")
        found.append(f"{kind}:{chosen}")
    return found


def layer_precisions(text: str, nodes: Sequence[str]) -> dict[str, str]:
    """``name:type,...`` for the nodes of a network: later wins, * is for the rest."""
    given: dict[str, str] = {}
    for part in text.split(",") if text else []:
        name, colon, kind = part.rpartition(":")
        if not colon or kind.partition("+")[0] not in ("fp32", "fp16", "int8", "int32"):
            raise BadWord(f"--layerPrecisions: {part!r} is not name:type")
        given[name] = kind.partition("+")[0]
    return {node: given.get(node, given.get("*", "")) for node in nodes}
