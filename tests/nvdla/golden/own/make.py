"""Makes ``units.npz``: register programs of every unit with their memory before and after.

    python tests/nvdla/golden/own/make.py

The programs and the expected memory come from the property tests: a test programs a unit with
values that hypothesis chose and compares the result with a naive model (loops and Python integers).
What such a test has found equal is recorded here: registers, the bytes that were read, the bytes
that were written. So a later change of chip *and* property test together is still noticed.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings

HERE = Path(__file__).resolve().parent
PROPERTY = HERE.parents[1] / "property"
CASES = {
    "conv_sdp": ("test_nvdla_units", "test_convolution_with_sdp", 4),
    "conv_fp16": ("test_nvdla_conv_modes", "test_fp16_convolution", 3),
    "conv_compressed": ("test_nvdla_conv_modes", "test_compressed_weights", 3),
    "conv_winograd": ("test_nvdla_conv_modes", "test_winograd", 3),
    "conv_image": ("test_nvdla_conv_modes", "test_fp16_image_with_post_extension", 2),
    "sdp": ("test_nvdla_units", "test_sdp_from_memory", 4),
    "sdp_fp16": ("test_nvdla_fp16_units", "test_sdp_in_fp16", 3),
    "pdp": ("test_nvdla_units", "test_pooling_from_memory", 4),
    "pdp_fp16": ("test_nvdla_fp16_units", "test_pooling_in_fp16", 3),
    "sdp_pdp": ("test_nvdla_units", "test_sdp_hands_over_to_pdp", 3),
    "cdp": ("test_nvdla_cdp", "test_cdp", 4),
    "rubik_contract": ("test_nvdla_moves", "test_rubik_contract", 3),
    "rubik_split_merge": ("test_nvdla_moves", "test_rubik_split_and_merge", 3),
    "bdma": ("test_nvdla_moves", "test_bdma", 3),
}


class Run(NamedTuple):
    """Register writes, and the bytes (ranges, values) that the chip then touched and wrote."""

    writes: list[tuple[int, int]]
    before: tuple[np.ndarray, np.ndarray]
    after: tuple[np.ndarray, np.ndarray]


class Recorder:
    """What one bench does: register writes, and which bytes move."""

    def __init__(self, bench: Any, base: int) -> None:
        self.bench = bench
        self.base = base
        self.writes: list[tuple[int, int]] = []
        self.runs: list[Run] = []
        self.read = np.zeros(len(bench.data), bool)
        self.written = np.zeros(len(bench.data), bool)
        chip = bench.chip
        write, self._run = chip.write, bench.run

        def record(address: int, value: int) -> None:
            self.writes.append((address, value))
            write(address, value)

        chip.write = record
        bench.run = self.run
        memory = chip.site.memory[1]
        view = memory.view

        def watched(unit: str, address: int, size: int, write: bool = False) -> np.ndarray:
            marks = self.written if write else self.read
            marks[address - base : address - base + size] = True
            return view(unit, address, size, write)

        padded = memory.read_padded

        def watched_padded(
            unit: str, address: int, size: int, slack: int, **more: Any
        ) -> np.ndarray:
            self.read[address - base : address - base + size] = True
            return padded(unit, address, size, slack, **more)

        proxy = type("Watched", (), {"__getattr__": lambda _, name: getattr(memory, name)})()
        proxy.view, proxy.read_padded = watched, watched_padded
        for name in ("strided", "cube"):
            method = getattr(type(memory), name)
            setattr(proxy, name, method.__get__(proxy))
        chip.site.memory = (proxy, proxy)

    def run(self) -> int:
        """Run, and note what the bytes that it touches were before and after."""
        before = self.bench.data.copy()
        self.read[:] = self.written[:] = False
        status = int(self._run())
        touched, written = self.read | self.written, self.written.copy()
        self.runs.append(Run(self.writes, _pack(touched, before), _pack(written, self.bench.data)))
        self.writes = []
        return status


def _ranges(marks: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marks.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _pack(marks: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ranges = _ranges(marks)
    pieces = [data[a:b] for a, b in ranges]
    return np.array(ranges, np.uint32).reshape(-1, 2), np.concatenate(pieces or [data[:0]])


def _size(made: Recorder) -> int:
    return max(len(run.after[1]) for run in made.runs)


def record(module: str, function: str, count: int) -> list[Recorder]:
    """The benches of *count* examples that the naive model agrees with."""
    tests = importlib.import_module(module)
    naive = importlib.import_module("naive_nvdla")
    found: list[Recorder] = []
    made: list[Recorder] = []
    original = tests.Bench

    def bench(*args: Any, **more: Any) -> Any:
        new = original(*args, **more)
        made.append(Recorder(new, naive.BASE))
        return new

    test = getattr(tests, function)
    inner = test.hypothesis.inner_test

    def once(*args: Any, **kwargs: Any) -> None:
        made.clear()
        tests.Bench = bench
        inner(*args, **kwargs)  # raises where chip and naive model differ
        found.extend(r for r in made[:1] if r.runs and _size(r))

    test.hypothesis.inner_test = once
    try:
        test()
    finally:
        tests.Bench, test.hypothesis.inner_test = original, inner
    small = sorted(found, key=lambda r: abs(_size(r) - 400))  # neither trivial nor big
    return small[:count]


def main() -> None:
    sys.path.insert(0, str(PROPERTY))
    settings.register_profile("recorded", derandomize=True, database=None)
    settings.load_profile("recorded")  # the same examples whenever this runs
    arrays: dict[str, np.ndarray] = {}
    for name, (module, function, count) in CASES.items():
        for number, made in enumerate(record(module, function, count)):
            config = made.bench.config.name
            for turn, run in enumerate(made.runs):
                key = f"{name}.{number}.{config}.{turn}"
                arrays[f"{key}.writes"] = np.array(run.writes, np.uint32).reshape(-1, 2)
                for what, (ranges, values) in (("before", run.before), ("after", run.after)):
                    arrays[f"{key}.{what}.ranges"], arrays[f"{key}.{what}.values"] = ranges, values
                print(key, len(run.writes), len(run.after[1]))
    np.savez_compressed(HERE / "units.npz", **arrays)


if __name__ == "__main__":
    main()
