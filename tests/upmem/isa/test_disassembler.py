"""Text of words, as the vendor's disassembler prints it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudla_sim.cli import main
from cudla_sim.upmem.isa.disassembler import disassemble

TEXTS = {
    0x3C7383000006: "jnz id, 0x80000030",
    0x3C5F828C0006: "jeq r23, 200, 0x80000030",
    0x3C0097C2005E: "jges r0, r1, 0x800002f0",
    0x3C0B944000CA: "jltu r2, 4, 0x80000650",
    0x7CE346000000: "sd zero, 16, 0",
    0x7C5A468D0000: "sd r22, 8, d22",
    0x7F5B45C0F000: "sw r22, -20, 0",
    0x7C07400F000F: "sb r1, 0, -1",
    0x6BE3009C0000: "move r23, 201",
    0x61E3FFFFFFFF: "move r3, -1",
    0x8073B0000000: "move r0, id",
    0x87F3B3000013: "move r15, id, nz, 0x80000098",
    0x8863B1000057: "move r16, zero, true, 0x800002b8",
    0x9003B100013A: "move.u d0, r0, true, 0x800009d0",
    0x9187B0000000: "move.s d2, r1",
    0x7C5F80000005: "release r23, 0, nz, 0x80000028",
    0x7C0383000084: "acquire r0, 0, nz, 0x80000420",
    0x2FDF01FF0003: "add r23, r23, -1, true, 0x80000018",
    0x005BFF8BFFFF: "add r0, r22, -72",
    0x0C8C00C20000: "add r1, r3, r1",
    0x7DF320100000: "boot id, 1",
    0x7D0B23000097: "resume r2, 0, nz, 0x800004b8",
    0x7EF32100000A: "stop true, 0x80000050",
    0x7EF320000000: "stop",
    0x7E6320200000: "fault 2",
    0x7E6320000000: "bkp",
    0x7C6300000000: "nop",
    0x8BE300630000: "call r23, 0x800001b0",
    0x8C5F00000000: "jump r23",
    0x8C6300040000: "jump 0x80000200",
    0x8C0F00938000: "jump r3, 0x139",
    0x705B440FFFFF: "lw r0, r22, -16",
    0x708364CFFFFF: "lw.s d0, r0, -4",
    0x7B7F46810000: "ld d22, id8, 24",
    0x700801020000: "ldma r2, r1, 1",
    0x700200000000: "ldma r0, r16, 0",
    0x700800020002: "sdma r2, r1, 0",
    0x828C20420000: "lsr_add r5, r1, r3, 4",
    0x800850800000: "lsl_add r0, r0, r2, 24",
    0x818B50080000: "asr r3, r2, 16",
    0x820B404C0000: "lsr r4, r2, 4",
    0x81873830013C: "clz r3, r1, max, 0x800009e0",
    0x800842110163: "mul_step d0, r2, d0, 1, z, 0x80000b18",
    0x801070F10000: "div_step d0, r4, d0, 31",
    0x0D101E06006F: "mul_ul_ul r2, r4, r3, small, 0x80000378",
    0x0D10A0CC0000: "subc r2, r4, r6",
    0x0C6020800000: "time r0",
    0x0CE420820000: "time_cfg r1, r1",
    0xFFFFFFFFFFFF: None,
}


@pytest.mark.parametrize("word", TEXTS, ids=lambda word: f"{word:012x}")
def test_texts(word: int) -> None:
    assert disassemble(word) == TEXTS[word]


def test_labels_stand_for_addresses() -> None:
    assert disassemble(0x3C7383000006, {6: "start"}.get) == "jnz id, start"
    assert disassemble(0x8BE300630000, {54: "main"}.get) == "call r23, main"


def test_plain_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "words"
    words = (0x7DF320100000, 0x8C5F00000000, 0xFFFF_0000_0000_0000)
    file.write_bytes(b"".join(word.to_bytes(8, "little") for word in words))
    monkeypatch.setattr("sys.argv", ["cudla-sim", "dpu", "disasm", "--raw", str(file)])
    assert main() == 0
    assert capsys.readouterr().out.splitlines() == [
        "80000000: 00 00 10 20 f3 7d 00 00\tboot id, 1",
        "80000008: 00 00 00 00 5f 8c 00 00\tjump r23",
        "80000010: 00 00 00 00 00 00 ff ff\t<unknown>",
    ]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["FILE"], "is no ELF file; --raw lists plain words"),
        (["--raw", "FILE"], "has 3 bytes, which is no multiple of 8"),
        (["/bin/sh"], "is for another machine (EM_X86_64), DPU programs have 245"),
    ],
)
def test_what_cannot_be_listed(
    words: list[str],
    complaint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    words = [str(file) if word == "FILE" else word for word in words]
    monkeypatch.setattr("sys.argv", ["cudla-sim", "dpu", "disasm", *words])
    assert main() == 1
    assert complaint in capsys.readouterr().err
