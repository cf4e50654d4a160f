"""Lanes of a warp in step, where kernels count on it, against numpy."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cudla_sim.cuda_kernels.kernels import GLOBAL, SHARED
from cudla_sim.cuda_kernels.rewrite import rewrite
from tests import warm

from .conftest import PROGRAMS

N = 128
X = np.arange(N) ** 2 % 101


def told(folder: Path, lanes: str) -> dict[str, list[int]]:
    target = folder / f"steps-{lanes}"
    command = [warm.python(), "-m", "cudla_sim", "nvcc", "-O2", str(PROGRAMS / "steps.cu")]
    done = subprocess.run(
        [*command, "-o", str(target)],
        env={**os.environ, "CUDLA_SIM_CUDA_LANES": lanes},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([str(target)], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
    lines = (line.split() for line in ran.stdout.splitlines())
    return {name: [int(number) for number in numbers] for name, *numbers in lines}


@pytest.fixture(scope="module")
def auto(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    return told(tmp_path_factory.mktemp("auto"), "auto")


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    return told(tmp_path_factory.mktemp("step"), "step")


def test_what_the_text_tells(auto: dict[str, list[int]], step: dict[str, list[int]]) -> None:
    for found in (auto, step):
        assert found["sum"] == found["whole"] == [X.sum()]
        assert found["scan"] == X.reshape(-1, 32).cumsum(axis=1).ravel().tolist()
        assert found["turn"] == (X.reshape(-1, 2)[:, ::-1] + 1).ravel().tolist()
        weights = np.arange(32) + np.arange(32, 64)
        assert found["last"] == (X.reshape(-1, 32) * weights).sum(axis=1).tolist()
        assert found["flag"] == [7] * N
        assert found["alone"] == [10 * (1 << 5), *range(10)]


def test_in_all_functions(step: dict[str, list[int]]) -> None:
    swapped = X.reshape(-1, 2)[:, ::-1].ravel() + 100
    assert step["shift"] == (swapped + swapped[np.arange(N) ^ 3]).tolist()


def test_what_waits_already_is_left_alone() -> None:
    kernel = (
        f"{GLOBAL} void k(int *x) {{ {SHARED} int s[32]; int t = threadIdx.x; s[t] = x[t]; "
        "__syncthreads(); if (t == 0) x[0] = s[1]; }"
    )
    assert "in_step" not in rewrite(kernel)
    assert rewrite(kernel.replace("__syncthreads();", "")).count("in_step") > 2
    assert "in_step" not in rewrite(kernel.replace("__syncthreads();", ""), lanes="free")


def test_forms_of_statements() -> None:
    """Declarations, comparisons, loops and labels keep their meaning."""
    text = (
        "void f(volatile int *s, int n) { int *p = s + 1; int a = s[0], b(2); T<int> c = s[1];\n"
        "again: if (n <= 2) s[0] <<= s[1]; else if (n == 3) *s = 1; else return;\n"
        "switch (n) { case 1: s[1] = 2; break; default: g(); }\n"
        "do { n--; } while (s[0] >= n); while (int k = s[0]) { n = k; }\n"
        'n = 4; auto h = [&](int i) { s[i] = i; }; asm volatile("mov.u32 %0, 7;" : "=r"(n)); }'
    )
    made = rewrite(text, lanes="auto")
    numbered = "".join(c for c in made if not c.isdigit())
    step = "::cudla_sim::in_step()"
    for wanted in (
        "int *p = s + ;",
        "T<int> c = s[];",
        f"({step}, s[]) <<= s[], {step};",
        f"*s = , {step};",
        f"case : s[] = , {step};",
        f"g(), {step};",
        "while (::cudla_sim::in_loop(), s[] >= n);",
        "while (int k = s[]) { n = k; }",
        "n = ;",
    ):
        assert wanted in numbered, (wanted, numbered)
    assert made.count("\n") == text.count("\n")
