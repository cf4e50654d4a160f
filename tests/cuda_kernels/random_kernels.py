"""Kernels made at random, and what they compute.

Each statement is text, and a function that does it for all threads of a block before the next one:
what barriers promise. Values of others are read from shared memory that nobody stores to before the
next barrier.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

THREADS, BLOCKS = 40, 2
Values = dict[str, NDArray[np.int64]]
Do = Callable[["Run"], None]


class Run:
    """One block: variables of all threads, and which of them are there."""

    def __init__(self, block: int) -> None:
        self.block = block
        self.here = np.ones(THREADS, bool)
        self.values: Values = {"t": np.arange(THREADS), "b": np.full(THREADS, block)}
        self.shared = np.zeros(THREADS, np.int64)

    def set(self, name: str, value: NDArray[np.int64], where: NDArray[np.bool_]) -> None:
        old = self.values.get(name, np.zeros(THREADS, np.int64))
        self.values[name] = np.where(where & self.here, value, old)


class Kernel:
    """*seed* tells which; ``text`` is the kernel, ``expected()`` its output, block by block."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.name = f"kernel{seed}"
        self.names = ["t", "b"]
        self.loops = 0
        self.returns = self.random.random() < 0.3
        lines, self.does = self._list(4, 2)
        self.text = "\n".join([
            f"__global__ void {self.name}(int *out) {{",
            "  __shared__ int s[THREADS]; int t = threadIdx.x, b = blockIdx.x; s[t] = 0;",
            "  __syncthreads();",
            *lines,
            f"  out[b * THREADS + t] = {' + '.join(self.names)};",
            "}",
        ])  # fmt: skip

    def expected(self) -> NDArray[np.int64]:
        blocks = []
        for block in range(BLOCKS):
            run = Run(block)
            for do in self.does:
                do(run)
            total = sum((run.values[name] for name in self.names), np.zeros(THREADS, np.int64))
            blocks.append(np.where(run.here, total, 0))
        return np.stack(blocks)

    def _list(self, count: int, depth: int) -> tuple[list[str], list[Do]]:
        lines: list[str] = []
        does: list[Do] = []
        for _ in range(self.random.randint(2, count)):
            kinds: Sequence[Callable[[int], tuple[list[str], list[Do]]]]
            kinds = [self._declare, self._assign, self._assign, self._exchange, self._exchange]
            if depth:
                kinds = [*kinds, self._loop, self._branch]
            if self.returns:
                kinds = [*kinds, self._leave]
            more, what = self.random.choice(kinds)(depth)
            lines += [f"  {line}" for line in more]
            does += what
        return lines, does

    def _value(self) -> tuple[str, Callable[[Run], NDArray[np.int64]]]:
        left, right = self.random.choice(self.names), self.random.choice(self.names)
        number = self.random.randint(1, 9)
        sign = self.random.choice(["+", "-", "^"])
        act = {"+": np.add, "-": np.subtract, "^": np.bitwise_xor}[sign]

        def value(run: Run) -> NDArray[np.int64]:
            found: NDArray[np.int64] = act(run.values[left] * number, run.values[right]) % 1009
            return found

        return f"((({left} * {number}) {sign} {right}) % 1009 + 1009) % 1009", value

    def _declare(self, depth: int) -> tuple[list[str], list[Do]]:
        if depth < 2:  # it would end with the block around it
            return self._assign(depth)
        text, value = self._value()
        name = f"v{len(self.names)}"
        self.names.append(name)
        kind = self.random.choice(["int", "int", "long long", "auto"])
        everyone = np.ones(THREADS, bool)
        return [f"{kind} {name} = {text};"], [lambda run: run.set(name, value(run), everyone)]

    def _assign(self, _: int) -> tuple[list[str], list[Do]]:
        own = [name for name in self.names if name not in ("t", "b")]
        if not own:
            return ["{ }"], []
        name = self.random.choice(own)
        text, value = self._value()
        other, limit = self.random.choice(self.names), self.random.randint(0, 60)
        if self.random.random() < 0.5:
            everyone = np.ones(THREADS, bool)
            return [f"{name} = {text};"], [lambda run: run.set(name, value(run), everyone)]
        return (
            [f"if ({other} < {limit}) {name} = {text};"],
            [lambda run: run.set(name, value(run), run.values[other] < limit)],
        )

    def _exchange(self, _: int) -> tuple[list[str], list[Do]]:
        """Others' values; who has returned has stored nothing."""
        own = [name for name in self.names if name not in ("t", "b")]
        text, value = self._value()
        turn = self.random.randint(1, THREADS - 1)
        into = self.random.choice(own) if own else ""

        def do(run: Run) -> None:
            run.shared = np.where(run.here, value(run), run.shared)
            if into:
                found = run.values[into] + np.roll(run.shared, -turn)
                run.set(into, found % 1009, np.ones(THREADS, bool))

        read = (
            f"{into} = (({into} + s[(t + {turn}) % THREADS]) % 1009 + 1009) % 1009;" if into else ""
        )
        return [f"s[t] = {text};", "__syncthreads();", read, "__syncthreads();"], [do]

    def _loop(self, depth: int) -> tuple[list[str], list[Do]]:
        name = f"i{self.loops}"
        self.loops += 1
        count = self.random.randint(1, 3)
        lines, does = self._list(3, depth - 1)

        def do(run: Run) -> None:
            for _ in range(count):
                for each in does:
                    each(run)

        head = self.random.choice([
            f"for (int {name} = 0; {name} < {count}; {name}++) {{",
            f"int {name} = {count}; while ({name} > 0) {{ {name}--;",
            f"for (int {name} = 1 << {count}; {name} > 1; {name} >>= 1) {{",
        ])  # fmt: skip
        return [head, *lines, "}"], [do]

    def _branch(self, depth: int) -> tuple[list[str], list[Do]]:
        which = self.random.randint(0, BLOCKS - 1)
        lines, does = self._list(3, depth - 1)
        others, instead = self._list(2, depth - 1)

        def do(run: Run) -> None:
            for each in does if run.block == which else instead:
                each(run)

        return [f"if (b == {which}) {{", *lines, "} else {", *others, "}"], [do]

    def _leave(self, _: int) -> tuple[list[str], list[Do]]:
        number = self.random.randint(0, THREADS - 1)

        def do(run: Run) -> None:
            run.here = run.here & (run.values["t"] != number)

        return [f"if (t == {number}) return;"], [do]


def program(kernels: Sequence[Kernel]) -> str:
    """Prints "name numbers" for each kernel."""
    calls = "".join(
        "  cudaMemset(out, 0, sizeof(int) * THREADS * BLOCKS);\n"
        f"  {k.name}<<<BLOCKS, THREADS>>>(out);\n"
        f'  cudaDeviceSynchronize(); show("{k.name}", out);\n'
        for k in kernels
    )
    return (
        f"#include <cstdio>\nconstexpr int THREADS = {THREADS}, BLOCKS = {BLOCKS};\n"
        + "\n".join(kernel.text for kernel in kernels)
        + '\nstatic void show(const char *name, const int *out) {\n  printf("%s", name);\n'
        '  for (int i = 0; i < THREADS * BLOCKS; i++) printf(" %d", out[i]);\n  printf("\\n");\n}\n'
        "int main() {\n  int *out;\n  cudaMallocManaged(&out, sizeof(int) * THREADS * BLOCKS);\n"
        f"{calls}  return cudaGetLastError();\n}}\n"
    )
