"""Writes ``include/nvdla/opendla*.h`` from the register tables of the model.

    python -m codegen.registers        (in the project's folder, with the package installed)

Not a part of the build, which must not need numpy; a test compares the headers with the tables.
"""

from __future__ import annotations

from pathlib import Path

from cudla_sim.nvdla.facts import registers

_HEAD = """/*
 * {name} - {what}
 *
 * BLOCK_REGISTER_0 is the byte address of a register, BLOCK_REGISTER_0_FIELD_SHIFT and
 * BLOCK_REGISTER_0_FIELD_FIELD are the position and the mask (in place) of a field, and
 * BLOCK_REGISTER_0_FIELD_VALUE are the named values of a field. Written by
 * codegen/registers.py from the register tables of the model.
 */
#ifndef {guard}
#define {guard}
"""

_SELECT = """/*
 * opendla.h - the registers of NVDLA: of nv_full, or with DLA_2_CONFIG defined of nv_small,
 * nv_large and the other configurations of the second line. They differ in where the blocks lie.
 */
#ifndef __OPENDLA_H_
#define __OPENDLA_H_

#ifdef DLA_2_CONFIG
#include "opendla_small.h"
#else
#include "opendla_initial.h"
#endif

#endif
"""


# Names for plain numbers: a pooling kernel is stored as its size minus one.
_SIZES = {
    field: {f"{field}_{size}": size - 1 for size in range(1, 9)}
    for field in ("KERNEL_WIDTH", "KERNEL_HEIGHT")
}


def _differs(name: str, v1: str, master: str) -> list[str]:
    """One definition, or two under DLA_2_CONFIG where the lines differ."""
    if v1 == master:
        return [f"#define {name} {v1}"]
    return [
        "#ifdef DLA_2_CONFIG",
        f"#define {name} {master}",
        "#else",
        f"#define {name} {v1}",
        "#endif",
    ]


def _register(
    block: str, prefix: str, v1: registers.Register, second: registers.Register
) -> list[str]:
    name = f"{prefix}_{v1.name}_0"
    lines = [f"#define {name} (OPENDLA_{block} + {v1.offset:#x})"]
    for field in v1.fields:
        try:
            other = second.field(field.name)
        except KeyError:
            other = field
        start = f"{name}_{field.name}"
        lines += _differs(f"{start}_SHIFT", str(field.lsb), str(other.lsb))
        lines += _differs(f"{start}_FIELD", f"{field.mask:#x}u", f"{other.mask:#x}u")
        values = field.values or _SIZES.get(field.name, {})
        lines += [f"#define {start}_{n} {v}" for n, v in values.items()]
    return lines


def headers() -> dict[str, str]:
    """File name below include/nvdla -> contents."""
    v1, second = registers.blocks("v1"), registers.blocks("master")
    what = "registers of all blocks, whatever their place."
    common = [
        _HEAD.format(name="opendla_blocks.h", what=what, guard="__OPENDLA_BLOCKS_H_"),
    ]
    for name in {**v1, **second}:
        block = v1.get(name) or second[name]
        prefix = "NVDLA_CFGROM" if name == "CFGROM" else name
        for item in block.registers:
            peer = second[name].by_name.get(item.name, item) if name in second else item
            common += _register(name, prefix, item, peer)
        common.append("")
    files = {"opendla.h": _SELECT, "opendla_blocks.h": "\n".join([*common, "#endif", ""])}
    for file, what, blocks in (
        ("opendla_initial.h", "the registers of nv_full.", v1),
        ("opendla_small.h", "the registers of nv_small, nv_large and their line.", second),
    ):
        guard = f"__{file.upper().replace('.', '_')}_"
        text = [_HEAD.format(name=file, what=what, guard=guard)]
        text += [f"#define OPENDLA_{n} {b.base:#x}" for n, b in blocks.items()]
        text += ["", '#include "opendla_blocks.h"', "", "#endif", ""]
        files[file] = "\n".join(text)
    return files


def main() -> None:
    folder = Path(__file__).resolve().parents[1] / "include" / "nvdla"
    for name, text in headers().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
