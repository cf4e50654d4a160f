"""Inline PTX, against what Python's integers and roundings say."""

from __future__ import annotations

from pathlib import Path

from .conftest import Run, nvcc

WORD = (1 << 32) - 1


def permuted(a: int, b: int, selector: int) -> int:
    bytes_ = (b << 32 | a).to_bytes(8, "little")
    chosen = [selector >> 4 * i & 15 for i in range(4)]
    signs = [0xFF if bytes_[c & 7] & 0x80 else 0 for c in chosen]
    found = bytes(s if c & 8 else bytes_[c & 7] for c, s in zip(chosen, signs, strict=True))
    return int.from_bytes(found, "little")


def test_instructions_do_what_the_manual_says(ptx: Run) -> None:
    done = ptx()
    assert (done.returncode, done.stderr) == (0, "cudaSuccess\n")
    lines = done.stdout.splitlines()
    for number, line in enumerate(lines):
        a, b, f, following, *found = (
            float(w) if n == 2 else int(w) for n, w in enumerate(line.split())
        )
        a, b = int(a), int(b)
        signed = a - (1 << 32) if a >> 31 else a
        assert found == [
            (a & b) ^ 0xFF,
            permuted(a, b, a >> 3),
            max(-128, min(127, int(f))),
            round(f),
            a ^ b ^ 7,
            a >> (b & 31) & 31,
            a * b >> 32,
            a * b + 9 & WORD,
            a * b if a * b < 1 << 63 else a * b - (1 << 64),
            number % 32 * 1000 + number,
            signed >> (b & 63),
            following,
        ], line


def test_what_is_not_known_is_named_where_it_stands(tmp_path: Path) -> None:
    source = tmp_path / "unknown.cu"
    source.write_text(
        "__global__ void f(int *x)\n{\n"
        '    asm volatile("tensormap.replace.rank.b32 %0, [%1];" : "=r"(*x) : "l"(x));\n'
        "}\nint main() { f<<<1, 1>>>(nullptr); return 0; }\n"
    )
    done = nvcc("-c", source, "-o", tmp_path / "unknown.o")
    assert done.returncode != 0
    assert "unknown.cu:3" in done.stderr
    assert "inline PTX: tensormap.replace.rank.b32 %0, [%1]" in done.stderr
