"""What a launch may ask for (CUDA C++ Programming Guide, "Compute capabilities": 8.7)."""

from __future__ import annotations

from pathlib import Path

from .conftest import program

REFUSED = ("more", "generic", "beyond", "other", "pointer")


def test_shared_memory(tmp_path: Path) -> None:
    done = program("limits", tmp_path)()
    assert done.returncode == 0, done.stderr
    lines = [text.split() for text in done.stdout.splitlines()]
    said = {words[0]: words[1:] for words in lines if len(words) > 1}
    numbers = [int(words[0]) for words in lines if len(words) == 1]
    for name, answers in said.items():
        if name in REFUSED:
            expected = ["cudaSuccess", "cudaErrorInvalidValue", "cudaSuccess"]
        elif name == "above":
            expected = ["cudaErrorInvalidValue", "cudaErrorInvalidValue", "cudaSuccess"]
        else:
            expected = ["cudaSuccess"] * 3
        assert answers == expected, name
    assert numbers == [64 << 10]
