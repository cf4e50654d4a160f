"""Which parts of a preprocessed file are not read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cudla_sim.cuda_kernels.kernels import GLOBAL
from cudla_sim.cuda_kernels.rewrite import rewrite
from cudla_sim.cuda_kernels.tokens import SPACE, Token, tokens
from cudla_sim.cuda_kernels.unread import without_library

VECTOR = '# 1 "/usr/include/c++/12/vector" 1 3\nclass vector { };\n'
NESTED = '# 1 "/usr/include/string.h" 1 3 4\nint memcmp();\n# 60 "/usr/include/c++/12/vector" 2 3\n'


def seen(text: str, found: list[Token]) -> list[str]:
    """Words that are not taken for space."""
    assert "".join(token.text for token in found) == text
    return [token.text for token in found if token.kind == "word"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'# 1 "a.cu"\nint a;\n{VECTOR}# 2 "a.cu" 2\nint b;\n', "int a int b"),
        (f'# 1 "a.cu"\n{VECTOR}{NESTED}class more;\n# 2 "a.cu" 2\nint b;\n', "int b"),
        # a header that calls itself a system's, as those of CCCL do, includes the library's
        (
            f'# 1 "a.cu"\n# 1 "/cccl/thrust/sort.h" 1 3\nint a;\n{VECTOR}'
            '# 9 "/cccl/thrust/sort.h" 2 3\nint b;\n# 2 "a.cu" 2\nint c;\n',
            "int a int b int c",
        ),
        ('# 1 "a.cu"\n# 1 "/usr/include/unistd.h" 1 3 4\nint read();\n', "int read"),
        ('# 1 "a.cu"\n# 1 "/home/c++/1/vector" 1\nint a;\n', "int a"),
        (f"{VECTOR}int a;\n", "class vector int a"),
        (f'# 1 "a.cu"\n{VECTOR}', "class vector"),
        ('# 1 "a.cu"\n# 1 "/with \\"quotes\\" /c++/12/map" 1 3\nint a;\n# 2 "a.cu" 2\n', ""),
        ("", ""),
    ],
)
def test_the_library_is_not_read(text: str, words: str) -> None:
    assert seen(text, without_library(text)) == words.split()


def test_a_program_s_own_text_is_whole(tmp_path: Path) -> None:
    """As g++ preprocesses it."""
    (tmp_path / "a.hpp").write_text("#include <map>\n#include <string>\nint of_a;\n")
    own = f'{GLOBAL} void k(int *x) {{ *x = 1; }}\n#include "a.hpp"\n#include <vector>\nint b;\n'
    (tmp_path / "a.cpp").write_text(f"#include <algorithm>\n{own}")
    command = ["g++", "-E", f"-D{GLOBAL}={GLOBAL}", tmp_path / "a.cpp"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert seen(text, without_library(text)) == [
        *f"{GLOBAL} void k int x x".split(),
        *["int", "of_a", "int", "b"],
    ]
    assert sum(token.kind != SPACE for token in tokens(text)) > 10_000
    changed = rewrite(text)
    assert GLOBAL not in changed
    assert changed.count("\n") == text.count("\n")
