"""The host headers: published values, layouts and macros, in C and C++, alone and in any order."""

from __future__ import annotations

import random
import subprocess
from enum import IntEnum
from pathlib import Path

import pytest

from cudla_sim import paths

from . import tables

UPMEM = paths.include_dir() / "upmem"
HEADERS = sorted(h.name for h in UPMEM.glob("*.h"))
DIALECTS = {
    "c11": ["gcc", "-x", "c", "-std=c11"],
    "gnu99": ["gcc", "-x", "c", "-std=gnu99"],
    "c++11": ["g++", "-x", "c++", "-std=c++11"],
    "c++20": ["g++", "-x", "c++", "-std=c++20"],
}


def complaints(text: str, dialect: str, folder: Path) -> str:
    """What the compiler says, with every warning on; empty when the text is clean."""
    source = folder / "source"
    source.write_text(text)
    options = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{UPMEM}"]
    if dialect != "gnu99":  # C99 itself has no unnamed unions, which struct dpu_set_t needs
        options.append("-Wpedantic")
    command = [*DIALECTS[dialect], *options, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_header_stands_alone(dialect: str, tmp_path: Path) -> None:
    for header in HEADERS:
        text = f"#include <{header}>\n#include <{header}>\nint main(void) {{ return 0; }}\n"
        assert complaints(text, dialect, tmp_path) == ""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_headers_go_together_in_any_order(dialect: str, tmp_path: Path) -> None:
    for seed in range(3):
        order = random.Random(seed).sample(HEADERS, len(HEADERS))
        text = "\n".join(f"#include <{h}>" for h in order)
        assert complaints(text + "\nint main(void) { return 0; }\n", dialect, tmp_path) == ""


@pytest.mark.parametrize("dialect", [d for d in DIALECTS if d != "gnu99"])
def test_values_and_layouts_are_the_published_ones(dialect: str, tmp_path: Path) -> None:
    word = "static_assert" if "++" in dialect else "_Static_assert"
    lines = ["#include <stddef.h>", *(f"#include <{h}>" for h in HEADERS)]
    for name, value in tables.CONSTANTS.items():
        lines.append(f'{word}((long long)({name}) == {value}LL, "{name}");')
    for name, (size, members) in tables.LAYOUT.items():
        lines.append(f'{word}(sizeof({name}) == {size}, "sizeof {name}");')
        for member, offset in members.items():
            lines.append(f'{word}(offsetof({name}, {member}) == {offset}, "{name}.{member}");')
    lines.append("int main(void) { return 0; }\n")
    assert complaints("\n".join(lines), dialect, tmp_path) == ""


@pytest.mark.parametrize("dialect", ["gnu99", "c++20"])
def test_types_have_their_tags(dialect: str, tmp_path: Path) -> None:
    """Programs name them by these, and libraries of C++ are linked by them."""
    lines = [f"#include <{h}>" for h in HEADERS]
    for name, tag in tables.TAGS.items():
        lines.append(f"{tag.replace(' *', '')};" if "struct" in tag else "")
        lines.append(f"extern {name} the_{name};\nextern {tag} the_{name};")
    lines.append("int main(void) { return 0; }\n")
    assert complaints("\n".join(lines), dialect, tmp_path) == ""


def test_texts(tmp_path: Path) -> None:
    lines = ["#include <stdio.h>", "#include <dpu.h>", "#include <dpu_log.h>", "int main(void) {"]
    lines += [f'    printf("%s|", {name});' for name in tables.TEXTS]
    source, program = tmp_path / "texts.c", tmp_path / "texts"
    source.write_text("\n".join([*lines, "    return 0;", "}\n"]))
    subprocess.run(["gcc", f"-I{UPMEM}", source, "-o", program], check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert printed == "".join(f"{text}|" for text in tables.TEXTS.values())


LOOPS = """
#include <dpu.h>
#include <dpu_management.h>
#include <dpu_log.h>

static unsigned visit(struct dpu_set_t *sets)
{
    struct dpu_set_t rank, dpu;
    struct dpu_t *one;
    uint32_t index, sum = 0;
    DPU_RANK_FOREACH(sets[0], rank) {
        DPU_FOREACH(rank, dpu, index) {
            sum += index;
            if (__dpu_it.count == 3) break;
        }
        DPU_FOREACH(rank, dpu) { sum += dpu.kind; }
        sum += __rank_it.count;
    }
    DPU_RANK_FOREACH(sets[0], rank, index)
        sum += index;
    STRUCT_DPU_FOREACH(dpu_rank_from_set(rank), one) sum += dpu_is_enabled(one);
    STRUCT_DPU_FOREACH(dpu_rank_from_set(rank), one, index) sum += index;
    return sum;
}

int main(void)
{
    struct dpu_set_t set;
    DPU_ASSERT(dpu_alloc(DPU_ALLOCATE_ALL, NULL, &set));
    DPU_CHECK(dpu_sync(set), return 1);
    if (visit(&set) == 0)
        DPU_ASSERT(dpu_free(set));
    else
        DPU_CHECK(dpu_free(set), return 2);
    return 0;
}
"""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_loops_and_checks_compile_clean(dialect: str, tmp_path: Path) -> None:
    assert complaints(LOOPS, dialect, tmp_path) == ""


INCBIN = """
#include <stdio.h>
#include <dpu.h>
DPU_INCBIN(kernel, "{file}")
int main(void)
{{
    fwrite(kernel.buffer, 1, kernel.size, stdout);
    printf("|%zu|%s", kernel.size, kernel.path);
    return 0;
}}
"""


@pytest.mark.parametrize("options", [["-fPIE", "-pie"], ["-fno-pie", "-no-pie"], ["-O3"]])
@pytest.mark.parametrize("compiler", ["gcc", "g++", "clang"])
def test_incbin_holds_the_file(compiler: str, options: list[str], tmp_path: Path) -> None:
    data = tmp_path / "some file.bin"
    data.write_bytes(b"any\0thing")
    language = "c++" if compiler == "g++" else "c"
    source, program = tmp_path / "incbin", tmp_path / "program"
    source.write_text(INCBIN.format(file=data))
    command = [compiler, "-x", language, *options, f"-I{UPMEM}", str(source), "-o", str(program)]
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        pytest.skip(f"{compiler} is not installed")
    printed = subprocess.run([program], capture_output=True, check=True).stdout
    assert printed == b"any\0thing|9|" + str(data).encode()


def test_python_has_the_same_numbers() -> None:
    from cudla_sim.constants import upmem

    values = {n: v for n, v in vars(upmem).items() if isinstance(v, int)}
    for kind in (getattr(upmem, name) for name in dir(upmem)):
        if isinstance(kind, type) and issubclass(kind, IntEnum):
            values |= {member.name: int(member) for member in kind}
    common = values.keys() & tables.CONSTANTS.keys()
    assert {n: values[n] for n in common} == {n: tables.CONSTANTS[n] for n in common}
    assert values["DPU_ERR_SG_NOT_MRAM_SYMBOL"] == 42
