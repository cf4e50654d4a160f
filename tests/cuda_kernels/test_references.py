"""Texture and surface references (CUDA before 12.0) against numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .conftest import Run, compiled, nvcc
from .test_textures import CLAMP, WRAP, fetched

references = compiled("references")


@pytest.fixture(scope="module")
def said(references: Run) -> dict[str, list[str]]:
    done = references()
    assert done.returncode == 0, done.stderr
    return {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}


def numbers(words: list[str]) -> np.ndarray:
    return np.array(words, np.float32)


FROM = np.arange(512, dtype=np.float32) * np.float32(1.5)


def test_linear_memory(said: dict[str, list[str]]) -> None:
    """Beyond 128 elements are zeros; a launch before the next binding reads the first."""
    first = [*FROM[124:128], 0, 0, 0, 0]
    assert numbers(said["numbers"]).tolist() == [*first, *(-np.arange(300.0, 308.0))]
    digits = (np.arange(32) % 7).reshape(8, 4) @ [1, 10, 100, 1000]
    assert numbers(said["quadruples"]).tolist() == digits.tolist()


def test_memory_off_the_alignment_has_an_offset(said: dict[str, list[str]]) -> None:
    """Of three floats, which the kernel adds; without a place for it that is an error."""
    assert said["offset"] == ["12", "12", "cudaErrorInvalidValue"]
    assert numbers(said["behind"]).tolist() == FROM[3:11].tolist()


def test_arrays_and_pitched_memory(said: dict[str, list[str]]) -> None:
    row = np.array([[0, 51, 102, 255, 7, 9, 200, 128]]) / 255
    step = np.float32(1 / np.float32(11))
    wrapped = [fetched(row, [float(i * step), 0.5], WRAP, True, True) for i in range(16)]
    np.testing.assert_allclose(numbers(said["bytes"]), wrapped, rtol=1e-6)
    pair = FROM[:24].reshape(12, 2)
    assert numbers(said["pairs"]).tolist() == (pair[:, 0] - 2 * pair[:, 1]).tolist()
    volume = FROM[:24].reshape(2, 3, 4)
    smooth = [fetched(volume, [i * 0.25, 1.0, 0.5], CLAMP, True, False) for i in range(16)]
    assert numbers(said["volume"]).tolist() == smooth
    assert numbers(said["layers"]).tolist() == [5, -6, 7, -8, 100, 200, 300, 400]


def test_surfaces(said: dict[str, list[str]], references: Run) -> None:
    """Twice the element and one; an array without cudaArraySurfaceLoadStore is refused."""
    assert numbers(said["plane"]).tolist() == (2 * FROM[:16] + 1).tolist()
    assert references().stdout.splitlines()[-1] == "cudaErrorInvalidValue"


def test_what_is_not_bound_is_told(references: Run) -> None:
    done = references("unbound")
    assert done.stdout == "unbound cudaErrorInvalidTextureBinding\n"
    assert "a texture reference that is not bound (cudaBindTexture)" in done.stderr


def test_their_names_are_a_programs_own(tmp_path: Path) -> None:
    """CUDA 12 has no ``texture``; and what is wrong is told as g++ says it."""
    source = tmp_path / "own.cu"
    source.write_text(
        "template <class T> struct texture { T value; };\n"
        "struct surface { int value; };\n"
        "__global__ void k(int *to) { *to = texture<int>{3}.value + surface{4}.value; }\n"
    )
    assert nvcc("-c", source, "-o", tmp_path / "own.o").returncode == 0
    source.write_text("texture<int> missing;\nint wrong = nothing;\n")
    done = nvcc("-c", source, "-o", tmp_path / "own.o")
    assert done.returncode
    assert "own.cu:2:13: error: " in done.stderr
