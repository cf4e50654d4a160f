"""The instruction table: no bit without meaning, no word with two forms, words of programs."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from cudla_sim.upmem.isa import conditions
from cudla_sim.upmem.isa.fields import WORD_BITS
from cudla_sim.upmem.isa.forms import Destination, Form
from cudla_sim.upmem.isa.table import BY_NAME, FORMS, decode
from tests.conftest import ROOT

WORDS = {
    0x3C7383000006: "SUB_NONE_I_BRANCH",
    0x7CE346000000: "SD_I",
    0x6BE3009C0000: "OR_WORD_WIDE_PLAIN",
    0x2FDF01FF0003: "ADD_WORD_I_BRANCH",
    0x7DF320100000: "BOOT_PLAIN",
    0x7B7F46810000: "LD",
    0x8BE300630000: "CALL_WORD_I_PLAIN",
    0x8C5F00000000: "CALL_NONE_I_PLAIN",
    0x7EF32100000A: "STOP_BRANCH",
    0x7C0383000084: "ACQUIRE",
    0x7C5F80000005: "RELEASE",
    0x828C20420000: "LSR_ADD_WORD_R_PLAIN",
    0x818B50080000: "ASR_WORD_I_PLAIN",
    0x800842010163: "MUL_STEP_PAIR_R_BRANCH",
    0x801070F10000: "DIV_STEP_PAIR_R_PLAIN",
    0x9187B0000000: "OR_PAIR_S_I_PLAIN",
    0x708364CFFFFF: "LW_PAIR_S",
    0x7C07400F000F: "SB_I",
    0x700800020002: "SDMA",
    0x0C6420800000: "TIME_CFG_WORD_R_PLAIN",
    0x7C6300000000: "TELL",
}
"""Words as vendor-compiled programs have them."""


@pytest.mark.parametrize("word", WORDS, ids=lambda word: f"{word:012x}")
def test_words_of_programs(word: int) -> None:
    found = decode(word)
    assert found is not None
    assert found.name == WORDS[word]


@pytest.mark.parametrize(
    "word",
    [
        0xFFFFFFFFFFFF,
        0xA00000000000,  # no such class
        0x7C0310000000,  # class 7 without a kind
        0x0C8C00D20000,  # an addition with n = 13
        0x0C8C10C20000,  # an addition with condition 16
        0x7CE300000000,  # the run state of tasklets without a kind
    ],
)
def test_what_is_no_instruction(word: int) -> None:
    assert decode(word) is None


def test_zero_is_an_addition() -> None:
    """All words of the wide group are legal, the lowest class among them, but not with I = 0."""
    assert decode(0) is None
    assert decode(3 << 32) is BY_NAME["ADD_WORD_WIDE_PLAIN"]


def test_every_bit_is_fixed_or_of_one_field() -> None:
    for form in FORMS:
        taken = form.mask
        for field in form.fields:
            assert not taken & field.mask, form.name
            taken |= field.mask
        assert taken == (1 << WORD_BITS) - 1, form.name
        assert form.value & ~form.mask == 0
        assert (form.dest is None) == (form.destination is Destination.NONE), form.name
        assert (form.cc is None) == (form.condition_class == "NONE"), form.name


def concrete(form: Form) -> list[tuple[int, int]]:
    """Masks and values of a form with each of its conditions."""
    if form.cc is None:
        return [(form.mask, form.value)]
    mask = form.mask | form.cc.mask
    return [(mask, form.value | form.cc.write(number)) for number in sorted(form.conditions)]


def separate(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return bool((one[1] ^ other[1]) & one[0] & other[0])


def excluded(form: Form, pattern: tuple[int, int]) -> bool:
    """A pattern's fixed bits are what the form never has."""
    mask, value = pattern
    return any(never & ~mask == 0 and value & never == bits for never, bits in form.never)


def overlap(one: Form, other: Form) -> bool:
    if separate((one.mask, one.value), (other.mask, other.value)):
        return False
    return any(
        not separate(a, b) and not excluded(one, b) and not excluded(other, a)
        for a in concrete(one)
        for b in concrete(other)
    )


def test_no_word_has_two_forms() -> None:
    by_top = defaultdict[int, list[Form]](list)
    for form in FORMS:
        for top in range(16):
            if not separate((15 << 44, top << 44), (form.mask, form.value)):
                by_top[top].append(form)
    for forms in by_top.values():
        for number, form in enumerate(forms):
            assert [f.name for f in forms[:number] if overlap(f, form)] == []


def test_conditions_have_meanings() -> None:
    names = {name for numbers in conditions.CLASSES.values() for name in numbers.values()}
    assert names == set(conditions.MEANINGS)
    for numbers in conditions.CLASSES.values():
        assert not set(numbers) & set(conditions.SETTING)
        assert not set(numbers) & {0, 16, 17}


NUMBERS = {
    "ADD": "1 true 2 z 3 nz 4 xz 5 xnz 8 pl 9 mi 12 sz 13 snz 14 spl 15 smi 18 ov 19 nov 20 c "
    "21 nc 22 nc5 23 nc6 24 nc7 25 nc8 26 nc9 27 nc10 28 nc11 29 nc12 30 nc13 31 nc14",
    "SUB": "1 true 2 z 3 nz 4 xz 5 xnz 8 pl 9 mi 12 sz 13 snz 14 spl 15 smi 18 ov 19 nov 20 ltu "
    "21 geu 22 lts 23 ges 24 les 25 gts 26 leu 27 gtu 28 xles 29 xgts 30 xleu 31 xgtu",
    "LOGIC": "1 true 2 z 3 nz 4 xz 5 xnz 8 pl 9 mi 12 sz 13 snz 14 spl 15 smi",
    "COUNT": "1 true 2 z 3 nz 4 xz 5 xnz 8 max 9 nmax 12 sz 13 snz 14 spl 15 smi",
    "SHIFT_BY_REGISTER": "1 true 2 z 3 nz 4 xz 5 xnz 8 pl 9 mi 12 sz 13 snz 14 spl 15 smi 24 e "
    "25 o 28 nsh32 29 sh32 30 se 31 so",
    "MULTIPLY": "1 true 2 z 3 nz 4 xz 5 xnz 12 sz 13 snz 14 spl 15 smi 30 small 31 large",
    "SHIFT_ADD": "1 true 12 sz 13 snz 14 spl 15 smi",
    "ACQUIRE": "1 true 2 z 3 nz",
}
"""Of released binaries."""


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_conditions(name: str) -> None:
    found = conditions.CLASSES[name]
    assert " ".join(f"{n} {found[n]}" for n in sorted(found)) == NUMBERS[name]


def test_the_header_decodes_alike(tmp_path: Path) -> None:
    """The generated header, asked in C: the words above, and words of every form."""
    program = tmp_path / "decode.c"
    program.write_text(
        '#include "dpu_isa.h"\n#include <stdio.h>\nint main(void) {\n'
        '    unsigned long long w;\n    while (scanf("%llx", &w) == 1) {\n'
        "        const struct dpu_form *f = dpu_form_of(w);\n"
        '        printf("%d", f ? (int)(f - dpu_forms) : -1);\n'
        '        if (f) printf(" %lld %lld %lld", (long long)dpu_read(f->dest, w),\n'
        "            (long long)dpu_read(f->a, w), (long long)dpu_read(f->imm, w));\n"
        '        printf("\\n");\n    }\n}\n'
    )
    binary = tmp_path / "decode"
    include = f"-I{ROOT / 'shim' / 'generated'}"
    subprocess.run(
        ["gcc", "-Wall", "-Werror", include, str(program), "-o", str(binary)], check=True
    )
    words = [*WORDS, 0]
    for form in FORMS:
        low = form.value | (form.cc.write(min(form.conditions)) if form.cc else 0)
        words += [low, low | form.a.mask if form.a else low, low | form.imm.mask if form.imm else 0]
    told = subprocess.run(
        [binary], input="\n".join(f"{w:x}" for w in words), capture_output=True, text=True
    ).stdout.splitlines()
    for word, line in zip(words, told, strict=True):
        form = decode(word)
        if form is None:
            assert line == "-1"
            continue
        read = [field.read(word) if field else 0 for field in (form.dest, form.a, form.imm)]
        assert line.split() == [str(n) for n in (FORMS.index(form), *read)]
