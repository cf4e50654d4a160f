"""Writes the descriptors of ``include/nvdla/dla_interface.h`` as records of Python.

Layout and numbers are the header's. Here stand the names that Python has for them, and the values
that members begin with.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from . import layouts
from .layouts import Header, Member, Structure

_CODES = {
    f"c_{sign}int{bits}": f"{sign or 's'}{bits}" for sign in ("u", "") for bits in (8, 16, 32, 64)
}
_FORMATS = {"s8": "b", "u8": "B", "s16": "h", "u16": "H", "s32": "i", "u32": "I"}

# Enumerations: class -> (what the macros begin with and lose up to |, what they do not begin
# with, docstring).
_ENUMERATIONS = {
    "OpType": ("DLA_OP_", "DLA_OP_NUM", "Processor that runs an operation."),
    "Event": ("DLA_EVENT_", "", "What a consumer waits for."),
    "MemoryType": (
        "DLA_MEM_", "",
        "Where a data cube lives: DRAM, on-chip SRAM, or nowhere (handed on by another unit).",
    ),
    "Precision": ("PRECISION_", "", "Number format of an operand."),
    "SdpOpType": ("SDP_OP_", "SDP_OP_PER_", "Which parts of an SDP stage are used."),
    "SdpMode": ("SDP_OP_|PER_", "", "How many operands an SDP stage has."),
    "Activation": ("ACTIVATION_", "", "Activation of an SDP stage."),
}  # fmt: skip

# Structures: tag without dla_ -> (class, docstring, what members begin with besides 0).
_RECORDS: dict[str, tuple[str, str, dict[str, int]]] = {
    "network_desc": (
        "NetworkDesc",
        "Entry 0 of a task's address list: where the other lists are (address list indices).",
        {"*_index": -1, "num_rois": 1, "input_layer": -1},
    ),
    "consumer": (
        "Consumer",
        "An operation that waits for an event of another one; index -1 for none.",
        {"index": -1},
    ),
    "common_op_desc": ("CommonOpDesc", "Entry of the dependency graph.", {}),
    "roi_array_desc": ("RoiArray", "Head of the region-of-interest array.", {}),
    "roi_desc": ("Roi", "One region of interest.", {}),
    "data_cube": (
        "DataCube",
        "A tensor as an engine sees it; ``address`` indexes the task's address list.",
        {"address": -1},
    ),
    "cvt_param": ("CvtParam", "A converter: (x - offset) * scale >> truncate.", {}),
    "bdma_transfer_desc": (
        "BdmaTransfer",
        "One block copy; source and destination index the address list.",
        {},
    ),
    "bdma_surface_desc": ("BdmaSurface", "Surface descriptor of a BDMA operation.", {}),
    "bdma_op_desc": ("BdmaOp", "Operation descriptor of a BDMA operation.", {}),
    "conv_surface_desc": ("ConvSurface", "Surface descriptor of a convolution.", {}),
    "conv_op_desc": (
        "ConvOp",
        "Operation descriptor of a convolution. ``*_cmac`` is the output size.",
        {"batch": 1, "conv_stride_*": 1, "dilation_*": 1},
    ),
    "float_data": (
        "Slope",
        "Slope outside a table: integer scale and shift, or an fp16 pattern in ``scale``.",
        {},
    ),
    "lut_param": ("LutParam", "One entry of the LUT list.", {}),
    "sdp_op": ("SdpStage", "One of the three stages of an SDP operation (X1, X2, Y).", {}),
    "sdp_surface_desc": ("SdpSurface", "Surface descriptor of an SDP operation.", {}),
    "sdp_op_desc": (
        "SdpOp",
        "Operation descriptor of an SDP operation.",
        {"lut_index": -1, "batch_num": 1},
    ),
    "pdp_surface_desc": ("PdpSurface", "Surface descriptor of a PDP operation.", {}),
    "pdp_op_desc": (
        "PdpOp",
        "Operation descriptor of a PDP operation; pool_width and pool_height are size - 1.",
        {"split_num": 1, "stride_*": 1},
    ),
    "cdp_surface_desc": ("CdpSurface", "Surface descriptor of a CDP operation.", {}),
    "cdp_op_desc": ("CdpOp", "Operation descriptor of a CDP operation.", {"lut_index": -1}),
    "rubik_surface_desc": ("RubikSurface", "Surface descriptor of a RUBIK operation.", {}),
    "rubik_op_desc": ("RubikOp", "Operation descriptor of a RUBIK operation.", {}),
}
_STATISTICS = "Members of the statistics descriptor of each processor, all unsigned 32 bit."
_INLINE = {"struct dla_sdp_cvt"}
_SUFFIXES = {"struct dla_data_cube": "_data", "struct dla_sdp_op": "_op"}

_SIZES = {
    "NETWORK_SIZE": "struct dla_network_desc",
    "DEPENDENCY_SIZE": "struct dla_common_op_desc",
    "OPERATION_SIZE": "union dla_operation_container",
    "SURFACE_SIZE": "union dla_surface_container",
    "STAT_SIZE": "union dla_stat_container",
    "LUT_SIZE": "struct dla_lut_param",
}


def module(header: Path, include: Path, shim: Path) -> str:
    """The text of ``nvdla/dla_interface.py``."""
    found = layouts.read([header], include, shim, packed=True)
    older = layouts.read([header], include, shim, "-DDLA_OLD_DATA_CUBE", packed=True)
    before = {s.name: {m.name for m in s.members} for s in older.structures}
    by_name = {s.name: s for s in found.structures}
    used = set[str]()
    body = []
    for tag, (name, doc, first) in _RECORDS.items():
        structure = by_name[f"struct dla_{tag}"]
        body += ["", "", "@dataclass(slots=True)", f"class {name}(Record):"]
        body += [f'    """{doc}"""', ""]
        body += _members(structure, by_name, before[structure.name], first, used)
    widths = {word for word in used if word[1:].isdigit()}
    helpers = [*sorted(used - widths), *sorted(widths, key=lambda word: (word[0], int(word[1:])))]
    text = [
        '"""The structures of ``include/nvdla/dla_interface.h``.',
        "",
        "Generated by build_ffi.py; do not edit, run `python build_ffi.py`.",
        '"""',
        "",
        "# ruff: noqa: RUF009 - the member helpers return dataclasses.field(), nothing is shared",
        "",
        "from __future__ import annotations",
        "",
        "from dataclasses import dataclass",
        "from enum import IntEnum",
        "",
        f"from .record import Record, {', '.join(helpers)}",
        "",
        *(f"{name} = {by_name[kind].size}" for name, kind in _SIZES.items()),
    ]
    for name, (prefix, without, doc) in _ENUMERATIONS.items():
        text += ["", "", f"class {name}(IntEnum):", f'    """{doc}"""', ""]
        text += _enumerators(found, prefix, without)
    text += body
    text += ["", "", "STATISTICS: dict[OpType, tuple[str, ...]] = {"]
    for op in _enumerators(found, *_ENUMERATIONS["OpType"][:2]):
        processor = op.split()[0]
        text.append(f"    OpType.{processor}: (")
        members = by_name[f"struct dla_{processor.lower()}_stat_desc"].members
        text += [f'        "{member.name}",' for member in members]
        text.append("    ),")
    text.append("}")
    text.append(f'"""{_STATISTICS}"""')
    return "\n".join(text) + "\n"


def _enumerators(header: Header, prefix: str, without: str) -> list[str]:
    lost, _, kept = prefix.partition("|")
    return [
        f"    {name.removeprefix(lost)} = {value}"
        for name, value in header.numbers.items()
        if name.startswith(lost + kept) and not (without and name.startswith(without))
    ]


def _members(
    structure: Structure,
    known: dict[str, Structure],
    before: set[str],
    first: dict[str, int],
    used: set[str],
) -> list[str]:
    """The lines of a class; ``used`` gets the helpers that they call."""
    lines: list[str] = []
    gaps = 0

    def add(name: str, kind: str, helper: str, arguments: Sequence[object]) -> None:
        used.add(helper)
        lines.append(f"    {name}: {kind} = {helper}({', '.join(map(str, arguments))})")

    for member in _inlined(structure, known):
        name = member.name.removesuffix(_SUFFIXES.get(member.type, " "))
        kind = known.get(member.type)
        if kind is not None and kind.name.startswith("union "):
            value = kind.members[0]
            part = known.get(value.type)
            if part is not None:
                add(name, _class(part), "record", [_class(part)])
                continue
            add(name, "int", _CODES[value.type], [])
            for _ in range(kind.size - 1):
                add(f"reserved{gaps}", "int", "u8", [])
                gaps += 1
        elif kind is not None and member.lengths:
            add(name, f"list[{_class(kind)}]", "records", [_class(kind), *member.lengths])
        elif kind is not None:
            add(name, _class(kind), "record", [_class(kind)])
        elif member.lengths and member.type == "c_uint8":
            add(name, "bytes", "reserved", member.lengths)
        elif member.lengths:
            code = _FORMATS[_CODES[member.type]]
            add(name, "list[int]", "numbers", [f'"{code}"', *member.lengths])
        else:
            values = [v for pattern, v in first.items() if fnmatchcase(name, pattern)]
            since = [] if member.name in before else ['since="new"']
            add(name, "int", _CODES[member.type], [*values, *since])
    return lines


def _inlined(structure: Structure, known: dict[str, Structure]) -> list[Member]:
    found = []
    for member in structure.members:
        found += known[member.type].members if member.type in _INLINE else [member]
    return found


def _class(structure: Structure) -> str:
    return _RECORDS[structure.name.removeprefix("struct dla_")][0]
