"""Each header alone, all together, and the call patterns of published programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudla_sim import families

from .compile_check import CLEAN, CPP_STANDARDS, INCLUDE, STANDARDS, is_cpp, rejected

HEADERS = sorted({*families.HEADERS, *(f"cuda/{p.name}" for p in (INCLUDE / "cuda").glob("*.h"))})
# dpu_types.h has an anonymous union, as UPMEM's own.
NOT_C99 = "upmem/"
INNER_ENDS = (pytest.param(standard, marks=pytest.mark.slow) for standard in ("c11", "c++11"))
ENDS = ("c99", "c++20", *INNER_ENDS)
"""The first and the last standard of C and of C++. Those between see all headers together, and so
do C11 and C++11 in the fast tier."""
PATTERNS = Path(__file__).parent / "patterns"


@pytest.mark.parametrize("standard", ENDS)
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_compiles_alone_without_a_warning(
    header: str, standard: str, tmp_path: Path
) -> None:
    if standard == "c99" and header.startswith(NOT_C99):
        return
    source = tmp_path / "alone.c"
    source.write_text(f'#include "{header}"\n#include "{header}"\nextern int nothing;\n')
    assert rejected(source, standard, *CLEAN) == ""


@pytest.mark.parametrize("standard", STANDARDS)
def test_all_headers_compile_together_in_either_order(standard: str, tmp_path: Path) -> None:
    source = tmp_path / "together.c"
    headers = [h for h in HEADERS if standard != "c99" or not h.startswith(NOT_C99)]
    for order in (headers, headers[::-1]):
        source.write_text("".join(f'#include "{h}"\n' for h in order) + "extern int nothing;\n")
        assert rejected(source, standard, *CLEAN) == ""


@pytest.mark.parametrize("standard", STANDARDS)
def test_the_generator_of_bindings_sees_no_attribute_and_no_body(
    standard: str, tmp_path: Path
) -> None:
    """What build_ffi.py relies on: under CUDLA_SIM_PARSE there are only declarations."""
    for path in [*INCLUDE.glob("nvsci*.h"), INCLUDE / "cudla.h", *(INCLUDE / "cuda").glob("*.h")]:
        visible = _visible_under_parse(path.read_text())
        assert "__attribute__" not in visible, path.name
        assert "static " not in visible, path.name
        if path.name != "cuda_runtime.h":  # its C++ part is hidden by __cplusplus
            assert "inline " not in visible, path.name
    source = tmp_path / "parse.c"
    source.write_text('#include "nvscisync.h"\n#include "cuda_runtime.h"\n#include "cuda.h"\n')
    assert rejected(source, standard, "-DCUDLA_SIM_PARSE") == ""


def _visible_under_parse(text: str) -> str:
    """Drops the branches of ``#if`` that CUDLA_SIM_PARSE or plain C leaves out."""
    kept: list[str] = []
    stack: list[bool] = []
    for line in text.splitlines():
        word = line.strip()
        if word.startswith("#if"):
            hidden = "!defined(CUDLA_SIM_PARSE)" in word or word == "#if defined(__cplusplus)"
            stack.append(not hidden)
        elif word.startswith("#else") and stack:
            # The other branch of `#if defined(CUDLA_SIM_PARSE)` is the compiler's.
            stack[-1] = not stack[-1]
        elif word.startswith("#endif") and stack:
            stack.pop()
        elif all(stack):
            kept.append(line)
    return "\n".join(kept)


@pytest.mark.parametrize("standard", CPP_STANDARDS)
@pytest.mark.parametrize("program", sorted(p.name for p in PATTERNS.glob("*.cpp")))
def test_call_patterns_of_published_programs_type_check(program: str, standard: str) -> None:
    assert rejected(PATTERNS / program, standard, "-Wall", "-Werror") == ""


@pytest.mark.parametrize("standard", [s for s in STANDARDS if not is_cpp(s)])
@pytest.mark.parametrize("program", sorted(p.name for p in PATTERNS.glob("*.c")))
def test_call_patterns_in_c_type_check(program: str, standard: str) -> None:
    assert rejected(PATTERNS / program, standard, *CLEAN) == ""
