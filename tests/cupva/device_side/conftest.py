"""Compiled kernels of this folder, and a bench for each."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cudla_sim.cupva.toolchain.build import compile_image
from tests.compiled import vpu_program

from .bench import KERNELS, Bench

Image = Callable[..., bytes]


@pytest.fixture(scope="session")
def image() -> Image:
    """image("name") compiles kernels/name.c"""
    if not (shutil.which("g++") or shutil.which("clang++")):
        pytest.skip("no C++ compiler for VPU kernels")

    def compile_(name: str, *flags: str) -> bytes:
        def build(file: Path) -> None:
            file.write_bytes(compile_image([KERNELS / f"{name}.c"], *flags))

        return vpu_program(build, KERNELS, name, *flags).read_bytes()

    return compile_


def _bench(image: Image, name: str) -> Iterator[Bench]:
    bench = Bench(image(name))
    yield bench
    bench.close()


@pytest.fixture(scope="session")
def modes(image: Image) -> Iterator[Bench]:
    yield from _bench(image, "modes")


@pytest.fixture(scope="session")
def flows(image: Image) -> Iterator[Bench]:
    yield from _bench(image, "flows")


@pytest.fixture(scope="session")
def vectors(image: Image) -> Iterator[Bench]:
    yield from _bench(image, "vectors")


@pytest.fixture(scope="session")
def saturation(image: Image) -> Iterator[Bench]:
    yield from _bench(image, "saturation")


@pytest.fixture(scope="session")
def sampler(image: Image) -> Iterator[Bench]:
    yield from _bench(image, "sampler")


@pytest.fixture(scope="session")
def products(image: Image) -> Iterator[Bench]:
    yield from _bench(image, "products")
