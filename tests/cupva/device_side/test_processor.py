"""Kernels for other processors: several builds in one executable, and a refusal with its reason."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from cudla_sim.cupva import executable, processor
from cudla_sim.cupva.errors import CupvaError
from cudla_sim.cupva.executable import Executable
from cudla_sim.cupva.toolchain.build import compile_kernel
from cudla_sim.cupva.toolchain.options import parse

from .bench import KERNELS, Bench
from .conftest import Image

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="levels of x86-64")
V2 = "pni ssse3 sse4_1 sse4_2 popcnt"
V3 = f"{V2} movbe avx avx2 fma f16c bmi1 bmi2 abm"
V4 = f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl"


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """on("avx ...") is a processor with just these."""

    def pretend(words: str) -> None:
        executable._best.cache_clear()
        monkeypatch.setattr(processor, "flags", lambda: frozenset(words.split()))

    yield pretend
    executable._best.cache_clear()


@pytest.fixture(scope="module")
def portable(image: Image, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    image("modes")  # skips without a compiler
    folder = tmp_path_factory.mktemp("portable")
    words = ["--portable", "--image", str(folder / "image"), "-o", str(folder / "k.o")]
    compile_kernel(parse([*words, str(KERNELS / "vectors.c")]))
    return (folder / "image").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("level", [V2, V3, V4])
def test_the_best_build_that_runs_is_taken(
    on: Callable[[str], None], portable: bytes, level: str
) -> None:
    on(level)
    found = executable._needs(Executable(portable).image)
    assert set(found.split()) == set(level.split())


@pytest.mark.slow
def test_all_builds_compute_the_same(on: Callable[[str], None], portable: bytes) -> None:
    real = processor.flags()
    levels = [level for level in (V2, V3, V4) if real is None or not set(level.split()) - real]
    results = []
    for level in levels:
        on(level)
        bench = Bench(portable)
        values = np.arange(-16, 16, dtype=np.int16) * 1999
        result = bench.launch(scale=173, a16=values.tobytes(), b16=values[::-1].tobytes())
        assert (result.status, result.text) == ("done", "")
        results.append(result.vmem)
        bench.close()
    assert all(vmem == results[0] for vmem in results)


def test_what_no_build_suits_is_refused_with_what_lacks(
    on: Callable[[str], None], portable: bytes
) -> None:
    on(V2.replace("popcnt", ""))
    with pytest.raises(CupvaError, match="a processor that has popcnt, which this one lacks"):
        Executable(portable)


def test_a_build_for_this_machine_is_refused_by_an_older_one(
    on: Callable[[str], None], image: Image
) -> None:
    on(V2)
    with pytest.raises(CupvaError, match=r"avx2.*--portable"):
        Executable(image("products", "-march=x86-64-v3"))


def test_what_the_compiler_finds_here_this_processor_has(image: Image) -> None:
    Executable(image("modes"))
