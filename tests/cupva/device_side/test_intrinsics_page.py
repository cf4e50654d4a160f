"""The page of the VPU's functions is what the headers define.

``python -m tests.cupva.device_side.test_intrinsics_page`` writes it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cudla_sim import paths

PAGE = Path(__file__).parents[3] / "docs" / "vpu_intrinsics.md"
HEADER = """\
# Functions of the vector processor

What kernels find in `cupva_device.h` besides cuPVA's own functions. Generated from
`include/cupva/vpu_native/` by `python -m tests.cupva.device_side.test_intrinsics_page`, checked by
the tests.

| registers | lanes | bits of a lane | in memory |
|---|---|---|---|
| `vcharx`, `dvcharx` | 32, 64 | 12 | `vchar`, `vuchar`, `dvchar`, `dvuchar` |
| `vshortx`, `dvshortx` | 16, 32 | 24 | `vshort`, `vushort`, `dvshort`, `dvushort` |
| `vintx`, `dvintx` | 8, 16 | 48 | `vint`, `vuint`, `dvint`, `dvuint` |
| `vfloat`, `dvfloat` | 8, 16 | 32, float | the same |

Lanes are signed and arithmetic wraps at their width; a comparison gives 1 or 0 in each lane, a
condition holds where a lane is not 0. A product is shifted right by n: `VPU_TRUNC_n` drops the low
bits, `VPU_ROUND_n` adds half of the last one that stays first (n from 0 to 23); the result wraps.
A load extends each element to its lane; a store keeps the low bits, after the saturation that its
agen asks for.

Operators, lane by lane, a number standing for a vector of it: `+ - * & | ^ << >>` and their
assignments, `== != < <= > >= && ||`, `~ !` and the minus sign. `A`, `B`, `C` below are vectors or
numbers. Names with `dv` and with `v` take double and single vectors alike.
"""
LACK = """
## Not there

Met in public kernels, but in no public description, and kernels that use them do not compile:
`dvdiv`, `dvmul`, `dvset`, `dvsrl`, `dvtestz`, `dvzero`. The vendor's own list of intrinsics is a
guide that is not public as a whole: a name that is missing there and here is a name to report.
"""
FAMILIES = {
    "agen.h": "Address generators",
    "load_store.h": "Loads and stores",
    "intrinsics.h": "Arithmetic",
}
_FUNCTION = re.compile(
    r"static (?:constexpr )?inline\s+(?:[\w:<>,\s]+?[\s&*>])(\w+)\(([^()]*)\)(?:\s*->[^{]*)?\s*\{"
)


def compiler() -> str | None:
    return shutil.which("g++") or shutil.which("clang++")


def _parameter(text: str) -> str:
    text = re.sub(r"\bconst (.*)&", r"\1 ", text.strip()).replace("const ", "")
    return re.sub(r"\s+", " ", text).strip()


def functions() -> dict[str, dict[str, list[str]]]:
    """By family and name the parameter lists, in the order of the headers."""
    headers = paths.include_dir() / "cupva"
    command = [str(compiler()), "-x", "c++", "-std=gnu++17", "-E", f"-I{headers}"]
    text = subprocess.run(
        [*command, str(headers / "vpu_native.h")], check=True, capture_output=True, text=True
    ).stdout.replace("__attribute__((always_inline)) ", "")
    found: dict[str, dict[str, list[str]]] = {family: {} for family in FAMILIES.values()}
    sources: dict[str, str] = dict.fromkeys(FAMILIES, "")
    current = ""
    for line in text.splitlines():
        if line.startswith("# "):
            current = Path(line.split('"')[1]).name
        elif current in sources:
            sources[current] += line + "\n"
    for source, body in sources.items():  # what namespace pva holds is not static
        for name, parameters in _FUNCTION.findall(body):
            listed = ", ".join(_parameter(p) for p in parameters.split(","))
            found[FAMILIES[source]].setdefault(name, [])
            if listed not in found[FAMILIES[source]][name]:
                found[FAMILIES[source]][name].append(listed)
    return found


def page() -> str:
    parts = [HEADER]
    for family, names in functions().items():
        parts.append(f"\n## {family}\n\n| function | parameters |\n|---|---|\n")
        for name, lists in names.items():
            parts.append(f"| `{name}` | {'; '.join(f'`{p}`' for p in lists)} |\n")
    return "".join([*parts, LACK])


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler")
def test_the_page_lists_what_the_headers_define() -> None:
    assert PAGE.read_text() == page(), "python -m tests.cupva.device_side.test_intrinsics_page"


if __name__ == "__main__":
    PAGE.write_text(page())
