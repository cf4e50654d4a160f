"""Host and device code that differ by __CUDA_ARCH__."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from cudla_sim.cuda_kernels.bodies import braces
from cudla_sim.cuda_kernels.sides import merged
from cudla_sim.cuda_kernels.tokens import tokens

from .conftest import PROGRAMS, nvcc


def _said(program: Path) -> list[str]:
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    "options", [[], ["-DNDEBUG", "-std=c++20", "-O0"], ["-Xcompiler", "-Wall"]]
)
def test_each_side_has_its_own(tmp_path: Path, options: list[str]) -> None:
    done = nvcc(*options, PROGRAMS / "sides.cu", "-o", tmp_path / "sides")
    assert (done.returncode, done.stderr) == (0, "")
    device = [2, 1 + 1, 5, 40, 10 * 2, -1, -2 * 7 + 200, 870, 1, 1 + 2]
    host = [
        1 + 1000,
        1 + 2,
        1 + 2,
        6,
        10 * 3,
        1 - 11 + 100,
        -2 - 11 + 100,
        1,
        1,
        1 + 1000,
        2 + 1000,
    ]
    assert _said(tmp_path / "sides") == [str(number) for number in device + host]


def test_which_braces_are_a_function_s() -> None:
    text = (
        'extern "C" { void b0() { } } namespace n::m { inline namespace v { '
        "template <class T, int N = (1 > 2)> struct alignas(16) S : B<int()> { "
        "S() : a{1}, b(2), B<T>{3} { b1; } ~S() noexcept(false) { b2; } int x = {4}, y{5}; "
        "friend bool operator==(S, S) { b3; } S &operator=(const S &) & { b4; } "
        "auto f() const -> decltype(x) { b5; } enum E : int { A = 1 }; union { int u; }; "
        "void g(int = {6}) const override { b6; } [[nodiscard]] int h() try { b7; } }; } } "
        "struct __attribute__((packed)) P { int p() { return 7; } } p0 = { 8 }; "
        "int table[] = { f({9}), 10 }; void (*t[])(int) = { g }; struct P q() { b8; } "
        "auto l = [](int x) { 11; }; class C; template <> void r<int>() { b9; }"
    )
    read = tokens(text)
    found = braces(read)
    bodies = ["".join(t.text for t in read[b.brace + 1 : b.end]).strip() for b in found.bodies]
    assert bodies == [
        *["", "b1;", "b2;", "b3;", "b4;", "b5;", "b6;", "b7;"],
        *["return 7;", "b8;", "b9;"],
    ]
    others = ["".join(t.text for t in read[a + 1 : b]).strip() for a, b in found.others]
    assert others == ["1", "3", "4", "5", "8", "f({9}), 10", "g", "11;"]


def test_targets(tmp_path: Path) -> None:
    """<nv/target> goes by the same macro."""
    source = tmp_path / "targets.cu"
    source.write_text(
        "#include <nv/target>\n#include <cstdio>\n"
        "__host__ __device__ int f() {\n"
        "    NV_IF_TARGET(NV_IS_DEVICE, (return 1;), (return 2;))\n}\n"
        "__host__ __device__ int g() {\n"
        "    NV_DISPATCH_TARGET(NV_PROVIDES_SM_90, (return 3;), NV_PROVIDES_SM_80, (return 4;),\n"
        "                       NV_IS_HOST, (return 5;))\n    return 6;\n}\n"
        "__global__ void k(int *out) { *out = 10 * f() + g(); }\n"
        "int main() {\n    int *out, found;\n    cudaMalloc(&out, 4);\n    k<<<1, 1>>>(out);\n"
        "    cudaMemcpy(&found, out, 4, cudaMemcpyDeviceToHost);\n"
        '    printf("%d %d", found, 10 * f() + g());\n}\n'
    )
    done = nvcc(source, "-o", tmp_path / "targets")
    assert (done.returncode, done.stderr) == (0, "")
    assert _said(tmp_path / "targets") == ["14", "25"]


def _function(number: int, chance: random.Random) -> tuple[str, int, int]:
    """Text, and what it gives for 0 on the host and on the device."""
    values = {"host": 0, "device": 0}
    lines = [f"__host__ __device__ int f{number}(int x)", "{"]

    def add(sides: list[str]) -> None:
        step, factor = chance.randrange(1, 9), chance.choice([1, 1, 3])
        lines.append(f"    x = x * {factor} + {step};")
        for side in sides:
            values[side] = values[side] * factor + step

    def block(sides: list[str], depth: int) -> None:
        for _ in range(chance.randrange(1, 4)):
            if depth and chance.random() < 0.6:
                how = chance.randrange(3)
                first = "device" if how < 2 else "host"
                word = ["#ifdef __CUDA_ARCH__", "#if __CUDA_ARCH__ >= 700", "#ifndef __CUDA_ARCH__"]
                lines.append(word[how])
                block([side for side in sides if side == first], depth - 1)
                if chance.random() < 0.5:
                    lines.append("#else")
                    block([side for side in sides if side != first], depth - 1)
                lines.append("#endif")
            elif chance.random() < 0.2:
                lines.append("    if (x >= 0) {")
                block(sides, depth)
                lines.append("    }")
            else:
                add(sides)

    block(["host", "device"], 2)
    lines += ["    return x;", "}", ""]
    return "\n".join(lines), values["host"], values["device"]


@pytest.mark.parametrize("seed", [1, 2])
def test_functions_as_they_come(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    made = [_function(number, chance) for number in range(60)]
    calls = ", ".join(f"f{number}(0)" for number in range(60))
    source = tmp_path / "many.cu"
    source.write_text(
        "#include <cstdio>\n"
        + "".join(text for text, _, _ in made)
        + f"__global__ void k(int *out) {{ int all[] = {{{calls}}}; "
        "for (int i = 0; i < 60; i++) out[i] = all[i]; }\n"
        f"int main() {{ int *out, found[60], own[] = {{{calls}}};\n"
        "    cudaMalloc(&out, sizeof found);\n    k<<<1, 1>>>(out);\n"
        "    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);\n"
        '    for (int one : own) printf("%d ", one);\n'
        '    for (int one : found) printf("%d ", one);\n}\n'
    )
    done = nvcc(source, "-o", tmp_path / "many")
    assert (done.returncode, done.stderr) == (0, "")
    wanted = [host for _, host, _ in made] + [device for _, _, device in made]
    assert _said(tmp_path / "many") == [str(number) for number in wanted]


def test_a_text_without_differences_is_as_it_was() -> None:
    text = '# 1 "a.cu"\nint f() { return 1; }\n'
    assert merged(text, text) == text


def test_where_both_cannot_be_one_the_device_s_stays(tmp_path: Path) -> None:
    """Two types of result. That is told."""
    source = tmp_path / "types.cu"
    source.write_text(
        "#include <cstdio>\n"
        "__host__ __device__ auto f()\n{\n"
        "#ifdef __CUDA_ARCH__\n    return 2.5f;\n#else\n    return 2;\n#endif\n}\n"
        "__host__ __device__ int g()\n{\n"
        "#ifdef __CUDA_ARCH__\n    return 3;\n#else\n    return 4;\n#endif\n}\n"
        "__global__ void k(float *out) { *out = f() + g(); }\n"
        "int main() {\n    float *out, found;\n    cudaMalloc(&out, 4);\n    k<<<1, 1>>>(out);\n"
        "    cudaMemcpy(&found, out, 4, cudaMemcpyDeviceToHost);\n"
        '    printf("%g %d", found, g());\n}\n'
    )
    done = nvcc(source, "-o", tmp_path / "types")
    assert done.returncode == 0
    assert "types.cu: host code by __CUDA_ARCH__ is left out where" in done.stderr
    assert "inconsistent deduction" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert _said(tmp_path / "types") == ["5.5", "4"]


def test_messages_name_the_user_s_lines(tmp_path: Path) -> None:
    source = tmp_path / "wrong.cu"
    source.write_text(
        "__host__ __device__ int f()\n{\n"
        "#ifdef __CUDA_ARCH__\n    return 1;\n#else\n    return unknown;\n#endif\n}\n"
        "__host__ __device__ int g()\n{\n    return other;\n}\n"
    )
    done = nvcc("-c", source, "-o", tmp_path / "wrong.o")
    assert done.returncode == 1
    assert "wrong.cu:6:" in done.stderr
    assert "wrong.cu:11:" in done.stderr
