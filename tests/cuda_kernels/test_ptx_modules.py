"""Texts of PTX taken apart and written as C++; what they compute: tests/reference/driver_ptx.c."""

from __future__ import annotations

import re

import pytest

from cudla_sim.cuda_kernels.jit import is_ptx
from cudla_sim.cuda_kernels.ptx.module.assembly import parse, places
from cudla_sim.cuda_kernels.ptx.module.body import pieces
from cudla_sim.cuda_kernels.ptx.module.translate import translate
from cudla_sim.cuda_kernels.ptx.module.variables import memory
from cudla_sim.cuda_kernels.ptx.scope import CannotTranslate

HEAD = ".version 8.0\n.target sm_87, debug\n.address_size 64\n"


def test_declarations() -> None:
    found = parse(
        HEAD
        + """
        .file 1 "a b.cu"
        // .global .u32 no;
        /* .global .u32 none; */
        .visible .global .align 16 .b8 bytes[] = {1, 2, 0xF, 4};
        .extern .shared .align 4 .b8 dynamic[];
        .global .align 8 .u64 table[2][2] = { {bytes, bytes+4}, {0, generic(bytes)} }, one;
        .const .v4 .f32 four = {0f3F800000, 0f40000000, 0.5, 2};
        .alias other, f;
        .section .debug_str { .b8 1 .b8 "}" }
        .extern .func (.param .b32 r) f (.param .b64 a, .param .align 8 .b8 b[24]) .noreturn;
        .weak .entry k(.param .u64 .ptr .global .align 1 to) .reqntid 8, 4 .minnctapersm 2 { ret; }
        """
    )
    assert [(v.name, v.size, v.alignment, v.linkage) for v in found.variables] == [
        ("bytes", 4, 16, "visible"),
        ("dynamic", 0, 4, "extern"),
        ("table", 32, 8, ""),
        ("one", 8, 8, ""),
        ("four", 16, 16, ""),
    ]
    f, k = found.functions
    assert (f.entry, f.body, [p.size for p in f.parameters], f.returned[0].kind) == (
        *(False, None),
        *([8, 24], "b32"),
    )
    assert (k.entry, k.linkage, k.threads, k.parameters[0].alignment) == (True, "weak", 32, 8)
    assert found.files == {"1": "a b.cu"}
    assert found.aliases == {"other": "f"}


@pytest.mark.parametrize("size", [71, 72, 80])
def test_many_bytes_become_words(size: int) -> None:
    given = bytes(n * 37 % 256 for n in range(71))
    listed = ", ".join(map(str, given))
    found = parse(f"{HEAD}.global .align 1 .b8 bytes[{size}] = {{{listed}}};")
    made = memory(found.variables[0], str)
    numbers = re.findall(r"\b(?:0x[0-9a-f]+|\d+)\b", made.initial)
    words = b"".join(int(n, 16).to_bytes(8, "little") for n in numbers if n.startswith("0x"))
    rest = bytes(int(n) for n in numbers if not n.startswith("0x"))
    assert words + rest == given.ljust(size, b"\0")


def test_rows_of_registers() -> None:
    assert [place.name for place in places(".reg .b32 %r<3>, %x")] == ["%r0", "%r1", "%r2", "%x"]


def test_statements_and_their_lines() -> None:
    body = "\n.reg .b32 %r<3>;\n{ mov.b64 {%r1, %r2}, %d1;\n}\nend:\n\n  .loc 1 7 3\n  ret;"
    body += "\nt: .branchtargets a,\n b; last: x: { }"
    assert [(piece.text, piece.line) for piece in pieces(body, 10)] == [
        (".reg .b32 %r<3>", 11),
        ("{", 12),
        ("mov.b64 {%r1, %r2}, %d1", 12),
        ("}", 13),
        ("end:", 14),
        (".loc 1 7 3", 16),
        ("ret", 17),
        ("t: .branchtargets a,\n b", 18),
        ("last:", 19),
        ("x:", 19),
        ("{", 19),
        ("}", 19),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (".entry k() { wgmma.fence.sync.aligned; }", "wgmma.fence"),
        (".entry k() { mov.u32 %r1, %tid.x; }", "%r1"),
        (".entry k() { .reg .b32 %r; mov.u32 %r, nobody; }", "nobody"),
        (".entry k() { call nobody, (); }", "nobody"),
        (".extern .func f(); .entry k() { call f, (); }", "no image defines"),
        (".global .u32 x = nobody;", "x: an address of 32 bits"),
        (".global .texref t;", "texref"),
        (".entry k( {", "( without )"),
        (".entry k() { add.s32 ; }", "add.s32"),
        (".nonsense;", ".nonsense"),
    ],
)
def test_what_is_not_known_is_named(text: str, said: str) -> None:
    with pytest.raises(CannotTranslate) as refused:
        translate([("a.ptx", HEAD + text)])
    assert said in str(refused.value)


def test_images_that_define_one_name() -> None:
    text = HEAD + ".visible .global .u32 x;"
    with pytest.raises(CannotTranslate, match="defined by two images"):
        translate([("a.ptx", text), ("b.ptx", text)])
    own = HEAD + ".global .u32 x;"
    assert translate([("a.ptx", own), ("b.ptx", own)]).count("uint8_t cudla_sim_u") == 4


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (b".version 9.0", True),
        (b"\n// by hand\n/* and\nmore */\n .target sm_80", True),
        (b"//", False),
        (b"/* open", False),
        (b"int x;", False),
        (b"", False),
    ],
)
def test_what_looks_like_ptx(text: bytes, known: bool) -> None:
    assert is_ptx(text) is known
