"""Every size, offset, enumerator and prototype of the published tables, checked by the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import tables
from .compile_check import CLEAN, INCLUDE, STANDARDS, is_cpp, rejected

GROUPS = {
    "cudla": (
        ["cudla.h", "cudlaExternalEtbl.hpp"],
        tables.CUDLA_CONSTANTS,
        tables.CUDLA_LAYOUT,
    ),
    "nvsci": (
        ["nvscierror.h", "nvsciipc.h", "nvscibuf.h", "nvscisync.h"],
        tables.NVSCI_CONSTANTS,
        tables.NVSCI_LAYOUT,
    ),
    "cuda": (["cuda_runtime.h", "cuda.h"], tables.CUDA_CONSTANTS, tables.CUDA_LAYOUT),
}

# C99 has no _Static_assert; an array of a negative size is the same complaint.
_ASSERT = {
    "c99": "#define CHECK(x, text) extern int check_[(x) ? 1 : -1]",
    "c11": "#define CHECK(x, text) _Static_assert(x, text)",
}

# A const variable is no constant expression in C; C checks these at run time (see below).
_VARIABLES = ("NvSciSyncFenceMaxTimeout",)


def assertions(group: str, standard: str) -> str:
    headers, constants, layout = GROUPS[group]
    lines = ["#include <stddef.h>"]
    lines += [f'#include "{header}"' for header in headers]
    lines.append(_ASSERT.get(standard, "#define CHECK(x, text) static_assert(x, text)"))
    for name, value in constants.items():
        if not is_cpp(standard) and name in _VARIABLES:
            continue
        text = f"{value:#x}ULL" if value >= 2**63 else f"{value}"
        lines.append(f'CHECK({name} == {text}, "{name}");')
    for name, (size, alignment, fields) in layout.items():
        lines.append(f'CHECK(sizeof({name}) == {size}, "sizeof {name}");')
        if standard != "c99":
            operator = "alignof" if is_cpp(standard) else "_Alignof"
            lines.append(f'CHECK({operator}({name}) == {alignment}, "alignment of {name}");')
        for field, offset in fields.items():
            lines.append(f'CHECK(offsetof({name}, {field}) == {offset}, "{name}.{field}");')
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("standard", STANDARDS)
@pytest.mark.parametrize("group", GROUPS)
def test_sizes_offsets_and_values_are_the_published_ones(
    group: str, standard: str, tmp_path: Path
) -> None:
    source = tmp_path / "layout.c"
    source.write_text(assertions(group, standard))
    assert rejected(source, standard) == ""


@pytest.mark.parametrize("standard", STANDARDS)
def test_functions_have_the_published_prototypes(standard: str, tmp_path: Path) -> None:
    published = (Path(__file__).parent / "prototypes.inc").read_text()
    text = "\n".join(f'#include "{h}"' for h in [*GROUPS["cudla"][0], *GROUPS["nvsci"][0]])
    if is_cpp(standard):
        published = f'extern "C" {{\n{published}}}\n'
    source = tmp_path / "prototypes.c"
    source.write_text(f"{text}\n{published}")
    assert rejected(source, standard) == ""


def test_a_wrong_table_would_be_noticed(tmp_path: Path) -> None:
    source = tmp_path / "wrong.c"
    for wrong in ('CHECK(sizeof(cudlaTask) == 40, "");', 'CHECK(CUDLA_STANDALONE == 2, "");'):
        source.write_text(assertions("cudla", "c11") + wrong)
        assert "assertion failed" in rejected(source, "c11")
    source.write_text(
        '#include "nvscibuf.h"\n'
        "NvSciError NvSciBufObjDup(const NvSciBufObj *bufObj, NvSciBufObj *dupObj);\n"
    )
    assert "conflicting types" in rejected(source, "c11")


def test_all_cuda_error_numbers_are_distinct(tmp_path: Path) -> None:
    """A switch with every enumerator compiles only when no two share a value."""
    for header, first in (("driver_types.h", "cudaSuccess"), ("cuda.h", "CUDA_SUCCESS")):
        body = (INCLUDE / "cuda" / header).read_text().split(first, 1)[1].split("}", 1)[0]
        names = [first, *(line.split("=")[0].strip() for line in body.splitlines() if "=" in line)]
        names = [n for n in names if n.startswith(("cudaE", "CUDA_ERROR"))]
        assert len(names) >= 99
        cases = "\n".join(f"case {n}: return 1;" for n in names)
        source = tmp_path / "switch.c"
        source.write_text(
            f'#include "{header}"\nint known(int e);\n'
            f"int known(int e) {{ switch (e) {{ {cases} default: return 0; }} }}\n"
        )
        assert rejected(source, "c11", *CLEAN) == ""
