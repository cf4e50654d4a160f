"""Text to words and back, and texts with labels, sections and directives."""

from __future__ import annotations

import contextlib
import io
from random import Random

import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.upmem.assembler.expressions import AsmError, parse
from cudla_sim.upmem.assembler.operands import assemble
from cudla_sim.upmem.assembler.program import build
from cudla_sim.upmem.assembler.start import Options
from cudla_sim.upmem.assembler.statements import split
from cudla_sim.upmem.isa import listing
from cudla_sim.upmem.isa.disassembler import disassemble
from cudla_sim.upmem.isa.forms import Flag, Form
from cudla_sim.upmem.isa.table import FORMS

from . import words
from .test_disassembler import TEXTS


def word_of(text: str) -> int:
    mnemonic, _, rest = text.partition(" ")
    return assemble(mnemonic, split(rest), lambda name: pytest.fail(name))


def survives(form: Form, word: int) -> bool:
    """Text of a word has the word again, or of an alias one with the same text."""
    text = disassemble(word)
    assert text is not None
    again = word_of(text)
    return disassemble(again) == text if form.flags & Flag.ALIAS else again == word


@pytest.mark.parametrize("word", [w for w, text in TEXTS.items() if text])
def test_published_texts(word: int) -> None:
    assert word_of(TEXTS[word] or "") == word


def test_every_form_with_every_condition() -> None:
    random = Random(5)
    for form in FORMS:
        for number in sorted(form.conditions) or [None]:
            given = {} if number is None else {"cc": number}
            word = words.word_of(random, form, **given)
            assert survives(form, word), f"{word:012x} {disassemble(word)}"


@given(st.sampled_from(FORMS), st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_any_word(form: Form, random: Random) -> None:
    word = words.word_of(random, form)
    assert survives(form, word), f"{word:012x} {disassemble(word)}"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("jeq r23, 200, 0x80000030", 0x3C5F828C0006),
        ("JEQ R23, 0xc8, 6", 0x3C5F828C0006),
        ("sub zero, r23, 200, eq, 6", 0x3C5F828C0006),
        ("and r2, r0, 0xffffffff", 0x510300000000 | 0xFF_FFFF | 0xFF << 24),
        ("or r3, zero, -1", 0x61E3FFFFFFFF),
        ("sb r1, 0, 255", 0x7C07400F000F),
        ("call zero, r23, 0", 0x8C5F00000000),
        ("jump r23, 0", 0x8C5F00000000),
        ("lw !little, r0, r22, -16", 0x705B440FFFFF),
        ("lw !big, r0, r22, -16", 0x705B4C0FFFFF),
        ("stop t, 10", 0x7EF32100000A),
    ],
)
def test_other_ways_to_write(text: str, word: int) -> None:
    assert word_of(text) == word


def test_a_source_that_another_form_has() -> None:
    """With lneg as source the wide form of and is a move into a pair."""
    assert disassemble(word_of("and r0, lneg, 5")) == "and r0, lneg, 5, false"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("frob r1", "'frob' is no DPU instruction"),
        ("add r0, r1", "add does not take the operands r0, r1; known: add rc, ra, rb"),
        ("lsl r0, r1, 32", "32 does not fit: lsl takes 0 to 31"),
        ("jneq r0, 1024, 3", "1024 does not fit: sub takes -1024 to 1023"),
        ("add r0, r1, 128, z, 3", "128 does not fit: add takes -128 to 127"),
        ("move r24, 3", "move does not take the operands r24, 3"),
        ("ld d1, r0, 0", "ld does not take the operands d1, r0, 0"),
        ("add r0, r1, zero", "add does not take the operands r0, r1, zero"),
        ("add r0, r1, 4, gtu", "add does not take the operands r0, r1, 4, gtu"),
        ("jump 0x80000004", "0x80000004 is the address of no instruction"),
        ("move r0, 1 +", "'1 +' ends where a value should be"),
        ("move r0, 1 / 0", "'1 / 0' divides by zero"),
        ("move r0, 4 $", "'4 $' is no expression"),
        ("move r0, 0x100000000", "4294967296 (0x100000000) does not fit"),
    ],
)
def test_errors_say_what_would_be_right(text: str, complaint: str) -> None:
    with pytest.raises(AsmError) as raised:
        word_of(text)
    assert complaint in str(raised.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("1 << 4 | 3 & ~1", 18),
        ("0x10 ^ 0b11 ^ 010", 0x10 ^ 3 ^ 8),
        ("'a' + '\\n'", 107),
        ("10 - 3 - 2", 5),
        ("sum + 4", 104),
    ],
)
def test_expressions(text: str, value: int) -> None:
    assert parse(text).value({"sum": 100}.__getitem__) == value


PROGRAM = """\
# 1 "task.S"
    .text
    .globl main
    .type main, @function
main:                       // comments of
    move r0, table          /* all
    kinds */ ; nop          # are left out
1:  add r0, r0, -1, nz, 1b
    jeq r0, 0, 1f
    fault COUNT
1:  lw r1, zero, value + 4
    acquire zero, lock, nz, .
    jump r23
    .size main, .-main
    .set COUNT, 3
LAST = COUNT * 2

    .section .data.__sys_host, "aw", @progbits
    .p2align 2
    .globl value
    .type value, @object
    .size value, 8
value:
    .word main, -1
    .byte 1, 'b', LAST
    .short 0x1234
    .quad 0x123456789abcdef0
    .ascii "ab", "c\\n"
    .asciz "d;//"
    .space 2, 7
    .zero 3
    .section .mram.noinit
    .globl buffer
buffer: .space 4096
    .section .mram
    .globl table
table: .long 5, table + 4
    .section .atomic
lock: .byte 0
"""


def elf_of(text: str, options: Options | None = None) -> ELFFile:
    return ELFFile(io.BytesIO(build([(text, "task.S")], options or Options())))


def symbols(elf: ELFFile) -> dict[str, tuple[int, int]]:
    table = elf.get_section_by_name(".symtab")
    return {s.name: (s["st_value"], s["st_size"]) for s in table.iter_symbols()}


def test_a_program_of_all_sections() -> None:
    elf = elf_of(PROGRAM)
    assert (elf.header["e_machine"], elf.header["e_flags"]) in ((245, 0x02800000),)
    assert (elf.header["e_type"], elf.header["e_entry"]) == ("ET_EXEC", 0x8000_0000)
    found = symbols(elf)
    main, size = found["main"]
    assert size == 8 * 8
    value = found["value"][0]
    assert found["value"][1] == 8
    assert found["table"][0] == 0x0800_0000
    assert found["buffer"][0] == 0x0800_0008
    assert found["__sys_used_mram_end"][0] == 0x0800_0008 + 4096
    assert found["lock"][0] == 0xF000_0000
    assert found["__atomic_end_addr"][0] == 0xF000_0001
    index = (main - 0x8000_0000) // 8
    host = elf.get_section_by_name(".data.__sys_host").data()
    assert host == (
        index.to_bytes(4, "little") + b"\xff" * 4 + b"\1b\6" + b"\x34\x12"
        + bytes.fromhex("f0debc9a78563412") + b"abc\nd;//\0" + b"\7\7" + b"\0\0\0"
    )  # fmt: skip
    assert elf.get_section_by_name(".mram").data() == bytes([5, 0, 0, 0, 4, 0, 0, 0])
    segments = {s["p_vaddr"]: s.data() for s in elf.iter_segments()}
    assert segments[value] == host
    assert all(s["p_type"] == "PT_LOAD" for s in elf.iter_segments())


def test_labels_are_instruction_indexes() -> None:
    data = build([(PROGRAM, "task.S")], Options())
    code = listing.of_elf(data)
    texts = [line.split("\t")[1] for line in listing.listing(code, "main") if "\t" in line]
    at = code.functions["main"].start
    assert texts == [
        "move r0, 0",
        "nop",
        f"add r0, r0, -1, nz, {0x8000_0000 + 8 * (at + 2):#x}",
        f"jz r0, {0x8000_0000 + 8 * (at + 5):#x}",
        "fault 3",
        f"lw r1, zero, {symbols(ELFFile(io.BytesIO(data)))['value'][0] + 4}",
        f"acquire zero, 0, nz, {0x8000_0000 + 8 * (at + 6):#x}",
        "jump r23",
    ]


def test_numbers_by_labels() -> None:
    text = """
    .set N, 3
    .set N, N + 1
main: move r0, SECOND
    move r1, AFTER - main
    move r2, N
    jump r23
AFTER = . - 1
    .data
first: .word 1, 2
SECOND = first + 4
    """
    code = listing.of_elf(build([(text, "t.S")], Options()))
    texts = [line.split("\t")[1] for line in listing.listing(code, "main") if "\t" in line]
    data = 4 + 4 + 8 + 8 * 24 + 24  # what the runtime has in front
    assert texts[:3] == [f"move r0, {data + 4}", "move r1, 3", "move r2, 4"]


def test_the_vendors_symbols_are_there() -> None:
    found = symbols(elf_of(PROGRAM, Options(3, [256, 512, 100], 4096)))
    assert found["NR_TASKLETS"][0] == 3
    assert [found[f"STACK_SIZE_TASKLET_{n}"][0] for n in range(3)] == [256, 512, 104]
    assert [found[f"__sys_stack_thread_{n}"][1] for n in range(3)] == [256, 512, 104]
    assert found["__stdout_buffer"][1] == 4096
    assert found["__sys_thread_stack_table_ptr"][1] == 8 * 24
    for name in ("__sys_end", "__sys_heap_pointer", "__sys_wq_table", "CLOCKS_PER_SEC"):
        assert name in found


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("f: jump r23\n", "there is neither main nor __bootstrap"),
        ("main:\n jump nowhere\n", "t.S:2: error: the symbol 'nowhere' is not defined"),
        ("main:\nmain:\n", "t.S:2: error: the symbol 'main' is defined twice"),
        ("main:\n jump 1f\n", "t.S:2: error: there is no label 1: after"),
        ("main:\n .frob 3\n", "t.S:2: error: the directive .frob 3 is not known"),
        (".section .elsewhere\n", "t.S:1: error: there is no section '.elsewhere'"),
        (".data\n nop\n", "t.S:2: error: instructions belong into .text, not into .data"),
        ("main: /* for ever\n\n", "t.S:2: error: a comment has no end"),
        ('main: .ascii "abc\n', 't.S:1: error: "abc is no string'),
        ("main: .byte 256\n", "t.S:1: error: 256 (256) does not fit into 1 bytes"),
        ("main: .space -1\n", "t.S:1: error: -1 is -1: 0 to"),
        ("main: .byte 1\n nop\n", "t.S:2: error: an instruction must begin at a multiple of 8"),
        ("main: nop\n .set A, B\n .set B, A\n", "the symbol 'A' is defined by itself"),
        ("main: nop\n .space 32768\n", "'.text' does not fit: IRAM has 4096 instructions"),
        ("main: nop\n.data\n .space 65536\n", "does not fit: WRAM has 65536 bytes"),
    ],
)
def test_errors_name_the_line(text: str, complaint: str) -> None:
    with pytest.raises(AsmError) as raised:
        build([(text, "t.S")], Options())
    assert complaint in str(raised.value)


@given(st.text(alphabet="main:. \t,;'\"/*#()+-<%rdz0189xfbwordsubjump\n\\@$!", max_size=60))
@settings(max_examples=300)
def test_no_text_makes_it_crash(text: str) -> None:
    with contextlib.suppress(AsmError):
        build([("main: nop\n" + text, "t.S")], Options())


WHOLE = build([(PROGRAM, "task.S")], Options(2))


@given(st.integers(0, len(WHOLE)), st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.binary(
    min_size=1, max_size=4)), max_size=4))  # fmt: skip
@settings(max_examples=200)
def test_damaged_programs_are_listed_or_refused(end: int, edits: list[tuple[int, bytes]]) -> None:
    data = bytearray(WHOLE)
    for at, new in edits:
        data[at : at + len(new)] = new
    with contextlib.suppress(listing.NotAProgram):
        list(listing.listing(listing.of_elf(bytes(data[:end] if end % 2 else data))))
